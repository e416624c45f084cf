//! Events: what happened in an account, as it is sent to webhook endpoints.

use serde_json::json;

use crate::conversation::{Conversation, Rating};
use crate::id::{Id, kind};
use crate::source::{Source, SourceState};
use crate::timestamp::Timestamp;
use crate::webhook::EventName;
use crate::widget::Lead;

/// Something that happened, with its payload as it will be sent. It is written in the transaction of the
/// change that it reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// `evt_` and 10 characters: the `webhook-id` of every delivery.
    pub id: Id<kind::Event>,
    /// The account whose endpoints receive it.
    pub account_id: Id<kind::Account>,
    /// The source that it is about; `None` for a ping.
    pub source_id: Option<Id<kind::Source>>,
    /// The conversation that it is about.
    pub conversation_id: Option<Id<kind::Conversation>>,
    /// What happened.
    pub name: EventName,
    /// The request that led to it, for the logs.
    pub request_id: Option<Id<kind::Request>>,
    /// When it happened.
    pub created_at: Timestamp,
    /// The body `{event, created_at, data}`, serialised once: the bytes signed are the bytes sent.
    pub payload: String,
}

/// The payload of an event without the content of its source and without what people wrote, for endpoints with the
/// style `thin`: the event names them but does not contain their content. `None` if the text is not a payload.
pub fn without_content(payload: &str) -> Option<String> {
    without(payload, &[])
}

/// The payload of an event of a deleted source or conversation: as [`without_content`], and without the questions of checks
/// and the message of a failure, which may quote the source. `None` if the text is not a payload.
pub fn erased(payload: &str) -> Option<String> {
    without(payload, &["error_message", "questions"])
}

fn without(payload: &str, others: &[&str]) -> Option<String> {
    let mut payload: serde_json::Value = serde_json::from_str(payload).ok()?;
    let name = payload.get("event").and_then(serde_json::Value::as_str);
    let name = name.and_then(EventName::from_name);
    let data = payload.get_mut("data")?.as_object_mut()?;
    let removed: &[&str] = match name {
        Some(EventName::HandoffRequested) => &["message"],
        Some(EventName::MessageRated) => &["question", "reply"],
        Some(EventName::LeadCaptured) => &["lead"],
        _ => &["content"],
    };
    for field in removed.iter().chain(others) {
        data.remove(*field);
    }
    for (object, kept) in [("visitor", "id"), ("rating", "value")] {
        if let Some(object) = data.get_mut(object).and_then(serde_json::Value::as_object_mut) {
            object.retain(|field, _| field == kept);
        }
    }
    Some(payload.to_string())
}

impl Event {
    /// The name of the event of a source whose processing has just ended. `None` while it is in progress.
    pub const fn name_of_finished(source: &Source) -> Option<EventName> {
        match &source.state {
            SourceState::Trained(_) => Some(EventName::SourceTrained),
            SourceState::Failed { .. } => Some(EventName::SourceFailed),
            SourceState::Pending | SourceState::Processing { .. } => None,
        }
    }

    /// The event of a source whose processing has just ended. `None` while it is in progress. `content` is the text of
    /// the source's content, or `None` if no endpoint receives the event: then the event is stored without a copy of
    /// it.
    pub fn of_finished(
        source: &Source,
        content: Option<String>,
        id: Id<kind::Event>,
        request_id: Option<Id<kind::Request>>,
        now: Timestamp,
    ) -> Option<Self> {
        let name = Self::name_of_finished(source)?;
        let mut data = json!({
            "id": source.id,
            "type": source.content.source_type().name(),
            "status": source.state.status().name(),
            "character_count": source.state.searchable().map(|trained| trained.character_count),
            "agent_id": source.agent_id,
            "created_at": source.created_at,
        });
        if let Some(fields) = data.as_object_mut() {
            if let Some(content) = content {
                fields.insert("content".to_owned(), content.into());
            }
            if let Some(message) = source.state.error_message() {
                fields.insert("error_message".to_owned(), message.into());
            }
        }
        let payload = json!({ "event": name.name(), "created_at": now, "data": data });
        Some(Self {
            id,
            account_id: source.account_id,
            source_id: Some(source.id),
            conversation_id: None,
            name,
            request_id,
            created_at: now,
            payload: payload.to_string(),
        })
    }

    /// The event of a visitor who asks for a person.
    pub fn of_handoff(
        conversation: &Conversation,
        message: Option<&str>,
        id: Id<kind::Event>,
        now: Timestamp,
    ) -> Self {
        let data = json!({
            "conversation_id": conversation.id,
            "agent_id": conversation.agent_id,
            "widget_id": conversation.widget_id,
            "visitor": conversation.visitor,
            "message": message,
        });
        Self::of_conversation(EventName::HandoffRequested, conversation, id, data, now)
    }

