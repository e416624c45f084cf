//! Agents: configured chatbots.

mod answer_floor;
mod retention;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, FieldError};
use crate::every::every;
use crate::id::{Id, kind};
use crate::limits;
use crate::managed::{Managed, SetName};
use crate::text::{Text, TextRule, check_length, check_not_blank};
use crate::timestamp::Timestamp;

pub use answer_floor::AnswerFloor;
pub use retention::RetentionDays;

/// The names of models that every installation accepts.
pub const MODELS: [&str; 3] = ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"];
/// The model of an agent that sets none.
pub const MODEL_DEFAULT: &str = "gpt-4o";
/// Whether replies are stored with receipts by default.
pub const RECEIPTS_DEFAULT: bool = true;

/// A configured chatbot.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// `agent_` and 10 characters.
    pub id: Id<kind::Agent>,
    /// The account that owns it.
    pub account_id: Id<kind::Account>,
    /// What its owner configures, except for the status.
    pub profile: AgentProfile,
    /// Whether it accepts new conversations.
    pub status: AgentStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its settings or its status were last changed.
    pub updated_at: Timestamp,
    /// The number of the last change of its searchable content: every such change raises it in the
    /// same transaction. An index with this number holds exactly this content.
    pub index_generation: u64,
}

/// The settings of an agent, each within its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentProfile {
    /// A human-readable name.
    pub name: AgentName,
    /// The model that writes the replies.
    pub model: ModelName,
    /// Behaviour, tone and constraints.
    pub system_prompt: SystemPrompt,
    /// Sampling temperature.
    pub temperature: Temperature,
    /// The maximum number of tokens in a reply.
    pub max_tokens: ReplyTokens,
    /// Days after which a conversation without a new message is removed; `None` keeps conversations forever.
    pub retention_days: Option<RetentionDays>,
    /// How certain the search must be for a question to be answered.
    pub answer_floor: AnswerFloor,
    /// Whether anyone may read the texts of its sources, if the server has a public address.
    pub public_sources: bool,
    /// Whether its replies are stored with receipts.
    pub receipts: bool,
    /// Whether its replies end with a list of their sources for clients that may drop other citations.
    pub source_list: bool,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
}

/// The name of an agent: 1 to 100 characters, not only white space.
pub type AgentName = Text<AgentNameRule>;

/// The rule of [`AgentName`].
#[derive(Debug)]
pub enum AgentNameRule {}

impl TextRule for AgentNameRule {
    const PARAM: &'static str = "name";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::AGENT_NAME_CHARS)
    }
}

/// A system prompt of at most 4,000 characters. The default is the empty one.
pub type SystemPrompt = Text<SystemPromptRule>;

/// The rule of [`SystemPrompt`].
#[derive(Debug)]
pub enum SystemPromptRule {}

impl TextRule for SystemPromptRule {
    const PARAM: &'static str = "system_prompt";

    fn check(text: &str) -> Result<(), String> {
        check_length(text, limits::SYSTEM_PROMPT_CHARS)
    }
}

impl Default for SystemPrompt {
    fn default() -> Self {
        Self::from_stored("")
    }
}

/// The name of a model that the server knew when the agent was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName(Arc<str>);

impl ModelName {
    /// Checks the name of a model: `known` returns whether the server knows it.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not know the model.
    pub fn parse(name: String, known: impl Fn(&str) -> bool) -> Result<Self, FieldError> {
        if known(&name) {
            return Ok(Self(name.into()));
        }
        Err(FieldError::new(
            "model",
            format!(
                "must be one of {} or a model that this server's configuration defines",
                MODELS.join(", ")
            ),
        ))
    }

    /// A stored name. It is not checked again, so that an agent whose model was removed from the
    /// configuration can still be read, changed and deleted.
    pub fn from_stored(name: String) -> Self {
        Self(name.into())
    }

    /// The name as the upstream expects it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A sampling temperature of 0.0 to 2.0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Temperature(f64);

impl Temperature {
    /// The lowest: the most probable words only.
    pub const LOWEST: Self = Self(limits::TEMPERATURE_RANGE.0);

