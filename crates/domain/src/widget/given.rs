//! The fields of a widget as a caller gives them.

use std::collections::BTreeMap;

use super::look::{
    AppearancePatch, GivenAppearance, parse_language, parse_starters, parse_text, parse_texts,
};
use super::{IdentityRule, Origins, Widget, WidgetLimits, WidgetName};
use crate::error::FieldError;
use crate::limits;
use crate::managed::Managed;

/// Fields of a widget that were read and not yet checked; what is `None` is not changed. In those that can be null, the
/// inner `None` is null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenWidget {
    /// See [`Widget::name`].
    pub name: Option<String>,
    /// See [`Widget::is_active`].
    pub is_active: Option<bool>,
    /// See [`Widget::origins`].
    pub origins: Option<Vec<String>>,
    /// See [`Widget::hosted_page`].
    pub hosted_page: Option<bool>,
    /// See [`Widget::identity`].
    pub identity: Option<String>,
    /// See [`Look::title`](super::Look::title).
    pub title: Option<Option<String>>,
    /// See [`Look::greeting`](super::Look::greeting).
    pub greeting: Option<Option<String>>,
    /// See [`Look::starters`](super::Look::starters).
    pub starters: Option<Vec<String>>,
    /// See [`Look::language`](super::Look::language).
    pub language: Option<String>,
    /// See [`Look::appearance`](super::Look::appearance): only the fields that are given change.
    pub appearance: Option<GivenAppearance>,
    /// See [`Look::texts`](super::Look::texts): replaces all of them.
    pub texts: Option<BTreeMap<String, String>>,
    /// See [`Look::show_sources`](super::Look::show_sources).
    pub show_sources: Option<bool>,
    /// See [`Look::handoff`](super::Look::handoff).
    pub handoff: Option<bool>,
    /// See [`Look::lead`](super::Look::lead).
    pub lead: Option<bool>,
    /// See [`Widget::limits`]: only the fields that are given change.
    pub limits: Option<GivenLimits>,
    /// See [`Widget::managed`].
    pub managed: Option<Option<Managed>>,
}

/// Changes of [`WidgetLimits`] as a caller gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GivenLimits {
    /// See [`WidgetLimits::messages_per_day`].
    pub messages_per_day: Option<i64>,
    /// See [`WidgetLimits::messages_per_visitor_per_hour`].
    pub messages_per_visitor_per_hour: Option<i64>,
    /// See [`WidgetLimits::messages_per_address_per_minute`].
    pub messages_per_address_per_minute: Option<i64>,
    /// See [`WidgetLimits::replies_at_once`].
    pub replies_at_once: Option<i64>,
}

/// Changes of [`WidgetLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsPatch {
    messages_per_day: Option<u64>,
    messages_per_visitor_per_hour: Option<u64>,
    messages_per_address_per_minute: Option<u64>,
    replies_at_once: Option<u64>,
}

impl LimitsPatch {
    fn parse(given: GivenLimits) -> Result<Self, FieldError> {
        let rate = limits::WIDGET_RATE;
        Ok(Self {
            messages_per_day: number(
                "messages_per_day",
                given.messages_per_day,
                limits::WIDGET_DAY_MESSAGES,
            )?,
            messages_per_visitor_per_hour: number(
                "messages_per_visitor_per_hour",
                given.messages_per_visitor_per_hour,
                rate,
            )?,
            messages_per_address_per_minute: number(
                "messages_per_address_per_minute",
                given.messages_per_address_per_minute,
                rate,
            )?,
            replies_at_once: number(
                "replies_at_once",
                given.replies_at_once,
                limits::WIDGET_REPLIES,
            )?,
        })
    }

    fn apply(self, limits: &mut WidgetLimits) {
        *limits = WidgetLimits {
            messages_per_day: self.messages_per_day.unwrap_or(limits.messages_per_day),
            messages_per_visitor_per_hour: self
                .messages_per_visitor_per_hour
                .unwrap_or(limits.messages_per_visitor_per_hour),
            messages_per_address_per_minute: self
                .messages_per_address_per_minute
                .unwrap_or(limits.messages_per_address_per_minute),
            replies_at_once: self.replies_at_once.unwrap_or(limits.replies_at_once),
        };
    }
}

fn number(field: &str, given: Option<i64>, most: u64) -> Result<Option<u64>, FieldError> {
    let Some(given) = given else { return Ok(None) };
    match u64::try_from(given) {
        Ok(value) if (1..=most).contains(&value) => Ok(Some(value)),
        Ok(_) | Err(_) => {
            let message = format!("must be between 1 and {most}");
            Err(FieldError::new(format!("limits.{field}"), message))
        }
    }
}

/// Changes of a widget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WidgetPatch {
    name: Option<WidgetName>,
    is_active: Option<bool>,
    origins: Option<Origins>,
    hosted_page: Option<bool>,
    identity: Option<IdentityRule>,
    title: Option<Option<String>>,
    greeting: Option<Option<String>>,
    starters: Option<Vec<String>>,
    language: Option<String>,
    appearance: AppearancePatch,
    texts: Option<BTreeMap<String, String>>,
    show_sources: Option<bool>,
    handoff: Option<bool>,
    lead: Option<bool>,
    limits: LimitsPatch,
    managed: Option<Option<Managed>>,
}

impl WidgetPatch {
    /// Checks fields.
    ///
    /// # Errors
    ///
    /// The first one that breaks its rule.
    pub fn parse(given: GivenWidget) -> Result<Self, FieldError> {
        let line = |param: &str, text: Option<Option<String>>, most: usize| {
            let parse = |text: Option<String>| text.map(|text| parse_text(param, text, most));
            text.map(|text| parse(text).transpose()).transpose()
        };
        Ok(Self {
            name: given.name.map(WidgetName::parse).transpose()?,
            is_active: given.is_active,
            origins: given.origins.as_deref().map(Origins::parse).transpose()?,
            hosted_page: given.hosted_page,
            identity: given.identity.as_deref().map(IdentityRule::parse).transpose()?,
            title: line("title", given.title, limits::WIDGET_TITLE_CHARS)?,
            greeting: line("greeting", given.greeting, limits::WIDGET_GREETING_CHARS)?,
            starters: given.starters.map(parse_starters).transpose()?,
            language: given.language.map(parse_language).transpose()?,
            appearance: AppearancePatch::parse(given.appearance.unwrap_or_default())?,
            texts: given.texts.map(parse_texts).transpose()?,
            show_sources: given.show_sources,
            handoff: given.handoff,
            lead: given.lead,
            limits: LimitsPatch::parse(given.limits.unwrap_or_default())?,
            managed: given.managed,
        })
    }

    /// The same change with this name.
    #[must_use]
    pub fn named(self, name: Option<WidgetName>) -> Self {
        Self { name, ..self }
    }

    pub(super) fn apply(self, widget: &mut Widget) {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut widget.name, self.name);
        set(&mut widget.is_active, self.is_active);
        set(&mut widget.origins, self.origins);
        set(&mut widget.hosted_page, self.hosted_page);
        set(&mut widget.identity, self.identity);
        set(&mut widget.managed, self.managed);
        let look = &mut widget.look;
        set(&mut look.title, self.title);
        set(&mut look.greeting, self.greeting);
        set(&mut look.starters, self.starters);
        set(&mut look.language, self.language);
        set(&mut look.texts, self.texts);
        set(&mut look.show_sources, self.show_sources);
        set(&mut look.handoff, self.handoff);
        set(&mut look.lead, self.lead);
        self.appearance.apply(&mut look.appearance);
        self.limits.apply(&mut widget.limits);
    }
}
