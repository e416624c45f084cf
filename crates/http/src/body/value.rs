//! The part of a JSON value that a field can hold. For anything else, only its presence is
//! recorded.
//!
//! A body of some megabytes can contain millions of values, each of which would take many times its
//! length in memory. Values that no field can hold are only checked for their syntax.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::shown;

/// Most fields of an object, and most items of an array, that are kept.
pub(super) const MEMBERS: usize = 256;

/// A field's value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Items(Members<Item>),
    Pairs(Members<(String, Item)>),
    /// In the place of a field that cannot be read: it can be read as anything.
    Any,
}

impl Value {
    /// Drops the content of texts, and the ends of long names: only types are needed to find out which fields are bad, and only
    /// the beginnings of names to report them.
    pub(super) fn shorten(&mut self) {
        match self {
            Self::Text(text) => *text = String::new(),
            Self::Items(Some(items)) => items.iter_mut().for_each(|Item(item)| item.shorten()),
            Self::Pairs(Some(pairs)) => {
                for (name, Item(item)) in pairs {
                    *name = shown(name);
                    item.shorten();
                }
            }
            Self::Null
            | Self::Flag(_)
            | Self::Integer(_)
            | Self::Number(_)
            | Self::Items(None)
            | Self::Pairs(None)
            | Self::Any => {}
        }
    }
}

/// The content of an array or an object; `None` if it has more than [`MEMBERS`] members.
pub(super) type Members<T> = Option<Vec<T>>;

/// A value within an array or object. Nothing is kept of nested arrays and objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item(pub(super) Value);

/// The fields of a whole body, which must be an object.
#[derive(Debug)]
pub(super) struct Object(pub(super) Members<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ItemVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object, A::Error> {
        pairs(map).map(Object)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Number(number as f64), Value::Integer))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MEMBERS {
            match items.next_element()? {
                Some(item) => kept.push(item),
                None => return Ok(Value::Items(Some(kept))),
            }
        }
        let mut is_longer = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            is_longer = true;
        }
        Ok(Value::Items((!is_longer).then_some(kept)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        pairs(map).map(Value::Pairs)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Item, E> {
        ValueVisitor.visit_unit().map(Item)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Item, E> {
        ValueVisitor.visit_bool(flag).map(Item)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Item, E> {
        ValueVisitor.visit_i64(number).map(Item)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Item, E> {
        ValueVisitor.visit_u64(number).map(Item)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Item, E> {
        ValueVisitor.visit_f64(number).map(Item)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Item, E> {
        ValueVisitor.visit_str(text).map(Item)
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Item, E> {
        ValueVisitor.visit_string(text).map(Item)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Item(Value::Items(None)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Item(Value::Pairs(None)))
    }
}

fn pairs<'de, A, T>(mut map: A) -> Result<Members<(String, T)>, A::Error>
where
    A: MapAccess<'de>,
    T: Deserialize<'de>,
{
    let mut kept = Vec::new();
    while kept.len() < MEMBERS {
        match map.next_entry()? {
            Some(pair) => kept.push(pair),
            None => return Ok(Some(kept)),
        }
    }
    let mut is_larger = false;
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
        is_larger = true;
    }
    Ok((!is_larger).then_some(kept))
}