    /// Checks the value of the field `temperature`.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is outside its range.
    pub fn parse(value: f64) -> Result<Self, FieldError> {
        let (low, high) = limits::TEMPERATURE_RANGE;
        if (low..=high).contains(&value) {
            // -0.0 becomes 0.0.
            return Ok(Self(value + 0.0));
        }
        let message = format!("must be between {low:.1} and {high:.1}");
        Err(FieldError::new("temperature", message))
    }

    /// A stored value, which was checked when it was written.
    pub const fn from_stored(value: f64) -> Self {
        Self(value)
    }

    /// The temperature as a number, never `-0.0`.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for Temperature {
    fn default() -> Self {
        Self(limits::TEMPERATURE_DEFAULT)
    }
}

/// The maximum number of tokens in a reply: 1 to 4,096.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTokens(u32);

impl ReplyTokens {
    /// Checks the value of the field `max_tokens`.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is outside its range.
    pub fn parse(value: i64) -> Result<Self, FieldError> {
        let (low, high) = limits::REPLY_TOKENS_RANGE;
        let bad = || FieldError::new("max_tokens", format!("must be between {low} and {high}"));
        within(value, (low, high)).map(Self).ok_or_else(bad)
    }

    /// This number, or the nearest in the range.
    pub fn nearest(value: u32) -> Self {
        let (low, high) = limits::REPLY_TOKENS_RANGE;
        Self(value.clamp(low, high))
    }

    /// A stored number, which was checked when it was written.
    pub const fn from_stored(value: u32) -> Self {
        Self(value)
    }

    /// The number of tokens.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for ReplyTokens {
    fn default() -> Self {
        Self(limits::REPLY_TOKENS_DEFAULT)
    }
}

/// The number, if it is in the range, inclusive.
fn within(value: i64, (low, high): (u32, u32)) -> Option<u32> {
    u32::try_from(value).ok().filter(|number| (low..=high).contains(number))
}

/// Whether an agent accepts new conversations. Deleted agents are not kept, so there is no status
/// for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It answers.
    Active,
    /// It accepts no new conversations; existing ones can be continued.
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

/// Which agents a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentFilter {
    /// Only those with this status.
    pub status: Option<AgentStatus>,
    /// Only those that are managed in this set.
    pub set: Option<SetName>,
}

/// Settings given by a caller; an absent field gets its default.
#[derive(Debug, Clone, Default)]
pub struct AgentDraft {
    /// See [`AgentProfile::name`].
    pub name: String,
    /// See [`AgentProfile::model`].
    pub model: Option<String>,
    /// See [`AgentProfile::system_prompt`].
    pub system_prompt: Option<String>,
    /// See [`AgentProfile::temperature`].
    pub temperature: Option<f64>,
    /// See [`AgentProfile::max_tokens`].
    pub max_tokens: Option<i64>,
    /// See [`AgentProfile::retention_days`].
    pub retention_days: Option<i64>,
    /// See [`AgentProfile::answer_floor`].
    pub answer_floor: Option<String>,
    /// See [`AgentProfile::public_sources`].
    pub public_sources: Option<bool>,
    /// See [`AgentProfile::receipts`].
    pub receipts: Option<bool>,
    /// See [`AgentProfile::source_list`].
    pub source_list: Option<bool>,
    /// See [`AgentProfile::managed`].
    pub managed: Option<Managed>,
}

/// A change: `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct AgentPatch {
    /// See [`AgentProfile::name`].
    pub name: Option<AgentName>,
    /// See [`AgentProfile::model`].
    pub model: Option<ModelName>,
    /// See [`AgentProfile::system_prompt`].
    pub system_prompt: Option<SystemPrompt>,
    /// See [`AgentProfile::temperature`].
    pub temperature: Option<Temperature>,
    /// See [`AgentProfile::max_tokens`].
    pub max_tokens: Option<ReplyTokens>,
    /// `Some(None)` keeps conversations forever.
    pub retention_days: Option<Option<RetentionDays>>,
    /// See [`AgentProfile::answer_floor`].
    pub answer_floor: Option<AnswerFloor>,
    /// See [`AgentProfile::public_sources`].
    pub public_sources: Option<bool>,
    /// See [`AgentProfile::receipts`].
    pub receipts: Option<bool>,
    /// See [`AgentProfile::source_list`].
    pub source_list: Option<bool>,
    /// See [`AgentProfile::managed`].
    pub managed: Option<Option<Managed>>,
    /// Pauses or resumes the agent.
    pub status: Option<AgentStatus>,
}

