//! The public token of a widget, and the secrets with which its owner signs visitors' identities.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::clock::Entropy;
use crate::error::Error;
use crate::id::alphanumeric;
use crate::limits;
use crate::timestamp::Timestamp;

/// The prefix of every token.
const TOKEN_PREFIX: &str = "pub_";
/// Random characters of a token.
const TOKEN_CHARS: usize = 24;
/// The prefix of every secret.
const SECRET_PREFIX: &str = "wids_";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// The public name of a widget: `pub_` and 24 letters or digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WidgetToken([u8; TOKEN_CHARS]);

/// The text is not a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token must be `pub_` followed by 24 letters or digits")]
pub struct ParseTokenError;

impl WidgetToken {
    /// A new random token.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut chars = [0; TOKEN_CHARS];
        alphanumeric(entropy, &mut chars);
        Self(chars)
    }
}

impl FromStr for WidgetToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let chars = text.strip_prefix(TOKEN_PREFIX).ok_or(ParseTokenError)?.as_bytes();
        let chars: [u8; TOKEN_CHARS] = chars.try_into().map_err(|_| ParseTokenError)?;
        let is_valid = chars.iter().all(u8::is_ascii_alphanumeric);
        is_valid.then_some(Self(chars)).ok_or(ParseTokenError)
    }
}

impl TryFrom<String> for WidgetToken {
    type Error = ParseTokenError;

    fn try_from(text: String) -> Result<Self, ParseTokenError> {
        text.parse()
    }
}

impl From<WidgetToken> for String {
    fn from(token: WidgetToken) -> Self {
        token.to_string()
    }
}

impl fmt::Display for WidgetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TOKEN_PREFIX)?;
        // It only ever contains ASCII letters and digits.
        f.write_str(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

impl fmt::Debug for WidgetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A replaced token that still works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetiredToken {
    /// The token that pages with the old snippet still have.
    pub token: WidgetToken,
    /// When it stops working.
    pub until: Timestamp,
}

impl RetiredToken {
    /// Whether it still works at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.until
    }
}

/// A secret as the owner of a widget is shown it: `wids_` and 43 characters of base64url. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct IdentitySecret(String);

/// The text is not a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identity secret must be `wids_` followed by 43 characters of base64url")]
pub struct ParseIdentitySecretError;

impl IdentitySecret {
    /// A new secret of 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; SECRET_BYTES];
        entropy.fill(&mut bytes);
        Self(format!("{SECRET_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The text itself, whose bytes are the key of the signatures: for its owner, the store and the check of a signature.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdentitySecret {
    type Err = ParseIdentitySecretError;

    fn from_str(text: &str) -> Result<Self, ParseIdentitySecretError> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(ParseIdentitySecretError)?;
        match URL_SAFE_NO_PAD.decode(encoded) {
            Ok(bytes) if bytes.len() == SECRET_BYTES => Ok(Self(text.to_owned())),
            Ok(_) | Err(_) => Err(ParseIdentitySecretError),
        }
    }
}

impl fmt::Debug for IdentitySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentitySecret(…)")
    }
}

/// A replaced secret that is still accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredIdentitySecret {
    /// The secret that the owner's site may still sign with.
    pub secret: IdentitySecret,
    /// When it is no longer accepted.
    pub until: Timestamp,
}

/// What visitors' identities of a widget are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentitySecrets {
    /// The one that its owner has.
    pub current: IdentitySecret,
    /// Earlier ones, the latest first.
    pub retired: Vec<RetiredIdentitySecret>,
}

impl IdentitySecrets {
    /// A widget's first secret.
    pub const fn new(current: IdentitySecret) -> Self {
        Self { current, retired: Vec::new() }
    }

