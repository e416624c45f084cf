//! The content of a message: a text, or parts of which all are texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

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

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
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