impl AgentProfile {
    /// Checks a draft. `known_model` returns whether a model name exists.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] about all fields that exceed their limits.
    pub fn parse(draft: AgentDraft, known_model: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let model = draft.model.unwrap_or_else(|| MODEL_DEFAULT.to_owned());
        let (name, model, system_prompt, temperature, max_tokens, retention_days, answer_floor) =
            every((
                AgentName::parse(draft.name),
                ModelName::parse(model, known_model),
                draft.system_prompt.map(SystemPrompt::parse).transpose(),
                draft.temperature.map(Temperature::parse).transpose(),
                draft.max_tokens.map(ReplyTokens::parse).transpose(),
                draft.retention_days.map(RetentionDays::parse).transpose(),
                draft.answer_floor.as_deref().map(AnswerFloor::parse).transpose(),
            ))?;
        Ok(Self {
            name,
            model,
            system_prompt: system_prompt.unwrap_or_default(),
            temperature: temperature.unwrap_or_default(),
            max_tokens: max_tokens.unwrap_or_default(),
            retention_days,
            answer_floor: answer_floor.unwrap_or_default(),
            public_sources: draft.public_sources.unwrap_or_default(),
            receipts: draft.receipts.unwrap_or(RECEIPTS_DEFAULT),
            source_list: draft.source_list.unwrap_or_default(),
            managed: draft.managed,
        })
    }
}

impl Agent {
    /// Applies a change. Sets `updated_at` if anything differs after it.
    pub fn apply(&mut self, patch: AgentPatch, now: Timestamp) {
        let AgentPatch {
            name,
            model,
            system_prompt,
            temperature,
            max_tokens,
            retention_days,
            answer_floor,
            public_sources,
            receipts,
            source_list,
            managed,
            status,
        } = patch;
        let before = self.clone();
        let profile = &mut self.profile;
        if let Some(name) = name {
            profile.name = name;
        }
        if let Some(model) = model {
            profile.model = model;
        }
        if let Some(prompt) = system_prompt {
            profile.system_prompt = prompt;
        }
        profile.temperature = temperature.unwrap_or(profile.temperature);
        profile.max_tokens = max_tokens.unwrap_or(profile.max_tokens);
        profile.retention_days = retention_days.unwrap_or(profile.retention_days);
        profile.answer_floor = answer_floor.unwrap_or(profile.answer_floor);
        profile.public_sources = public_sources.unwrap_or(profile.public_sources);
        profile.receipts = receipts.unwrap_or(profile.receipts);
        profile.source_list = source_list.unwrap_or(profile.source_list);
        profile.managed = managed.unwrap_or_else(|| profile.managed.take());
        self.status = status.unwrap_or(self.status);
        if *self != before {
            self.updated_at = self.updated_at.max(now);
        }
    }
}

/// Reads `active` or `paused`, the value of the field `status`.
///
/// # Errors
///
/// Returns an error for any other text.
pub fn parse_status(name: &str) -> Result<AgentStatus, FieldError> {
    AgentStatus::from_name(name)
        .ok_or_else(|| FieldError::new("status", "must be `active` or `paused`"))
}

/// Checks that an account with `count` agents may have one more; `most` is the maximum, `None` for no limit.
///
/// # Errors
///
/// [`Error::Conflict`] if it has the maximum number.
pub fn may_add_agent(count: u64, most: Option<u64>) -> Result<(), Error> {
    match most {
        Some(most) if count >= most => Err(Error::Conflict(format!(
            "the account has {most} agents, which is the maximum; delete one first"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
