//! Values of the file that can be written in more than one way.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A field that can be left out, or set to null to get its default back.
#[derive(Debug, Default)]
pub(in super::super) enum Field<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Null, Self::Value))
    }
}

/// A text, or the file that contains it.
#[derive(Debug)]
pub(in super::super) enum TextFrom {
    Inline(String),
    File(String),
}

/// The file that contains a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOf {
    file: String,
}

impl<'de> Deserialize<'de> for TextFrom {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = TextFrom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or `file` with a path")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TextFrom, E> {
        Ok(TextFrom::Inline(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextFrom, A::Error> {
        FileOf::deserialize(MapAccessDeserializer::new(map)).map(|of| TextFrom::File(of.file))
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Pair {
    pub(in super::super) question: String,
    pub(in super::super) answer: String,
}

/// Pairs in their order.
pub(in super::super) type Pairs = Vec<Pair>;

/// Pairs, or the CSV or JSON file that contains them.
#[derive(Debug)]
pub(in super::super) enum PairsFrom {
    Inline(Pairs),
    File(String),
}

impl<'de> Deserialize<'de> for PairsFrom {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = PairsFrom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pairs, or `file` with a path")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<PairsFrom, A::Error> {
        Pairs::deserialize(SeqAccessDeserializer::new(list)).map(PairsFrom::Inline)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PairsFrom, A::Error> {
        FileOf::deserialize(MapAccessDeserializer::new(map)).map(|of| PairsFrom::File(of.file))
    }
}
