//! Whether visitors are users of the owner's site, and which visitors a widget admits.

use serde::{Deserialize, Serialize};

use crate::error::FieldError;

/// Whether visitors are users of the owner's site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityRule {
    /// All visitors are anonymous.
    #[default]
    None,
    /// Visitors may be anonymous or have a signed identity.
    Optional,
    /// Every visitor needs a signed identity.
    Required,
}

/// How a visitor is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identification {
    /// By a credential of this server, as a browser.
    Anonymous,
    /// By an identity that the owner's site has signed.
    Signed,
}

/// Why a widget does not admit a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotAdmitted {
    #[error("this widget requires an identity that its site has signed")]
    Anonymous,
    #[error("this widget does not accept signed identities")]
    Signed,
}

impl IdentityRule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Optional, Self::Required];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    /// Reads the field `identity`.
    ///
    /// # Errors
    ///
    /// Returns an error for any other text.
    pub fn parse(name: &str) -> Result<Self, FieldError> {
        let invalid = || FieldError::new("identity", "must be one of none, optional, required");
        Self::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(invalid)
    }

    /// Checks that a visitor who is identified in this way is admitted.
    ///
    /// # Errors
    ///
    /// [`NotAdmitted`] if the widget requires a signed identity and this is not one, or accepts no signed identities
    /// and this is one.
    pub const fn admits(self, identification: Identification) -> Result<(), NotAdmitted> {
        match (self, identification) {
            (Self::None | Self::Optional, Identification::Anonymous)
            | (Self::Optional | Self::Required, Identification::Signed) => Ok(()),
            (Self::Required, Identification::Anonymous) => Err(NotAdmitted::Anonymous),
            (Self::None, Identification::Signed) => Err(NotAdmitted::Signed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Identification, IdentityRule, NotAdmitted};

    #[test]
    fn a_widget_admits_the_visitors_of_its_rule() {
        let admitted = IdentityRule::ALL.map(|rule| {
            (rule.admits(Identification::Anonymous), rule.admits(Identification::Signed))
        });
        let expected = [
            (Ok(()), Err(NotAdmitted::Signed)),
            (Ok(()), Ok(())),
            (Err(NotAdmitted::Anonymous), Ok(())),
        ];
        assert_eq!(admitted, expected);
    }
}
