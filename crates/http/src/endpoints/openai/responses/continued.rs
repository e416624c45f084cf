//! The stored conversation that a response continues.

use cicerone_domain::conversation::ReplyPlace;
use cicerone_domain::{Error, Id, PageRequest, Scope, kind};

use crate::body::shown;
use crate::context::Shared;
use crate::endpoints::openai::frame::Stored;
use crate::endpoints::openai::json::Json;

/// What a request continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::endpoints::openai) enum Continued {
    /// `previous_response_id`
    Response(Stored),
    Conversation(Id<kind::Conversation>),
}

/// The text that names a conversation: the parameter itself, or its `id`.
pub(super) fn conversation(given: Option<&Json>) -> Result<Option<String>, Error> {
    match given {
        None => Ok(None),
        Some(Json::Text(id)) => Ok(Some(id.clone())),
        Some(object @ Json::Fields(_)) => match object.field("id") {
            Some(Json::Text(id)) => Ok(Some(id.clone())),
            Some(Json::Null) | None => Err(Error::missing("conversation.id")),
            Some(_) => Err(Error::invalid("conversation.id", "must be a string")),
        },
        Some(_) => Err(Error::invalid("conversation", "must be a string or an object")),
    }
}

pub(in crate::endpoints::openai) fn response_id(stored: Stored) -> String {
    format!("resp_{}_{}", stored.conversation_id.suffix(), stored.n)
}

impl Continued {
    /// Reads the ids. One that is malformed gets the same refusal as one of something that does not exist.
    pub(super) fn parse(
        response: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        if let Some(id) = response {
            let stored = stored(id).ok_or_else(|| no_response(id))?;
            return Ok(Some(Self::Response(stored)));
        }
        let Some(id) = conversation else { return Ok(None) };
        let unknown = |_| Error::not_found("conversation", shown(id));
        Ok(Some(Self::Conversation(id.parse().map_err(unknown)?)))
    }

    pub(super) const fn conversation_id(self) -> Id<kind::Conversation> {
        match self {
            Self::Response(stored) => stored.conversation_id,
            Self::Conversation(id) => id,
        }
    }

    /// The last reply of the conversation. Fails with [`Error::NotFound`], and with [`Error::Conflict`] if it is
    /// another one than the request continues.
    pub(in crate::endpoints::openai) async fn last(
        self,
        app: &Shared,
        scope: &Scope,
    ) -> Result<Stored, Error> {
        let newest = PageRequest { size: 1, after: None };
        let page = app.conversations.messages(scope, self.conversation_id(), newest).await;
        let page = match (page, self) {
            (Err(Error::NotFound { .. }), Self::Response(stored)) => {
                return Err(no_response(&response_id(stored)));
            }
            (page, _) => page?,
        };
        let position = page.items.first().map_or(0, |newest| newest.position);
        let n = u64::try_from(position).unwrap_or_default() + 1;
        let last = Stored { conversation_id: self.conversation_id(), n };
        let Self::Response(stored) = self else { return Ok(last) };
        match ReplyPlace::of(stored.n, n) {
            ReplyPlace::Last => Ok(last),
            ReplyPlace::Absent => Err(no_response(&response_id(stored))),
            ReplyPlace::Earlier => Err(Error::Conflict(format!(
                "the conversation has been continued since the response `{}`; continue the response `{}`",
                response_id(stored),
                response_id(last)
            ))),
        }
    }
}

/// The place of the stored response of that id. Replies have even numbers.
fn stored(id: &str) -> Option<Stored> {
    let (conversation, n) = id.strip_prefix("resp_")?.split_once('_')?;
    let number: u64 = n.parse().ok()?;
    let is_of_a_reply = number > 0 && number.is_multiple_of(2) && number.to_string() == n;
    let conversation_id = format!("conv_{conversation}").parse().ok()?;
    is_of_a_reply.then_some(Stored { conversation_id, n: number })
}

fn no_response(id: &str) -> Error {
    Error::not_found("stored response", shown(id))
}

#[cfg(test)]
mod tests {
    use super::{Continued, response_id, stored};
    use cicerone_domain::Error;

    #[test]
    fn the_id_of_a_response_names_its_place() {
        let place = stored("resp_8kd02JwQ1z_12").unwrap();
        assert_eq!(
            (place.conversation_id.to_string(), place.n),
            ("conv_8kd02JwQ1z".to_owned(), 12)
        );
        assert_eq!(response_id(place), "resp_8kd02JwQ1z_12");
        for id in [
            "",
            "resp_8kd02JwQ1z",
            "resp_8kd02JwQ1z_1",
            "resp_8kd02JwQ1z_0",
            "resp_8kd02JwQ1z_02",
            "resp_8kd02JwQ1z_+2",
            "resp_8kd02JwQ1_2",
            "resp_8kd02JwQ1z_2_2",
            "conv_8kd02JwQ1z_2",
            "resp_8kd02JwQ1z_99999999999999999999",
        ] {
            let read = Continued::parse(Some(id), None);
            assert!(matches!(read, Err(Error::NotFound { .. })), "{id}");
        }
    }
}
