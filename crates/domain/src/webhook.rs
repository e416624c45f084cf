//! Webhook endpoints, and the deliveries of events to them.

mod delivery;
mod health;
mod schedule;
mod secret;
mod subscription;

use url::Url;

use crate::error::{Error, FieldError};
use crate::id::{Id, kind};
use crate::limits;
use crate::managed::Managed;
use crate::source::{stored_address, web_address};
use crate::text::{Text, TextRule, check_length};
use crate::timestamp::Timestamp;

pub use delivery::{
    Attempt, AttemptOutcome, ClaimedDelivery, Delivery, DeliveryLease, DeliveryStatus, DueEndpoint,
    Reception, may_begin,
};
pub use health::EndpointHealth;
pub use schedule::SCHEDULE;
pub use secret::{EndpointSecrets, RetiredSecret, WebhookSecret};
pub use subscription::Subscription;

/// What an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventName {
    /// A source finished processing.
    SourceTrained,
    /// The processing of a source failed.
    SourceFailed,
    /// Checks of an agent failed that had not failed before.
    ChecksFailed,
    /// A visitor of a widget asked for a person.
    HandoffRequested,
    /// A reply was rated, or its rating changed.
    MessageRated,
    /// A visitor of a widget left contact details.
    LeadCaptured,
    /// A test of an endpoint was requested.
    Ping,
}

impl EventName {
    /// The events that endpoints can choose, in the order of the documentation. A ping is sent only
    /// on request.
    pub const CHOICES: [Self; 6] = [
        Self::SourceTrained,
        Self::SourceFailed,
        Self::ChecksFailed,
        Self::HandoffRequested,
        Self::MessageRated,
        Self::LeadCaptured,
    ];

    /// The name on the wire: `source.trained`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SourceTrained => "source.trained",
            Self::SourceFailed => "source.failed",
            Self::ChecksFailed => "checks.failed",
            Self::HandoffRequested => "conversation.handoff_requested",
            Self::MessageRated => "message.rated",
            Self::LeadCaptured => "lead.captured",
            Self::Ping => "ping",
        }
    }

    /// The event of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = Self::CHOICES.into_iter().chain([Self::Ping]);
        all.into_iter().find(|event| event.name() == name)
    }
}

/// How much the events of an endpoint contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PayloadStyle {
    /// Everything.
    #[default]
    Full,
    /// Everything except `data.content` and what people wrote.
    Thin,
}

impl PayloadStyle {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Full, Self::Thin];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Thin => "thin",
        }
    }

    /// The style of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.name() == name)
    }
}

/// An address to which an account's events are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEndpoint {
    /// `whep_` and 10 characters.
    pub id: Id<kind::WebhookEndpoint>,
    /// The account whose events it receives.
    pub account_id: Id<kind::Account>,
    /// Where events are sent.
    pub url: EndpointUrl,
    /// The events that it receives.
    pub events: Subscription,
    /// A human-readable description.
    pub description: Option<EndpointDescription>,
    /// How much of a source its events contain.
    pub payload: PayloadStyle,
    /// Why nothing is sent to it; `None` while it is enabled.
    pub disabled: Option<String>,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed, by its owner or because it failed for too long.
    pub updated_at: Timestamp,
}

/// An endpoint with its new secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedEndpoint {
    /// The endpoint as it is listed, without the secret.
    pub endpoint: WebhookEndpoint,
    /// The secret that its deliveries are signed with.
    pub secret: WebhookSecret,
}

/// Checks that an account with `count` endpoints may have one more.
///
/// # Errors
///
/// [`Error::Conflict`] if it has the maximum number.
pub fn may_add(count: usize) -> Result<(), Error> {
    if count < limits::WEBHOOK_ENDPOINTS {
        return Ok(());
    }
    let most = limits::WEBHOOK_ENDPOINTS;
    Err(Error::Conflict(format!(
        "the account has {most} webhook endpoints, which is the maximum; delete one first"
    )))
}

/// Checks that an endpoint for which `pending` deliveries wait may be sent a test event.
///
/// # Errors
///
/// [`Error::Conflict`] if too many deliveries to it are pending.
pub fn may_test(pending: u64) -> Result<(), Error> {
    if pending < limits::TESTED_BACKLOG {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "{pending} deliveries to the endpoint are pending; try again when there are fewer"
    )))
}

