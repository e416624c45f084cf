//! Jobs: work on a source as rows with leases.

use std::time::Duration;

use crate::clock::Entropy;
use crate::content::Extracted;
use crate::id::{Id, kind};
use crate::limits;
use crate::source::{Source, SourceType};
use crate::timestamp::Timestamp;

/// A job to queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewJob {
    /// `job_` and 10 characters.
    pub id: Id<kind::Job>,
    /// The request that asked for it, for the logs.
    pub request_id: Option<Id<kind::Request>>,
}

/// The right to work on a job for a while, which heartbeats extend. A worker whose lease was taken over by another one
/// cannot change anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The job that no other worker takes meanwhile.
    pub job_id: Id<kind::Job>,
    /// The source that it processes.
    pub source_id: Id<kind::Source>,
    /// Names this claim: 10 random characters.
    pub token: String,
}

/// A job that this worker has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedJob {
    /// The right to work on it.
    pub lease: Lease,
    /// The source to process, in the state `processing`.
    pub source: Source,
    /// The number of earlier attempts that failed transiently.
    pub attempts: u32,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// The request that asked for it.
    pub request_id: Option<Id<kind::Request>>,
}

/// A job that succeeded, and what was extracted from its source.
#[derive(Debug, Clone)]
pub struct FinishedJob {
    /// The right to end it.
    pub lease: Lease,
    /// The content of the source.
    pub extracted: Extracted,
    /// The id of the event that reports it.
    pub event: Id<kind::Event>,
}

/// A queue with separate workers, so that quick work never waits for slow work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Texts and question/answer pairs: milliseconds to a second.
    Quick,
    /// Files: up to the time limit of a reader.
    File,
    /// Websites: up to the time limit of a crawl.
    Website,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Quick, Self::File, Self::Website];

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::File => "file",
            Self::Website => "website",
        }
    }

    /// The lane of a source's jobs.
    pub const fn of(kind: SourceType) -> Self {
        match kind {
            SourceType::Text | SourceType::Qa => Self::Quick,
            SourceType::File => Self::File,
            SourceType::Website => Self::Website,
        }
    }
}

/// Which jobs a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimable {
    /// Only jobs of this lane.
    pub lane: Lane,
    /// Jobs of these accounts.
    pub accounts: ClaimableAccounts,
}

/// The accounts whose jobs a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimableAccounts {
    /// Every account, because places are left.
    All,
    /// Accounts without a running job in the lane, because only reserved places are left.
    Idle,
}

impl ClaimableAccounts {
    /// The order in which `waiting` accounts, given in the order of their oldest jobs, get their
    /// turn: the account with the fewest `running` jobs comes first, and equals keep their order.
    pub fn turns<A>(self, mut waiting: Vec<A>, running: impl Fn(&A) -> u64) -> Vec<A> {
        if self == Self::Idle {
            waiting.retain(|account| running(account) == 0);
        }
        waiting.sort_by_key(running);
        waiting
    }
}

/// Which running jobs are returned to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reclaim {
    /// Jobs whose lease has expired, because their worker has stopped.
    Expired,
    /// All jobs: no other worker exists, because the only process of an embedded database is starting.
    All,
}

/// The result of a reclaim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reclaimed {
    /// Jobs that will run again.
    pub requeued: u64,
    /// Jobs whose workers crashed too often; their sources failed.
    pub poisoned: u64,
}

/// The `error_message` of a source whose job crashed its worker too often.
pub const POISONED: &str = "processing crashed too often on this content; \
     check that the file is not damaged, or split it, and add it again";

/// How often the workers of a job crashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crashes {
    /// Since the job last made progress.
    pub in_a_row: u32,
    /// Since the job was queued.
    pub in_all: u32,
}

impl Crashes {
    /// The counts after one more crash.
    #[must_use]
    pub const fn and_another(self) -> Self {
        Self { in_a_row: self.in_a_row.saturating_add(1), in_all: self.in_all.saturating_add(1) }
    }

    /// The counts after progress. A crawl makes progress only when it visits pages that it had not
    /// visited before. Finding pages, or visiting one again, does not count, because it does not
    /// get the crawl past the page that it crashed on.
    #[must_use]
    pub const fn after_progress(self, pages_visited_first: usize) -> Self {
        if pages_visited_first == 0 { self } else { Self { in_a_row: 0, ..self } }
    }

    /// Whether the job must not be tried again, because it crashed
    /// [`JOB_CRASHES`](limits::JOB_CRASHES) times without progress or
    /// [`JOB_CRASHES_IN_ALL`](limits::JOB_CRASHES_IN_ALL) times in total.
    pub const fn are_too_many(self) -> bool {
        self.in_a_row >= limits::JOB_CRASHES || self.in_all >= limits::JOB_CRASHES_IN_ALL
    }
}

/// The pause before a job is tried again after its attempt with this number, from 1, failed transiently. `None` if
/// these were all of its attempts.
pub fn pause_after_failure(attempt: u32, entropy: &dyn Entropy) -> Option<Duration> {
    if attempt >= limits::JOB_ATTEMPTS {
        return None;
    }
    let base = limits::JOB_PAUSE_MILLIS << attempt.saturating_sub(1);
    let mut chance = [0_u8; 1];
    entropy.fill(&mut chance);
    let [chance] = chance;
    Some(Duration::from_millis(base * (800 + u64::from(chance) * 400 / 255) / 1_000))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ClaimableAccounts, Crashes, pause_after_failure};
    use crate::{Entropy, limits};

    struct Always(u8);

    impl Entropy for Always {
        fn fill(&self, target: &mut [u8]) {
            target.fill(self.0);
        }
    }

    #[test]
    fn the_pause_doubles_and_varies_by_a_fifth_until_the_attempts_are_used_up() {
        let tenths = |tenths: u64| Some(Duration::from_millis(tenths * 100));
        for (attempt, base) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
            assert_eq!(pause_after_failure(attempt, &Always(0)), tenths(base * 8));
            assert_eq!(pause_after_failure(attempt, &Always(255)), tenths(base * 12));
        }
        for attempt in [limits::JOB_ATTEMPTS, u32::MAX] {
            assert_eq!(pause_after_failure(attempt, &Always(0)), None);
        }
    }

    /// Crashes until the job ends, if `pages` new pages are visited between two of them.
    fn until_end(pages: usize) -> u32 {
        let mut crashes = Crashes::default();
        while !crashes.are_too_many() {
            crashes = crashes.after_progress(pages).and_another();
        }
        crashes.in_all
    }

    #[test]
    fn a_job_ends_after_three_crashes_without_progress_and_a_hundred_with() {
        assert_eq!(until_end(0), limits::JOB_CRASHES);
        assert_eq!(until_end(1), limits::JOB_CRASHES_IN_ALL);
    }

    #[test]
    fn the_account_with_the_fewest_running_jobs_comes_first() {
        let running = |account: &&str| match *account {
            "busy" => 2,
            "one" | "other" => 1,
            _ => 0,
        };
        let waiting = vec!["busy", "one", "idle", "other", "new"];
        let all = ClaimableAccounts::All.turns(waiting.clone(), running);
        assert_eq!(all, ["idle", "new", "one", "other", "busy"]);
        assert_eq!(ClaimableAccounts::Idle.turns(waiting, running), ["idle", "new"]);
    }

    #[test]
    fn progress_ends_a_row_of_crashes() {
        let two = Crashes::default().and_another().and_another();
        let after = two.after_progress(1);
        assert_eq!(after, Crashes { in_a_row: 0, in_all: 2 });
        assert_eq!(two.after_progress(0), two);
    }
}
