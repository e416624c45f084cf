//! The routes below `/w/{token}`, one file each.

pub(crate) mod begin;
pub(crate) mod configuration;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod handoff;
pub(crate) mod lead;
pub(crate) mod list;
pub(crate) mod rate;
pub(crate) mod send;

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, HttpRequest, Responder};
use cicerone_domain::id::Kind as _;
use cicerone_domain::{Citation, Error, Id, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Bound;
use crate::body::shown;
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::routes;

const ABSENT: &str = "The widget's token is unknown, inactive or revoked.";
const ABSENT_TOO: &str =
    "The widget's token is unknown, inactive or revoked, or the visitor has no such conversation.";
const TOO_MANY: &str = "Too many requests from one address.";
const TOO_MANY_WRITES: &str = "Too many requests from one address or of one visitor, or the widget has reached its \
    daily limit of feedback.";
const FOREIGN: &str = "The page's origin is not one of the widget's origins.";
const UNAVAILABLE: &str = "The database cannot be reached, or the server is overloaded.";

/// An endpoint of a widget, for pages of its origins.
fn of_widget<F, Args>(method: Method, path: &'static str, handler: F) -> Endpoint
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    Endpoint::open(Tag::Public, method, path, handler)
        .cross_origin()
        .refuses(403, FOREIGN)
        .refuses(404, ABSENT)
        .refuses(429, TOO_MANY)
        .refuses(503, UNAVAILABLE)
}

/// An endpoint of a widget that requires the credential of a visitor.
fn of_visitor<F, Args>(method: Method, path: &'static str, handler: F) -> Endpoint
where
    F: Handler<Args>,
    Args: FromRequest + 'static,
    F::Output: Responder + 'static,
{
    of_widget(method, path, handler)
        .for_visitors()
        .refuses(401, "The visitor's credential or signed identity is missing or not valid.")
        .refuses(404, ABSENT_TOO)
}

/// The conversation in the path. An invalid id gets the same error as the id of another visitor's conversation.
fn conversation_id(request: &HttpRequest) -> Result<Id<kind::Conversation>, Error> {
    parse_conversation(routes::value(request, "conversation_id"))
}

fn parse_conversation(text: &str) -> Result<Id<kind::Conversation>, Error> {
    text.parse().map_err(|_| Error::not_found(kind::Conversation::NAME, shown(text)))
}

/// The form of a use case's error that a visitor may see: it reveals neither the account's limits nor other objects of
/// the account. `token` is the widget's as the visitor knows it.
fn for_visitor(error: Error, token: &str) -> RequestError {
    match error {
        Error::QuotaExceeded { until, now, .. } => {
            let wait = until.as_millis().saturating_sub(now.as_millis());
            let wait = u64::try_from(wait).unwrap_or_default().div_ceil(1_000).max(1);
            Bound::Account { wait }.into()
        }
        Error::Conflict(_) => {
            Error::Conflict("this chat is not accepting new conversations at the moment".to_owned())
                .into()
        }
        // The widget or its agent was deleted since the widget was found. Visitors know neither id.
        Error::NotFound { what, .. } if [kind::Agent::NAME, kind::Widget::NAME].contains(&what) => {
            Error::not_found(kind::Widget::NAME, token).into()
        }
        other => other.into(),
    }
}

/// A source that a reply is based on, as visitors see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = VisitorSource)]
struct SourceView {
    title: String,
    /// Its address, if a reader can open it.
    #[schema(required)]
    url: Option<String>,
}

/// The sources of a reply, if the widget shows them.
fn sources(citations: &[Citation], are_shown: bool) -> Vec<SourceView> {
    let view = |citation: &Citation| SourceView {
        title: citation.title.clone(),
        url: citation.url.clone(),
    };
    if are_shown { citations.iter().map(view).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Error, Timestamp};

    use super::for_visitor;

    #[test]
    fn a_visitor_learns_nothing_of_the_account() {
        let moment = Timestamp::from_millis;
        let for_visitor = |error| for_visitor(error, "pub_x").problem();
        let what = "messages";
        let problem = for_visitor(Error::QuotaExceeded {
            what,
            limit: 977,
            until: moment(61_500),
            now: moment(0),
        });
        assert_eq!((problem.status.as_u16(), problem.code), (429, "quota_exceeded"));
        assert_eq!(problem.retry_after, Some(62));
        assert!(!problem.message.contains("977") && !problem.message.contains("account"));
        let error = Error::Conflict("it belongs to the agent `agent_8kd02JwQ1z`".to_owned());
        assert!(!for_visitor(error).message.contains("agent"));
        for (what, id) in [("agent", "agent_8kd02JwQ1z"), ("widget", "wgt_8kd02JwQ1z")] {
            let message = for_visitor(Error::not_found(what, id)).message;
            assert_eq!(message, "there is no widget `pub_x`");
        }
    }
}
