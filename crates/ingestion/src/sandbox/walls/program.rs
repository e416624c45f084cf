//! The restrictions of another program, which reads its own files.
//!
//! Invariant: it can only open files below the named folders for reading, and cannot create sockets, start processes or
//! signal other processes. If the kernel cannot enforce this, the program is not started.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use landlock::RulesetStatus;
use seccompiler::{SeccompAction, SeccompRule, apply_filter_all_threads};

use super::calls::{all, bits, errno, is, masked, no_clone3, program};
use super::files;

/// The folders of the system's programs.
const SYSTEM: [&str; 9] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
];

/// Calls that are allowed with any arguments: files, which Landlock restricts, memory, time, waiting, and queries of a
/// process about itself.
const FREE: [i64; 77] = [
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused by a separate filter, as if the system did not support it.
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_eventfd2,
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_umask,
    libc::SYS_uname,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_pwait,
];

/// Older calls that exist only on this processor.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_getdents,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// Allows reading and executing the system's programs and files below these paths.
pub(super) fn allow_files<P: AsRef<Path>>(readable: impl IntoIterator<Item = P>) -> io::Result<()> {
    let named: Vec<P> = readable.into_iter().collect();
    let paths = named.iter().map(AsRef::as_ref).chain(SYSTEM.map(Path::new));
    let status = files::deny_all_but(paths).map_err(io::Error::other)?;
    if matches!(status.ruleset, RulesetStatus::NotEnforced) {
        let message = "this kernel cannot deny a program access to files (it needs Landlock, Linux 5.13 or later)";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    Ok(())
}

/// Installs the system call filters for this process, which remain when it executes the program.
pub(super) fn filter() -> io::Result<()> {
    for program in [no_clone3(), only_what_programs_need()] {
        let program = program.map_err(io::Error::other)?;
        apply_filter_all_threads(&program).map_err(|error| {
            io::Error::other(format!("this system cannot filter the calls of a program: {error}"))
        })?;
    }
    Ok(())
}

fn only_what_programs_need() -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    let calls = FREE.iter().chain(OLDER);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        calls.map(|call| (*call, Vec::new())).collect();
    // Threads, not processes.
    let thread = bits(libc::CLONE_THREAD | libc::CLONE_VM);
    rules.insert(libc::SYS_clone, vec![all([masked(0, thread, thread)?])?]);
    // Whether a stream is a terminal.
    rules.insert(libc::SYS_ioctl, vec![all([is(1, libc::TCGETS)?])?]);
    // The name of a thread.
    rules.insert(libc::SYS_prctl, vec![all([is(0, bits(libc::PR_SET_NAME))?])?]);
    // Its own limits, which can only be lowered without capabilities.
    rules.insert(libc::SYS_prlimit64, vec![all([is(0, 0)?])?]);
    // Signals to itself. The process id stays the same when it executes the program.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_kill, vec![all([is(0, own)?])?]);
    rules.insert(libc::SYS_tgkill, vec![all([is(0, own)?])?]);
    program(rules, errno(libc::EPERM), SeccompAction::Allow)
}
