//! JSON values of a few levels, for parameters that are objects.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Most fields of an object, and most items of an array, that are kept.
const MEMBERS: usize = 64;
/// Levels that are kept.
const LEVELS: u8 = 3;
/// Most values that are kept of the parameters of a body together, and of a part of a message. Each takes up to some
/// hundred bytes of memory, however short its text is.
const VALUES: usize = 1_024;

/// A value. Values that are deeper than [`LEVELS`], have more than [`MEMBERS`] members, or follow [`VALUES`] others,
/// are only recorded as present.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
    Items(Vec<Json>),
    Fields(Vec<(String, Json)>),
    Large,
}

impl Json {
    /// A field of an object. Of a field that is given twice, the last counts.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Room::new().value().deserialize(from)
    }
}

/// Room for [`VALUES`] values.
pub(super) struct Room(Cell<usize>);

impl Room {
    pub(super) const fn new() -> Self {
        Self(Cell::new(VALUES))
    }

    /// Reads a value into the room.
    pub(super) const fn value(&self) -> Level<'_> {
        Level { levels: LEVELS, left: &self.0 }
    }
}

/// Reads a value of that many levels.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    levels: u8,
    /// How many values may still be kept.
    left: &'a Cell<usize>,
}

impl Level<'_> {
    const fn below(self) -> Self {
        Self { levels: self.levels.saturating_sub(1), ..self }
    }

    /// Whether another member may be kept in addition to this number.
    fn has_room(self, members: usize) -> bool {
        self.levels > 0 && members < MEMBERS && self.left.get() > 0
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        // A value of the first level is kept even if there is no room: there is one for each known parameter.
        self.left.set(self.left.get().saturating_sub(1));
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut kept = Vec::new();
        while self.has_room(kept.len()) {
            match items.next_element_seed(self.below())? {
                Some(item) => kept.push(item),
                None => return Ok(Json::Items(kept)),
            }
        }
        let mut is_whole = true;
        while items.next_element::<IgnoredAny>()?.is_some() {
            is_whole = false;
        }
        Ok(if is_whole { Json::Items(kept) } else { Json::Large })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut kept = Vec::new();
        while self.has_room(kept.len()) {
            let Some(name) = map.next_key()? else { return Ok(Json::Fields(kept)) };
            kept.push((name, map.next_value_seed(self.below())?));
        }
        let mut is_whole = true;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_whole = false;
        }
        Ok(if is_whole { Json::Fields(kept) } else { Json::Large })
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn fields_are_found_and_the_last_of_two_counts() {
        let value = read(r#"{"type": "a", "type": "b", "deep": {"n": [1]}}"#);
        assert_eq!(value.field("type").and_then(Json::text), Some("b"));
        let deep = value.field("deep").and_then(|deep| deep.field("n"));
        assert_eq!(deep, Some(&Json::Items(vec![Json::Number(1.0)])));
        assert_eq!(value.field("other"), None);
    }

    #[test]
    fn what_comes_after_1024_values_is_not_kept() {
        fn count(value: &Json) -> usize {
            1 + match value {
                Json::Items(items) => items.iter().map(count).sum(),
                Json::Fields(fields) => fields.iter().map(|(_, value)| count(value)).sum(),
                _ => 0,
            }
        }
        let row = format!("[{}0]", "0,".repeat(63));
        let rows = |count: usize| read(&format!("[{}0]", format!("{row},").repeat(count)));
        assert_eq!(count(&rows(15)), 1 + 15 * 65 + 1);
        assert_eq!(rows(16), Json::Large);
        let fields = format!("{{\"a\": {}, \"b\": {}}}", rows_of(15, &row), rows_of(15, &row));
        let read_fields = read(&fields);
        assert!(matches!(read_fields.field("a"), Some(Json::Items(items)) if items.len() == 15));
        assert_eq!(read_fields.field("b"), Some(&Json::Large));
        assert_eq!(read(&rows_of(1_000, &row)), Json::Large);
    }

    fn rows_of(count: usize, row: &str) -> String {
        format!("[{}]", vec![row; count].join(","))
    }

    #[test]
    fn what_is_large_or_deep_takes_no_memory() {
        assert_eq!(
            read(&format!("[{}0]", "0,".repeat(63))),
            Json::Items(vec![Json::Number(0.0); 64])
        );
        assert_eq!(read(&format!("[{}0]", "0,".repeat(64))), Json::Large);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let levels = |inner| Json::Items(vec![Json::Items(vec![Json::Items(vec![inner])])]);
        assert_eq!(read(&deep), levels(Json::Large));
        let fields = (0..65).map(|n| format!("\"{n}\":0")).collect::<Vec<_>>().join(",");
        assert_eq!(read(&format!("{{{fields}}}")), Json::Large);
    }
}
