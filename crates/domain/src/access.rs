//! Accounts, API keys and their permissions.

mod bounds;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::clock::Entropy;
use crate::error::Error;
use crate::id::{self, Id, kind};
use crate::limits;
use crate::managed::Managed;
use crate::text::{Text, TextRule, check_length, check_not_blank};
use crate::timestamp::Timestamp;
use crate::widget::VisitorScope;

pub use bounds::{
    KeyPatch, account_name_taken, check_expiry, may_add_key, parse_agent_ids, parse_expiry,
    parse_permissions, unknown_agent,
};

/// An owner of agents, files and keys. Accounts share no data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// `acct_` and 10 characters.
    pub id: Id<kind::Account>,
    /// Unique in the installation.
    pub name: AccountName,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The name of the account that `serve` creates on its first start.
pub const DEFAULT_ACCOUNT: &str = "default";

/// The name of an account: 1 to 100 characters, not only white space. The default is
/// [`DEFAULT_ACCOUNT`].
pub type AccountName = Text<AccountNameRule>;

/// The rule of [`AccountName`].
#[derive(Debug)]
pub enum AccountNameRule {}

impl TextRule for AccountNameRule {
    const PARAM: &'static str = "name";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::KEY_NAME_CHARS)
    }
}

impl Default for AccountName {
    fn default() -> Self {
        Self::from_stored(DEFAULT_ACCOUNT)
    }
}

/// The name of an API key: 1 to 100 characters, not only white space.
pub type KeyName = Text<KeyNameRule>;

/// The rule of [`KeyName`].
#[derive(Debug)]
pub enum KeyNameRule {}

impl TextRule for KeyNameRule {
    const PARAM: &'static str = "name";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::KEY_NAME_CHARS)
    }
}

impl KeyName {
    /// The name of the root key of an installation.
    pub fn of_root() -> Self {
        Self::from_stored("root")
    }
}

/// A permission of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Read agents, their checks, widgets and statistics, and the usage.
    AgentsRead,
    /// Create, change and delete agents.
    AgentsWrite,
    /// Read sources, files and what was extracted; search.
    SourcesRead,
    /// Add, refresh and delete sources and files.
    SourcesWrite,
    /// Read conversations and their messages.
    ConversationsRead,
    /// Send messages, delete conversations.
    ConversationsWrite,
    /// Read whole conversations in bulk, as a file.
    ConversationsExport,
    /// Read webhook endpoints and deliveries.
    WebhooksRead,
    /// Manage webhook endpoints.
    WebhooksWrite,
    /// Read API keys.
    KeysRead,
    /// Manage API keys.
    KeysWrite,
}

impl Permission {
    /// All of them, in the order that the documentation lists them.
    pub const ALL: [Self; 11] = [
        Self::AgentsRead,
        Self::AgentsWrite,
        Self::SourcesRead,
        Self::SourcesWrite,
        Self::ConversationsRead,
        Self::ConversationsWrite,
        Self::ConversationsExport,
        Self::WebhooksRead,
        Self::WebhooksWrite,
        Self::KeysRead,
        Self::KeysWrite,
    ];

