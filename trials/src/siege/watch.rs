//! The memory and open files of the server's process during some work, without its child processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;

use crate::bench::memory;

/// The pause between two counts of open files. The system itself keeps the peak of memory.
const LOOK: Duration = Duration::from_millis(50);

/// The memory and open files of a process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Resident memory at the beginning, in MiB.
    pub(super) before: f64,
    /// The most resident memory, in MiB.
    pub(super) most: f64,
    /// The most open files.
    pub(super) files: usize,
}

impl Held {
    /// By how much memory rose, in MiB.
    pub(super) fn rise(&self) -> f64 {
        self.most - self.before
    }
}

/// Watches a process from its creation to [`Watch::end`].
pub(super) struct Watch {
    pid: u32,
    before: f64,
    is_over: Arc<AtomicBool>,
    files: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Begins to watch. Fails if the process has ended.
    pub(super) fn begin(pid: u32) -> anyhow::Result<Self> {
        memory::forget_peak(pid).context("the server has ended")?;
        let before = memory::of(pid)?.resident_mib();
        let is_over = Arc::new(AtomicBool::new(false));
        let files = Arc::new(AtomicUsize::new(memory::open_files(pid)?));
        let thread = thread::spawn({
            let (is_over, files) = (Arc::clone(&is_over), Arc::clone(&files));
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    // A process that has ended is reported at the end.
                    files.fetch_max(memory::open_files(pid).unwrap_or(0), Ordering::Relaxed);
                    thread::sleep(LOOK);
                }
            }
        });
        Ok(Self { pid, before, is_over, files, thread })
    }

    /// The memory and open files. Fails if the process has ended.
    pub(super) fn end(self) -> anyhow::Result<Held> {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        let now = memory::of(self.pid).context("the server has ended")?;
        let files = self.files.load(Ordering::Relaxed);
        Ok(Held { before: self.before, most: now.peak_mib(), files })
    }
}