/// The reason of an endpoint that its owner disabled.
pub const DISABLED_BY_OWNER: &str = "disabled through the API";

/// A change of an endpoint: `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// Where events are sent.
    pub url: Option<EndpointUrl>,
    /// The events that it receives.
    pub events: Option<Subscription>,
    /// A human-readable description.
    pub description: Option<Option<EndpointDescription>>,
    /// How much of a source its events contain.
    pub payload: Option<PayloadStyle>,
    /// Whether events are sent to the endpoint.
    pub is_enabled: Option<bool>,
    /// See [`WebhookEndpoint::managed`].
    pub managed: Option<Option<Managed>>,
}

impl WebhookEndpoint {
    /// Checks that something can be sent to it.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if it is disabled.
    pub fn check_enabled(&self) -> Result<(), Error> {
        match &self.disabled {
            None => Ok(()),
            Some(reason) => Err(Error::Conflict(format!(
                "the endpoint is disabled ({reason}); set `status` to `enabled` first"
            ))),
        }
    }

    /// Applies a change. Sets `updated_at` if anything differs after it. Returns whether its health is reset, because it has
    /// another URL or was disabled and is enabled again: then earlier failures no longer count.
    pub fn apply(&mut self, patch: EndpointPatch, now: Timestamp) -> bool {
        let EndpointPatch { url, events, description, payload, is_enabled, managed } = patch;
        let before = self.clone();
        let is_other_place = url.as_ref().is_some_and(|url| *url != self.url);
        if let Some(url) = url {
            self.url = url;
        }
        if let Some(events) = events {
            self.events = events;
        }
        self.description = description.unwrap_or_else(|| self.description.take());
        self.payload = payload.unwrap_or(self.payload);
        self.managed = managed.unwrap_or_else(|| self.managed.take());
        let is_enabled_again = match is_enabled {
            Some(true) => self.disabled.take().is_some(),
            Some(false) => {
                self.disabled.get_or_insert_with(|| DISABLED_BY_OWNER.to_owned());
                false
            }
            None => false,
        };
        if *self != before {
            self.updated_at = now;
        }
        is_other_place || is_enabled_again
    }
}

/// The address of an endpoint as it was given: an absolute http or https URL with a host and without credentials, of at
/// most [`limits::WEBHOOK_URL_CHARS`] characters. [`CheckTarget`](crate::ports::CheckTarget) checks whether it may be
/// requested.
pub type EndpointUrl = Text<EndpointUrlRule>;

/// The rule of [`EndpointUrl`].
#[derive(Debug)]
pub enum EndpointUrlRule {}

impl TextRule for EndpointUrlRule {
    const PARAM: &'static str = "url";

    fn check(text: &str) -> Result<(), String> {
        check_length(text, limits::WEBHOOK_URL_CHARS)?;
        match web_address(text)?.port() {
            Some(0) => Err("must not name port 0".to_owned()),
            _ => Ok(()),
        }
    }
}

impl EndpointUrl {
    /// The address, read.
    ///
    /// # Errors
    ///
    /// Returns the requirement if the address was stored by a version of the program that parsed addresses differently.
    pub fn to_url(&self) -> Result<Url, FieldError> {
        stored_address(self).map_err(|message| FieldError::new(EndpointUrlRule::PARAM, message))
    }
}

/// A description of an endpoint: at most [`limits::DESCRIPTION_CHARS`] characters.
pub type EndpointDescription = Text<EndpointDescriptionRule>;

/// The rule of [`EndpointDescription`].
#[derive(Debug)]
pub enum EndpointDescriptionRule {}

impl TextRule for EndpointDescriptionRule {
    const PARAM: &'static str = "description";

    fn check(text: &str) -> Result<(), String> {
        check_length(text, limits::DESCRIPTION_CHARS)
    }
}

/// Reads `full` or `thin`: how much of a source the events contain.
///
/// # Errors
///
/// [`Error::Invalid`] for an unknown name.
pub fn parse_payload(name: &str) -> Result<PayloadStyle, Error> {
    PayloadStyle::from_name(name)
        .ok_or_else(|| Error::invalid("payload", "must be one of full, thin"))
}

