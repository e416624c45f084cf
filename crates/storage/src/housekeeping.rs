//! Regular removal of data that is no longer needed, and counts for the metrics.

use async_trait::async_trait;
use cicerone_domain::agent::RetentionDays;
use cicerone_domain::ports::Housekeeping;
use cicerone_domain::upload::ObjectKey;
use cicerone_domain::usage::Day;
use cicerone_domain::{Error, Id, Timestamp, kind};
use diesel::dsl::{exists, min, not};
use diesel::prelude::*;

use crate::audit;
use crate::columns::{id, named, narrow, narrow_option, time, wide};
use crate::conversations;
use crate::deliveries;
use crate::events;
use crate::gaps;
use crate::idempotency as records;
use crate::jobs::{LEASED, QUEUED};
use crate::removal;
use crate::schema::{agents, discarded_objects, jobs, sources, uploads};
use crate::sources::{complete_part, incomplete};
use crate::storage::Storage;
use crate::uploads::remove_unused;
use crate::usage;
use crate::widgets;

/// Rows that are removed in one transaction, so that other writes are not delayed for long.
const AT_ONCE: u32 = 500;
/// The number of agents whose gaps are checked in one round.
const AGENTS_AT_ONCE: i64 = 200;

#[async_trait]
impl Housekeeping for Storage {
    async fn discarded_objects(&self, now: Timestamp, limit: u32) -> Result<Vec<ObjectKey>, Error> {
        self.db
            .read(move |c| {
                let keys: Vec<String> = discarded_objects::table
                    .filter(discarded_objects::due_at.le(now.as_millis()))
                    .order((discarded_objects::due_at, discarded_objects::object_key))
                    .limit(limit.into())
                    .select(discarded_objects::object_key)
                    .load(c)?;
                let key =
                    |text: &String| named("discarded_objects.object_key", text, ObjectKey::parse);
                keys.iter().map(key).collect::<Result<_, _>>()
            })
            .await
    }

    async fn forget_objects(&self, keys: &[ObjectKey]) -> Result<(), Error> {
        let keys: Vec<String> = keys.iter().map(|key| key.as_str().to_owned()).collect();
        self.db
            .free(move |c| {
                for key in &keys {
                    diesel::delete(discarded_objects::table.find(key)).execute(c)?;
                }
                Ok(())
            })
            .await
    }

