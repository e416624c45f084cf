//! The interface of OpenAI's API: its clients talk to agents as to models.
//!
//! The common parts of their requests and responses are here; [`chat`] and [`responses`] are the two formats.

mod annotations;
pub(super) mod chat;
mod frame;
mod json;
pub(super) mod models;
mod parameters;
mod reply;
pub(super) mod responses;
mod source_list;
mod transcript;

use cicerone_domain::{Error, Id, kind};

use crate::body::shown;

/// The agent that the parameter `model` names. Text that is not an id gets the same refusal as the id of an agent
/// that does not exist.
fn model(text: &str) -> Result<Id<kind::Agent>, Error> {
    text.parse().map_err(|_| Error::not_found("agent", shown(text)))
}

/// A parameter that [`parameters::Parameters`] reads: only its presence is known here.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
#[serde(from = "serde::de::IgnoredAny")]
struct Unread;

impl From<serde::de::IgnoredAny> for Unread {
    fn from(_: serde::de::IgnoredAny) -> Self {
        Self
    }
}