    /// Replaces the current secret with `new`. Those before it are accepted until `old_until` at most, and not at all if
    /// that is not after `now`.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if [`limits::LIVE_SECRETS`] would be accepted at once.
    pub fn rotate(
        &mut self,
        new: IdentitySecret,
        old_until: Timestamp,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.retired.iter_mut().for_each(|retired| retired.until = retired.until.min(old_until));
        self.retired.retain(|retired| retired.until > now);
        if old_until <= now {
            self.current = new;
            return Ok(());
        }
        if self.retired.len() + 2 > limits::LIVE_SECRETS {
            return Err(Error::Conflict(format!(
                "{} secrets of the last 24 hours are still accepted; rotate again when one of them has expired",
                limits::LIVE_SECRETS
            )));
        }
        let secret = std::mem::replace(&mut self.current, new);
        self.retired.insert(0, RetiredIdentitySecret { secret, until: old_until });
        Ok(())
    }

    /// Those that are accepted at `now`, the current one first.
    pub fn live(self, now: Timestamp) -> Vec<IdentitySecret> {
        let retired = self.retired.into_iter().filter(|retired| retired.until > now);
        std::iter::once(self.current).chain(retired.map(|retired| retired.secret)).collect()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::{IdentitySecret, IdentitySecrets, SECRET_PREFIX, WidgetToken};
    use crate::{Error, SystemEntropy, Timestamp, limits};

    #[test]
    fn a_token_reads_back_and_nothing_else_is_one() {
        let token = WidgetToken::generate(&SystemEntropy);
        let text = token.to_string();
        assert_eq!((text.len(), text.parse()), (28, Ok(token)));
        for wrong in ["", "pub_", &text[..27], &format!("{text}0"), &text.replace("pub_", "Pub_")] {
            assert!(wrong.parse::<WidgetToken>().is_err(), "{wrong}");
        }
        assert!(format!("pub_{}", "é".repeat(12)).parse::<WidgetToken>().is_err());
    }

    #[test]
    fn a_secret_reads_back_and_is_not_shown() {
        let secret = IdentitySecret::generate(&SystemEntropy);
        assert_eq!(secret.reveal().len(), 48);
        assert_eq!(secret.reveal().parse(), Ok(secret.clone()));
        assert!(!format!("{secret:?}").contains(secret.reveal()));
        for bytes in [0, 31, 33] {
            let wrong = format!("{SECRET_PREFIX}{}", URL_SAFE_NO_PAD.encode(vec![1; bytes]));
            assert!(wrong.parse::<IdentitySecret>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_replaced_secret_is_accepted_as_long_as_it_is_told() {
        let secret = || IdentitySecret::generate(&SystemEntropy);
        let (first, second) = (secret(), secret());
        let now = Timestamp::from_millis(1_000);
        let mut secrets = IdentitySecrets::new(first.clone());
        let end = now.plus_millis(limits::RETIRED_SECRET_MILLIS);
        secrets.rotate(second.clone(), end, now).unwrap();
        assert_eq!(secrets.clone().live(end.plus_millis(-1)), [second.clone(), first]);
        assert_eq!(secrets.clone().live(end), std::slice::from_ref(&second));
        for _ in 2..limits::LIVE_SECRETS {
            secrets.rotate(secret(), end, now).unwrap();
        }
        assert!(matches!(secrets.rotate(secret(), end, now), Err(Error::Conflict(_))));
        // At the end of those there is room again.
        secrets.clone().rotate(secret(), end.plus_millis(1), end).unwrap();
        // A shorter time holds for the earlier ones too.
        let (third, soon) = (secret(), now.plus_millis(5));
        let mut shortened = IdentitySecrets::new(secret());
        shortened.rotate(second, end, now).unwrap();
        shortened.rotate(third.clone(), soon, now).unwrap();
        assert_eq!(shortened.clone().live(soon.plus_millis(-1)).len(), 3);
        assert_eq!(shortened.live(soon), [third]);
        let only = secret();
        secrets.rotate(only.clone(), now, now).unwrap();
        assert_eq!(secrets.live(now), [only]);
    }
}
