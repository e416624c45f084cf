//! The identity of a visitor, signed by the owner's site: a JSON Web Token (RFC 7519) with HMAC-SHA-256. No other part
//! of that family of standards is supported.
//!
//! Invariant: only the algorithm in the header is interpreted before the signature is verified.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::widget::{BadIdentity, Identity, IdentityClaims};
use cicerone_domain::{Timestamp, limits};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use sha2::Sha256;

/// The only algorithm.
const ALGORITHM: &str = "HS256";
/// The only type.
const TYPE: &str = "JWT";
/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadToken {
    #[error("the identity is longer than 4 KiB")]
    TooLong,
    #[error("the identity is not a JSON Web Token of three parts in base64url")]
    Malformed,
    #[error("the identity must be signed with the algorithm HS256 (`alg`)")]
    Algorithm,
    #[error("the `typ` of the identity must be `JWT`, or absent")]
    Type,
    #[error("the identity has `crit`, which is not supported")]
    Critical,
    #[error("the signature of the identity does not match this widget's secret")]
    Signature,
    #[error("the claims of the identity are not a JSON object, or a claim has a wrong type")]
    Claims,
    #[error(transparent)]
    Identity(#[from] BadIdentity),
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    #[serde(default, deserialize_with = "is_present")]
    crit: bool,
}

fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Verifies a token against the secrets that are valid at `now`.
pub(super) fn verify<'a>(
    token: &str,
    secrets: impl IntoIterator<Item = &'a [u8]>,
    now: Timestamp,
) -> Result<Identity, BadToken> {
    if token.len() > limits::IDENTITY_BYTES {
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
    let claims: IdentityClaims = read(claims).ok_or(BadToken::Claims)?;
    Ok(claims.check(now)?)
}

/// A part of a token: JSON in base64url.
fn read<T: DeserializeOwned>(part: &str) -> Option<T> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests;
