//! Usage on the wire.

use cicerone_domain::usage::{Day, DayUsage};
use cicerone_domain::{Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// What an agent used on a day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
pub(crate) struct UsageView {
    /// The day, in UTC.
    #[schema(value_type = String, format = Date)]
    day: Day,
    /// The agent, which may be deleted since.
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// Messages that were answered.
    messages: u64,
    /// Tokens that models were given; the embedded answerer takes none.
    prompt_tokens: u64,
    /// Tokens that models wrote.
    completion_tokens: u64,
}

impl From<&DayUsage> for UsageView {
    fn from(usage: &DayUsage) -> Self {
        Self {
            day: usage.day,
            agent_id: usage.agent_id,
            messages: usage.messages,
            prompt_tokens: usage.tokens.prompt,
            completion_tokens: usage.tokens.completion,
        }
    }
}
