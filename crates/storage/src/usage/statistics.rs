//! What became of an agent's messages, by day: columns of the usage of the day.

use cicerone_domain::conversation::Turn;
use cicerone_domain::id::kind;
use cicerone_domain::statistics::{
    DayRange, DayStatistics, LATENCY_BUCKETS, Latencies, latency_bucket,
};
use cicerone_domain::usage::Day;
use cicerone_domain::{Id, Page, PageRequest};
use diesel::prelude::*;

use crate::agents;
use crate::columns::{narrow, wide};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::pages::numbered_before;
use crate::schema::usage_days;
use crate::scope::Visible;

/// The columns of a day, or what is added to them.
#[derive(Debug, Clone, Default, Queryable, Selectable)]
#[diesel(table_name = usage_days)]
pub(crate) struct StatisticsRow {
    conversations: i64,
    answered: i64,
    unanswered: i64,
    rated_up: i64,
    rated_down: i64,
    latency_ms: i64,
    latency_1: i64,
    latency_2: i64,
    latency_3: i64,
    latency_4: i64,
    latency_5: i64,
    latency_6: i64,
    latency_7: i64,
    latency_8: i64,
    latency_9: i64,
    latency_10: i64,
}

impl StatisticsRow {
    /// What a turn adds.
    pub(crate) fn of(turn: &Turn) -> Self {
        let mut buckets = [0; LATENCY_BUCKETS];
        if let Some(bucket) = buckets.get_mut(latency_bucket(turn.latency_ms())) {
            *bucket = 1;
        }
        let is_answered = turn.is_answered();
        let [l1, l2, l3, l4, l5, l6, l7, l8, l9, l10] = buckets;
        Self {
            conversations: i64::from(turn.is_first),
            answered: i64::from(is_answered),
            unanswered: i64::from(!is_answered),
            rated_up: 0,
            rated_down: 0,
            latency_ms: wide(turn.latency_ms()),
            latency_1: l1,
            latency_2: l2,
            latency_3: l3,
            latency_4: l4,
            latency_5: l5,
            latency_6: l6,
            latency_7: l7,
            latency_8: l8,
            latency_9: l9,
            latency_10: l10,
        }
    }

    /// The replies by how long they took.
    const fn buckets(&self) -> [i64; LATENCY_BUCKETS] {
        [
            self.latency_1,
            self.latency_2,
            self.latency_3,
            self.latency_4,
            self.latency_5,
            self.latency_6,
            self.latency_7,
            self.latency_8,
            self.latency_9,
            self.latency_10,
        ]
    }

    /// What a turn changes, in the order of the columns.
    pub(super) fn counts(&self) -> impl Iterator<Item = i64> {
        let counts = [self.conversations, self.answered, self.unanswered, self.latency_ms];
        counts.into_iter().chain(self.buckets())
    }

    /// The statistics of a day with this many messages.
    fn of_day(self, day: i64, messages: i64) -> Result<DayStatistics, TransactionError> {
        let mut latencies = Latencies {
            total_ms: narrow("usage_days.latency_ms", self.latency_ms)?,
            ..Latencies::default()
        };
        for (bucket, stored) in latencies.buckets.iter_mut().zip(self.buckets()) {
            *bucket = narrow("usage_days.latency", stored)?;
        }
        Ok(DayStatistics {
            day: Day::from_number(day),
            messages: narrow("usage_days.messages", messages)?,
            conversations: narrow("usage_days.conversations", self.conversations)?,
            answered: narrow("usage_days.answered", self.answered)?,
            unanswered: narrow("usage_days.unanswered", self.unanswered)?,
            rated_up: narrow("usage_days.rated_up", self.rated_up)?,
            rated_down: narrow("usage_days.rated_down", self.rated_down)?,
            latencies,
        })
    }
}

/// A page of the days of an agent, the latest first.
pub(super) fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    days: DayRange,
    page: &PageRequest,
) -> Result<Page<DayStatistics>, TransactionError> {
    agents::require(c, visible, agent)?;
    let mut query = usage_days::table
        .filter(usage_days::account_id.eq(&visible.account))
        .filter(usage_days::agent_id.eq(agent.to_string()))
        .filter(usage_days::day.lt(numbered_before(page)?))
        .order(usage_days::day.desc())
        .limit(page.lookahead())
        .select((usage_days::day, usage_days::messages, StatisticsRow::as_select()))
        .into_boxed();
    if let Some(from) = days.from {
        query = query.filter(usage_days::day.ge(from.number()));
    }
    if let Some(to) = days.to {
        query = query.filter(usage_days::day.le(to.number()));
    }
    let rows: Vec<(i64, i64, StatisticsRow)> = query.load(c)?;
    let items: Result<Vec<_>, _> =
        rows.into_iter().map(|(day, messages, row)| row.of_day(day, messages)).collect();
    Ok(Page::from_lookahead(items?, page.size))
}
