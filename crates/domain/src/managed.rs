//! The identity of an object that a declaration file manages: an agent, source, widget, webhook endpoint or API key.

use serde::Serialize;

use crate::error::Error;
use crate::every::every;
use crate::limits;
use crate::text::{Text, TextRule};

/// The identity of a managed object: the key of an entry in a set, and the hash of the entry's content when the object
/// was created from it.
///
/// No two agents, webhook endpoints or keys of an account have the same set and key. Sources have an identity within
/// their agent and may differ in the hash alone, so that a new version can be trained while the old one exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Managed {
    /// The set that the entry belongs to.
    pub set: SetName,
    /// The key of the entry in the set.
    pub key: ManagedKey,
    /// SHA-256 of the entry's content. The server only stores it.
    pub hash: ContentHash,
}

impl Managed {
    /// Checks the parts of the field `managed`.
    ///
    /// # Errors
    ///
    /// The first part that breaks its rule.
    pub fn parse(set: String, key: String, hash: String) -> Result<Self, Error> {
        let (set, key, hash) =
            every((SetName::parse(set), ManagedKey::parse(key), ContentHash::parse(hash)))?;
        Ok(Self { set, key, hash })
    }

    /// The error for a second object with this identity. `what` is the kind of the object, with its article.
    pub fn taken(&self, what: &str) -> Error {
        let Self { set, key, .. } = self;
        Error::Conflict(format!("{what} is already managed as `{key}` of the set `{set}`"))
    }
}

/// The name of a set: 1 to 40 characters of `A-Z a-z 0-9 . _ / -`.
pub type SetName = Text<SetNameRule>;

/// The rule of [`SetName`].
#[derive(Debug)]
pub enum SetNameRule {}

impl TextRule for SetNameRule {
    const PARAM: &'static str = "managed.set";

    fn check(text: &str) -> Result<(), String> {
        check_name(text, limits::MANAGED_SET_CHARS)
    }
}

/// The key of an entry in a set: 1 to 100 characters of `A-Z a-z 0-9 . _ / -`.
pub type ManagedKey = Text<ManagedKeyRule>;

/// The rule of [`ManagedKey`].
#[derive(Debug)]
pub enum ManagedKeyRule {}

impl TextRule for ManagedKeyRule {
    const PARAM: &'static str = "managed.key";

    fn check(text: &str) -> Result<(), String> {
        check_name(text, limits::MANAGED_KEY_CHARS)
    }
}

/// The SHA-256 of an entry's content: 64 lower-case hexadecimal digits.
pub type ContentHash = Text<ContentHashRule>;

/// The rule of [`ContentHash`].
#[derive(Debug)]
pub enum ContentHashRule {}

impl TextRule for ContentHashRule {
    const PARAM: &'static str = "managed.hash";

    fn check(text: &str) -> Result<(), String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == limits::MANAGED_HASH_CHARS && text.bytes().all(is_digit) {
            return Ok(());
        }
        Err(format!("must be {} lower-case hexadecimal digits", limits::MANAGED_HASH_CHARS))
    }
}

fn check_name(text: &str, most: usize) -> Result<(), String> {
    let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    if (1..=most).contains(&text.len()) && text.bytes().all(is_taken) {
        return Ok(());
    }
    Err(format!("must be 1 to {most} characters of A-Z, a-z, 0-9, `.`, `_`, `/` and `-`"))
}

#[cfg(test)]
mod tests {
    use super::Managed;
    use crate::Error;

    fn refused(set: &str, key: &str, hash: &str) -> Option<String> {
        let parsed = Managed::parse(set.to_owned(), key.to_owned(), hash.to_owned());
        parsed.err().map(|error| error.params().join(" "))
    }

    #[test]
    fn each_part_has_its_characters_and_limit() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(refused("museum", "guide/prices.v2_x-1", &hash), None);
        assert_eq!(refused(&"s".repeat(40), &"k".repeat(100), &hash), None);
        for set in ["", "a b", "é", "a\0", &"s".repeat(41)] {
            assert_eq!(refused(set, "k", &hash).as_deref(), Some("managed.set"), "{set}");
        }
        for key in ["", "a:b", &"k".repeat(101)] {
            assert_eq!(refused("s", key, &hash).as_deref(), Some("managed.key"), "{key}");
        }
        for hash in ["", &hash[1..], &hash.to_uppercase(), &format!("{hash}0"), &"g".repeat(64)] {
            assert_eq!(refused("s", "k", hash).as_deref(), Some("managed.hash"), "{hash}");
        }
    }

    #[test]
    fn the_refusal_of_a_second_object_names_set_and_key() {
        let managed = Managed::parse("s".into(), "k".into(), "0".repeat(64)).unwrap();
        let Error::Conflict(message) = managed.taken("another agent") else { panic!() };
        assert_eq!(message, "another agent is already managed as `k` of the set `s`");
    }
}
