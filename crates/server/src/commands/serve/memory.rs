//! Returns free memory to the system.
//!
//! The allocator of glibc keeps freed memory for later use, separately for each thread. Without
//! this, the process would stay as large as at its peak. The system keeps every part of the program mapped that ran
//! once, with 64 KiB around it, so that a start alone maps two thirds of the code. What was mapped is unmapped after the
//! start, and again when the process is idle.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// When the process returns what its start needed.
const FIRST: Duration = Duration::from_secs(1);
/// How often the process checks whether it is idle.
const INTERVAL: Duration = Duration::from_secs(5);
/// After how many of these intervals it checks how much unused memory it holds.
const TRIM_INTERVALS: u32 = 3;
/// The growth since the last time from which free memory is returned, which takes milliseconds.
const GROWTH_BYTES: i64 = 8 * 1_024 * 1_024;
/// The same for unmapping the program. An idle process runs some 8 MiB of it, counted with what is around.
const GROWTH_OF_FILES_BYTES: i64 = 12 * 1_024 * 1_024;
/// The processor time in an interval up to which the process is idle: 1 % of a processor.
const IDLE: Duration = Duration::from_millis(50);

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

/// Returns what the start needed, and then free memory to the system whenever there is more of it, until `stop`. Also
/// unmaps the program when the process is idle. Does nothing if the system does not report the size of the process.
///
/// The size alone is not enough: memory of a long burst is freed after the process has stopped growing.
pub(super) async fn give_back(stop: CancellationToken) {
    let mut state = FRESH;
    if stop.run_until_cancelled(tokio::time::sleep(FIRST)).await.is_some() {
        // The panic hook has logged a panic; the rounds try again.
        let first = tokio::task::spawn_blocking(move || {
            trim();
            unmap_program();
            Some(State { mapped: Size::now()?.of_files, ..state })
        });
        state = first.await.ok().flatten().unwrap_or(state);
    }
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        // The panic hook has logged a panic; the next round tries again.
        let round = tokio::task::spawn_blocking(move || round(state)).await;
        state = round.ok().flatten().unwrap_or(state);
    }
}

/// What a round knows of those before.
#[derive(Clone, Copy)]
struct State {
    /// The least unused memory that there was, in bytes.
    unused: i64,
    /// How many bytes of files were mapped after the last unmapping, or the least since then.
    mapped: i64,
    /// The processor time that the process had used.
    time: Duration,
    rounds: u32,
}

/// Before the first round.
const FRESH: State = State { unused: i64::MAX, mapped: 0, time: Duration::ZERO, rounds: 0 };

impl State {
    fn wants_trim(&self, size: &Size) -> bool {
        let has_grown = size.unused > self.unused.saturating_add(GROWTH_BYTES);
        self.rounds.is_multiple_of(TRIM_INTERVALS) && (has_grown || self.unused == FRESH.unused)
    }

    fn wants_unmapping(&self, size: &Size, time: Duration) -> bool {
        let is_idle = time.saturating_sub(self.time) <= IDLE;
        is_idle && size.of_files > self.mapped.saturating_add(GROWTH_OF_FILES_BYTES)
    }
}

/// Returns free memory to the system if there is much more of it than the least amount so far, and unmaps the program if the process
/// is idle and much more is mapped than after the last time.
fn round(before: State) -> Option<State> {
    let size = Size::now()?;
    let mut state =
        State { time: processor_time(), rounds: before.rounds.wrapping_add(1), ..before };
    if before.wants_unmapping(&size, state.time) {
        unmap_program();
        state.mapped = Size::now()?.of_files;
        tracing::debug!(before = size.of_files, after = state.mapped, "unmapped the program");
    } else {
        // Files of an index may have been closed.
        state.mapped = before.mapped.min(size.of_files);
    }
    if before.wants_trim(&size) {
        trim();
        state.unused = Size::now()?.unused;
        tracing::debug!(
            before = size.unused,
            after = state.unused,
            "returned free memory to the system"
        );
    } else {
        state.unused = before.unused.min(size.unused);
    }
    Some(state)
}