    /// The name on the wire: `agents:read`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentsRead => "agents:read",
            Self::AgentsWrite => "agents:write",
            Self::SourcesRead => "sources:read",
            Self::SourcesWrite => "sources:write",
            Self::ConversationsRead => "conversations:read",
            Self::ConversationsWrite => "conversations:write",
            Self::ConversationsExport => "conversations:export",
            Self::WebhooksRead => "webhooks:read",
            Self::WebhooksWrite => "webhooks:write",
            Self::KeysRead => "keys:read",
            Self::KeysWrite => "keys:write",
        }
    }

    /// Whether its holder can change keys or secrets, which stay valid after the holder's own key is deleted.
    pub const fn changes_access(self) -> bool {
        matches!(self, Self::KeysWrite | Self::WebhooksWrite)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a permission; the permissions are `*`, {names}", names = Permission::ALL.map(Permission::name).join(", "))]
pub struct ParsePermissionError(String);

/// What a key may do: a set of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions(u16);

impl Permissions {
    /// Every permission, present and future (`*`).
    pub const ALL: Self = Self(u16::MAX);

    /// Whether `permission` is among them.
    pub const fn allows(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Whether this allows everything that `other` allows.
    pub const fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union with `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The names on the wire; `*` alone if everything is allowed.
    pub fn names(self) -> Vec<&'static str> {
        if self == Self::ALL {
            return vec!["*"];
        }
        Permission::ALL.into_iter().filter(|p| self.allows(*p)).map(Permission::name).collect()
    }

    /// Parses names in the form that they have on the wire.
    ///
    /// # Errors
    ///
    /// Returns an error with the first name that is not a permission.
    pub fn from_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParsePermissionError> {
        let mut bits = 0;
        for name in names {
            bits |= match name {
                "*" => u16::MAX,
                _ => Permission::ALL
                    .into_iter()
                    .find(|p| p.name() == name)
                    .map(Permission::bit)
                    .ok_or_else(|| ParsePermissionError(name.to_owned()))?,
            };
        }
        Ok(Self(bits))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, p| bits | p.bit()))
    }
}

/// An API key as it is stored, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// `key_` and 10 characters.
    pub id: Id<kind::ApiKey>,
    /// The account that it acts for.
    pub account_id: Id<kind::Account>,
    /// A human-readable name.
    pub name: KeyName,
    /// What it may do.
    pub permissions: Permissions,
    /// The agents that it is restricted to; `None` for all agents of the account.
    pub agent_ids: Option<Vec<Id<kind::Agent>>>,
    /// When it stops working; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, accurate to a few seconds.
    pub last_used_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The first and last characters of the secret, so that its owner can recognise it.
    pub hint: String,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
}

impl ApiKey {
    /// Whether it has expired at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// What a request with this key may see.
    pub fn scope(&self) -> Scope {
        Scope {
            account: self.account_id,
            agents: self.agent_ids.as_ref().map(|ids| ids.as_slice().into()),
            visitor: None,
        }
    }
}

/// The key that makes a change, as it was when its request was authenticated.
///
/// Invariant: a change of keys or secrets is committed only if the key is still valid at that time,
/// still has the permission and still covers the agents that it covered when the request was
/// authenticated. So a deleted key cannot create anything that gives access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingKey {
    /// The key with the permissions that it had when the request was authenticated.
    pub key: ApiKey,
    /// The permission that the change needs.
    pub permission: Permission,
    /// The moment of the change.
    pub at: Timestamp,
}

impl ActingKey {
    /// Checks the key as it is stored now; `None` if it no longer exists.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthorized`] if it does not work any more, [`Error::Forbidden`] if it lost the permission, and
    /// [`Error::KeyChanged`] if it was restricted to other agents.
    pub fn check(&self, now: Option<&ApiKey>) -> Result<(), Error> {
        let Some(key) = now.filter(|key| !key.is_expired(self.at)) else {
            return Err(Error::Unauthorized);
        };
        if !key.permissions.allows(self.permission) {
            return Err(Error::Forbidden(self.permission));
        }
        if key.scope().covers(&self.key.scope()) { Ok(()) } else { Err(Error::KeyChanged) }
    }
}

/// What a caller may see. It is the first argument of every lookup of something that an account owns.
///
/// Invariant: a request for something outside the scope is answered exactly as if it did not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The caller's account.
    pub account: Id<kind::Account>,
    /// The agents that the caller is restricted to; `None` for all agents of the account.
    pub agents: Option<Arc<[Id<kind::Agent>]>>,
    /// The visitor of a widget to whose conversations the caller is restricted; `None` for a caller with a key.
    pub visitor: Option<Arc<VisitorScope>>,
}

impl Scope {
    /// The whole of an account.
    pub const fn account(account: Id<kind::Account>) -> Self {
        Self { account, agents: None, visitor: None }
    }

