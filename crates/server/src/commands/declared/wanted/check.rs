//! Checks of what a file asks for, by the rules of the server, so that `apply` does not stop halfway.
//!
//! What depends on the server is left to it: the models that it knows, private addresses, and whether a time has passed.

use cicerone_domain::access::{KeyName, parse_permissions};
use cicerone_domain::agent::{
    AgentName, AnswerFloor, ReplyTokens, RetentionDays, SystemPrompt, Temperature, parse_status,
};
use cicerone_domain::webhook::{self, EndpointDescription, EndpointUrl, Subscription};
use cicerone_domain::{Error, FieldError, SourceContent, Timestamp, every};
use serde_json::Value;

use crate::api_client::text;
use crate::commands::declared::content::Loaded;
use crate::commands::declared::manifest::{AgentEntry, Field, KeyEntry, WebhookEntry};
use crate::failure::Failure;

/// Checks an agent, whose system prompt was read.
pub(super) fn agent(at: &str, entry: &AgentEntry, prompt: &Field<String>) -> Result<(), Failure> {
    let checked = every((
        AgentName::parse(entry.name.as_str()),
        prompt.value().map(|prompt| SystemPrompt::parse(prompt.as_str())).transpose(),
        entry.temperature.value().copied().map(Temperature::parse).transpose(),
        entry.max_tokens.value().copied().map(ReplyTokens::parse).transpose(),
        entry.retention_days.value().copied().map(RetentionDays::parse).transpose(),
        entry.answer_floor.value().map(|name| AnswerFloor::parse(name)).transpose(),
        entry.status.as_deref().map(parse_status).transpose(),
    ));
    checked.map(drop).map_err(|error| refused(at, error))
}

/// Checks a webhook endpoint.
pub(super) fn webhook(at: &str, entry: &WebhookEntry) -> Result<(), Failure> {
    let description = entry.description.value();
    let checked = every((
        EndpointUrl::parse(entry.url.as_str()),
        entry.events.value().map(|names| Subscription::parse(names)).transpose(),
        description.map(|text| EndpointDescription::parse(text.as_str())).transpose(),
        entry.payload.value().map(|name| webhook::parse_payload(name)).transpose(),
        entry.status.as_deref().map(webhook::parse_status).transpose(),
    ));
    checked.map(drop).map_err(|error| refused(at, error))
}

/// Checks an API key, whose name may be that of its entry.
pub(super) fn api_key(at: &str, name: &str, entry: &KeyEntry) -> Result<(), Failure> {
    let time = |text: &String| {
        Timestamp::parse(text).map_err(|error| FieldError::new("expires_at", error.to_string()))
    };
    let checked = every((
        KeyName::parse(name),
        parse_permissions(&entry.permissions),
        entry.expires_at.value().map(time).transpose(),
    ));
    checked.map(drop).map_err(|error| refused(at, error))
}

/// Checks the content of a source. Whether a file can be read shows when it is processed.
pub(super) fn source(at: &str, loaded: &Loaded) -> Result<(), Failure> {
    let Loaded::Fields(fields) = loaded else { return Ok(()) };
    let kind = text(fields, "type");
    let crawl_subpages = fields.get("crawl_subpages") == Some(&Value::Bool(true));
    SourceContent::parse(kind, text(fields, "content").to_owned(), crawl_subpages)
        .map(drop)
        // The file has the content in the field that is named after its type.
        .map_err(|error| refused_as(at, error, |param| param.replacen("content", kind, 1)))
}

/// The refusal of the object at `at`, with all of its bad fields.
pub(super) fn refused(at: &str, error: Error) -> Failure {
    refused_as(at, error, str::to_owned)
}

