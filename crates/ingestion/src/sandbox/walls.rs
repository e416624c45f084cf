//! The restrictions on a child process, which it applies itself before it accepts a document.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// The `nice` value of readers: replies have priority over reading if processors are busy.
const NICENESS: i32 = 10;
/// Open files: standard input, output and error, and a few more.
const OPEN_FILES: u64 = 16;

/// Applies the permanent restrictions: no file can be opened or written and no port reached, memory is never dumped,
/// there are no capabilities, the process ends with its parent, and every system call that a reader does not need
/// fails.
///
/// If the system cannot filter system calls, a line on standard error says so; the other restrictions apply.
pub fn put_up() -> io::Result<()> {
    std::env::set_current_dir("/")?;
    rustix::process::setpriority_process(None, NICENESS)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, OPEN_FILES)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Signal};
        use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        rustix::thread::set_no_new_privs(true)?;
        let none = CapabilitySet::empty();
        set_capabilities(
            None,
            CapabilitySets { effective: none, permitted: none, inheritable: none },
        )?;
        files::deny();
        calls::filter()?;
    }
    Ok(())
}

/// Bounds the address space.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    limit(Resource::As, bytes)
}

/// Allows `seconds` more seconds of processor time; after that the process is killed.
pub(super) fn allow_processor_time(seconds: u64) -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    let maximum = getrlimit(Resource::Cpu).maximum;
    // A second begun counts as one.
    let current = Some(used.saturating_add(seconds).saturating_add(1));
    setrlimit(Resource::Cpu, Rlimit { current, maximum })?;
    Ok(())
}

/// Lowers a limit, unless it is lower already.
fn limit(resource: Resource, to: u64) -> io::Result<()> {
    let lowered = |now: Option<u64>| Some(now.map_or(to, |now| now.min(to)));
    let now = getrlimit(resource);
    let new = Rlimit { current: lowered(now.current), maximum: lowered(now.maximum) };
    setrlimit(resource, new)?;
    Ok(())
}