/// Reads whether an endpoint is to be enabled.
///
/// # Errors
///
/// [`Error::Invalid`] if it is neither `enabled` nor `disabled`.
pub fn parse_status(name: &str) -> Result<bool, Error> {
    match name {
        "enabled" => Ok(true),
        "disabled" => Ok(false),
        _ => Err(Error::invalid("status", "must be one of enabled, disabled")),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        DISABLED_BY_OWNER, EndpointDescription, EndpointPatch, EndpointUrl, PayloadStyle,
        Subscription, WebhookEndpoint, may_add, may_test,
    };
    use crate::clock::SystemEntropy;
    use crate::{Error, Id, Timestamp};

    fn endpoint() -> WebhookEndpoint {
        WebhookEndpoint {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            url: EndpointUrl::parse("https://example.com/hook").unwrap(),
            events: Subscription::default(),
            description: Some(EndpointDescription::parse("first").unwrap()),
            payload: PayloadStyle::Full,
            disabled: None,
            managed: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        let mut changed = endpoint();
        let now = Timestamp::from_millis(5);
        assert!(!changed.apply(EndpointPatch::default(), now));
        assert_eq!(
            changed,
            WebhookEndpoint { id: changed.id, account_id: changed.account_id, ..endpoint() }
        );
        let patch = EndpointPatch { description: Some(None), ..EndpointPatch::default() };
        changed.apply(patch, now);
        assert_eq!((changed.description, changed.updated_at), (None, now));
    }

    #[test]
    fn a_reason_stays_until_the_endpoint_is_enabled() {
        let mut changed = endpoint();
        let now = Timestamp::from_millis(5);
        let switch =
            |is_enabled| EndpointPatch { is_enabled: Some(is_enabled), ..EndpointPatch::default() };
        changed.apply(switch(false), now);
        assert_eq!(changed.disabled.as_deref(), Some(DISABLED_BY_OWNER));
        changed.disabled = Some("it failed for five days".to_owned());
        changed.apply(switch(false), now);
        assert_eq!(changed.disabled.as_deref(), Some("it failed for five days"));
        assert!(changed.apply(switch(true), now));
        assert_eq!(changed.disabled, None);
        assert!(!changed.apply(switch(true), now));
    }

    #[test]
    fn the_health_of_an_endpoint_that_leads_elsewhere_starts_anew() {
        let mut changed = endpoint();
        let now = Timestamp::from_millis(5);
        let to = |url: &str| EndpointPatch {
            url: Some(EndpointUrl::parse(url).unwrap()),
            ..EndpointPatch::default()
        };
        assert!(!changed.apply(to("https://example.com/hook"), now));
        assert!(changed.apply(to("https://example.com/other"), now));
        assert_eq!(changed.url.as_str(), "https://example.com/other");
    }

    #[test]
    fn nothing_is_sent_to_a_disabled_endpoint() {
        endpoint().check_enabled().unwrap();
        let disabled = WebhookEndpoint { disabled: Some("it is gone".to_owned()), ..endpoint() };
        let refused = disabled.check_enabled().unwrap_err();
        assert!(matches!(&refused, Error::Conflict(text) if text.contains("(it is gone)")));
    }

    #[test]
    fn ten_endpoints_and_a_short_backlog_are_the_bounds() {
        may_add(9).unwrap();
        assert!(matches!(may_add(10), Err(Error::Conflict(text)) if text.contains("has 10 ")));
        may_test(99).unwrap();
        assert!(matches!(may_test(100), Err(Error::Conflict(text)) if text.starts_with("100 ")));
    }

    #[test]
    fn an_address_is_of_the_web_and_holds_no_credentials() {
        for url in ["https://example.com/hook?x=1", "http://127.0.0.1:9/"] {
            assert!(EndpointUrl::parse(url).is_ok(), "{url}");
        }
        let long = format!("https://example.com/{}", "a".repeat(3_000));
        for url in [
            "",
            " https://example.com",
            "https://example.com/\n",
            "https://example.com:0/",
            "ftp://example.com",
            "https://a:b@example.com",
            "https://:@example.com",
            "https:///x",
            "x",
            &long,
        ] {
            let error = EndpointUrl::parse(url).unwrap_err();
            assert_eq!(error.param, "url", "{url}");
        }
    }
}
