//! The agent that answers in evaluations.

use cicerone_domain::agent::{
    AgentName, AgentProfile, AnswerFloor, ModelName, ReplyTokens, SystemPrompt, Temperature,
};

/// An agent with default settings.
pub(crate) fn profile() -> AgentProfile {
    AgentProfile {
        name: AgentName::from_stored("eval"),
        model: ModelName::from_stored(String::new()),
        system_prompt: SystemPrompt::default(),
        temperature: Temperature::default(),
        max_tokens: ReplyTokens::default(),
        retention_days: None,
        answer_floor: AnswerFloor::default(),
        public_sources: false,
        receipts: true,
        source_list: false,
        managed: None,
    }
}
