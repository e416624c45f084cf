//! The pool: a limited number of processes, which are kept while they are used.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::{Id, kind};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::end;
use super::process::Process;
use super::settings::SandboxSettings;
use super::wire::{DOCUMENT_BYTES, Reply, Request};
use crate::extract::Unreadable;

/// Pauses between attempts to start a process.
const START_PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(500), Duration::from_secs(2)];

/// Processes that read documents.
#[derive(Debug, Clone)]
pub(super) struct Pool(Arc<Inner>);

/// Places that accounts share; `None` is the program itself.
type Places = FairPool<Option<Id<kind::Account>>>;

#[derive(Debug)]
struct Inner {
    settings: SandboxSettings,
    /// Places for documents that are quick to read, and for those that may take long, so that the
    /// former never wait for the latter.
    quick: Places,
    slow: Places,
    idle: Mutex<Idle>,
}

/// Idle processes.
#[derive(Debug, Default)]
struct Idle {
    /// Each with the time at which it became idle, the latest last.
    processes: Vec<(Instant, Process)>,
    /// Whether a task is running that ends idle processes.
    is_watched: bool,
}

impl Pool {
    pub(super) fn new(settings: SandboxSettings) -> Self {
        let processes = u64::try_from(settings.processes.max(1)).unwrap_or(u64::MAX);
        let places = || FairPool::new(processes, processes);
        let (quick, slow) = (places(), places());
        Self(Arc::new(Inner { settings, quick, slow, idle: Mutex::default() }))
    }

    /// Reads a document for `party` as soon as there is a place. Dropping the future kills the
    /// process.
    pub(super) async fn read(
        &self,
        party: Option<Id<kind::Account>>,
        request: &Request,
        document: Bytes,
    ) -> Result<Reply, Unreadable> {
        let began = Instant::now();
        let kind = request.kind();
        let answer = self.read_in_place(party, request, document).await;
        let outcome = match &answer {
            Ok(Reply::Page(_) | Reply::File(_)) => "read",
            Ok(Reply::Unreadable(_)) => "unreadable",
            Ok(Reply::Panicked) | Err(_) => "crashed",
        };
        metrics::counter!("cicerone_documents_read_total", "kind" => kind, "outcome" => outcome)
            .increment(1);
        metrics::histogram!("cicerone_document_read_duration_seconds", "kind" => kind)
            .record(began.elapsed());
        answer
    }

    async fn read_in_place(
        &self,
        party: Option<Id<kind::Account>>,
        request: &Request,
        document: Bytes,
    ) -> Result<Reply, Unreadable> {
        if u32::try_from(document.len()).map_or(true, |length| length > DOCUMENT_BYTES) {
            return Err(end::too_large());
        }
        let places = if request.is_quick() { &self.0.quick } else { &self.0.slow };
        let _place = places.acquire(party, 1, Urgency::Learning).await;
        let process = match self.idle_process() {
            Some(process) => process,
            None => self.start().await?,
        };
        let (process, answer) = process.read(&self.0.settings, request, document).await?;
        self.keep(process);
        Ok(answer)
    }

    /// The most recently used process, so that the others can reach their idle limit.
    fn idle_process(&self) -> Option<Process> {
        let mut idle = self.0.idle.lock();
        while let Some((_, mut process)) = idle.processes.pop() {
            if process.is_alive() {
                return Some(process);
            }
        }
        None
    }

    async fn start(&self) -> Result<Process, Unreadable> {
        let mut pauses = START_PAUSES.into_iter();
        loop {
            match Process::start(&self.0.settings) {
                Ok(process) => return Ok(process),
                Err(error) => {
                    tracing::error!(
                        %error,
                        program = %self.0.settings.program.display(),
                        "a process that reads documents could not be started"
                    );
                    let Some(pause) = pauses.next() else { return Err(end::not_started()) };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Keeps a process for the next document, unless it has read enough of them.
    fn keep(&self, process: Process) {
        if process.documents >= self.0.settings.documents {
            return;
        }
        let mut idle = self.0.idle.lock();
        idle.processes.push((Instant::now(), process));
        if !idle.is_watched {
            idle.is_watched = true;
            tokio::spawn(watch(Arc::downgrade(&self.0), self.0.settings.idle));
        }
    }
}

/// Ends processes that have been idle for `limit`, until none is left. Does not keep the pool alive.
async fn watch(pool: Weak<Inner>, limit: Duration) {
    let mut look = Instant::now() + limit;
    loop {
        tokio::time::sleep_until(look).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle.lock();
        let now = Instant::now();
        idle.processes.retain(|(since, _)| *since + limit > now);
        match idle.processes.first() {
            Some((since, _)) => look = *since + limit,
            None => {
                idle.is_watched = false;
                return;
            }
        }
    }
}
