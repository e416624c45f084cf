//! How an API writes the events of a reply.

use actix_web_lab::sse;
use cicerone_domain::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::change::Executed;
use crate::context::RequestId;
use crate::error::{Problem, RequestError};

/// The events of one API. They are called in this order: [`Script::token`] any number of times, then one of the
/// others.
pub(crate) trait Script: 'static {
    /// A reply in the form in which it is stored to be streamed again.
    type Stored: DeserializeOwned;

    /// The next fragment of the reply.
    fn token(&mut self, text: &str) -> Vec<sse::Event>;
    /// The reply is complete.
    fn end(&mut self, stored: &Self::Stored) -> Vec<sse::Event>;
    /// A reply that was stored earlier, from its beginning to its end.
    fn replay(&mut self, stored: &Self::Stored) -> Vec<sse::Event>;
    /// The reply failed.
    fn fail(&mut self, problem: &Problem, request_id: RequestId) -> sse::Event;
}

/// The stored reply of a change.
pub(super) fn stored<S: Script>(executed: &Executed) -> Result<S::Stored, RequestError> {
    serde_json::from_slice(&executed.response.body).map_err(|cause| Error::internal(cause).into())
}

pub(crate) fn named(name: &'static str, data: &impl Serialize) -> sse::Event {
    json(data).event(name).into()
}

/// An event without a name.
pub(crate) fn unnamed(data: &impl Serialize) -> sse::Event {
    json(data).into()
}

#[expect(clippy::expect_used, reason = "events hold text, numbers and booleans, which serialise")]
fn json(data: &impl Serialize) -> sse::Data {
    sse::Data::new_json(data).expect("an event serialises")
}