    /// What a visitor of a widget may see: no agent but the widget's, and no conversation but the visitor's.
    pub fn of_visitor(visitor: VisitorScope) -> Self {
        Self {
            account: visitor.account_id,
            agents: Some([visitor.agent_id].into()),
            visitor: Some(Arc::new(visitor)),
        }
    }

    /// Whether this scope includes everything in `other`, a scope of the same account.
    pub fn covers(&self, other: &Self) -> bool {
        if self.visitor.is_some() && self.visitor != other.visitor {
            return false;
        }
        match &other.agents {
            Some(agents) => agents.iter().all(|agent| self.sees(*agent)),
            None => self.agents.is_none(),
        }
    }

    /// Whether `agent`, which belongs to this account, is in the scope.
    pub fn sees(&self, agent: Id<kind::Agent>) -> bool {
        self.agents.as_ref().is_none_or(|ids| ids.contains(&agent))
    }
}

/// SHA-256 of a key's secret. The secret itself is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

impl KeyHash {
    /// The 32 bytes of SHA-256, as they are stored.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash as 64 lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        hex(&self.0)
    }
}

/// Lower-case hexadecimal digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The secret of a key, which is shown once when the key is created. Its `Debug` output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySecret(String);

/// Why a text cannot be a key. The message follows the name of what has the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseKeyError {
    /// It looks like a key of this service, but its checksum is wrong: a typing mistake.
    #[error("is mistyped: the checksum of the key does not match")]
    Checksum,
    /// It is too short to be a key, or contains characters that no key has.
    #[error("must have at least {min} visible ASCII characters", min = limits::ROOT_KEY_CHARS)]
    Shape,
}

const KEY_PREFIX: &str = "ck_";
const SECRET_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 6;
/// The length of a secret that is generated here, in characters.
const GENERATED_CHARS: usize = KEY_PREFIX.len() + 10 + 1 + SECRET_CHARS + CHECKSUM_CHARS;

impl KeySecret {
    /// A new secret for the key `id`: `ck_`, the id's 10 characters, `_`, 32 random base62 characters and 6 base62
    /// characters of the CRC-32 of the preceding text.
    pub fn generate(id: Id<kind::ApiKey>, entropy: &dyn Entropy) -> Self {
        let mut random = [0; SECRET_CHARS];
        id::alphanumeric(entropy, &mut random);
        let mut text = format!("{KEY_PREFIX}{}_", id.suffix());
        text.extend(random.iter().map(|byte| char::from(*byte)));
        text.push_str(&checksum(&text));
        Self(text)
    }

    /// The secret in plain text, to be shown to its owner once and written nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the secret.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The first seven and last four characters.
    pub fn hint(&self) -> String {
        let first: String = self.0.chars().take(7).collect();
        let last = self.0.len().saturating_sub(4);
        format!("{first}…{}", self.0.get(last..).unwrap_or_default())
    }
}

impl FromStr for KeySecret {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        if text.len() < limits::ROOT_KEY_CHARS || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ParseKeyError::Shape);
        }
        if text.starts_with(KEY_PREFIX) && text.len() == GENERATED_CHARS {
            let (body, sum) = text.split_at(GENERATED_CHARS - CHECKSUM_CHARS);
            if checksum(body) != sum {
                return Err(ParseKeyError::Checksum);
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(…)")
    }
}

/// The id of the key that a secret names. The secret need not be valid.
pub fn key_id_of(secret: &str) -> Option<Id<kind::ApiKey>> {
    if secret.len() != GENERATED_CHARS {
        return None;
    }
    let suffix = secret.strip_prefix(KEY_PREFIX)?.split('_').next()?;
    format!("key_{suffix}").parse().ok()
}

/// CRC-32 of `text` in 6 base62 digits, the most significant first (62^6 > 2^32).
fn checksum(text: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        let index = usize::try_from(rest % 62).unwrap_or_default();
        *digit = DIGITS.get(index).copied().unwrap_or(b'0');
        rest /= 62;
    }
    digits.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests;
