//! Which signed identities of visitors are accepted. Their form and their signature are checked before, by the interface
//! that receives them.

use serde::Deserialize;

use crate::limits;
use crate::text::check_length;
use crate::timestamp::Timestamp;

/// What a site has signed about a user, not validated yet. Times are in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct IdentityClaims {
    /// The user's id on the site.
    pub sub: Option<String>,
    /// When the identity expires.
    pub exp: Option<f64>,
    /// When it begins to be valid.
    pub nbf: Option<f64>,
    /// When it was signed.
    pub iat: Option<f64>,
    /// The user's name.
    pub name: Option<String>,
    /// The user's email address.
    pub email: Option<String>,
}

/// A user of the owner's site. Only [`IdentityClaims::check`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    subject: String,
    name: Option<String>,
    email: Option<String>,
}

/// Why claims are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BadIdentity {
    #[error("the `sub` of the identity must have 1 to 200 characters")]
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

impl IdentityClaims {
    /// Checks the claims at `now`: the times first, then the texts.
    ///
    /// # Errors
    ///
    /// The first rule that the claims break.
    pub fn check(self, now: Timestamp) -> Result<Identity, BadIdentity> {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this age are exact")]
        let now = now.as_millis() as f64 / 1_000.0;
        let life = f64::from(limits::IDENTITY_LIFE_SECONDS);
        let leeway = f64::from(limits::IDENTITY_LEEWAY_SECONDS);
        let exp = self.exp.ok_or(BadIdentity::NoExpiry)?;
        if exp <= now - leeway {
            return Err(BadIdentity::Expired);
        }
        if exp > now + life + leeway {
            return Err(BadIdentity::TooLasting);
        }
        if [self.nbf, self.iat].into_iter().flatten().any(|time| time > now + leeway) {
            return Err(BadIdentity::TooEarly);
        }
        let fits = |text: &str, most| check_length(text, most).is_ok();
        let subject = self.sub.ok_or(BadIdentity::Subject)?;
        if subject.is_empty() || !fits(&subject, limits::IDENTITY_SUBJECT_CHARS) {
            return Err(BadIdentity::Subject);
        }
        if self.name.as_deref().is_some_and(|name| !fits(name, limits::IDENTITY_NAME_CHARS)) {
            return Err(BadIdentity::Name);
        }
        if self.email.as_deref().is_some_and(|email| !fits(email, limits::IDENTITY_EMAIL_CHARS)) {
            return Err(BadIdentity::Email);
        }
        Ok(Identity { subject, name: self.name, email: self.email })
    }
}

impl Identity {
    /// The user's id on the owner's site.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The user's name, if the site has given it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The user's email address, if the site has given it.
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// The id, the name and the email address.
    pub(super) fn into_parts(self) -> (String, Option<String>, Option<String>) {
        (self.subject, self.name, self.email)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadIdentity, IdentityClaims};
    use crate::timestamp::Timestamp;

    const NOW: u32 = 1_790_000_000;

    fn claims(exp: f64) -> IdentityClaims {
        IdentityClaims { sub: Some("user-7".to_owned()), exp: Some(exp), ..Default::default() }
    }

    fn checked(claims: IdentityClaims) -> Result<(), BadIdentity> {
        claims.check(Timestamp::from_millis(i64::from(NOW) * 1_000)).map(drop)
    }

    #[test]
    fn an_identity_is_valid_for_a_day_at_most_with_a_minute_for_clocks_that_differ() {
        let after = |seconds: f64| checked(claims(f64::from(NOW) + seconds));
        assert_eq!((after(-59.0), after(-60.0)), (Ok(()), Err(BadIdentity::Expired)));
        assert_eq!((after(86_460.0), after(86_461.0)), (Ok(()), Err(BadIdentity::TooLasting)));
        let from = |seconds: f64| {
            let begins = Some(f64::from(NOW) + seconds);
            let early = |nbf, iat| IdentityClaims { nbf, iat, ..claims(f64::from(NOW) + 99.0) };
            (checked(early(begins, None)), checked(early(None, begins)))
        };
        assert_eq!(from(60.0), (Ok(()), Ok(())));
        assert_eq!(from(61.0), (Err(BadIdentity::TooEarly), Err(BadIdentity::TooEarly)));
        assert_eq!(checked(IdentityClaims::default()), Err(BadIdentity::NoExpiry));
    }

    #[test]
    fn the_texts_of_an_identity_are_short_and_have_no_nul() {
        let exp = f64::from(NOW);
        let long = |chars| Some("é".repeat(chars));
        let subject = |sub| checked(IdentityClaims { sub, ..claims(exp) });
        assert_eq!((subject(long(200)), subject(long(201))), (Ok(()), Err(BadIdentity::Subject)));
        for wrong in [None, Some(String::new()), Some("a\0b".to_owned())] {
            assert_eq!(subject(wrong), Err(BadIdentity::Subject));
        }
        let name = |name| checked(IdentityClaims { name, ..claims(exp) });
        assert_eq!((name(long(100)), name(long(101))), (Ok(()), Err(BadIdentity::Name)));
        let email = |email| checked(IdentityClaims { email, ..claims(exp) });
        assert_eq!((email(long(254)), email(long(255))), (Ok(()), Err(BadIdentity::Email)));
    }
}
