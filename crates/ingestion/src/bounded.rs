//! Lists from an untrusted process.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

/// Reads a list of at most `MOST` items. A longer one is refused at the first excess item, before it takes memory.
pub(crate) fn at_most<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

struct Bounded<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == MOST {
                return Err(A::Error::custom(format_args!("a list has more than {MOST} items")));
            }
            list.push(item);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::at_most;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Listed(#[serde(deserialize_with = "at_most::<_, _, 2>")] Vec<String>);

    #[test]
    fn a_list_is_read_up_to_its_bound() {
        let read = |json: &str| serde_json::from_str::<Listed>(json).map(|listed| listed.0.len());
        assert_eq!((read("[]").unwrap(), read(r#"["a", "b"]"#).unwrap()), (0, 2));
        let error = read(r#"["a", "b", "c""#).unwrap_err().to_string();
        assert!(error.contains("more than 2 items"), "{error}");
    }
}