    /// The event of a visitor who left contact details.
    pub fn of_lead(
        conversation: &Conversation,
        lead: &Lead,
        id: Id<kind::Event>,
        now: Timestamp,
    ) -> Self {
        let data = json!({
            "conversation_id": conversation.id,
            "agent_id": conversation.agent_id,
            "widget_id": conversation.widget_id,
            "visitor": conversation.visitor,
            "lead": lead,
        });
        Self::of_conversation(EventName::LeadCaptured, conversation, id, data, now)
    }

    /// The event of a reply that was rated. `texts` are the question and the reply, already cut.
    pub fn of_rating(
        conversation: &Conversation,
        number: u64,
        rating: &Rating,
        (question, reply): (&str, &str),
        id: Id<kind::Event>,
        now: Timestamp,
    ) -> Self {
        let data = json!({
            "conversation_id": conversation.id,
            "agent_id": conversation.agent_id,
            "n": number,
            "rating": { "value": rating.value.name(), "comment": rating.comment },
            "question": question,
            "reply": reply,
        });
        Self::of_conversation(EventName::MessageRated, conversation, id, data, now)
    }

    fn of_conversation(
        name: EventName,
        conversation: &Conversation,
        id: Id<kind::Event>,
        data: serde_json::Value,
        now: Timestamp,
    ) -> Self {
        let payload = json!({ "event": name.name(), "created_at": now, "data": data });
        Self {
            id,
            account_id: conversation.account_id,
            source_id: None,
            conversation_id: Some(conversation.id),
            name,
            request_id: None,
            created_at: now,
            payload: payload.to_string(),
        }
    }

    /// The event of a test of an endpoint.
    pub fn ping(
        endpoint: Id<kind::WebhookEndpoint>,
        account_id: Id<kind::Account>,
        id: Id<kind::Event>,
        request_id: Option<Id<kind::Request>>,
        now: Timestamp,
    ) -> Self {
        let name = EventName::Ping;
        let data = json!({ "webhook_endpoint_id": endpoint });
        let payload = json!({ "event": name.name(), "created_at": now, "data": data }).to_string();
        Self {
            id,
            account_id,
            source_id: None,
            conversation_id: None,
            name,
            request_id,
            created_at: now,
            payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{erased, without_content};

    #[test]
    fn a_payload_loses_the_content_and_nothing_else() {
        let payload =
            r#"{"created_at":"now","data":{"content":"secret","id":"src_1"},"event":"e"}"#;
        let left = r#"{"created_at":"now","data":{"id":"src_1"},"event":"e"}"#;
        assert_eq!(without_content(payload).as_deref(), Some(left));
        assert_eq!(without_content(left).as_deref(), Some(left));
        assert_eq!(without_content("no JSON"), None);
    }

    #[test]
    fn what_may_quote_a_deleted_source_is_erased() {
        let failed = r#"{"event":"source.failed","data":{"content":"x","error_message":"`Secret` is empty","source_id":"s"}}"#;
        let thin = without_content(failed).unwrap();
        assert!(thin.contains("Secret") && !thin.contains("content"), "{thin}");
        assert_eq!(
            erased(failed).unwrap(),
            r#"{"data":{"source_id":"s"},"event":"source.failed"}"#
        );
        let checks = r#"{"event":"checks.failed","data":{"run_id":"r","questions":["Secret?"]}}"#;
        assert_eq!(erased(checks).unwrap(), r#"{"data":{"run_id":"r"},"event":"checks.failed"}"#);
    }

    #[test]
    fn a_thin_payload_contains_nothing_that_people_wrote() {
        let thin = |event: &str, data: serde_json::Value| {
            let payload = serde_json::json!({ "event": event, "data": data }).to_string();
            let thin = without_content(&payload).unwrap();
            serde_json::from_str::<serde_json::Value>(&thin).unwrap()["data"].take()
        };
        let visitor =
            serde_json::json!({ "id": "vis_1", "subject": "s", "name": "n", "email": "e" });
        let handoff =
            serde_json::json!({ "conversation_id": "c", "visitor": visitor, "message": "m" });
        let left = serde_json::json!({ "conversation_id": "c", "visitor": { "id": "vis_1" } });
        assert_eq!(thin("conversation.handoff_requested", handoff), left);
        let lead = serde_json::json!({ "conversation_id": "c", "visitor": visitor, "lead": { "email": "e" } });
        assert_eq!(thin("lead.captured", lead), left);
        let rating = serde_json::json!({ "n": 2, "rating": { "value": "up", "comment": "c" }, "question": "q", "reply": "r" });
        assert_eq!(
            thin("message.rated", rating),
            serde_json::json!({ "n": 2, "rating": { "value": "up" } })
        );
    }
}
