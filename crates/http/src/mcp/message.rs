//! Reads a message as far as needed before `rmcp` does, within limits.

use std::cell::Cell;
use std::fmt;

use cicerone_domain::limits::MCP_VALUES;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::Value;
use serde_json::error::Category;

/// The method that calls a tool.
const CALL: &str = "tools/call";
/// The code of JSON-RPC for a text that is not JSON.
const PARSE_ERROR: i32 = -32_700;
/// The code of JSON-RPC for JSON that is not a message.
pub(super) const INVALID_REQUEST: i32 = -32_600;

/// The facts about a message that are known before `rmcp` reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The tool that it calls.
    pub(super) tool: Option<String>,
}

/// Why a text is not a message: an error of JSON-RPC.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
}

impl Message {
    /// Reads a text. Memory is bounded by its length and the number of values that a message may have.
    pub(super) fn read(text: &[u8]) -> Result<Self, Refusal> {
        let invalid = |message: String| Refusal { code: INVALID_REQUEST, message };
        let parsed =
            check_values(text).and_then(|()| serde_json::from_slice(text)).map_err(|error| {
                match error.classify() {
                    Category::Data => invalid(format!("a message has at most {MCP_VALUES} values")),
                    Category::Io | Category::Syntax | Category::Eof => Refusal {
                        code: PARSE_ERROR,
                        message: format!("the body must be JSON ({error})"),
                    },
                }
            })?;
        let fields = match parsed {
            Value::Object(fields) => fields,
            Value::Array(_) => {
                let message = "a request contains one message; batches are not supported";
                return Err(invalid(message.to_owned()));
            }
            _ => return Err(invalid("a message is a JSON object".to_owned())),
        };
        let is_call = fields.get("method").is_some_and(|method| method == CALL);
        let name = fields.get("params").and_then(|params| params.get("name")?.as_str());
        Ok(Self { tool: name.filter(|_| is_call).map(str::to_owned) })
    }
}

/// Returns an error of the category `Data` if a text has too many values, and others if it is not JSON.
fn check_values(text: &[u8]) -> serde_json::Result<()> {
    let left = Cell::new(MCP_VALUES);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    Values(&left).deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Counts values down, and keeps nothing of them.
#[derive(Clone, Copy)]
struct Values<'a>(&'a Cell<usize>);

impl Values<'_> {
    fn count<E: de::Error>(self) -> Result<(), E> {
        let left = self.0.get().checked_sub(1).ok_or_else(|| E::custom("too many values"))?;
        self.0.set(left);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.count()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.count()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.count()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.count()
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.count()
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.count()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.count()?;
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.count()?;
        while fields.next_key::<IgnoredAny>()?.is_some() {
            fields.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{INVALID_REQUEST, MCP_VALUES as VALUES, Message, PARSE_ERROR};

    fn code(text: impl AsRef<[u8]>) -> i32 {
        Message::read(text.as_ref()).unwrap_err().code
    }

    #[test]
    fn the_tool_of_a_call_is_known() {
        let tool = |text: &str| Message::read(text.as_bytes()).unwrap().tool;
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#;
        assert_eq!(tool(call).as_deref(), Some("ask"));
        for other in [
            r#"{"method":"prompts/get","params":{"name":"ask"}}"#,
            r#"{"method":"tools/call","params":{"name":5}}"#,
            r#"{"method":"tools/call","params":["ask"]}"#,
            r#"{"method":"tools/call"}"#,
            r#"{"method":{"tools/call":1}}"#,
            "{}",
        ] {
            assert_eq!(tool(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_not_one_json_object_is_refused() {
        for text in ["", "{", "{}{}", "{\"a\":}", "\u{feff}{}", "nul", "{\"a\":1e999}"] {
            assert_eq!(code(text), PARSE_ERROR, "{text}");
        }
        assert_eq!(code(b"{\"a\": \"\xff\"}"), PARSE_ERROR);
        assert_eq!(code("[".repeat(100_000)), PARSE_ERROR);
        assert_eq!(code(format!("{}{}", "[".repeat(200), "]".repeat(200))), PARSE_ERROR);
        for text in ["[]", "[{\"jsonrpc\":\"2.0\"}]", "null", "5", "\"text\"", "true"] {
            assert_eq!(code(text), INVALID_REQUEST, "{text}");
        }
    }

    #[test]
    fn a_message_has_at_most_4096_values() {
        // The object and the array are two of them.
        let with = |count: usize| format!("{{\"a\":[{}]}}", vec!["0"; count].join(","));
        assert!(Message::read(with(VALUES - 2).as_bytes()).is_ok());
        let refusal = Message::read(with(VALUES - 1).as_bytes()).unwrap_err();
        assert_eq!(refusal.code, INVALID_REQUEST);
        assert!(refusal.message.contains("4096"), "{refusal:?}");
        let fields = |count: usize| {
            let fields = (0..count).map(|n| format!("\"{n}\":null")).collect::<Vec<_>>();
            format!("{{{}}}", fields.join(","))
        };
        assert!(Message::read(fields(VALUES - 1).as_bytes()).is_ok());
        assert_eq!(code(fields(VALUES)), INVALID_REQUEST);
    }
}
