//! Widgets: public access to an agent. Also their visitors, and the contact details that visitors leave.

mod admission;
mod given;
mod identity;
mod kept;
mod look;
mod origins;
mod secret;
mod visitor;

use serde::{Deserialize, Serialize};

use crate::error::{Error, FieldError};
use crate::id::{Id, kind};
use crate::limits;
use crate::managed::Managed;
use crate::text::{Text, TextRule, check_length, check_not_blank};
use crate::timestamp::Timestamp;

pub use admission::{Identification, IdentityRule, NotAdmitted};
pub use given::{GivenLimits, GivenWidget, LimitsPatch, WidgetPatch};
pub use identity::{BadIdentity, Identity, IdentityClaims};
pub use kept::{SecretKept, TokenKept};
pub use look::{Appearance, AppearancePatch, GivenAppearance, Look, Scheme, Side, TEXT_KEYS};
pub use origins::Origins;
pub use secret::{
    IdentitySecret, IdentitySecrets, ParseIdentitySecretError, ParseTokenError,
    RetiredIdentitySecret, RetiredToken, WidgetToken,
};
pub use visitor::{
    HandoffMessage, HandoffMessageRule, Lead, Visitor, VisitorConversation, VisitorScope,
};

/// Public access to one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widget {
    /// `wgt_` and 10 characters.
    pub id: Id<kind::Widget>,
    /// The account of its agent.
    pub account_id: Id<kind::Account>,
    /// The agent that its visitors ask.
    pub agent_id: Id<kind::Agent>,
    /// A name for its owner.
    pub name: WidgetName,
    /// The public name, which its addresses contain.
    pub token: WidgetToken,
    /// Whether it can be used. If not, the public routes treat its token as unknown.
    pub is_active: bool,
    /// The sites that may embed it.
    pub origins: Origins,
    /// Whether it has a page on this server.
    pub hosted_page: bool,
    /// Whether visitors are users of the owner's site.
    pub identity: IdentityRule,
    /// What it looks like and says.
    pub look: Look,
    /// How much its visitors may send.
    pub limits: WidgetLimits,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Widget {
    /// A widget with the default settings.
    pub fn new(
        id: Id<kind::Widget>,
        (account_id, agent_id): (Id<kind::Account>, Id<kind::Agent>),
        name: WidgetName,
        token: WidgetToken,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            account_id,
            agent_id,
            name,
            token,
            is_active: true,
            origins: Origins::default(),
            hosted_page: true,
            identity: IdentityRule::default(),
            look: Look::default(),
            limits: WidgetLimits::default(),
            managed: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies a change.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] if the widget would take more than [`limits::WIDGET_BYTES`].
    pub fn apply(&mut self, patch: WidgetPatch, now: Timestamp) -> Result<(), Error> {
        let before = self.clone();
        patch.apply(self);
        if *self != before {
            self.updated_at = now;
        }
        let parts = (self.name.as_str(), &self.origins, &self.look);
        let bytes = serde_json::to_vec(&parts).map_err(Error::internal)?.len();
        if bytes > limits::WIDGET_BYTES {
            let most = limits::WIDGET_BYTES;
            let message = format!(
                "a widget takes at most {most} bytes of JSON, not {bytes}; shorten its texts"
            );
            let errors = vec![FieldError::new("texts", message.clone())];
            return Err(Error::Validation { message, errors });
        }
        Ok(())
    }

    /// Replaces the token. The old one works until `old_until`, and not at all if that is not after `now`. A token that
    /// was replaced earlier stops working.
    #[must_use]
    pub fn rotate_token(
        self,
        token: WidgetToken,
        old_until: Timestamp,
        now: Timestamp,
    ) -> (Self, Option<RetiredToken>) {
        let retired = RetiredToken { token: self.token, until: old_until };
        (Self { token, updated_at: now, ..self }, Some(retired).filter(|old| old.is_live(now)))
    }

    /// Checks that visitors may ask for a person.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if they may not.
    pub fn check_offers_handoff(&self) -> Result<(), Error> {
        offered("handoff", self.look.handoff)
    }

    /// Checks that visitors may leave contact details.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if they may not.
    pub fn check_offers_lead(&self) -> Result<(), Error> {
        offered("lead", self.look.lead)
    }
}

fn offered(what: &str, is_offered: bool) -> Result<(), Error> {
    match is_offered {
        true => Ok(()),
        false => Err(Error::Conflict(format!("this widget has no `{what}`"))),
    }
}

/// Checks that an agent with `count` widgets may have one more.
///
/// # Errors
///
/// [`Error::Validation`] if it has as many as an agent may have.
pub fn may_add(count: usize) -> Result<(), Error> {
    if count < limits::AGENT_WIDGETS {
        return Ok(());
    }
    let most = limits::AGENT_WIDGETS;
    let message = format!("the agent has {most} widgets, which is the maximum; delete one first");
    let errors = vec![FieldError::new("agent_id", message.clone())];
    Err(Error::Validation { message, errors })
}

/// A widget with the secret that was just made for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedWidget {
    /// The widget as it is listed, without the secret.
    pub widget: Widget,
    /// The secret with which the owner's site signs identities.
    pub secret: IdentitySecret,
}

/// A widget as the public routes need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenWidget {
    /// The widget with its look, limits and origins.
    pub widget: Widget,
    /// Its title, or the agent's name.
    pub title: String,
    /// The secrets that sign visitors' identities, the current one first.
    pub secrets: Vec<IdentitySecret>,
}

