//! The fields of a body as serde reads them, with the message for each wrong type.

use std::collections::HashMap;
use std::fmt::Display;

use serde::Deserializer;
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::value::{Item, MEMBERS, Value};

/// The requirement for a field, in lower case and without a final period.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Fault(String);

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The fields of a body. They are read in the order of the struct's fields, so that the same body
/// gets the same refusal whatever the order of its fields.
pub(super) struct Fields<'a> {
    values: HashMap<String, Value>,
    /// Receives the names of the struct's fields that are present and not null.
    given: &'a mut Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(values: HashMap<String, Value>, given: &'a mut Vec<&'static str>) -> Self {
        Self { values, given }
    }
}

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Fault;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let is_given = |name: &&&str| self.values.get(**name).is_some_and(|v| *v != Value::Null);
        self.given.extend(names.iter().filter(is_given));
        visitor.visit_map(InOrder { names: names.iter(), values: self.values, next: None })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(MapDeserializer::new(self.values.into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Returns the fields in the order of `names`.
struct InOrder {
    names: std::slice::Iter<'static, &'static str>,
    values: HashMap<String, Value>,
    next: Option<Value>,
}

impl<'de> MapAccess<'de> for InOrder {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let values = &mut self.values;
        let found = self.names.find_map(|name| values.remove(*name).map(|value| (*name, value)));
        let Some((name, value)) = found else { return Ok(None) };
        self.next = Some(value);
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        // Serde asks for a value only after its key.
        seed.deserialize(self.next.take().unwrap_or(Value::Null))
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Null | Self::Any => visitor.visit_unit(),
            Self::Flag(flag) => visitor.visit_bool(flag),
            Self::Integer(number) => visitor.visit_i64(number),
            Self::Number(number) => visitor.visit_f64(number),
            Self::Text(text) => visitor.visit_string(text),
            Self::Items(_) => self.deserialize_seq(visitor),
            Self::Pairs(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Null | Self::Any => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Text(text) => visitor.visit_string(text),
            Self::Any => visitor.visit_string(String::new()),
            _ => Err(Fault("must be a string".to_owned())),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Number(number) => visitor.visit_f64(number),
            Self::Integer(number) => visitor.visit_f64(number as f64),
            Self::Any => visitor.visit_f64(0.0),
            _ => Err(Fault("must be a number".to_owned())),
        }
    }

    /// Accepts every JSON notation of an integer: `5`, `5.0` and `5e0` are the same number. A
    /// number beyond 64 bits becomes the nearest one.
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Integer(number) => visitor.visit_i64(number),
            Self::Number(number) if number.fract() == 0.0 => visitor.visit_i64(number as i64),
            Self::Any => visitor.visit_i64(0),
            _ => Err(Fault("must be an integer".to_owned())),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Flag(flag) => visitor.visit_bool(flag),
            Self::Any => visitor.visit_bool(false),
            _ => Err(Fault("must be true or false".to_owned())),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Items(Some(items)) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Self::Any => visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<Item>())),
            Self::Items(None) => Err(Fault(format!("must have at most {MEMBERS} items"))),
            _ => Err(Fault("must be an array of strings".to_owned())),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Pairs(Some(pairs)) => visitor.visit_map(MapDeserializer::new(pairs.into_iter())),
            Self::Any => {
                visitor.visit_map(MapDeserializer::new(std::iter::empty::<(String, Item)>()))
            }
            Self::Pairs(None) => Err(Fault(format!("must have at most {MEMBERS} keys"))),
            _ => Err(Fault("must be an object".to_owned())),
        }
    }

    /// An object. An array with the values in the order of the struct's fields is not accepted.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    /// Whatever it is.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct enum identifier
    }
}

impl IntoDeserializer<'_, Fault> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl IntoDeserializer<'_, Fault> for Item {
    type Deserializer = Value;

    fn into_deserializer(self) -> Value {
        self.0
    }
}
