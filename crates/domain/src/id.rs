//! Identifiers: a type prefix and 10 random alphanumeric characters. For some kinds, ids that are created at about the
//! same time have the same first three characters.

mod run;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::clock::Entropy;
pub use run::IdRuns;

/// Random characters after the prefix.
const LENGTH: usize = 10;
/// 62 characters: URL-safe and case-sensitive.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Room for an id with its prefix.
type Written = [u8; 2 * LENGTH];

/// A kind of resource that has ids. The prefix distinguishes the ids of different kinds.
pub trait Kind {
    /// The prefix, with its underscore.
    const PREFIX: &'static str;
    /// The resource's name in messages.
    const NAME: &'static str;
}

/// The kinds of resources that have ids.
pub mod kind {
    use super::Kind;

    /// An account: `acct_`.
    #[derive(Debug)]
    pub enum Account {}
    /// An API key: `key_`. The id names the key and is no secret.
    #[derive(Debug)]
    pub enum ApiKey {}
    /// An agent: `agent_`.
    #[derive(Debug)]
    pub enum Agent {}
    /// A source of an agent: `src_`.
    #[derive(Debug)]
    pub enum Source {}
    /// A document of a source: `doc_`.
    #[derive(Debug)]
    pub enum Document {}
    /// A conversation with an agent: `conv_`.
    #[derive(Debug)]
    pub enum Conversation {}
    /// A group of questions that were not answered.
    #[derive(Debug)]
    pub enum Gap {}
    /// An uploaded file.
    #[derive(Debug)]
    pub enum Upload {}
    /// A job that processes a source: `job_`.
    #[derive(Debug)]
    pub enum Job {}
    /// An event that webhooks report: `evt_`.
    #[derive(Debug)]
    pub enum Event {}
    /// A webhook endpoint: `whep_`.
    #[derive(Debug)]
    pub enum WebhookEndpoint {}
    /// A delivery of an event to an endpoint: `dlv_`.
    #[derive(Debug)]
    pub enum Delivery {}
    /// A record of the audit log.
    #[derive(Debug)]
    pub enum AuditRecord {}
    /// A run of an agent's checks: `run_`.
    #[derive(Debug)]
    pub enum CheckRun {}
    /// A widget of an agent: `wgt_`.
    #[derive(Debug)]
    pub enum Widget {}
    /// A visitor who has no identity of the owner's site: `vis_`.
    #[derive(Debug)]
    pub enum Visitor {}
    /// A request, as logs and answers name it: `req_`.
    #[derive(Debug)]
    pub enum Request {}

    impl Kind for Account {
        const PREFIX: &'static str = "acct_";
        const NAME: &'static str = "account";
    }
    impl Kind for ApiKey {
        const PREFIX: &'static str = "key_";
        const NAME: &'static str = "API key";
    }
    impl Kind for Agent {
        const PREFIX: &'static str = "agent_";
        const NAME: &'static str = "agent";
    }
    impl Kind for Source {
        const PREFIX: &'static str = "src_";
        const NAME: &'static str = "source";
    }
    impl Kind for Document {
        const PREFIX: &'static str = "doc_";
        const NAME: &'static str = "document";
    }
    impl Kind for Conversation {
        const PREFIX: &'static str = "conv_";
        const NAME: &'static str = "conversation";
    }
    impl Kind for Gap {
        const PREFIX: &'static str = "gap_";
        const NAME: &'static str = "gap";
    }
    impl Kind for Upload {
        const PREFIX: &'static str = "file_";
        const NAME: &'static str = "file";
    }
    impl Kind for Job {
        const PREFIX: &'static str = "job_";
        const NAME: &'static str = "job";
    }
    impl Kind for Event {
        const PREFIX: &'static str = "evt_";
        const NAME: &'static str = "event";
    }
    impl Kind for WebhookEndpoint {
        const PREFIX: &'static str = "whep_";
        const NAME: &'static str = "webhook endpoint";
    }
    impl Kind for Delivery {
        const PREFIX: &'static str = "dlv_";
        const NAME: &'static str = "delivery";
    }
    impl Kind for AuditRecord {
        const PREFIX: &'static str = "aud_";
        const NAME: &'static str = "audit record";
    }
    impl Kind for CheckRun {
        const PREFIX: &'static str = "run_";
        const NAME: &'static str = "run";
    }
    impl Kind for Widget {
        const PREFIX: &'static str = "wgt_";
        const NAME: &'static str = "widget";
    }
    impl Kind for Visitor {
        const PREFIX: &'static str = "vis_";
        const NAME: &'static str = "visitor";
    }
    impl Kind for Request {
        const PREFIX: &'static str = "req_";
        const NAME: &'static str = "request";
    }
}

