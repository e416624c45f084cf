//! What accounts have used and may use.

mod statistics;

use async_trait::async_trait;
use cicerone_domain::conversation::Turn;
use cicerone_domain::id::kind;
use cicerone_domain::ports::UsageStore;
use cicerone_domain::statistics::{DayRange, DayStatistics, LATENCY_BUCKETS};
use cicerone_domain::usage::{
    AccountQuotas, Consumption, Day, DayUsage, Quota, TokenCount, UsageFilter,
};
use cicerone_domain::{Error, Id, Page, PageRequest, Scope};
use diesel::prelude::*;

use crate::bytes;
use crate::columns::{id, narrow, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::pages::created_before;
use crate::schema::{accounts, usage_days, usage_months};
use crate::scope::Visible;
use crate::storage::Storage;
pub(crate) use statistics::StatisticsRow;

/// Columns of a day to which replies add: messages and tokens, what became of the messages, and how long the replies
/// took.
pub(crate) const COUNTED: usize = 3 + 4 + LATENCY_BUCKETS;

/// The value of a quota column for an unlimited quota.
const UNLIMITED: i64 = -1;

#[derive(Clone)]
pub(crate) struct UsageRow {
    pub(crate) account_id: String,
    pub(crate) day: i64,
    pub(crate) agent_id: String,
    pub(crate) messages: i64,
    pub(crate) prompt_tokens: i64,
    pub(crate) completion_tokens: i64,
    pub(crate) statistics: StatisticsRow,
}

impl UsageRow {
    /// Whether both are of the same agent and day.
    fn is_with(&self, other: &Self) -> bool {
        self.day == other.day
            && self.agent_id == other.agent_id
            && self.account_id == other.account_id
    }

    /// The increments of the counting columns of a reply's day.
    pub(crate) fn counts(&self) -> [i64; COUNTED] {
        let mut counts = [0; COUNTED];
        let usage = [self.messages, self.prompt_tokens, self.completion_tokens];
        let all = usage.into_iter().chain(self.statistics.counts());
        counts.iter_mut().zip(all).for_each(|(count, added)| *count = added);
        counts
    }
}

/// What an account used in a month.
#[derive(Clone)]
pub(crate) struct MonthRow {
    pub(crate) account_id: String,
    /// The first day of the month.
    pub(crate) month: i64,
    pub(crate) messages: i64,
    pub(crate) tokens: i64,
}

impl MonthRow {
    /// Whether both are of the same account and month.
    fn is_with(&self, other: &Self) -> bool {
        self.month == other.month && self.account_id == other.account_id
    }
}

/// What an answered message adds to its day and to its month, known before it is stored.
#[derive(Clone)]
pub(crate) struct Counted {
    day: UsageRow,
    counts: [i64; COUNTED],
    month: MonthRow,
}

impl Counted {
    /// What this turn adds.
    pub(crate) fn of(turn: &Turn) -> Self {
        let account = turn.conversation.account_id;
        let (day, month) = rows(account, turn.usage(), StatisticsRow::of(turn));
        Self { counts: day.counts(), day, month }
    }

    pub(crate) fn store(&self, c: &mut AnyConnection) -> Result<(), TransactionError> {
        dialect::add_usage(c, &self.day, self.counts)?;
        Ok(dialect::add_month_usage(c, &self.month)?)
    }
}

/// What the turns of a commit add: one row for each agent and day, and one for each account and month.
#[derive(Default)]
pub(crate) struct Counts {
    days: Vec<(UsageRow, [i64; COUNTED])>,
    months: Vec<MonthRow>,
}

impl Counts {
    pub(crate) fn add(&mut self, added: &Counted) {
        let Counted { day, counts, month } = added;
        match self.days.iter_mut().find(|(known, _)| known.is_with(day)) {
            None => self.days.push((day.clone(), *counts)),
            Some((_, sums)) => {
                for (sum, more) in sums.iter_mut().zip(counts) {
                    *sum = sum.saturating_add(*more);
                }
            }
        }
        match self.months.iter_mut().find(|known| known.is_with(month)) {
            None => self.months.push(month.clone()),
            Some(known) => {
                known.messages = known.messages.saturating_add(month.messages);
                known.tokens = known.tokens.saturating_add(month.tokens);
            }
        }
    }

    pub(crate) fn store(&self, c: &mut AnyConnection) -> Result<(), TransactionError> {
        self.days.iter().try_for_each(|(day, counts)| dialect::add_usage(c, day, *counts))?;
        Ok(self.months.iter().try_for_each(|month| dialect::add_month_usage(c, month))?)
    }
}

/// Counts an answered message. This is the last step of its transaction, since messages of the same
/// account wait for each other from here on.
pub(crate) fn count(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    usage: DayUsage,
    statistics: StatisticsRow,
) -> Result<(), TransactionError> {
    let (in_day, in_month) = rows(account, usage, statistics);
    dialect::add_usage(c, &in_day, in_day.counts())?;
    Ok(dialect::add_month_usage(c, &in_month)?)
}

/// What an answered message adds to its day and to its month.
pub(crate) fn rows(
    account: Id<kind::Account>,
    usage: DayUsage,
    statistics: StatisticsRow,
) -> (UsageRow, MonthRow) {
    let row = UsageRow {
        account_id: account.to_string(),
        day: usage.day.number(),
        agent_id: usage.agent_id.to_string(),
        messages: wide(usage.messages),
        prompt_tokens: wide(usage.tokens.prompt),
        completion_tokens: wide(usage.tokens.completion),
        statistics,
    };
    let (month, _) = Day::month_of(usage.day.start());
    let in_month = MonthRow {
        account_id: row.account_id.clone(),
        month: month.number(),
        messages: row.messages,
        tokens: row.prompt_tokens.saturating_add(row.completion_tokens),
    };
    (row, in_month)
}

/// Removes the daily usage before `before`, at most `limit` rows, and the monthly usage before its
/// month. Returns how many were removed.
pub(crate) fn expire(
    c: &mut AnyConnection,
    before: Day,
    limit: i64,
) -> Result<usize, TransactionError> {
    let last: Option<i64> = usage_days::table
        .filter(usage_days::day.lt(before.number()))
        .order(usage_days::day)
        .offset(limit)
        .limit(1)
        .select(usage_days::day)
        .get_result(c)
        .optional()?;
    let until = last.map_or(before.number(), |day| day + 1);
    let days = usage_days::table.filter(usage_days::day.lt(until.min(before.number())));
    let removed = diesel::delete(days).execute(c)?;
    let (month, _) = Day::month_of(before.start());
    let months = usage_months::table.filter(usage_months::month.lt(month.number()));
    Ok(removed + diesel::delete(months).execute(c)?)
}

/// Reads a quota from its column.
pub(crate) fn quota(column: Option<i64>) -> Quota {
    match column {
        None => Quota::Default,
        Some(most) => u64::try_from(most).map_or(Quota::Unlimited, Quota::AtMost),
    }
}

/// The columns of quotas: messages, tokens and bytes.
type Columns = (Option<i64>, Option<i64>, Option<i64>);
const COLUMNS: (accounts::messages_per_month, accounts::tokens_per_month, accounts::bytes_kept) =
    (accounts::messages_per_month, accounts::tokens_per_month, accounts::bytes_kept);

fn quotas((messages, tokens, bytes): Columns) -> AccountQuotas {
    AccountQuotas { messages: quota(messages), tokens: quota(tokens), bytes: quota(bytes) }
}

fn column(quota: Quota) -> Option<i64> {
    match quota {
        Quota::Default => None,
        Quota::Unlimited => Some(UNLIMITED),
        Quota::AtMost(most) => Some(wide(most)),
    }
}

#[async_trait]
impl UsageStore for Storage {
    async fn account_quotas(&self, account: Id<kind::Account>) -> Result<AccountQuotas, Error> {
        self.db
            .of(account)
            .lookup(move |c| {
                let found: Option<Columns> = accounts::table
                    .find(account.to_string())
                    .select(COLUMNS)
                    .get_result(c)
                    .optional()?;
                Ok(quotas(found.unwrap_or_default()))
            })
            .await
    }

    async fn set_quotas(
        &self,
        name: &str,
        change: Option<AccountQuotas>,
    ) -> Result<(Id<kind::Account>, AccountQuotas), Error> {
        let name = name.to_owned();
        self.db.write(move |c| set(c, &name, change)).await
    }

    async fn consumption(
        &self,
        account: Id<kind::Account>,
        month: Day,
    ) -> Result<Consumption, Error> {
        self.db
            .of(account)
            .lookup(move |c| {
                let used: Option<(i64, i64)> = usage_months::table
                    .find((account.to_string(), month.number()))
                    .select((usage_months::messages, usage_months::tokens))
                    .get_result(c)
                    .optional()?;
                let (messages, tokens) = used.unwrap_or_default();
                Ok(Consumption {
                    messages: narrow("usage_months.messages", messages)?,
                    tokens: narrow("usage_months.tokens", tokens)?,
                })
            })
            .await
    }

    async fn kept_bytes(&self, account: Id<kind::Account>) -> Result<u64, Error> {
        self.db.of(account).read(move |c| bytes::kept(c, &account.to_string())).await
    }

    async fn list_usage(
        &self,
        scope: &Scope,
        filter: UsageFilter,
        page: PageRequest,
    ) -> Result<Page<DayUsage>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).read(move |c| list(c, &visible, filter, &page)).await
    }

    async fn list_statistics(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        days: DayRange,
        page: PageRequest,
    ) -> Result<Page<DayStatistics>, Error> {
        self.snapshot(scope, move |c, visible| statistics::list(c, visible, agent, days, &page))
            .await
    }
}

