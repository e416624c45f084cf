//! What a widget looks like and says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, FieldError};
use crate::every::{every, every_item};
use crate::limits;
use crate::text::{check_length, check_not_blank};

/// What a widget looks like and says: all that its page needs. Its texts are checked by [`WidgetPatch`](super::WidgetPatch),
/// which alone changes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    pub(super) title: Option<String>,
    pub(super) greeting: Option<String>,
    pub(super) starters: Vec<String>,
    pub(super) language: String,
    /// Colours and place.
    pub appearance: Appearance,
    pub(super) texts: BTreeMap<String, String>,
    /// Whether replies show their sources.
    pub show_sources: bool,
    /// Whether visitors may ask for a person.
    pub handoff: bool,
    /// Whether visitors may leave their address.
    pub lead: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            title: None,
            greeting: None,
            starters: Vec::new(),
            language: "en".to_owned(),
            appearance: Appearance::default(),
            texts: BTreeMap::new(),
            show_sources: true,
            handoff: false,
            lead: false,
        }
    }
}

impl Look {
    /// The title; `None` for the agent's name.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the widget says before the first question.
    pub fn greeting(&self) -> Option<&str> {
        self.greeting.as_deref()
    }

    /// Questions that a visitor can ask by a click.
    pub fn starters(&self) -> &[String] {
        &self.starters
    }

    /// A BCP 47 tag.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Texts that replace the widget's own, by key.
    pub const fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }
}

/// The keys of the texts that can be replaced.
pub const TEXT_KEYS: [&str; 35] = [
    "open",
    "close",
    "new",
    "history",
    "back",
    "no_history",
    "delete",
    "really_delete",
    "message",
    "placeholder",
    "send",
    "you",
    "reply",
    "writing",
    "sources",
    "good",
    "bad",
    "retry",
    "unreachable",
    "broken",
    "too_long",
    "busy",
    "limit",
    "unavailable",
    "sign_in",
    "handoff",
    "handoff_done",
    "lead",
    "lead_email",
    "lead_name",
    "lead_phone",
    "lead_message",
    "lead_send",
    "lead_done",
    "cancel",
];

/// Colours and place of a widget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appearance {
    accent: String,
    /// Light or dark.
    pub scheme: Scheme,
    /// The side of the page.
    pub position: Side,
}

impl Default for Appearance {
    fn default() -> Self {
        Self { accent: "#2f5bd7".to_owned(), scheme: Scheme::Auto, position: Side::Right }
    }
}

impl Appearance {
    /// The colour of what can be clicked, as `#rrggbb` in lower case.
    pub fn accent(&self) -> &str {
        &self.accent
    }
}

/// Whether a widget is light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// As the visitor prefers.
    Auto,
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Light, Self::Dark];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn parse(name: &str) -> Result<Self, FieldError> {
        let invalid = || FieldError::new("appearance.scheme", "must be one of auto, light, dark");
        Self::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or_else(invalid)
    }
}

/// The side of the page on which a widget is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The lower right corner.
    Right,
    /// The lower left corner.
    Left,
}

impl Side {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Right, Self::Left];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Left => "left",
        }
    }

    fn parse(name: &str) -> Result<Self, FieldError> {
        let invalid = || FieldError::new("appearance.position", "must be one of right, left");
        Self::ALL.into_iter().find(|side| side.name() == name).ok_or_else(invalid)
    }
}

/// Changes of [`Appearance`] as a caller gives them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenAppearance {
    /// See [`Appearance::accent`].
    pub accent: Option<String>,
    /// See [`Appearance::scheme`].
    pub scheme: Option<String>,
    /// See [`Appearance::position`].
    pub position: Option<String>,
}

/// Changes of [`Appearance`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppearancePatch {
    accent: Option<String>,
    scheme: Option<Scheme>,
    position: Option<Side>,
}

impl AppearancePatch {
    pub(super) fn parse(given: GivenAppearance) -> Result<Self, Error> {
        let (accent, scheme, position) = every((
            given.accent.as_deref().map(parse_accent).transpose(),
            given.scheme.as_deref().map(Scheme::parse).transpose(),
            given.position.as_deref().map(Side::parse).transpose(),
        ))?;
        Ok(Self { accent, scheme, position })
    }

    pub(super) fn apply(self, appearance: &mut Appearance) {
        let Self { accent, scheme, position } = self;
        appearance.accent = accent.unwrap_or_else(|| std::mem::take(&mut appearance.accent));
        appearance.scheme = scheme.unwrap_or(appearance.scheme);
        appearance.position = position.unwrap_or(appearance.position);
    }
}

/// The backgrounds of the widget, light and dark.
const BACKGROUNDS: [([u8; 3], &str); 2] =
    [([0xff, 0xff, 0xff], "#ffffff"), ([0x13, 0x15, 0x16], "#131516")];
/// The least contrast of the accent to both.
const LEAST_CONTRAST: f64 = 3.0;

