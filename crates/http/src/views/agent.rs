//! Agents on the wire.

use cicerone_domain::agent::RetentionDays;
use cicerone_domain::{Agent, AgentStatus, Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// A configured chatbot.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agent)]
pub(crate) struct AgentView<'a> {
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    id: Id<kind::Agent>,
    /// A name for people.
    #[schema(max_length = 100)]
    name: &'a str,
    /// The model that writes its replies.
    model: &'a str,
    /// Behaviour, tone and constraints.
    #[schema(max_length = 4000)]
    system_prompt: &'a str,
    /// Lower is more deterministic.
    #[schema(minimum = 0, maximum = 2)]
    temperature: f64,
    /// Most tokens in a reply.
    #[schema(minimum = 1, maximum = 4096)]
    max_tokens: u32,
    /// Days after which a conversation without a new message is removed; null for never.
    #[schema(minimum = 1, maximum = 3650, required = true)]
    retention_days: Option<u32>,
    /// `paused` takes no new conversations.
    #[schema(value_type = String, pattern = "^(active|paused)$")]
    status: AgentStatus,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl<'a> From<&'a Agent> for AgentView<'a> {
    fn from(agent: &'a Agent) -> Self {
        let profile = &agent.profile;
        Self {
            id: agent.id,
            name: &profile.name,
            model: profile.model.as_str(),
            system_prompt: &profile.system_prompt,
            temperature: profile.temperature.get(),
            max_tokens: profile.max_tokens.get(),
            retention_days: profile.retention_days.map(RetentionDays::get),
            status: agent.status,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        }
    }
}
