//! The restrictions on a child process, which it applies itself before it accepts a document.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod program;

use std::io;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// The `nice` value of readers: replies have priority over reading if processors are busy.
const NICENESS: i32 = 10;
/// The limit of open files: standard input, output and error, and a few more.
const OPEN_FILES: u64 = 16;
/// The same for a program that reads its own files.
#[cfg(target_os = "linux")]
const PROGRAM_OPEN_FILES: u64 = 64;

/// Applies the permanent restrictions: no file can be opened or written and no port reached, memory is never dumped,
/// there are no capabilities, the process ends with its parent, and every system call that a reader does not need
/// fails.
///
/// If the system cannot filter system calls, a line on standard error says so; the other restrictions apply.
///
/// # Errors
///
/// The error of the system if it refuses another restriction.
pub fn put_up() -> io::Result<()> {
    permanent(OPEN_FILES)?;
    #[cfg(target_os = "linux")]
    {
        files::deny();
        calls::filter()?;
    }
    Ok(())
}

/// Restrictions of all child processes.
fn permanent(open_files: u64) -> io::Result<()> {
    std::env::set_current_dir("/")?;
    rustix::process::setpriority_process(None, NICENESS)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, open_files)?;
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
    }
    Ok(())
}

/// The same for a process that becomes another program (OCR). It may read what is beneath `readable` and the system's
/// programs, and starts no process.
///
/// # Errors
///
/// If the system cannot enforce this.
#[cfg(target_os = "linux")]
pub(super) fn put_up_for_program<P: AsRef<Path>>(
    readable: impl IntoIterator<Item = P>,
) -> io::Result<()> {
    permanent(PROGRAM_OPEN_FILES)?;
    program::allow_files(readable)?;
    program::filter()
}

/// Other systems cannot.
#[cfg(not(target_os = "linux"))]
pub(super) fn put_up_for_program<P: AsRef<Path>>(_: impl IntoIterator<Item = P>) -> io::Result<()> {
    let message = "text in pictures is recognised on Linux only, where the program can be denied everything else";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// Limits the processor time of a program that may ignore the signal.
pub(super) fn limit_processor_time(seconds: u64) -> io::Result<()> {
    let limits = Rlimit { current: Some(seconds), maximum: Some(seconds.saturating_add(1)) };
    setrlimit(Resource::Cpu, limits)?;
    Ok(())
}

/// Limits the address space.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    limit(Resource::As, bytes)
}

/// Allows `seconds` more seconds of processor time; after that the process is killed.
pub(super) fn allow_processor_time(seconds: u64) -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    let maximum = getrlimit(Resource::Cpu).maximum;
    // A partial second counts as a whole one.
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
