//! `/v1/conversations` and `/v1/agents/{agent_id}/conversations`.

use actix_web::http::StatusCode;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::conversation::{
    ConversationFilter, MessageText, Metadata, PlacedMessage, Turn,
};
use cicerone_domain::id::Kind;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::NewMessage;
use cicerone_domain::{Error, Id, kind, limits};

use crate::auth::Authorized;
use crate::auth::permission::{ConversationsRead, ConversationsWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::fields::Fields;
use crate::list::after;
use crate::response::{Answer, json_length, keep, keep_nothing, ok};
use crate::stream::stream_reply;
use crate::views::{ConversationView, KeptReply, MessageView, ReplyView};

/// `POST /v1/conversations`
pub(crate) async fn send(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let (message, is_streamed) = message(body.fields)?;
    let change = Change::new(&app, &caller, incoming.keyed(&[&body.bytes])?);
    if !is_streamed {
        return change
            .answer(replied, |app, caller, completion| async move {
                let accepted = app.conversations.accept(&caller.scope, message).await?;
                app.conversations.answer(accepted, None, completion).await
            })
            .await;
    }
    let (sink, tokens) = TokenSink::channel();
    let task = change.spawn(streamed, |app, caller, completion| async move {
        let accepted = app.conversations.accept(&caller.scope, message).await?;
        app.conversations.answer(accepted, Some(sink), completion).await
    });
    let (heartbeat, ending) = (app.settings.heartbeat, app.ending.clone());
    stream_reply(&incoming.request, caller.request_id(), tokens, task, heartbeat, ending).await
}

/// `GET /v1/agents/{agent_id}/conversations`
pub(crate) async fn list(
    caller: Authorized<ConversationsRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let account = caller.scope().account;
    let list = ListName { name: "conversations", account, parent: incoming.path_text() };
    let page = app.page(&caller, list, &query).await?;
    let filter = ConversationFilter {
        created_after: query.moment("created_after")?,
        created_before: query.moment("created_before")?,
        metadata: query.metadata()?,
    };
    let agent_id: Id<kind::Agent> = incoming.path_id()?;
    let found = app.conversations.list(caller.scope(), agent_id, filter, page).await?;
    Ok(app.envelope(list, &found, ConversationView::from))
}

/// `GET /v1/conversations/{conversation_id}`
pub(crate) async fn find(
    caller: Authorized<ConversationsRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let id = incoming.path_id()?;
    caller.context().expect_answer(&app).await?;
    let (conversation, page) = app.conversations.find(caller.scope(), id).await?;
    let list = messages_of(&caller, &incoming);
    let shown = fitting(&page.items);
    let older = after(&page, shown.len()).map(|position| app.cursors.write(list, &position));
    Ok(ok(&ConversationView::with_messages(&conversation, shown, older)))
}

/// `GET /v1/conversations/{conversation_id}/messages`
pub(crate) async fn messages(
    caller: Authorized<ConversationsRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let list = messages_of(&caller, &incoming);
    let page = app.page(&caller, list, &query).await?;
    let id: Id<kind::Conversation> = incoming.path_id()?;
    let messages = app.conversations.messages(caller.scope(), id, page).await?;
    Ok(app.envelope(list, &messages, MessageView::from))
}

fn messages_of<'a, P>(caller: &Authorized<P>, incoming: &'a Incoming) -> ListName<'a> {
    let account = caller.scope().account;
    ListName { name: "messages", account, parent: incoming.path_text() }
}

/// As many of the messages as fit into an answer, and one at the least.
fn fitting(messages: &[PlacedMessage]) -> &[PlacedMessage] {
    let mut left = limits::LIST_BYTES;
    let fits = |message: &&PlacedMessage| {
        // With the comma behind it.
        let taken = json_length(&MessageView::from(*message)) + 1;
        left.checked_sub(taken).map(|rest| left = rest).is_some()
    };
    let count = messages.iter().take_while(fits).count().max(1);
    messages.get(..count).unwrap_or(messages)
}

/// `DELETE /v1/conversations/{conversation_id}`
pub(crate) async fn delete(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::ConversationDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.conversations.delete(&caller.scope, id?, completion).await
        })
        .await
}

fn replied(turn: &Turn) -> StoredResponse {
    keep(StatusCode::OK, &ReplyView::from(turn), Some(subject(turn)))
}

/// Kept whole, to be told again as events.
fn streamed(turn: &Turn) -> StoredResponse {
    let kept = keep(StatusCode::OK, &KeptReply::from(turn), Some(subject(turn)));
    StoredResponse { content_type: Some("text/event-stream".to_owned()), ..kept }
}

fn subject(turn: &Turn) -> Subject {
    let conversation = &turn.conversation;
    Subject::of_agent(conversation.id, conversation.agent_id)
}

/// The message of a body, and whether its reply is to be streamed.
fn message(mut fields: Fields) -> Result<(NewMessage, bool), Error> {
    fields.require(&["agent_id", "message"])?;
    let agent_id = fields.required_text("agent_id")?;
    let text = fields.required_text("message")?;
    let conversation_id = fields.text("conversation_id")?.value();
    let metadata = fields.pairs("metadata")?.value().unwrap_or_default();
    let is_streamed = fields.flag("stream")?.value().unwrap_or_default();
    let text = MessageText::parse(text)?;
    let metadata = Metadata::parse(metadata)?;
    let message = NewMessage {
        agent_id: named(&agent_id)?,
        conversation_id: conversation_id.as_deref().map(named).transpose()?,
        text,
        metadata,
    };
    Ok((message, is_streamed))
}

/// The resource that a text names. One that no resource can have is not found, like one that none
/// has.
fn named<K: Kind>(text: &str) -> Result<Id<K>, Error> {
    text.parse().map_err(|_| Error::not_found(K::NAME, text))
}

#[cfg(test)]
mod tests {
    use super::message;
    use crate::fields::Fields;
    use cicerone_domain::Error;

    fn read(json: &str) -> Result<bool, Error> {
        message(Fields::parse(json.as_bytes()).unwrap()).map(|(_, is_streamed)| is_streamed)
    }

    #[test]
    fn what_is_missing_comes_first_then_values_then_what_does_not_exist() {
        assert!(matches!(read(r#"{"message": 5}"#), Err(Error::Missing { .. })));
        let bad_value = r#"{"agent_id": "nobody", "message": " "}"#;
        assert!(matches!(read(bad_value), Err(Error::Invalid(_))));
        let unknown = r#"{"agent_id": "nobody", "message": "Hello"}"#;
        assert!(matches!(read(unknown), Err(Error::NotFound { .. })));
    }

    #[test]
    fn null_optional_fields_are_absent() {
        let json = r#"{"agent_id": "agent_0123456789", "message": "Hello",
            "conversation_id": null, "metadata": null, "stream": null}"#;
        assert!(!read(json).unwrap());
    }
}
