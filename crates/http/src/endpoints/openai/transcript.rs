//! The messages that a client sends: the question, and the history that the client keeps.

mod content;

use std::collections::VecDeque;
use std::fmt;

use cicerone_domain::conversation::recent;
use cicerone_domain::text::is_blank;
use cicerone_domain::{
    Error as DomainError, FieldError, Message, MessageText, Role, Timestamp, limits,
};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::Json;
use content::{Content, ContentReader, Parts};

/// The names of the roles that are accepted.
const ROLES: &str = "`user`, `assistant`, `system` or `developer`";

/// A question with the messages before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Transcript {
    pub(super) question: MessageText,
    /// Oldest first, what [`recent`] keeps.
    pub(super) history: Vec<Message>,
}

/// How an API writes the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `messages` of chat completions.
    Messages,
    /// `input` of responses: a text, or items, of which some are not messages.
    Input,
}

impl Notation {
    const fn param(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Input => "input",
        }
    }
}

/// Reads the messages one by one, so that no more than the history is kept in memory. What is wrong with them is not an
/// error of the deserialiser, which does not know the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    pub(super) notation: Notation,
    pub(super) now: Timestamp,
}

/// A message that was read.
#[derive(Debug)]
struct Said {
    /// Its place in the list.
    place: usize,
    role: Role,
    text: String,
}

/// The messages that the reader has kept so far.
#[derive(Debug, Default)]
struct LastMessages {
    /// The last messages of the user and the assistant.
    said: VecDeque<Said>,
    count: usize,
}

impl LastMessages {
    fn push(&mut self, said: Said) {
        self.said.push_back(said);
        // One more than the history: the question.
        if self.said.len() > limits::HISTORY_MESSAGES + 1 {
            self.said.pop_front();
        }
    }
}

/// A message or another item, as received.
enum Item {
    Said(Role, Content),
    /// Something that no reply needs: an instruction, or an item that is not a message.
    Ignored,
    /// The field at fault and what it must satisfy.
    Bad(&'static str, String),
}

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Result<Transcript, DomainError>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Result<Transcript, DomainError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Err(DomainError::missing(self.notation.param())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(self.of_another_type())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(self.of_another_type())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(self.of_another_type())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(self.of_another_type())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(self.of_another_type())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if self.notation == Notation::Messages {
            return Ok(self.of_another_type());
        }
        let question = MessageText::parse_field(self.notation.param(), text);
        let transcript = question.map(|question| Transcript { question, history: Vec::new() });
        Ok(transcript.map_err(DomainError::from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let (mut kept, parts) = (LastMessages::default(), Parts::new());
        let mut fault = None;
        while kept.count < limits::CLIENT_MESSAGES && fault.is_none() {
            let Some(entry) = items.next_element_seed(EntryReader(self.notation, &parts))? else {
                return Ok(self.finish(kept));
            };
            let place = kept.count;
            kept.count += 1;
            let path = |field: &str| format!("{}[{place}]{field}", self.notation.param());
            match entry {
                Item::Ignored => {}
                // Some clients add an empty message for the future reply, or for a tool call.
                Item::Said(Role::Assistant, Content::Text(text)) if is_blank(&text) => {}
                Item::Bad(field, message) => fault = Some(FieldError::new(path(field), message)),
                Item::Said(role, Content::Text(text)) => kept.push(Said { place, role, text }),
                Item::Said(_, Content::Bad(within, message)) => {
                    fault = Some(FieldError::new(path(&format!(".content{within}")), message));
                }
            }
        }
        let mut are_more = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            are_more = true;
        }
        Ok(match fault {
            Some(fault) => Err(fault.into()),
            None if are_more => {
                Err(self.fault(format!("must have at most {} items", limits::CLIENT_MESSAGES)))
            }
            None => self.finish(kept),
        })
    }
}

impl Reader {
    /// The name of the parameter with the messages.
    pub(super) const fn param(&self) -> &'static str {
        self.notation.param()
    }

    fn fault(&self, message: impl Into<String>) -> DomainError {
        DomainError::invalid(self.notation.param(), message)
    }

    fn of_another_type(&self) -> Result<Transcript, DomainError> {
        Err(self.fault(match self.notation {
            Notation::Messages => "must be an array of objects",
            Notation::Input => "must be a string or an array of objects",
        }))
    }

