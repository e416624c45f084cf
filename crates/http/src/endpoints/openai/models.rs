//! Agents as models.

pub(in crate::endpoints) mod get;
pub(in crate::endpoints) mod list;

use cicerone_domain::{Agent, Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent, as a model of OpenAI's API.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Model)]
struct ModelView {
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    id: Id<kind::Agent>,
    #[schema(pattern = "^model$")]
    object: &'static str,
    /// When the agent was created, in seconds since 1970.
    created: i64,
    #[schema(pattern = "^cicerone$")]
    owned_by: &'static str,
    /// The agent's name.
    #[schema(max_length = 100)]
    name: String,
}

impl From<&Agent> for ModelView {
    fn from(agent: &Agent) -> Self {
        Self {
            id: agent.id,
            object: "model",
            created: agent.created_at.as_millis().div_euclid(1_000),
            owned_by: "cicerone",
            name: agent.profile.name.to_string(),
        }
    }
}