fn refused_as(at: &str, error: Error, name: impl Fn(&str) -> String) -> Failure {
    let bad: Vec<FieldError> = match error {
        Error::Invalid(bad) | Error::Missing(bad) => bad.iter().cloned().collect(),
        Error::Validation { errors, .. } => errors,
        other => return Failure::from(other),
    };
    let bad = bad.iter().map(|bad| format!("`{at}.{}` {}", name(&bad.param), bad.message));
    Failure::new(bad.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cicerone_domain::limits;
    use serde_json::{Value, json};

    use crate::commands::declared::wanted::Wanted;

    fn refused(rest: &str) -> String {
        let yaml = format!("{{version: 1, set: s, {rest}}}");
        let wanted = Wanted::of(serde_saphyr::from_str(&yaml).unwrap(), Path::new("."));
        wanted.err().map_or(String::new(), |failure| failure.message().to_owned())
    }

    #[test]
    fn the_schema_has_the_limits_of_the_server() {
        let schema: Value = serde_json::from_str(crate::commands::declared::SCHEMA).unwrap();
        for (object, field, limit, value) in [
            ("agent", "name", "maxLength", json!(limits::AGENT_NAME_CHARS)),
            ("agent", "temperature", "minimum", json!(0)),
            ("agent", "temperature", "maximum", json!(2)),
            ("agent", "max_tokens", "minimum", json!(limits::REPLY_TOKENS_RANGE.0)),
            ("agent", "max_tokens", "maximum", json!(limits::REPLY_TOKENS_RANGE.1)),
            ("agent", "retention_days", "maximum", json!(limits::RETENTION_DAYS_RANGE.1)),
            ("agent", "system_prompt/anyOf/0", "maxLength", json!(limits::SYSTEM_PROMPT_CHARS)),
            ("source", "website", "maxLength", json!(limits::WEBSITE_URL_CHARS)),
            ("source", "text/anyOf/0", "maxLength", json!(limits::TEXT_SOURCE_CHARS)),
            ("source", "qa/anyOf/0", "maxItems", json!(limits::QA_PAIRS)),
            ("webhook", "description", "maxLength", json!(limits::DESCRIPTION_CHARS)),
        ] {
            let at = format!("/$defs/{object}/properties/{field}/{limit}");
            assert_eq!(schema.pointer(&at), Some(&value), "{at}");
        }
        assert_eq!(limits::TEMPERATURE_RANGE, (0.0, 2.0));
    }

    #[test]
    fn values_have_the_limits_of_the_server() {
        let (most_tokens, most_chars) = (limits::REPLY_TOKENS_RANGE.1, limits::TEXT_SOURCE_CHARS);
        let agent = |fields: &str| format!("agents: {{a: {{name: A, {fields}}}}}");
        let source = |content: &str| agent(&format!("sources: {{s: {{{content}}}}}"));
        for good in [
            agent(&format!("temperature: 2, max_tokens: {most_tokens}, answer_floor: eager")),
            agent("temperature: null, max_tokens: null, answer_floor: null, system_prompt: null"),
            source(&format!("text: {}", "ü".repeat(most_chars))),
            "webhooks: {w: {url: 'http://10.0.0.1/', events: null, payload: thin}}".to_owned(),
            "keys: {k: {permissions: ['*'], expires_at: '2020-01-01T00:00:00Z', write_to: k}}"
                .to_owned(),
        ] {
            assert_eq!(refused(&good), "", "{good:.99}");
        }
        for (bad, places) in [
            (
                agent("temperature: 9, max_tokens: 0, answer_floor: x, status: gone"),
                &["temperature", "max_tokens", "answer_floor", "status"][..],
            ),
            (agent(&format!("max_tokens: {}", most_tokens + 1)), &["max_tokens"]),
            (agent("temperature: .nan, retention_days: 0"), &["temperature", "retention_days"]),
            (source(&format!("text: {}", "ü".repeat(most_chars + 1))), &["sources.s.text"]),
            (source("text: ' '"), &["sources.s.text"]),
            (source("website: museum.example"), &["sources.s.website"]),
            (source("qa: [{question: Q, answer: ''}]"), &["sources.s.qa[0].answer"]),
        ] {
            let error = refused(&bad);
            for place in places {
                assert!(error.contains(&format!("`agents.a.{place}`")), "{error}");
            }
        }
        for (bad, place) in [
            (
                "webhooks: {w: {url: ops, events: [x]}}",
                ["`webhooks.w.url`", "`webhooks.w.events[0]`"],
            ),
            (
                "keys: {k: {permissions: [x], expires_at: soon, write_to: k}}",
                ["`keys.k.permissions[0]`", "`keys.k.expires_at`"],
            ),
        ] {
            let error = refused(bad);
            assert!(place.iter().all(|place| error.contains(place)), "{error}");
        }
    }
}