    /// Takes the question from the messages.
    fn finish(&self, kept: LastMessages) -> Result<Transcript, DomainError> {
        let LastMessages { mut said, count } = kept;
        if count == 0 {
            return Err(self.fault("must have at least 1 item"));
        }
        let question = match said.pop_back() {
            Some(last) if last.role == Role::User => last,
            Some(_) | None => return Err(self.fault("must end with a message of the user")),
        };
        let param = format!("{}[{}].content", self.notation.param(), question.place);
        let question = MessageText::parse_field(&param, question.text)?;
        let message = |said: Said| Message {
            role: said.role,
            content: said.text,
            sources_used: Vec::new(),
            timestamp: self.now,
        };
        Ok(Transcript { question, history: recent(said.into_iter().map(message)) })
    }
}

/// Reads a message or another item.
struct EntryReader<'a>(Notation, &'a Parts);

impl<'de> DeserializeSeed<'de> for EntryReader<'_> {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Item, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EntryReader<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_unit<E: Error>(self) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Item, E> {
        Ok(not_an_object())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(not_an_object())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        let (mut kind, mut role, mut content) = (Json::Null, Json::Null, Content::empty());
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "type" => kind = map.next_value()?,
                "role" => role = map.next_value()?,
                "content" => content = map.next_value_seed(ContentReader(self.1))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if self.0 == Notation::Input && !kind.is_null() {
            match kind.text() {
                Some("message") => {}
                // A reference names a reply that was not stored, or that the conversation has anyway.
                Some("reasoning" | "item_reference") => return Ok(Item::Ignored),
                Some(_) | None => {
                    let message = "must be `message`, `reasoning` or `item_reference`: an agent calls no tools";
                    return Ok(Item::Bad(".type", message.to_owned()));
                }
            }
        }
        Ok(match role.text() {
            Some("user") => Item::Said(Role::User, content),
            Some("assistant") => Item::Said(Role::Assistant, content),
            // The agent has its own prompt, which a key without `agents:write` must not change.
            Some("system" | "developer") => Item::Ignored,
            Some(_) | None => Item::Bad(".role", format!("must be {ROLES}")),
        })
    }
}

