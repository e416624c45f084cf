//! Values of the file that can be written in more than one way.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A field that can be omitted, or set to null to restore its default.
#[derive(Debug, Default)]
pub(in super::super) enum Field<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Field<T> {
    /// The value, if one is written.
    pub(in super::super) const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Null, Self::Value))
    }
}

/// Reads entries by their keys. A key that is written twice is refused in every notation: JSON's reader would take the last.
pub(in super::super) fn entries<'de, T, D>(from: D) -> Result<Option<BTreeMap<String, T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::<Entries<T>>::deserialize(from)?.map(|Entries(entries)| entries))
}

struct Entries<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if entries.contains_key(&key) {
                return Err(de::Error::custom(format!("duplicate key `{key}`")));
            }
            entries.insert(key, map.next_value()?);
        }
        Ok(Entries(entries))
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