fn parse_accent(text: &str) -> Result<String, FieldError> {
    let invalid = |message: String| FieldError::new("appearance.accent", message);
    let digits = text
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let number = number.ok_or_else(|| invalid("must have the form `#rrggbb`".to_owned()))?;
    let [_, red, green, blue] = number.to_be_bytes();
    for (background, name) in BACKGROUNDS {
        let contrast = contrast([red, green, blue], background);
        if contrast < LEAST_CONTRAST {
            return Err(invalid(format!(
                "must have a contrast of at least 3:1 to the background `{name}`, not {contrast:.2}:1"
            )));
        }
    }
    Ok(text.to_ascii_lowercase())
}

/// The contrast of two colours, as WCAG 2 defines it.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|channel| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    });
    0.2126_f64.mul_add(red, 0.7152_f64.mul_add(green, 0.0722 * blue))
}

/// Checks a text that may be shown: not blank, and at most this many characters.
pub(super) fn parse_text(param: &str, text: String, most: usize) -> Result<String, FieldError> {
    check_not_blank(&text)
        .and_then(|()| check_length(&text, most))
        .map_err(|message| FieldError::new(param, message))?;
    Ok(text)
}

pub(super) fn parse_starters(given: Vec<String>) -> Result<Vec<String>, Error> {
    if given.len() > limits::WIDGET_STARTERS {
        let most = limits::WIDGET_STARTERS;
        let message = format!("must have at most {most} items, not {}", given.len());
        return Err(Error::invalid("starters", message));
    }
    every_item(given.into_iter().enumerate().map(|(index, text)| {
        let param = format!("starters[{index}]");
        Ok(parse_text(&param, text, limits::WIDGET_STARTER_CHARS)?)
    }))
}

/// Checks a BCP 47 tag by its form: subtags of 1 to 8 letters and digits, the first of letters.
pub(super) fn parse_language(text: String) -> Result<String, FieldError> {
    let mut subtags = text.split('-');
    let is_language = subtags.next().is_some_and(|first| {
        (2..=8).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let is_subtag = |subtag: &str| {
        (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if is_language && text.len() <= limits::WIDGET_LANGUAGE_CHARS && subtags.all(is_subtag) {
        return Ok(text);
    }
    let most = limits::WIDGET_LANGUAGE_CHARS;
    let message =
        format!("must be a language tag such as `en` or `pt-BR`, of at most {most} characters");
    Err(FieldError::new("language", message))
}

pub(super) fn parse_texts(
    given: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Error> {
    let texts = every_item(given.into_iter().map(|(key, text)| {
        if !TEXT_KEYS.contains(&key.as_str()) {
            let shown: String = key.chars().take(40).collect();
            let message =
                format!("has the unknown key `{shown}`; the keys are {}", TEXT_KEYS.join(", "));
            return Err(Error::invalid("texts", message));
        }
        let text = parse_text(&format!("texts.{key}"), text, limits::WIDGET_TEXT_CHARS)?;
        Ok((key, text))
    }))?;
    Ok(texts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::{contrast, parse_accent, parse_language, parse_texts};

    #[test]
    fn an_accent_is_visible_on_both_backgrounds() {
        assert_eq!(parse_accent("#2F5BD7").unwrap(), "#2f5bd7");
        assert_eq!(parse_accent("#767676").unwrap(), "#767676");
        for invisible in ["#ffffff", "#000000", "#ffff00", "#131516", "#1a1a66"] {
            let error = parse_accent(invisible).expect_err(invisible);
            assert!(error.message.contains("3:1"), "{invisible}: {error}");
        }
        for malformed in ["", "2f5bd7", "#2f5bd", "#2f5bd70", "#2f5bdg", "#+f5bd7", "red"] {
            assert!(parse_accent(malformed).unwrap_err().message.contains("rrggbb"), "{malformed}");
        }
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.001);
    }

    #[test]
    fn a_language_has_the_form_of_a_tag() {
        for tag in ["en", "pt-BR", "zh-Hant-TW", "de-1996", "x-y"] {
            assert_eq!(parse_language(tag.to_owned()).is_ok(), tag != "x-y", "{tag}");
        }
        for tag in
            ["", "e", "en_US", "en-", "en--US", "123", "en-123456789", "<b>", &"en-a".repeat(10)]
        {
            assert!(parse_language(tag.to_owned()).is_err(), "{tag}");
        }
    }

    #[test]
    fn only_known_texts_are_replaced() {
        let read = |key: &str, text: &str| parse_texts([(key.to_owned(), text.to_owned())].into());
        assert!(read("send", "Los!").is_ok());
        assert!(read("send", &"x".repeat(300)).is_ok());
        assert_eq!(read("send", &"x".repeat(301)).unwrap_err().params(), ["texts.send"]);
        assert_eq!(read("send", " ").unwrap_err().params(), ["texts.send"]);
        assert!(read("Send", "x").unwrap_err().to_string().contains("`Send`"));
    }
}