/// The id of one resource of kind `K`: 10 bytes, `Copy`.
///
/// 62^10 = 8.4 × 10^17 values; a collision is refused by the primary key.
pub struct Id<K> {
    chars: [u8; LENGTH],
    kind: PhantomData<fn() -> K>,
}

/// The text is not an id of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid id: it must be `{prefix}` followed by 10 letters or digits")]
pub struct ParseIdError {
    prefix: &'static str,
}

impl<K: Kind> Id<K> {
    /// A new random id.
    pub fn random(entropy: &dyn Entropy) -> Self {
        let mut chars = [0; LENGTH];
        alphanumeric(entropy, &mut chars);
        Self { chars, kind: PhantomData }
    }

    /// An id that is derived from other ids: the same ids give the same result, which is as
    /// unlikely to collide as a random id.
    ///
    /// If a caller could choose a part, it could search for one with the id of something else. Such ids are derived with
    /// a key, see [`Id::of_hash`].
    pub fn derived(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        Self::of_hash(&hash.finalize())
    }

    /// The id that the first 16 bytes of a cryptographic hash determine.
    pub fn of_hash(hash: &[u8]) -> Self {
        let mut rest =
            hash.iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        let mut chars = [0; LENGTH];
        for slot in &mut chars {
            let digit = usize::try_from(rest % 62).unwrap_or_default();
            *slot = ALPHABET.get(digit).copied().unwrap_or(b'0');
            rest /= 62;
        }
        Self { chars, kind: PhantomData }
    }

    /// The random part alone.
    pub fn suffix(&self) -> &str {
        // It only ever contains ASCII letters and digits.
        std::str::from_utf8(&self.chars).unwrap_or_default()
    }

    /// The whole id in one piece, unless its prefix is too long for `target`. A string that is made of one piece is
    /// allocated once, and serialisers escape each piece separately.
    fn written<'t>(&self, target: &'t mut Written) -> Option<&'t str> {
        let text = target.get_mut(..K::PREFIX.len() + LENGTH)?;
        let (prefix, suffix) = text.split_at_mut(K::PREFIX.len());
        prefix.copy_from_slice(K::PREFIX.as_bytes());
        suffix.copy_from_slice(&self.chars);
        std::str::from_utf8(text).ok()
    }
}

/// Fills `target` with random letters and digits, each equally likely.
pub(crate) fn alphanumeric(entropy: &dyn Entropy, target: &mut [u8]) {
    let mut filled = 0;
    let mut random = [0_u8; 16];
    while filled < target.len() {
        entropy.fill(&mut random);
        for byte in random {
            // 248 is the largest multiple of 62 in a byte: larger values would favour some.
            let (true, Some(slot)) = (byte < 248, target.get_mut(filled)) else { continue };
            *slot = ALPHABET.get(usize::from(byte % 62)).copied().unwrap_or(b'0');
            filled += 1;
        }
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let error = ParseIdError { prefix: K::PREFIX };
        let suffix = text.strip_prefix(K::PREFIX).ok_or(error)?.as_bytes();
        let chars: [u8; LENGTH] = suffix.try_into().map_err(|_| error)?;
        if !chars.iter().all(u8::is_ascii_alphanumeric) {
            return Err(error);
        }
        Ok(Self { chars, kind: PhantomData })
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.written(&mut Written::default()) {
            Some(text) => f.write_str(text),
            None => write!(f, "{}{}", K::PREFIX, self.suffix()),
        }
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.chars == other.chars
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.chars.cmp(&other.chars)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.chars.hash(state);
    }
}
impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written(&mut Written::default()) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}
impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
