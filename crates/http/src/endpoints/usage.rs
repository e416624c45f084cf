//! `GET /v1/usage`

use cicerone_domain::usage::{Day, DayUsage, UsageFilter};
use cicerone_domain::{Error, Id, Page, PageRequest, every, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::{agent, day};
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Usage>(Tag::Account, "/v1/usage")
        .named("listUsage", "List usage")
        .details("One item for each day and agent, latest day first. Usage is kept for 400 days.")
        .query([
            day("from", "The first day to return."),
            day("to", "The last day to return."),
            agent("Return only the usage of this agent."),
        ])
}

/// The usage of one agent on one day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Usage)]
struct UsageView {
    /// The day, in UTC.
    #[schema(value_type = String, format = Date)]
    day: Day,
    /// The agent, which may have been deleted since.
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// Messages that were answered.
    messages: u64,
    /// Tokens of the prompts that models received; the embedded answerer receives none.
    prompt_tokens: u64,
    /// Tokens that models generated.
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

struct Usage;

impl List for Usage {
    type Permission = AgentsRead;
    type Item = DayUsage;
    type View<'a> = UsageView;
    type Filter = UsageFilter;
    const NAME: &'static str = "usage";

    fn filter(query: &Query) -> Result<UsageFilter, Error> {
        let day = |name| query.parsed(name, |text| Day::parse(name, text));
        let not_an_id = |_| Error::invalid("agent_id", "must be an agent's id");
        let agent = query.parsed("agent_id", |text| text.parse().map_err(not_an_id));
        let (from, to, agent_id) = every((day("from"), day("to"), agent))?;
        Ok(UsageFilter { from, to, agent_id })
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<AgentsRead>,
        _: &Incoming,
        filter: UsageFilter,
        page: PageRequest,
    ) -> Result<Page<DayUsage>, Error> {
        app.quotas.usage(caller.scope(), filter, page).await
    }
}
