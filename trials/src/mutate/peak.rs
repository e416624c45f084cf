//! The peak memory of all child processes, as counted by Linux.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often processes are checked. The kernel keeps each one's peak, so only a process that starts
/// and ends between two checks is missed.
const INTERVAL: Duration = Duration::from_millis(10);

/// A thread that watches the child processes of this one.
pub(super) struct Peak {
    kib: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Peak {
    pub(super) fn watch() -> Self {
        let (kib, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (most, stop) = (Arc::clone(&kib), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let now = children().into_iter().filter_map(peak_of).max().unwrap_or(0);
                most.fetch_max(now, Ordering::Relaxed);
                std::thread::sleep(INTERVAL);
            }
        });
        Self { kib, is_over, thread }
    }

    /// The highest peak of any of them, in KiB.
    pub(super) fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic in the thread was printed.
        let _ = self.thread.join();
        self.kib.load(Ordering::Relaxed)
    }
}

/// The child processes of all threads of this one.
fn children() -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>())
        .collect()
}

fn peak_of(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