/// The processor time that all threads of the process have used.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The size of the process, in bytes.
struct Size {
    /// By how much the process is larger than what it uses. Only its changes are meaningful: it is negative if much was
    /// allocated that was never written to.
    unused: i64,
    /// The pages of files that are mapped: of the program, of libraries, and of indexes.
    of_files: i64,
}

impl Size {
    /// `None` if the system does not report it.
    fn now() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = text.split(' ').skip(1).map(str::parse::<i64>);
        let (resident, of_files) = (pages.next()?.ok()?, pages.next()?.ok()?);
        let page = i64::try_from(rustix::param::page_size()).ok()?;
        let unused =
            resident.saturating_sub(of_files).saturating_mul(page).saturating_sub(in_use());
        Some(Self { unused, of_files: of_files.saturating_mul(page) })
    }
}

/// Bytes that the program has allocated.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn in_use() -> i64 {
    #[expect(unsafe_code, reason = "the standard library does not lead to the allocator")]
    // SAFETY: `mallinfo2` takes nothing and may be called by any thread at any time.
    let allocated = unsafe { libc::mallinfo2() };
    i64::try_from(allocated.uordblks.saturating_add(allocated.hblkhd)).unwrap_or(i64::MAX)
}

/// Other allocators do not report it.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn in_use() -> i64 {
    0
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

/// Unmaps the code and the constants of the program, as far as they are in memory. Pages that are used again are mapped
/// again on demand, from the page cache, where they stay as long as the system has room.
#[cfg(target_os = "linux")]
fn unmap_program() {
    let Ok(program) = std::fs::read_link("/proc/self/exe") else { return };
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in maps.lines().filter_map(|line| unchanged(line, &program)) {
        #[expect(unsafe_code, reason = "the standard library does not lead to the system call")]
        // SAFETY: the range is a mapping of a file that cannot be written to, which `unchanged` has checked, so each of
        // its pages has the content of the file again when it is next used. No thread unmaps the program.
        let outcome = unsafe { libc::madvise(start as *mut _, length, libc::MADV_DONTNEED) };
        if outcome != 0 {
            let error = std::io::Error::last_os_error();
            tracing::debug!(%error, "the program stays mapped");
        }
    }
}

/// For other systems there is nothing to do.
#[cfg(not(target_os = "linux"))]
fn unmap_program() {}

