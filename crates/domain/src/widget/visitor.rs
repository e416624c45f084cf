//! Visitors of a widget, and the contact details that they leave.

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::error::{Error, FieldError};
use crate::every::every;
use crate::id::{Id, kind};
use crate::limits;
use crate::text::{Text, TextRule, check_length, check_not_blank};
use crate::timestamp::Timestamp;

/// A browser, or a user of the owner's site. There is no table of visitors: each conversation contains its visitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visitor {
    /// `vis_` and 10 characters.
    pub id: Id<kind::Visitor>,
    subject: Option<String>,
    name: Option<String>,
    email: Option<String>,
}

impl Visitor {
    /// A browser without an identity.
    pub const fn anonymous(id: Id<kind::Visitor>) -> Self {
        Self { id, subject: None, name: None, email: None }
    }

    /// A user of the owner's site.
    pub fn identified(id: Id<kind::Visitor>, identity: Identity) -> Self {
        let (subject, name, email) = identity.into_parts();
        Self { id, subject: Some(subject), name, email }
    }

    /// The user's id on the owner's site; `None` for an anonymous visitor.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The user's name, if the owner's site has given it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The user's email address, if the owner's site has given it.
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }
}

/// What a visitor may see: the visitor's own conversations with one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitorScope {
    /// The account of the agent.
    pub account_id: Id<kind::Account>,
    /// The agent whose conversations they are.
    pub agent_id: Id<kind::Agent>,
    /// The widget through which the visitor came.
    pub widget_id: Id<kind::Widget>,
    /// Whose conversations they are.
    pub visitor: Visitor,
}

/// A conversation in the list of its visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitorConversation {
    /// With which the visitor reads and continues it.
    pub id: Id<kind::Conversation>,
    /// The beginning of the first question, at most [`limits::VISITOR_TITLE_CHARS`] characters.
    pub title: String,
    /// Messages of the visitor and of the agent.
    pub messages: u64,
    /// The time of its last message.
    pub updated_at: Timestamp,
}

/// What a visitor who asks for a person says: at most 1,000 characters, not only white space.
pub type HandoffMessage = Text<HandoffMessageRule>;

/// The rule of [`HandoffMessage`].
#[derive(Debug)]
pub enum HandoffMessageRule {}

impl TextRule for HandoffMessageRule {
    const PARAM: &'static str = "message";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::HANDOFF_MESSAGE_CHARS)
    }
}

/// How a visitor can be reached. Only [`Lead::parse`] makes one from what a visitor sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    name: Option<String>,
    email: String,
    phone: Option<String>,
    message: Option<String>,
}

impl Lead {
    /// The visitor's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The visitor's email address.
    pub fn email(&self) -> &str {
        &self.email
    }

    /// The visitor's telephone number.
    pub fn phone(&self) -> Option<&str> {
        self.phone.as_deref()
    }

    /// The visitor's message.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Checks the fields. The address has one `@` with something on both sides and no white space.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] about all fields that break their rules.
    pub fn parse(
        email: String,
        name: Option<String>,
        phone: Option<String>,
        message: Option<String>,
    ) -> Result<Self, Error> {
        let is_address = |email: &str| {
            let mut parts = email.split('@');
            let parts = [parts.next(), parts.next(), parts.next()];
            matches!(parts, [Some(user), Some(host), None] if !user.is_empty() && !host.is_empty())
                && !email.chars().any(|char| char.is_whitespace() || char.is_control())
        };
        let email = check_length(&email, limits::LEAD_EMAIL_CHARS)
            .and_then(|()| match is_address(&email) {
                true => Ok(email),
                false => Err("must be an address with one `@`".to_owned()),
            })
            .map_err(|message| FieldError::new("email", message));
        let text = |param: &str, text: Option<String>, most: usize| {
            let Some(text) = text else { return Ok(None) };
            let checked = check_not_blank(&text).and_then(|()| check_length(&text, most));
            match checked {
                Ok(()) => Ok(Some(text)),
                Err(message) => Err(FieldError::new(param, message)),
            }
        };
        let (email, name, phone, message) = every((
            email,
            text("name", name, limits::LEAD_NAME_CHARS),
            text("phone", phone, limits::LEAD_PHONE_CHARS),
            text("message", message, limits::LEAD_MESSAGE_CHARS),
        ))?;
        Ok(Self { name, email, phone, message })
    }
}

#[cfg(test)]
mod tests {
    use super::Lead;

    #[test]
    fn a_lead_has_an_address() {
        let read = |email: &str| Lead::parse(email.to_owned(), None, None, None);
        assert!(read("a@b").is_ok());
        for wrong in
            ["", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", &format!("{}@b", "a".repeat(253))]
        {
            assert_eq!(read(wrong).unwrap_err().params(), ["email"], "{wrong}");
        }
        let text = |name: &str| Lead::parse("a@b".into(), Some(name.into()), None, None);
        assert!(text(&"n".repeat(100)).is_ok());
        assert_eq!(text(&"n".repeat(101)).unwrap_err().params(), ["name"]);
        assert_eq!(text(" ").unwrap_err().params(), ["name"]);
        let many = Lead::parse("a".into(), Some(" ".into()), None, Some("\0".into())).unwrap_err();
        assert_eq!(many.params(), ["email", "name", "message"]);
    }
}