fn set(
    c: &mut AnyConnection,
    name: &str,
    change: Option<AccountQuotas>,
) -> Result<(Id<kind::Account>, AccountQuotas), TransactionError> {
    let target = || accounts::table.filter(accounts::name.eq(name));
    if let Some(change) = change {
        diesel::update(target())
            .set((
                accounts::messages_per_month.eq(column(change.messages)),
                accounts::tokens_per_month.eq(column(change.tokens)),
                accounts::bytes_kept.eq(column(change.bytes)),
            ))
            .execute(c)?;
    }
    let found: Option<(String, Columns)> =
        target().select((accounts::id, COLUMNS)).get_result(c).optional()?;
    let (account, columns) = found.ok_or_else(|| Error::not_found("account", name))?;
    Ok((id("accounts.id", &account)?, quotas(columns)))
}

type Row = (i64, String, i64, i64, i64);

/// A page of usage. The position after it is the start of the last item's day, and its agent.
fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    filter: UsageFilter,
    page: &PageRequest,
) -> Result<Page<DayUsage>, TransactionError> {
    let mut query = usage_days::table
        .filter(usage_days::account_id.eq(&visible.account))
        .order((usage_days::day.desc(), usage_days::agent_id.desc()))
        .limit(page.lookahead())
        .select((
            usage_days::day,
            usage_days::agent_id,
            usage_days::messages,
            usage_days::prompt_tokens,
            usage_days::completion_tokens,
        ))
        .into_boxed();
    if let Some(ids) = &visible.agents {
        query = query.filter(usage_days::agent_id.eq_any(ids));
    }
    if let Some(agent) = filter.agent_id {
        query = query.filter(usage_days::agent_id.eq(agent.to_string()));
    }
    if let Some(from) = filter.from {
        query = query.filter(usage_days::day.ge(from.number()));
    }
    if let Some(to) = filter.to {
        query = query.filter(usage_days::day.le(to.number()));
    }
    if let Some((at, id)) = created_before(page)? {
        let day = Day::of(cicerone_domain::Timestamp::from_millis(at)).number();
        query = query
            .filter(usage_days::day.le(day))
            .filter(usage_days::day.lt(day).or(usage_days::agent_id.lt(id)));
    }
    let items: Result<Vec<_>, _> = query.load::<Row>(c)?.into_iter().map(usage).collect();
    Ok(Page::from_lookahead(items?, page.size))
}