/// The address and length of the mapping in a line of `/proc/self/maps`, if it has nothing but what is in the file of the
/// program: its code, and the constants at the beginning of the file. The loader has written addresses into the others,
/// which are read-only only since then.
#[cfg(target_os = "linux")]
fn unchanged(line: &str, program: &std::path::Path) -> Option<(usize, usize)> {
    use std::os::unix::ffi::OsStrExt as _;

    let mut fields = line.splitn(6, ' ');
    let (range, permissions, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let path = fields.nth(2)?.trim_start();
    let number = |digits| usize::from_str_radix(digits, 16).ok();
    let is_unchanged = match permissions {
        "r-xp" => true,
        "r--p" => number(offset)? == 0,
        _ => false,
    };
    let (start, end) = range.split_once('-')?;
    let length = number(end)?.checked_sub(number(start)?)?;
    let is_of_program = path.as_bytes() == program.as_os_str().as_bytes();
    (is_unchanged && is_of_program).then_some((number(start)?, length))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{
        FRESH, GROWTH_BYTES, GROWTH_OF_FILES_BYTES, IDLE, Size, State, TRIM_INTERVALS,
        processor_time, round, unchanged, unmap_program,
    };

    #[test]
    fn only_what_is_as_in_the_file_is_unmapped() {
        let program = Path::new("/usr/bin/my cicerone");
        let of = |line| unchanged(line, program);
        let line = "55d0a2c00000-55d0a2c01000 r-xp 01300000 fe:01 1234      /usr/bin/my cicerone";
        assert_eq!(of(line), Some((0x55d0_a2c0_0000, 0x1000)));
        let line = "55d0a1900000-55d0a1902000 r--p 00000000 fe:01 1234      /usr/bin/my cicerone";
        assert_eq!(of(line), Some((0x55d0_a190_0000, 0x2000)));
        for other in [
            "55d0a2c00000-55d0a2c01000 r--p 01300000 fe:01 1234      /usr/bin/my cicerone",
            "55d0a2c00000-55d0a2c01000 rwxp 01300000 fe:01 1234      /usr/bin/my cicerone",
            "55d0a2c00000-55d0a2c01000 r-xs 01300000 fe:01 1234      /usr/bin/my cicerone",
            "55d0a2c00000-55d0a2c01000 r-xp 01300000 fe:01 1234      /usr/bin/my",
            "55d0a2c00000-55d0a2c01000 r-xp 00000000 00:00 0",
            "55d0a2c01000-55d0a2c00000 r-xp 01300000 fe:01 1234      /usr/bin/my cicerone",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn what_is_freed_after_the_process_has_stopped_growing_is_returned() {
        const MIB: i64 = 1_024 * 1_024;
        let blocks: Vec<Vec<u8>> = (0..16 * 1_024).map(|_| vec![7; 4_096]).collect();
        let fresh = State { mapped: i64::MAX, ..FRESH };
        let least = round(fresh).unwrap();
        // Nothing is returned while it is in use. The blocks that stay keep the others from being at the end of the memory.
        let left: Vec<_> = blocks.into_iter().step_by(64).collect();
        let held = Size::now().unwrap().unused;
        assert!(held - least.unused > 32 * MIB, "{held} {}", least.unused);
        let after = round(State { rounds: TRIM_INTERVALS, ..least }).unwrap().unused;
        assert!(held - after > 32 * MIB, "{held} {after}");
        assert_eq!(left.len(), 256);
    }

    #[test]
    fn an_idle_process_unmaps_the_program_if_much_more_of_it_is_mapped_than_after_the_last_time() {
        let second = Duration::from_secs(1);
        let before = State { mapped: 5_000_000, time: second, ..FRESH };
        let of = |of_files| Size { unused: 0, of_files };
        let much = 5_000_000 + GROWTH_OF_FILES_BYTES;
        assert!(before.wants_unmapping(&of(much + 1), second + IDLE));
        assert!(!before.wants_unmapping(&of(much), second + IDLE));
        assert!(!before.wants_unmapping(&of(much + 1), second + IDLE + Duration::from_millis(1)));
        // These values let any process count as idle, with much more mapped than before.
        let idle =
            State { mapped: -GROWTH_OF_FILES_BYTES, time: Duration::MAX, rounds: 1, ..before };
        // Another test may have unmapped the program a moment ago, so this is tried more than once.
        let is_less = |_| Size::now().unwrap().of_files > round(idle).unwrap().mapped;
        assert!((0..1_000).any(is_less));
        let busy = State { time: Duration::ZERO, ..idle };
        while processor_time() <= IDLE {
            std::hint::spin_loop();
        }
        assert_eq!(round(busy).unwrap().mapped, busy.mapped);
        assert!(round(State { mapped: i64::MAX, ..busy }).unwrap().mapped < i64::MAX);
    }

    #[test]
    fn unused_memory_is_looked_for_in_every_third_round() {
        let size = Size { unused: 1 + GROWTH_BYTES, of_files: 0 };
        let wants = |rounds| State { unused: 0, rounds, ..FRESH }.wants_trim(&size);
        assert!(wants(0) && !wants(1) && !wants(2) && wants(3));
        let as_large_as_before = State { unused: 1, ..FRESH };
        assert!(!as_large_as_before.wants_trim(&size));
        assert!(FRESH.wants_trim(&size));
    }

    #[test]
    fn the_program_runs_after_it_was_unmapped() {
        for _ in 0..100 {
            unmap_program();
            assert_eq!(format!("{} {}", "constants", 1.5), "constants 1.5");
        }
    }
}
