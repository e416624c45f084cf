//! `GET /v1/agents/{agent_id}/statistics`

use cicerone_domain::statistics::{DayRange, DayStatistics, Latencies};
use cicerone_domain::usage::Day;
use cicerone_domain::{Error, Page, PageRequest, every};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::day;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Statistics>(Tag::Agents, "/v1/agents/{agent_id}/statistics")
        .named("listStatistics", "List an agent's statistics by day")
        .details(
            "One item for each day (UTC) with messages, latest day first. Statistics are kept for 400 days. Deleting \
             conversations does not change the statistics. For days before the server was updated to a version with \
             statistics, all counts except `messages` are 0.",
        )
        .query([
            day("from", "The first day to return."),
            day("to", "The last day to return."),
        ])
}

/// The outcome of an agent's messages on one day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statistics)]
struct StatisticsView {
    /// The day, in UTC.
    #[schema(value_type = String, format = Date)]
    day: Day,
    /// Messages that were answered, including those whose reply was not stored.
    messages: u64,
    /// Conversations that began.
    conversations: u64,
    /// Stored replies that are based on a source.
    answered: u64,
    /// Stored replies that are based on no source.
    unanswered: u64,
    /// Replies of this day that are rated up, regardless of when they were rated.
    rated_up: u64,
    /// Replies of this day that are rated down, regardless of when they were rated.
    rated_down: u64,
    /// How long the stored replies took; null if there are none.
    #[schema(required)]
    latency: Option<LatencyView>,
}

/// How long replies took in milliseconds, from the arrival of the message to the end of the reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Latency)]
struct LatencyView {
    mean_ms: u64,
    /// The median, interpolated within a range.
    p50_ms: u64,
    /// The 95th percentile, interpolated within a range.
    p95_ms: u64,
}

impl LatencyView {
    fn of(latencies: &Latencies) -> Option<Self> {
        Some(Self {
            mean_ms: latencies.mean_ms()?,
            p50_ms: latencies.percentile_ms(50)?,
            p95_ms: latencies.percentile_ms(95)?,
        })
    }
}

impl From<&DayStatistics> for StatisticsView {
    fn from(day: &DayStatistics) -> Self {
        Self {
            day: day.day,
            messages: day.messages,
            conversations: day.conversations,
            answered: day.answered,
            unanswered: day.unanswered,
            rated_up: day.rated_up,
            rated_down: day.rated_down,
            latency: LatencyView::of(&day.latencies),
        }
    }
}

struct Statistics;

impl List for Statistics {
    type Permission = AgentsRead;
    type Item = DayStatistics;
    type View<'a> = StatisticsView;
    type Filter = DayRange;
    const NAME: &'static str = "statistics";

    fn filter(query: &Query) -> Result<DayRange, Error> {
        let (from, to) = every((query.one("from"), query.one("to")))?;
        DayRange::parse(from, to)
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<AgentsRead>,
        incoming: &Incoming,
        days: DayRange,
        page: PageRequest,
    ) -> Result<Page<DayStatistics>, Error> {
        app.quotas.statistics(caller.scope(), incoming.path_id()?, days, page).await
    }
}
