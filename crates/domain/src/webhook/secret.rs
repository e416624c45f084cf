//! The secrets that deliveries are signed with.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::clock::Entropy;
use crate::error::Error;
use crate::limits;
use crate::timestamp::Timestamp;

/// The prefix of a secret in the Standard Webhooks specification.
const PREFIX: &str = "whsec_";
/// The number of random bytes of a generated secret.
const BYTES: usize = 24;

/// A secret as it is shown to its owner: `whsec_` and base64 of the key of the signatures
/// (<https://www.standardwebhooks.com>). Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(String);

/// The text is not a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret must be `whsec_` followed by base64")]
pub struct ParseSecretError;

impl WebhookSecret {
    /// A new secret of 24 random bytes.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(format!("{PREFIX}{}", STANDARD.encode(bytes)))
    }

    /// The text itself: for its owner and for the store.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The key of the signatures.
    pub fn key(&self) -> Vec<u8> {
        // It only ever contains texts in this form.
        let text = self.0.strip_prefix(PREFIX).unwrap_or_default();
        STANDARD.decode(text).unwrap_or_default()
    }
}

impl std::str::FromStr for WebhookSecret {
    type Err = ParseSecretError;

    fn from_str(text: &str) -> Result<Self, ParseSecretError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(ParseSecretError)?;
        match STANDARD.decode(encoded) {
            Ok(bytes) if !bytes.is_empty() => Ok(Self(text.to_owned())),
            Ok(_) | Err(_) => Err(ParseSecretError),
        }
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// A replaced secret that still signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredSecret {
    /// The secret that its owner may still verify with.
    pub secret: WebhookSecret,
    /// When it stops signing.
    pub until: Timestamp,
}

/// What an endpoint's deliveries are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSecrets {
    /// The one that its owner has.
    pub current: WebhookSecret,
    /// Earlier ones, the latest first.
    pub retired: Vec<RetiredSecret>,
}

impl EndpointSecrets {
    /// An endpoint's first secret.
    pub const fn new(current: WebhookSecret) -> Self {
        Self { current, retired: Vec::new() }
    }

    /// Replaces the current secret with `new`. The old one signs for another [`limits::RETIRED_SECRET_MILLIS`].
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if [`limits::LIVE_SECRETS`] would sign at once.
    pub fn rotate(&mut self, new: WebhookSecret, now: Timestamp) -> Result<(), Error> {
        self.retired.retain(|retired| retired.until > now);
        if self.retired.len() + 2 > limits::LIVE_SECRETS {
            return Err(Error::Conflict(format!(
                "{} secrets of the last 24 hours are still valid; rotate again when one of \
                 them has expired",
                limits::LIVE_SECRETS
            )));
        }
        let until = now.plus_millis(limits::RETIRED_SECRET_MILLIS);
        let secret = std::mem::replace(&mut self.current, new);
        self.retired.insert(0, RetiredSecret { secret, until });
        Ok(())
    }

    /// Those that sign at `now`, the current one first.
    pub fn live(&self, now: Timestamp) -> Vec<WebhookSecret> {
        let retired = self.retired.iter().filter(|retired| retired.until > now);
        std::iter::once(&self.current)
            .chain(retired.map(|retired| &retired.secret))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{EndpointSecrets, WebhookSecret};
    use crate::clock::SystemEntropy;
    use crate::{Error, Timestamp, limits};

    #[test]
    fn a_secret_is_24_bytes_in_base64_and_reads_back() {
        let secret = WebhookSecret::generate(&SystemEntropy);
        assert_eq!(secret.key().len(), 24);
        assert_eq!(secret.reveal().len(), 6 + 32);
        assert_eq!(secret.reveal().parse(), Ok(secret.clone()));
        assert!(!format!("{secret:?}").contains(secret.reveal()));
        for text in ["", "whsec_", "whsec_!", "c2VjcmV0"] {
            assert!(text.parse::<WebhookSecret>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_old_secret_signs_for_a_day() {
        let secret = || WebhookSecret::generate(&SystemEntropy);
        let (first, second) = (secret(), secret());
        let now = Timestamp::from_millis(1_000);
        let mut secrets = EndpointSecrets::new(first.clone());
        secrets.rotate(second.clone(), now).unwrap();
        let end = now.plus_millis(limits::RETIRED_SECRET_MILLIS);
        assert_eq!(secrets.live(end.plus_millis(-1)), [second.clone(), first]);
        assert_eq!(secrets.live(end), [second]);
    }

    #[test]
    fn each_of_several_rotations_leaves_its_day() {
        let secret = || WebhookSecret::generate(&SystemEntropy);
        let now = Timestamp::from_millis(1_000);
        let mut secrets = EndpointSecrets::new(secret());
        for _ in 1..limits::LIVE_SECRETS {
            secrets.rotate(secret(), now).unwrap();
        }
        assert_eq!(secrets.live(now).len(), limits::LIVE_SECRETS);
        assert!(matches!(secrets.rotate(secret(), now), Err(Error::Conflict(_))));
        let later = now.plus_millis(limits::RETIRED_SECRET_MILLIS);
        secrets.rotate(secret(), later).unwrap();
        assert_eq!(secrets.live(later).len(), 2);
    }
}