fn not_an_object() -> Item {
    Item::Bad("", "must be an object".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Notation, Reader, Transcript};
    use cicerone_domain::{Error, Role, Timestamp, limits};
    use serde::de::DeserializeSeed as _;
    use serde_json::{Value, json};

    fn read(notation: Notation, value: &Value) -> Result<Transcript, Error> {
        let text = value.to_string();
        let mut from = serde_json::Deserializer::from_str(&text);
        Reader { notation, now: Timestamp::from_millis(0) }.deserialize(&mut from).unwrap()
    }

    fn messages(value: &Value) -> Result<Transcript, Error> {
        read(Notation::Messages, value)
    }

    fn fault(read: Result<Transcript, Error>) -> (String, String) {
        match read.unwrap_err() {
            Error::Invalid(bad) => {
                let first = bad.first().clone();
                (first.param, first.message)
            }
            other => panic!("{other:?}"),
        }
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    #[test]
    fn the_parts_of_all_messages_are_counted_together() {
        let parts = |count: usize| json!(vec![json!({"type": "text", "text": "a"}); count]);
        let sent = |last| {
            messages(
                &json!([user("b"), {"role": "user", "content": parts(4_000)}, {"role": "user", "content": parts(last)}]),
            )
        };
        assert!(sent(96).is_ok());
        let (param, message) = fault(sent(97));
        assert_eq!((param.as_str(), message.contains("4096 parts")), ("messages[2].content", true));
    }

    #[test]
    fn the_last_message_is_the_question_and_instructions_are_left_out() {
        let read = messages(&json!([
            {"role": "system", "content": "Be a pirate."},
            user("Hello"),
            {"role": "assistant", "content": [{"type": "text", "text": "Good"}, {"type": "text", "text": "day"}]},
            {"role": "assistant", "content": null, "tool_calls": []},
            user("When does it open?"),
            {"role": "developer", "content": "Be brief."},
            {"role": "assistant", "content": ""},
        ]))
        .unwrap();
        assert_eq!(read.question.as_str(), "When does it open?");
        let said: Vec<_> = read.history.iter().map(|m| (m.role, m.content.as_str())).collect();
        assert_eq!(said, [(Role::User, "Hello"), (Role::Assistant, "Good\nday")]);
    }

    #[test]
    fn the_history_is_what_is_newest_and_fits() {
        let numbered = |count: usize| -> Value {
            (0..count).map(|n| user(&n.to_string())).collect::<Vec<_>>().into()
        };
        let read = messages(&numbered(limits::CLIENT_MESSAGES)).unwrap();
        assert_eq!(read.history.len(), limits::HISTORY_MESSAGES);
        assert_eq!(read.question.as_str(), (limits::CLIENT_MESSAGES - 1).to_string());
        assert_eq!(read.history[0].content, (limits::CLIENT_MESSAGES - 41).to_string());
        let (param, message) = fault(messages(&numbered(limits::CLIENT_MESSAGES + 1)));
        assert_eq!((&*param, &*message), ("messages", "must have at most 2048 items"));

        let long = "x".repeat(limits::HISTORY_BYTES - 3);
        let read = messages(&json!([user("old"), user(&long), user("new"), user("?")])).unwrap();
        assert_eq!(read.history.len(), 2);
        let longer = format!("{long}x");
        let read = messages(&json!([user("old"), user(&longer), user("new"), user("?")])).unwrap();
        assert_eq!(read.history.len(), 1, "a message that does not fit ends the history");
    }

    #[test]
    fn a_fault_names_the_message_and_its_part() {
        let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
        for (value, param) in [
            (json!("Hello"), "messages"),
            (json!({}), "messages"),
            (json!(5), "messages"),
            (json!([]), "messages"),
            (json!([5]), "messages[0]"),
            (json!([[]]), "messages[0]"),
            (json!([{"content": "Hello"}]), "messages[0].role"),
            (json!([user("Hello"), {"role": "tool", "content": "x"}]), "messages[1].role"),
            (json!([{"role": ["user"], "content": "x"}]), "messages[0].role"),
            (json!([{"role": "user", "content": 5}]), "messages[0].content"),
            (json!([{"role": "user", "content": {}}]), "messages[0].content"),
            (json!([{"role": "user", "content": ["x"]}]), "messages[0].content[0]"),
            (json!([{"role": "user", "content": [{"text": "x"}]}]), "messages[0].content[0].type"),
            (
                json!([{"role": "user", "content": [{"type": "text", "text": "x"}, image]}]),
                "messages[0].content[1].type",
            ),
            (
                json!([{"role": "user", "content": [{"type": "text"}]}]),
                "messages[0].content[0].text",
            ),
            (json!([user("Hello"), {"role": "assistant", "content": "Hi"}]), "messages"),
            (json!([{"role": "system", "content": "Hi"}]), "messages"),
            (json!([user("Hello"), user(" ")]), "messages[1].content"),
            (json!([{"role": "user"}]), "messages[0].content"),
            (json!([user(&"é".repeat(limits::MESSAGE_CHARS + 1))]), "messages[0].content"),
        ] {
            assert_eq!(fault(messages(&value)).0, param, "{value}");
        }
        messages(&json!([user(&"é".repeat(limits::MESSAGE_CHARS))])).unwrap();
        assert!(matches!(messages(&Value::Null), Err(Error::Missing { .. })));
    }

    #[test]
    fn an_input_is_a_text_or_items() {
        let input = |value: &Value| read(Notation::Input, value);
        assert_eq!(input(&json!("Hello")).unwrap().question.as_str(), "Hello");
        assert_eq!(fault(input(&json!(""))).0, "input");
        let read = input(&json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "item_reference", "id": "msg_1"},
            {"id": "msg_2", "role": "assistant",
             "content": [{"type": "output_text", "text": "Hello", "annotations": []}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]},
            {"role": "user", "content": "When?"},
        ]))
        .unwrap();
        let said: Vec<_> = read.history.iter().map(|m| m.content.as_str()).collect();
        assert_eq!((read.question.as_str(), said), ("When?", vec!["Hi", "Hello", "No"]));
        for (value, param) in [
            (
                json!([{"type": "function_call_output", "call_id": "1", "output": ""}]),
                "input[0].type",
            ),
            (json!([{"type": 5}]), "input[0].type"),
            (json!([{"type": "message"}]), "input[0].role"),
        ] {
            assert_eq!(fault(input(&value)).0, param, "{value}");
        }
    }
}
