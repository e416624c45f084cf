//! The identity of a visitor as the owner's site signs it: a JSON Web Token (RFC 7519) with HMAC-SHA-256, and nothing
//! else of that family of standards.
//!
//! Invariant: nothing of the token but the algorithm in its header is interpreted before its signature was verified.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use sha2::Sha256;

/// The longest token, in bytes.
const TOKEN_BYTES: usize = 4_096;
/// The only algorithm.
const ALGORITHM: &str = "HS256";
/// The only type.
const TYPE: &str = "JWT";
/// How far ahead a token may expire, in seconds.
const LONGEST_LIFE: f64 = 24.0 * 60.0 * 60.0;
/// By how much the clocks of the two servers may differ, in seconds.
const LEEWAY: f64 = 60.0;
/// The longest `sub`, `name` and `email`, in characters.
const SUBJECT_CHARS: usize = 200;
const NAME_CHARS: usize = 100;
const EMAIL_CHARS: usize = 254;

/// What a token says about a visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// The user of the owner's site.
    pub(super) subject: String,
    pub(super) name: Option<String>,
    pub(super) email: Option<String>,
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadToken {
    #[error("the identity is longer than 4 KiB")]
    TooLong,
    #[error("the identity is not a JSON Web Token of three parts in base64url")]
    Malformed,
    #[error("the identity must be signed with `alg` HS256, and with no other algorithm")]
    Algorithm,
    #[error("the `typ` of the identity must be `JWT`, or absent")]
    Type,
    #[error("the identity has `crit`, which is not supported")]
    Critical,
    #[error("the signature of the identity does not fit this widget's secret")]
    Signature,
    #[error("the claims of the identity are not a JSON object, or a claim has a wrong type")]
    Claims,
    #[error("the identity has no `sub`, or one that is not of 1 to 200 characters")]
    Subject,
    #[error("the identity has no `exp`")]
    NoExpiry,
    #[error("the identity has expired")]
    Expired,
    #[error("the `exp` of the identity is more than 24 hours ahead")]
    TooLasting,
    #[error("the `nbf` or `iat` of the identity is in the future")]
    TooEarly,
    #[error("the `name` of the identity must have at most 100 characters")]
    Name,
    #[error("the `email` of the identity must have at most 254 characters")]
    Email,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    #[serde(default, deserialize_with = "is_present")]
    crit: bool,
}

#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    exp: Option<f64>,
    nbf: Option<f64>,
    iat: Option<f64>,
    name: Option<String>,
    email: Option<String>,
}

fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Verifies a token at `now` against the secrets that are valid then.
pub(super) fn verify<'a>(
    token: &str,
    secrets: impl IntoIterator<Item = &'a [u8]>,
    now: Timestamp,
) -> Result<Identity, BadToken> {
    if token.len() > TOKEN_BYTES {
        return Err(BadToken::TooLong);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(BadToken::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(BadToken::Malformed)?;
    if claims.contains('.') {
        return Err(BadToken::Malformed);
    }
    let header: Header = read(header).ok_or(BadToken::Malformed)?;
    if header.alg != ALGORITHM {
        return Err(BadToken::Algorithm);
    }
    if header.typ.is_some_and(|kind| !kind.eq_ignore_ascii_case(TYPE)) {
        return Err(BadToken::Type);
    }
    if header.crit {
        return Err(BadToken::Critical);
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| BadToken::Malformed)?;
    // Compared in constant time.
    let fits = |secret: &[u8]| {
        let mac = Hmac::<Sha256>::new_from_slice(secret);
        mac.is_ok_and(|mac| mac.chain_update(signed).verify_slice(&signature).is_ok())
    };
    if !secrets.into_iter().any(fits) {
        return Err(BadToken::Signature);
    }
    read::<Claims>(claims).ok_or(BadToken::Claims)?.check(now)
}

/// A part of a token: JSON in base64url.
fn read<T: DeserializeOwned>(part: &str) -> Option<T> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok()
}

impl Claims {
    fn check(self, now: Timestamp) -> Result<Identity, BadToken> {
        #[expect(clippy::cast_precision_loss, reason = "seconds of this age are exact")]
        let now = now.as_millis() as f64 / 1_000.0;
        let exp = self.exp.ok_or(BadToken::NoExpiry)?;
        if exp <= now - LEEWAY {
            return Err(BadToken::Expired);
        }
        if exp > now + LONGEST_LIFE + LEEWAY {
            return Err(BadToken::TooLasting);
        }
        if [self.nbf, self.iat].into_iter().flatten().any(|time| time > now + LEEWAY) {
            return Err(BadToken::TooEarly);
        }
        let is_text = |text: &str, most| !text.contains('\0') && text.chars().count() <= most;
        let subject = self.sub.filter(|text| !text.is_empty() && is_text(text, SUBJECT_CHARS));
        let subject = subject.ok_or(BadToken::Subject)?;
        if self.name.as_deref().is_some_and(|name| !is_text(name, NAME_CHARS)) {
            return Err(BadToken::Name);
        }
        if self.email.as_deref().is_some_and(|email| !is_text(email, EMAIL_CHARS)) {
            return Err(BadToken::Email);
        }
        Ok(Identity { subject, name: self.name, email: self.email })
    }
}

#[cfg(test)]
mod tests;
