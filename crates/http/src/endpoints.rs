//! The endpoints, one file each: its declaration, its body, its work and its view.
//!
//! The file of a group, such as `agents.rs`, contains what its endpoints share.

mod agents;
mod audit_log;
mod checks;
mod conversations;
mod files;
mod gaps;
mod keys;
mod me;
mod openai;
mod operation;
mod public;
mod sources;
#[cfg(test)]
mod tests;
mod usage;
mod webhooks;
mod widgets;

use crate::endpoint::Endpoint;
use crate::visitors::routes as visitors;

pub(crate) use conversations::{CitationView, RateBody, RatingView, citations, message_number};
pub(crate) use operation::metrics::Rendered;

/// Every endpoint, in the order of the documentation.
pub(crate) fn all() -> Vec<Endpoint> {
    vec![
        agents::create::endpoint(),
        agents::list::endpoint(),
        agents::get::endpoint(),
        agents::update::endpoint(),
        agents::delete::endpoint(),
        agents::statistics::endpoint(),
        gaps::list::endpoint(),
        gaps::update::endpoint(),
        gaps::answer::endpoint(),
        checks::replace::endpoint(),
        checks::get::endpoint(),
        checks::run::endpoint(),
        checks::runs::endpoint(),
        sources::create::endpoint(),
        sources::list::endpoint(),
        sources::get::endpoint(),
        sources::update::endpoint(),
        sources::delete::endpoint(),
        sources::refresh::endpoint(),
        sources::pairs::endpoint(),
        sources::documents::endpoint(),
        sources::passages::endpoint(),
        sources::document::endpoint(),
        sources::pages::endpoint(),
        sources::preview::endpoint(),
        sources::search::endpoint(),
        files::upload::endpoint(),
        files::get::endpoint(),
        files::content::endpoint(),
        files::delete::endpoint(),
        conversations::send::endpoint(),
        conversations::list::endpoint(),
        conversations::export::endpoint(),
        conversations::get::endpoint(),
        conversations::messages::endpoint(),
        conversations::delete::endpoint(),
        conversations::rate::endpoint(),
        conversations::unrate::endpoint(),
        conversations::receipt::endpoint(),
        openai::models::list::endpoint(),
        openai::models::get::endpoint(),
        openai::chat::endpoint(),
        openai::responses::endpoint(),
        crate::mcp::endpoint(),
        webhooks::create::endpoint(),
        webhooks::list::endpoint(),
        webhooks::get::endpoint(),
        webhooks::update::endpoint(),
        webhooks::delete::endpoint(),
        webhooks::rotate_secret::endpoint(),
        webhooks::test::endpoint(),
        webhooks::deliveries::endpoint(),
        webhooks::redeliver::endpoint(),
        widgets::create::endpoint(),
        widgets::list::endpoint(),
        widgets::get::endpoint(),
        widgets::update::endpoint(),
        widgets::delete::endpoint(),
        widgets::rotate_token::endpoint(),
        widgets::rotate_secret::endpoint(),
        keys::create::endpoint(),
        keys::list::endpoint(),
        keys::get::endpoint(),
        keys::update::endpoint(),
        keys::delete::endpoint(),
        me::endpoint(),
        audit_log::endpoint(),
        usage::endpoint(),
        public::endpoint(),
        visitors::configuration::endpoint(),
        visitors::begin::endpoint(),
        visitors::send::endpoint(),
        visitors::list::endpoint(),
        visitors::get::endpoint(),
        visitors::delete::endpoint(),
        visitors::rate::endpoint(),
        visitors::handoff::endpoint(),
        visitors::lead::endpoint(),
        operation::healthz::endpoint(),
        operation::readyz::endpoint(),
        operation::metrics::endpoint(),
        operation::openapi::endpoint(),
        operation::docs::endpoint(),
        operation::docs_asset::endpoint(),
    ]
}
