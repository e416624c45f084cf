//! Values of JSON that are read without keeping more than they may have: serde alone would keep a list of any length.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// A JSON object. The structs alone would also be read from arrays of their values.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

/// An array of at most `MOST` items. A longer one is refused at the first excess item.
pub(super) struct Few<T, const MOST: usize>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T, const MOST: usize>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for FewVisitor<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MOST} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MOST {
            match items.next_element()? {
                Some(item) => kept.push(item),
                None => return Ok(Few(kept)),
            }
        }
        match items.next_element::<serde::de::IgnoredAny>()? {
            None => Ok(Few(kept)),
            Some(_) => Err(A::Error::custom(format!("more than {MOST} items"))),
        }
    }
}
