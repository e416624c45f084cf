//! Returns free memory to the system.
//!
//! The allocator of glibc keeps freed memory for later use, separately for each thread. Without
//! this, the process would stay as large as at its peak.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How often the process checks its size.
const INTERVAL: Duration = Duration::from_secs(15);
/// The growth since the last time from which free memory is returned, which takes milliseconds.
const GROWTH_BYTES: usize = 8 * 1_024 * 1_024;

/// Larger blocks get a mapping of their own, which returns to the system as soon as it is freed. By
/// default, glibc raises this threshold by itself up to 32 MiB, and keeps what is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES_BYTES: libc::c_int = 512 * 1_024;

/// Sets how the allocator treats large blocks. To be called before the first thread starts.
pub(super) fn set_up() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "the standard library does not lead to the allocator")]
        // SAFETY: `mallopt` takes two numbers, and no other thread runs yet.
        let is_set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES_BYTES) };
        debug_assert_eq!(is_set, 1, "glibc takes this threshold");
    }
}

/// Returns free memory to the system whenever the process has grown, until `stop`. Does nothing if
/// the system does not report the size of the process.
pub(super) async fn give_back(stop: CancellationToken) {
    let mut least = usize::MAX;
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        let Some(resident) = resident().await else { continue };
        if resident > least.saturating_add(GROWTH_BYTES) || least == usize::MAX {
            // The panic hook has logged a panic; the next round tries again.
            let _ = tokio::task::spawn_blocking(trim).await;
            let Some(after) = self::resident().await else { continue };
            tracing::debug!(resident, after, "returned free memory to the system");
            least = after;
        } else {
            least = least.min(resident);
        }
    }
}

/// Resident memory of the process in bytes; `None` if the system does not report it.
async fn resident() -> Option<usize> {
    let text = tokio::fs::read_to_string("/proc/self/statm").await.ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size()))
}

/// Returns free memory to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    #[expect(unsafe_code, reason = "the standard library does not lead to the allocator")]
    // SAFETY: `malloc_trim` takes a number and may be called by any thread at any time.
    let _is_smaller = unsafe { libc::malloc_trim(0) };
}

/// Other allocators decide for themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