    async fn expire_uploads(&self, before: Timestamp, now: Timestamp) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let (found, removed) = self
                .db
                .free(move |c| {
                    let used = exists(
                        sources::table
                            .filter(sources::upload_id.eq(uploads::id.nullable()))
                            .select(sources::id),
                    );
                    let ids: Vec<String> = uploads::table
                        .filter(uploads::created_at.lt(before.as_millis()))
                        .filter(not(used))
                        .order(uploads::created_at)
                        .limit(AT_ONCE.into())
                        .select(uploads::id)
                        .load(c)?;
                    Ok((ids.len(), remove_unused(c, &ids, now)?))
                })
                .await?;
            total += removed;
            if removed == 0 || found < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
                return Ok(total);
            }
        }
    }

    async fn expire_idempotency(&self, now: Timestamp) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let (removed, are_all) =
                self.db.free(move |c| records::expire(c, now.as_millis(), AT_ONCE.into())).await?;
            total += u64::try_from(removed).unwrap_or(u64::MAX);
            if are_all {
                return Ok(total);
            }
        }
    }

    async fn expire_deliveries(&self, before: Timestamp) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let limit = i64::from(AT_ONCE);
            let removed = self
                .db
                .free(move |c| {
                    let removed = deliveries::expire(c, before, limit)?;
                    Ok((removed, events::expire(c, before, limit)?))
                })
                .await?;
            total += u64::try_from(removed.0).unwrap_or(u64::MAX);
            if removed == (0, 0) {
                return Ok(total);
            }
        }
    }

    async fn expire_conversations(&self, now: Timestamp) -> Result<u64, Error> {
        let keeping: Vec<(String, Option<i64>)> = self
            .db
            .read(|c| {
                Ok(agents::table
                    .filter(agents::retention_days.is_not_null())
                    .filter(agents::removed_at.is_null())
                    .select((agents::id, agents::retention_days))
                    .load(c)?)
            })
            .await?;
        let mut total = 0;
        for (agent, days) in keeping {
            let days =
                narrow_option("agents.retention_days", days)?.map(RetentionDays::from_stored);
            let Some(before) = days.map(|days| days.kept_since(now)) else { continue };
            loop {
                let agent = agent.clone();
                let removed = self
                    .db
                    .free(move |c| conversations::expire(c, &agent, before, now, AT_ONCE.into()))
                    .await?;
                total += u64::try_from(removed).unwrap_or(u64::MAX);
                if removed == 0 {
                    break;
                }
                self.finish_removals(now).await?;
            }
        }
        Ok(total)
    }

    async fn complete_documents(&self, limit: u64) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let sources = self.db.read(incomplete).await?;
            if sources.is_empty() || total >= limit {
                return Ok(total);
            }
            for source in sources {
                let db = self.db.of(source.account);
                let mut left = Some(source);
                while let Some(part) = left {
                    left = db.free(move |c| complete_part(c, &part)).await?;
                }
                total += 1;
            }
        }
    }

    async fn finish_removals(&self, now: Timestamp) -> Result<u64, Error> {
        let mut total = 0;
        while let Some(removed) = self.db.read(removal::unfinished).await? {
            removal::finish(&self.db, removed, now).await?;
            total += 1;
        }
        Ok(total + self.remove_all_leftovers().await?)
    }

    async fn expire_widget_days(&self, before: Day) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let removed =
                self.db.free(move |c| widgets::expire_days(c, before, AT_ONCE.into())).await?;
            total += u64::try_from(removed).unwrap_or(u64::MAX);
            if removed == 0 {
                return Ok(total);
            }
        }
    }

    async fn expire_audit(&self, before: Timestamp) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let removed = self.db.free(move |c| audit::expire(c, before, AT_ONCE.into())).await?;
            total += u64::try_from(removed).unwrap_or(u64::MAX);
            if removed == 0 {
                return Ok(total);
            }
        }
    }

    async fn expire_usage(&self, before: Day) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            let removed = self.db.free(move |c| usage::expire(c, before, AT_ONCE.into())).await?;
            total += u64::try_from(removed).unwrap_or(u64::MAX);
            if removed == 0 {
                return Ok(total);
            }
        }
    }

    async fn expire_gaps(
        &self,
        after: Option<Id<kind::Agent>>,
    ) -> Result<(u64, Option<Id<kind::Agent>>), Error> {
        let due = self
            .db
            .read(move |c| {
                let behind = after.map(|id| id.to_string()).unwrap_or_default();
                let agents: Vec<String> = agents::table
                    .filter(agents::id.gt(behind))
                    .filter(agents::removed_at.is_null())
                    .order(agents::id)
                    .limit(AGENTS_AT_ONCE)
                    .select(agents::id)
                    .load(c)?;
                let last = agents.last().filter(|_| wide(agents.len()) == AGENTS_AT_ONCE);
                let next = last.map(|last| id("agents.id", last)).transpose()?;
                let mut due = Vec::new();
                for agent in agents {
                    let since = gaps::kept_since(c, &agent)?;
                    let empty = gaps::empty_gaps(c, &agent, AT_ONCE.into())?;
                    due.push((agent, since, empty));
                }
                Ok((due, next))
            })
            .await?;
        let (due, next) = due;
        let mut total = 0;
        for (agent, since, empty) in due {
            while let Some(since) = since {
                let agent = agent.clone();
                let removed = self
                    .db
                    .free(move |c| gaps::remove_before(c, &agent, since, AT_ONCE.into()))
                    .await?;
                total += u64::try_from(removed).unwrap_or(u64::MAX);
                if removed == 0 {
                    break;
                }
            }
            if !empty.is_empty() {
                self.db.free(move |c| gaps::remove_empty(c, &agent, &empty)).await?;
            }
        }
        Ok((total, next))
    }

    async fn empty_log(&self) -> Result<(), Error> {
        self.db.empty_log().await
    }

    async fn job_counts(&self) -> Result<(u64, u64), Error> {
        self.db
            .read(|c| {
                let mut count = |state: &str| -> QueryResult<i64> {
                    jobs::table.filter(jobs::state.eq(state)).count().get_result(c)
                };
                let (waiting, running) = (count(QUEUED)?, count(LEASED)?);
                Ok((narrow("count", waiting)?, narrow("count", running)?))
            })
            .await
    }

    async fn oldest_waiting(&self) -> Result<Option<Timestamp>, Error> {
        self.db
            .read(|c| {
                let oldest: Option<i64> = jobs::table
                    .filter(jobs::state.eq(QUEUED))
                    .select(min(jobs::queued_at))
                    .get_result(c)?;
                Ok(oldest.map(time))
            })
            .await
    }

    async fn delivery_counts(&self, now: Timestamp) -> Result<(u64, u64), Error> {
        self.db
            .read(move |c| {
                let (pending, due) = deliveries::counts(c, now)?;
                Ok((narrow("count", pending)?, narrow("count", due)?))
            })
            .await
    }
}