fn usage((day, agent, messages, prompt, completion): Row) -> Result<DayUsage, TransactionError> {
    Ok(DayUsage {
        day: Day::from_number(day),
        agent_id: id("usage_days.agent_id", &agent)?,
        messages: narrow("usage_days.messages", messages)?,
        tokens: TokenCount {
            prompt: narrow("usage_days.prompt_tokens", prompt)?,
            completion: narrow("usage_days.completion_tokens", completion)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{COUNTED, Counted, Counts, MonthRow, StatisticsRow, UsageRow};

    fn counted(account: &str, agent: &str, day: i64) -> Counted {
        let row = UsageRow {
            account_id: account.to_owned(),
            day,
            agent_id: agent.to_owned(),
            messages: 1,
            prompt_tokens: 20,
            completion_tokens: 3,
            statistics: StatisticsRow::default(),
        };
        let (account_id, month) = (account.to_owned(), day / 30);
        let month = MonthRow { account_id, month, messages: 1, tokens: 23 };
        Counted { counts: row.counts(), day: row, month }
    }

    #[test]
    fn a_commit_adds_once_to_each_day_of_an_agent_and_each_month_of_an_account() {
        let mut counts = Counts::default();
        for (account, agent, day) in [
            ("a", "1", 1),
            ("a", "2", 1),
            ("b", "3", 1),
            ("a", "1", 1),
            ("a", "1", 2),
            ("a", "1", 31),
        ] {
            counts.add(&counted(account, agent, day));
        }
        let sum = |(row, sums): &(UsageRow, [i64; COUNTED])| {
            (row.account_id.clone(), row.agent_id.clone(), row.day, sums[0], sums[1], sums[2])
        };
        let day = |account: &str, agent: &str, day, messages| {
            (account.to_owned(), agent.to_owned(), day, messages, 20 * messages, 3 * messages)
        };
        let days: Vec<_> = counts.days.iter().map(sum).collect();
        let expected = [
            day("a", "1", 1, 2),
            day("a", "2", 1, 1),
            day("b", "3", 1, 1),
            day("a", "1", 2, 1),
            day("a", "1", 31, 1),
        ];
        assert_eq!(days, expected);
        let months: Vec<_> = counts
            .months
            .iter()
            .map(|row| (row.account_id.as_str(), row.month, row.messages, row.tokens))
            .collect();
        assert_eq!(months, [("a", 0, 4, 92), ("b", 0, 1, 23), ("a", 1, 1, 23)]);
    }
}
