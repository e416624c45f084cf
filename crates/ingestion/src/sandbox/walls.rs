//! The walls around a child process, which it puts up itself before it takes a document.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// How far readers stand back where processors are short (`nice`): questions come before learning.
const NICENESS: i32 = 10;
/// Open files: standard input, output and error, and few more.
const OPEN_FILES: u64 = 16;

/// Puts up the walls that stand for good: no files to write or to dump memory into, the end of the
/// parent is its own, and the system calls that a reader has no use for fail.
///
/// Where the system knows no filter of system calls that is said on standard error, and the other
/// walls stand.
pub(super) fn put_up() -> io::Result<()> {
    std::env::set_current_dir("/")?;
    rustix::process::setpriority_process(None, NICENESS)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, OPEN_FILES)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Signal};
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        filter::install()?;
    }
    Ok(())
}

/// Bounds the address space.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    limit(Resource::As, bytes)
}

/// Allows so many seconds of processor time from now on; beyond them the process is killed.
pub(super) fn allow_processor_time(seconds: u64) -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    let maximum = getrlimit(Resource::Cpu).maximum;
    // A second begun counts as one.
    let current = Some(used.saturating_add(seconds).saturating_add(1));
    setrlimit(Resource::Cpu, Rlimit { current, maximum })?;
    Ok(())
}

/// Lowers a limit, or leaves it where it is lower already.
fn limit(resource: Resource, to: u64) -> io::Result<()> {
    let lowered = |now: Option<u64>| Some(now.map_or(to, |now| now.min(to)));
    let now = getrlimit(resource);
    let new = Rlimit { current: lowered(now.current), maximum: lowered(now.maximum) };
    setrlimit(resource, new)?;
    Ok(())
}

#[cfg(target_os = "linux")]
mod filter {
    //! The filter of system calls (seccomp).

    use std::collections::BTreeMap;
    use std::io;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};

    /// What a reader has no use for: sockets, files by name, programs, other processes, and the
    /// doors of the kernel. They fail as forbidden, so that a library that merely tries goes on.
    const FORBIDDEN: [i64; 39] = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_name_to_handle_at,
        libc::SYS_memfd_create,
        libc::SYS_mkdirat,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_chroot,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_kill,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_shmget,
    ];
    /// Older forms of them, which only this architecture has.
    #[cfg(target_arch = "x86_64")]
    const OLDER: [i64; 5] =
        [libc::SYS_open, libc::SYS_creat, libc::SYS_fork, libc::SYS_vfork, libc::SYS_unlink];
    #[cfg(not(target_arch = "x86_64"))]
    const OLDER: [i64; 0] = [];

    /// Installs the filter for this thread and those that it starts.
    pub(super) fn install() -> io::Result<()> {
        let program = program().map_err(io::Error::other)?;
        if let Err(error) = apply_filter_all_threads(&program) {
            use std::io::Write as _;
            // The parent logs it; where it cannot be said, the other walls stand all the same.
            let _ = writeln!(io::stderr(), "{}: {error}", super::super::child::NO_FILTER);
        }
        Ok(())
    }

    fn program() -> Result<BpfProgram, seccompiler::BackendError> {
        let rules: BTreeMap<i64, Vec<_>> =
            FORBIDDEN.into_iter().chain(OLDER).map(|call| (call, Vec::new())).collect();
        let refused = u32::try_from(libc::EPERM).unwrap_or(1);
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(refused),
            std::env::consts::ARCH.try_into()?,
        )?;
        filter.try_into()
    }
}
