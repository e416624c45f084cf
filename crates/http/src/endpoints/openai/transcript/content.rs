//! The content of a message: a text, or parts of which all are texts.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::endpoints::openai::json::Json;

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Its text; empty if there is none.
    Text(String),
    /// The path to the bad part of the content, and its requirement.
    Bad(String, String),
}

impl Content {
    pub(super) const fn empty() -> Self {
        Self::Text(String::new())
    }

    fn not_text() -> Self {
        Self::Bad(String::new(), "must be a string or an array of parts".to_owned())
    }
}

/// The text of a part.
fn part(part: &Json) -> Result<&str, (&'static str, String)> {
    if !matches!(part, Json::Fields(_) | Json::Large) {
        return Err(("", "must be an object".to_owned()));
    }
    let kind = part.field("type").and_then(Json::text);
    let field = match kind {
        Some("text" | "input_text" | "output_text") => "text",
        Some("refusal") => "refusal",
        Some(_) | None => {
            let message =
                "must be `text`, `input_text`, `output_text` or `refusal`: agents read text only";
            return Err((".type", message.to_owned()));
        }
    };
    let text = part.field(field).and_then(Json::text);
    let dotted = if field == "text" { ".text" } else { ".refusal" };
    text.ok_or_else(|| (dotted, "must be a string".to_owned()))
}

/// The parts that may still be read of the contents of a body.
#[derive(Debug)]
pub(super) struct Parts(Cell<usize>);

impl Parts {
    /// Most parts of all contents of a body together. A body has room for a hundred times as many.
    pub(super) const MOST: usize = 4_096;

    pub(super) const fn new() -> Self {
        Self(Cell::new(Self::MOST))
    }
}

/// Reads a content.
#[derive(Clone, Copy)]
pub(super) struct ContentReader<'a>(pub(super) &'a Parts);

impl ContentReader<'_> {
    /// Whether another part may be read.
    fn has_room(self) -> bool {
        let Parts(left) = self.0;
        let rest = left.get().checked_sub(1);
        left.set(rest.unwrap_or_default());
        rest.is_some()
    }
}

impl<'de> DeserializeSeed<'de> for ContentReader<'_> {
    type Value = Content;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Content, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ContentReader<'_> {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::empty())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Content, E> {
        Ok(Content::not_text())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Content, E> {
        Ok(Content::not_text())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Content, E> {
        Ok(Content::not_text())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Content, E> {
        Ok(Content::not_text())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::not_text())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut whole = String::new();
        let mut place = 0_usize;
        while let Some(json) = parts.next_element::<Json>()? {
            if !self.has_room() {
                while parts.next_element::<IgnoredAny>()?.is_some() {}
                let message =
                    format!("must have at most {} parts with those of all messages", Parts::MOST);
                return Ok(Content::Bad(String::new(), message));
            }
            match part(&json) {
                Ok(text) => {
                    if place > 0 {
                        whole.push('\n');
                    }
                    whole.push_str(text);
                }
                Err((field, message)) => {
                    while parts.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(Content::Bad(format!("[{place}]{field}"), message));
                }
            }
            place += 1;
        }
        Ok(Content::Text(whole))
    }
}
