//! The fields of a widget as a caller gives them.

use std::collections::BTreeMap;

use super::look::{
    AppearancePatch, GivenAppearance, parse_language, parse_starters, parse_text, parse_texts,
};
use super::{IdentityRule, Origins, Widget, WidgetLimits, WidgetName};
use crate::error::{Error, FieldError};
use crate::every::every;
use crate::limits;
use crate::managed::Managed;

/// Fields of a widget as they were read, not validated yet. A field that is `None` is not changed; the inner `None` of
/// a field that can be null is null.
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
    fn parse(given: GivenLimits) -> Result<Self, Error> {
        let per_day = given.messages_per_day;
        let per_visitor = given.messages_per_visitor_per_hour;
        let per_address = given.messages_per_address_per_minute;
        let at_once = given.replies_at_once;
        let (per_day, per_visitor, per_address, at_once) = every((
            number("messages_per_day", per_day, limits::WIDGET_DAY_MESSAGES),
            number("messages_per_visitor_per_hour", per_visitor, limits::WIDGET_RATE),
            number("messages_per_address_per_minute", per_address, limits::WIDGET_RATE),
            number("replies_at_once", at_once, limits::WIDGET_REPLIES),
        ))?;
        Ok(Self {
            messages_per_day: per_day,
            messages_per_visitor_per_hour: per_visitor,
            messages_per_address_per_minute: per_address,
            replies_at_once: at_once,
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
    /// [`Error::Invalid`] about all that break their rules.
    pub fn parse(given: GivenWidget) -> Result<Self, Error> {
        let line = |param: &str, text: Option<Option<String>>, most: usize| {
            let parse = |text: Option<String>| text.map(|text| parse_text(param, text, most));
            text.map(|text| parse(text).transpose()).transpose()
        };
        let who = every((
            given.name.map(WidgetName::parse).transpose(),
            given.origins.as_deref().map(Origins::parse).transpose(),
            given.identity.as_deref().map(IdentityRule::parse).transpose(),
        ));
        let look = every((
            line("title", given.title, limits::WIDGET_TITLE_CHARS),
            line("greeting", given.greeting, limits::WIDGET_GREETING_CHARS),
            given.starters.map(parse_starters).transpose(),
            given.language.map(parse_language).transpose(),
            AppearancePatch::parse(given.appearance.unwrap_or_default()),
            given.texts.map(parse_texts).transpose(),
        ));
        let limits = LimitsPatch::parse(given.limits.unwrap_or_default());
        let (who, look, limits) = every((who, look, limits))?;
        let (name, origins, identity) = who;
        let (title, greeting, starters, language, appearance, texts) = look;
        Ok(Self {
            name,
            is_active: given.is_active,
            origins,
            hosted_page: given.hosted_page,
            identity,
            title,
            greeting,
            starters,
            language,
            appearance,
            texts,
            show_sources: given.show_sources,
            handoff: given.handoff,
            lead: given.lead,
            limits,
            managed: None,
        })
    }

    /// The same change with this name.
    #[must_use]
    pub fn named(self, name: Option<WidgetName>) -> Self {
        Self { name, ..self }
    }

    /// The same change with this identity in a declaration file; the inner `None` removes it.
    #[must_use]
    pub fn managed_as(self, managed: Option<Option<Managed>>) -> Self {
        Self { managed, ..self }
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
