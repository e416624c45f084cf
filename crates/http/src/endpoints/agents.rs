//! Agents: what their endpoints share.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod get;
pub(super) mod list;
pub(super) mod statistics;
pub(super) mod update;

use actix_web::http::StatusCode;
use cicerone_domain::agent::{AnswerFloor, MODELS, RetentionDays};
use cicerone_domain::idempotency::Subject;
use cicerone_domain::{Agent, AgentStatus, Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use crate::managed::{ManagedBody, ManagedView};
use crate::openapi::schema::name_of_or_null;
use crate::response::{StoredResponse, keep};

/// A configured chatbot.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agent)]
pub(super) struct AgentView<'a> {
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    id: Id<kind::Agent>,
    /// A human-readable name.
    #[schema(max_length = 100)]
    name: &'a str,
    /// The model that writes the replies.
    model: &'a str,
    /// Behaviour, tone and constraints.
    #[schema(max_length = 4000)]
    system_prompt: &'a str,
    /// Lower is more deterministic.
    #[schema(minimum = 0, maximum = 2)]
    temperature: f64,
    /// The maximum number of tokens in a reply.
    #[schema(minimum = 1, maximum = 4096)]
    max_tokens: u32,
    /// Days after which a conversation without a new message is removed; null for never.
    #[schema(minimum = 1, maximum = 3650, required = true)]
    retention_days: Option<u32>,
    /// How certain the search must be before a question is answered from the sources. `cautious` leaves more questions
    /// unanswered and gives fewer wrong answers; `eager` does the opposite.
    #[schema(value_type = String, pattern = "^(cautious|balanced|eager)$")]
    answer_floor: AnswerFloor,
    /// Whether anyone who knows the address of a document may read its text without a key. Ids of documents are not
    /// secret: this publishes all texts of the agent. It has an effect only if the server has a public address.
    public_sources: bool,
    /// Whether replies are stored with receipts, which show how they were produced.
    receipts: bool,
    /// Whether chat completions end with a list of their sources, for clients that drop other citations. The list is not
    /// stored.
    source_list: bool,
    /// The entry of a declaration file that manages this object; null if none does.
    #[schema(value_type = Option<ManagedBody>, required = true)]
    managed: Option<ManagedView<'a>>,
    /// A `paused` agent accepts no new conversations.
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
            name: profile.name.as_str(),
            model: profile.model.as_str(),
            system_prompt: profile.system_prompt.as_str(),
            temperature: profile.temperature.get(),
            max_tokens: profile.max_tokens.get(),
            retention_days: profile.retention_days.map(RetentionDays::get),
            answer_floor: profile.answer_floor,
            public_sources: profile.public_sources,
            receipts: profile.receipts,
            source_list: profile.source_list,
            managed: profile.managed.as_ref().map(ManagedView::from),
            status: agent.status,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        }
    }
}

/// The answer to a change of an agent.
fn kept(status: StatusCode, agent: &Agent) -> StoredResponse {
    keep(status, &AgentView::from(agent), Some(Subject::of_agent(agent.id, agent.id)))
}

/// The schema of `answer_floor` in a body.
fn answer_floor() -> Object {
    name_of_or_null(
        AnswerFloor::ALL.map(AnswerFloor::name),
        "How certain the search must be before a question is answered from the sources. `cautious` leaves more \
         questions unanswered and gives fewer wrong answers; `eager` does the opposite; null for the default, \
         `balanced`.",
    )
}

/// The schema of `model` in a body. The models that the configuration adds are added to the document.
fn model() -> Object {
    name_of_or_null(MODELS, "The model that writes the replies; null for the default, `gpt-4o`.")
}
