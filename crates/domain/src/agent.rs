//! Agents: configured chatbots.

use serde::{Deserialize, Serialize};

use crate::error::{Error, check_text};
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;

/// The models that every installation knows.
pub const MODELS: [&str; 3] = ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"];
/// The model of an agent that names none.
pub const MODEL_DEFAULT: &str = "gpt-4o";

/// A configured chatbot.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its id.
    pub id: Id<kind::Agent>,
    /// Its owner.
    pub account_id: Id<kind::Account>,
    /// Its settings.
    pub profile: AgentProfile,
    /// Whether it takes new conversations.
    pub status: AgentStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of its searchable content's last change: every such change raises it by one, in
    /// the same transaction. An index with this number holds exactly this content.
    pub index_generation: u64,
}

/// The settings of an agent, each within its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentProfile {
    /// A name for people, 1 to 100 characters.
    pub name: String,
    /// The model's name.
    pub model: String,
    /// Behaviour, tone and constraints, at most 4,000 characters.
    pub system_prompt: String,
    /// Sampling temperature, 0.0 to 2.0.
    pub temperature: f64,
    /// Most tokens in a reply, 1 to 4,096.
    pub max_tokens: u32,
    /// Days after which a conversation without a new message is removed; none for never.
    pub retention_days: Option<u32>,
}

/// Whether an agent takes new conversations. A deleted agent has no row and so no status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It answers.
    Active,
    /// It takes no new conversations; existing ones may go on.
    Paused,
}

impl AgentStatus {
    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Active, Self::Paused].into_iter().find(|status| status.name() == name)
    }
}

/// Settings as a caller gave them; what is absent takes its default.
#[derive(Debug, Clone, Default)]
pub struct AgentDraft {
    /// The name.
    pub name: String,
    /// The model.
    pub model: Option<String>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The most tokens in a reply.
    pub max_tokens: Option<i64>,
    /// The days that conversations are kept.
    pub retention_days: Option<i64>,
}

/// A change: `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct AgentPatch {
    /// A new name.
    pub name: Option<String>,
    /// A new model.
    pub model: Option<String>,
    /// A new system prompt.
    pub system_prompt: Option<String>,
    /// A new temperature.
    pub temperature: Option<f64>,
    /// A new bound on a reply's tokens.
    pub max_tokens: Option<u32>,
    /// A new time for which conversations are kept, or that they are kept for ever.
    pub retention_days: Option<Option<u32>>,
    /// A new status.
    pub status: Option<AgentStatus>,
}

impl AgentProfile {
    /// Checks a draft against the limits. `known_model` says which model names exist.
    ///
    /// Fails with [`Error::Invalid`] on the first bad field.
    pub fn parse(draft: AgentDraft, known_model: impl Fn(&str) -> bool) -> Result<Self, Error> {
        Ok(Self {
            name: parse_name(draft.name)?,
            model: parse_model(
                draft.model.unwrap_or_else(|| MODEL_DEFAULT.to_owned()),
                known_model,
            )?,
            system_prompt: parse_system_prompt(draft.system_prompt.unwrap_or_default())?,
            temperature: parse_temperature(
                draft.temperature.unwrap_or(limits::TEMPERATURE_DEFAULT),
            )?,
            max_tokens: match draft.max_tokens {
                Some(tokens) => parse_max_tokens(tokens)?,
                None => limits::REPLY_TOKENS_DEFAULT,
            },
            retention_days: draft.retention_days.map(parse_retention).transpose()?,
        })
    }
}

impl Agent {
    /// Applies a change and moves `updated_at`.
    pub fn apply(&mut self, patch: AgentPatch, now: Timestamp) {
        let AgentPatch {
            name,
            model,
            system_prompt,
            temperature,
            max_tokens,
            retention_days,
            status,
        } = patch;
        let profile = &mut self.profile;
        profile.name = name.unwrap_or_else(|| std::mem::take(&mut profile.name));
        profile.model = model.unwrap_or_else(|| std::mem::take(&mut profile.model));
        profile.system_prompt =
            system_prompt.unwrap_or_else(|| std::mem::take(&mut profile.system_prompt));
        profile.temperature = temperature.unwrap_or(profile.temperature);
        profile.max_tokens = max_tokens.unwrap_or(profile.max_tokens);
        profile.retention_days = retention_days.unwrap_or(profile.retention_days);
        self.status = status.unwrap_or(self.status);
        self.updated_at = self.updated_at.max(now);
    }
}

/// A name of 1 to 100 characters that is not blank.
pub fn parse_name(text: String) -> Result<String, Error> {
    if text.trim().is_empty() {
        return Err(Error::invalid("name", "must not be empty"));
    }
    check_text(&text, limits::AGENT_NAME_CHARS).map_err(|m| Error::invalid("name", m))?;
    Ok(text)
}

/// The name of a model that exists here.
pub fn parse_model(name: String, known: impl Fn(&str) -> bool) -> Result<String, Error> {
    if known(&name) {
        return Ok(name);
    }
    Err(Error::invalid(
        "model",
        format!(
            "must be one of {} or a model that this server's configuration defines",
            MODELS.join(", ")
        ),
    ))
}

/// At most 4,000 characters.
pub fn parse_system_prompt(text: String) -> Result<String, Error> {
    check_text(&text, limits::SYSTEM_PROMPT_CHARS)
        .map_err(|message| Error::invalid("system_prompt", message))?;
    Ok(text)
}

/// 0.0 to 2.0.
pub fn parse_temperature(value: f64) -> Result<f64, Error> {
    let (low, high) = limits::TEMPERATURE_RANGE;
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(Error::invalid("temperature", format!("must be between {low:.1} and {high:.1}")))
}

/// 1 to 4,096.
pub fn parse_max_tokens(value: i64) -> Result<u32, Error> {
    let (low, high) = limits::REPLY_TOKENS_RANGE;
    u32::try_from(value)
        .ok()
        .filter(|tokens| (low..=high).contains(tokens))
        .ok_or_else(|| Error::invalid("max_tokens", format!("must be between {low} and {high}")))
}

/// 1 to 3,650.
pub fn parse_retention(value: i64) -> Result<u32, Error> {
    let (low, high) = limits::RETENTION_DAYS_RANGE;
    u32::try_from(value).ok().filter(|days| (low..=high).contains(days)).ok_or_else(|| {
        Error::invalid("retention_days", format!("must be between {low} and {high}, or null"))
    })
}

/// `active` or `paused`.
pub fn parse_status(name: &str) -> Result<AgentStatus, Error> {
    AgentStatus::from_name(name)
        .ok_or_else(|| Error::invalid("status", "must be `active` or `paused`"))
}
