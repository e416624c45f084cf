//! The parts of the wire format of chat completions that are used.

use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// The most choices of a completion that are kept.
const CHOICES: usize = 8;
/// No model reads or writes more tokens for one reply. Larger numbers come from faults, such as −1 without a sign.
const MOST_TOKENS: u64 = 100_000_000;

/// The body of `POST /chat/completions`.
#[derive(Debug, Serialize)]
pub(crate) struct CompletionRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: &'a [PromptMessage],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_completion_tokens: Option<u32>,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream_options: Option<StreamOptions>,
}

#[derive(Debug, Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PromptMessage {
    pub(crate) role: PromptRole,
    pub(crate) content: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PromptRole {
    System,
    User,
    Assistant,
}

/// A complete completion, or one chunk of a streamed one: they differ in `message` and `delta`.
#[derive(Debug, Deserialize)]
pub(super) struct Completion {
    #[serde(default)]
    pub(super) choices: Option<Choices>,
    #[serde(default, deserialize_with = "plausible")]
    pub(super) usage: Option<Usage>,
    /// The error, in any shape.
    #[serde(default)]
    pub(super) error: Option<serde_json::Value>,
}

/// The choices with the index 0, the first [`CHOICES`] of them: one is asked for, and a faulty server may send millions.
#[derive(Debug, Default)]
pub(super) struct Choices(pub(super) Vec<Choice>);

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Choices;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices, A::Error> {
                let mut kept = Vec::new();
                while let Some(choice) = list.next_element::<Choice>()? {
                    if choice.index == 0 && kept.len() < CHOICES {
                        kept.push(choice);
                    }
                }
                Ok(Choices(kept))
            }
        }

        deserializer.deserialize_seq(List)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    index: u32,
    /// A piece of the message, in a chunk.
    #[serde(default)]
    delta: Option<Delta>,
    /// The complete message, in a completion without streaming.
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    content: Option<Content>,
    /// The reason why the model declines to answer, instead of content.
    #[serde(default)]
    refusal: Option<String>,
    /// The reasoning of a model, which shows that it is working. Servers use several names for it.
    #[serde(default)]
    reasoning_content: Option<Content>,
    #[serde(default)]
    reasoning: Option<Content>,
}

/// A text, or a list of parts, some of which are texts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Choice {
    /// Its text in the reply.
    pub(super) fn into_delta(self) -> Delta {
        self.delta.or(self.message).unwrap_or_default()
    }
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
}

/// The token counts of an answer; `None` if one of them is no number of at most [`MOST_TOKENS`]: then the tokens are
/// estimated, as if the server had sent none.
fn plausible<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
    let stated = serde_json::Value::deserialize(deserializer)?;
    let count = |name: &str| match stated.get(name) {
        Some(count) => count.as_u64().filter(|count| *count <= MOST_TOKENS),
        None => Some(0),
    };
    let usage = || {
        Some(Usage {
            prompt_tokens: count("prompt_tokens")?,
            completion_tokens: count("completion_tokens")?,
        })
    };
    Ok(if stated.is_object() { usage() } else { None })
}

impl Delta {
    /// The text that belongs to the reply.
    pub(super) fn text(self) -> String {
        let content = self.content.map(Content::into_text).unwrap_or_default();
        if content.is_empty() { self.refusal.unwrap_or_default() } else { content }
    }

    /// Whether it contains reasoning.
    pub(super) fn is_reasoning(&self) -> bool {
        self.reasoning_content.is_some() || self.reasoning.is_some()
    }
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

/// The text of an `error` value: its `message`, or all of it.
pub(super) fn error_text(error: &serde_json::Value) -> String {
    let message = error.get("message").and_then(serde_json::Value::as_str);
    message.or_else(|| error.as_str()).map_or_else(|| error.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Completion, error_text};

    fn text(json: &str) -> String {
        let completion: Completion = serde_json::from_str(json).unwrap();
        completion.choices.unwrap().0.remove(0).into_delta().text()
    }

    #[test]
    fn content_is_read_from_every_shape() {
        assert_eq!(text(r#"{"choices":[{"delta":{"content":"a"}}]}"#), "a");
        assert_eq!(text(r#"{"choices":[{"message":{"role":"assistant","content":"b"}}]}"#), "b");
        let parts = r#"{"choices":[{"delta":{"content":[{"type":"thinking"},{"text":"c"}]}}]}"#;
        assert_eq!(text(parts), "c");
        let refusal = r#"{"choices":[{"delta":{"content":null,"refusal":"no"}}]}"#;
        assert_eq!(text(refusal), "no");
    }

    #[test]
    fn an_error_is_read_from_every_shape() {
        assert_eq!(error_text(&serde_json::json!({"message": "m", "code": 1})), "m");
        assert_eq!(error_text(&serde_json::json!("m")), "m");
        assert_eq!(error_text(&serde_json::json!({"detail": 1})), r#"{"detail":1}"#);
    }
}