impl OpenWidget {
    /// A widget as visitors see it. Without a title of its own, it has the agent's name.
    pub fn new(widget: Widget, agent_name: String, secrets: Vec<IdentitySecret>) -> Self {
        let title = widget.look.title().map_or(agent_name, str::to_owned);
        Self { widget, title, secrets }
    }
}

/// A widget's name: 1 to 100 characters, not only white space.
pub type WidgetName = Text<WidgetNameRule>;

/// The rule of [`WidgetName`].
#[derive(Debug)]
pub enum WidgetNameRule {}

impl TextRule for WidgetNameRule {
    const PARAM: &'static str = "name";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::WIDGET_NAME_CHARS)
    }
}

/// The bounds of a widget. Changed by a [`WidgetPatch`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidgetLimits {
    messages_per_day: u64,
    messages_per_visitor_per_hour: u64,
    messages_per_address_per_minute: u64,
    replies_at_once: u64,
}

impl WidgetLimits {
    /// Messages of the widget on a UTC day.
    pub const fn messages_per_day(self) -> u64 {
        self.messages_per_day
    }

    /// Messages of one visitor within 60 minutes.
    pub const fn messages_per_visitor_per_hour(self) -> u64 {
        self.messages_per_visitor_per_hour
    }

    /// Messages from an address in a minute.
    pub const fn messages_per_address_per_minute(self) -> u64 {
        self.messages_per_address_per_minute
    }

    /// Replies of the widget in progress.
    pub const fn replies_at_once(self) -> u64 {
        self.replies_at_once
    }
}

impl Default for WidgetLimits {
    fn default() -> Self {
        Self {
            messages_per_day: 2_000,
            messages_per_visitor_per_hour: 60,
            messages_per_address_per_minute: 20,
            replies_at_once: 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        GivenLimits, GivenWidget, IdentityRule, Widget, WidgetPatch, WidgetToken, may_add,
    };
    use crate::{Error, Id, SystemEntropy, Timestamp};

    fn widget() -> Widget {
        let id = || Id::random(&SystemEntropy);
        let token = WidgetToken::generate(&SystemEntropy);
        let name = super::WidgetName::parse("Shop").unwrap();
        let owner = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        Widget::new(id(), owner, name, token, Timestamp::from_millis(1))
    }

    fn change(given: GivenWidget) -> Result<Widget, Error> {
        let mut widget = widget();
        widget.apply(WidgetPatch::parse(given)?, Timestamp::from_millis(2))?;
        Ok(widget)
    }

    #[test]
    fn a_change_sets_what_it_names_and_nothing_else() {
        let changed = change(GivenWidget {
            title: Some(Some("Help".to_owned())),
            identity: Some("required".to_owned()),
            limits: Some(GivenLimits { replies_at_once: Some(3), ..GivenLimits::default() }),
            ..GivenWidget::default()
        });
        let changed = changed.unwrap();
        assert_eq!(changed.look.title.as_deref(), Some("Help"));
        assert_eq!(changed.identity, IdentityRule::Required);
        assert_eq!((changed.limits.replies_at_once, changed.limits.messages_per_day), (3, 2_000));
        assert_eq!((changed.is_active, changed.hosted_page), (true, true));
        assert_eq!(changed.updated_at, Timestamp::from_millis(2));
        let mut back = changed;
        let none = GivenWidget { title: Some(None), ..GivenWidget::default() };
        back.apply(WidgetPatch::parse(none).unwrap(), Timestamp::from_millis(3)).unwrap();
        assert_eq!(back.look.title, None);
    }

    #[test]
    fn an_old_token_is_kept_until_a_later_moment_only() {
        let now = Timestamp::from_millis(9);
        let rotated = |until| {
            let (widget, token) = (widget(), WidgetToken::generate(&SystemEntropy));
            let old = widget.token;
            let (widget, retired) = widget.rotate_token(token, until, now);
            assert_eq!((widget.token, widget.updated_at), (token, now));
            retired.map(|retired| {
                assert!(retired.is_live(now) && !retired.is_live(retired.until));
                (retired.token == old, retired.until)
            })
        };
        assert_eq!(rotated(now), None);
        let later = now.plus_millis(1);
        assert_eq!(rotated(later), Some((true, later)));
    }

    #[test]
    fn a_widget_offers_what_its_owner_has_turned_on() {
        let mut widget = widget();
        widget.look.lead = true;
        widget.check_offers_lead().unwrap();
        let refused = widget.check_offers_handoff().unwrap_err();
        assert!(matches!(refused, Error::Conflict(message) if message.contains("`handoff`")));
    }

    #[test]
    fn limits_have_bounds() {
        for value in [0, -1, 1_000_001] {
            let limits = GivenLimits { messages_per_day: Some(value), ..GivenLimits::default() };
            let refused = change(GivenWidget { limits: Some(limits), ..GivenWidget::default() });
            let Err(Error::Invalid(error)) = refused else { panic!("{value}") };
            assert_eq!(error.first().param, "limits.messages_per_day");
        }
    }

    #[test]
    fn a_widget_has_a_bound_in_bytes_and_an_agent_in_widgets() {
        let texts = super::TEXT_KEYS.map(|key| (key.to_owned(), "𝄞".repeat(300)));
        let refused = change(GivenWidget { texts: Some(texts.into()), ..GivenWidget::default() });
        assert!(matches!(refused, Err(Error::Validation { .. })));
        may_add(19).unwrap();
        assert!(matches!(may_add(20), Err(Error::Validation { .. })));
    }
}
