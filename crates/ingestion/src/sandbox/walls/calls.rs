//! The system calls that a reader needs (seccomp). All others fail as forbidden.
//!
//! Invariant: nothing here gives access to a file, a socket, another process, or memory that can be executed. Only
//! standard input can be read, and only standard output and error can be written.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter_all_threads,
};

/// Calls that are allowed with any arguments: time, randomness, waiting, memory management without protection changes,
/// signals within the process, threads and their end.
const FREE: [i64; 29] = [
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused by a separate filter, as if the system did not support it.
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_times,
];

const STDIN: u64 = 0;
const STDOUT: u64 = 1;
const STDERR: u64 = 2;

/// Installs the filters for this process.
pub(super) fn filter() -> io::Result<()> {
    let programs = [no_clone3(), only_what_is_needed()];
    for program in programs {
        let program = program.map_err(io::Error::other)?;
        if let Err(error) = apply_filter_all_threads(&program) {
            use std::io::Write as _;
            // The parent logs this line. If it cannot be written, the other restrictions still apply.
            let _ = writeln!(io::stderr(), "{}: {error}", super::super::child::NO_FILTER);
        }
    }
    Ok(())
}

/// The flags of `clone3` are in memory, which filters cannot inspect. The C library uses `clone` if the system does not
/// support `clone3`.
pub(super) fn no_clone3() -> Result<BpfProgram, BackendError> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    program(rules, SeccompAction::Allow, errno(libc::ENOSYS))
}

fn only_what_is_needed() -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        FREE.into_iter().map(|call| (call, Vec::new())).collect();
    for call in [libc::SYS_read, libc::SYS_readv] {
        rules.insert(call, vec![all([is(0, STDIN)?])?]);
    }
    for call in [libc::SYS_write, libc::SYS_writev] {
        rules.insert(call, vec![all([is(0, STDOUT)?])?, all([is(0, STDERR)?])?]);
    }
    // Threads, not processes.
    let thread = bits(libc::CLONE_THREAD | libc::CLONE_VM);
    rules.insert(libc::SYS_clone, vec![all([masked(0, thread, thread)?])?]);
    // Memory of its own that is not executed.
    let own = bits(libc::MAP_ANONYMOUS);
    let data = masked(2, bits(libc::PROT_EXEC), 0)?;
    rules.insert(libc::SYS_mmap, vec![all([data.clone(), masked(3, own, own)?])?]);
    rules.insert(libc::SYS_mprotect, vec![all([data])?]);
    // The name of a thread.
    rules.insert(libc::SYS_prctl, vec![all([is(0, bits(libc::PR_SET_NAME))?])?]);
    // Its own limits of memory and processor time, which can only be lowered without capabilities.
    let limits = [libc::RLIMIT_AS, libc::RLIMIT_CPU, libc::RLIMIT_STACK];
    let limits = limits.map(|limit| all([is(0, 0)?, is(1, u64::from(limit))?]));
    rules.insert(libc::SYS_prlimit64, limits.into_iter().collect::<Result<_, _>>()?);
    // A signal to itself: what `abort` is.
    let own_process = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![all([is(0, own_process)?])?]);
    program(rules, errno(libc::EPERM), SeccompAction::Allow)
}

/// A filter that responds to the calls in `rules` with `listed`, and to all others with `others`.
pub(super) fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, others, listed, std::env::consts::ARCH.try_into()?)?.try_into()
}

pub(super) fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(u32::try_from(number).unwrap_or(1))
}

/// The bits of a flag, which is never negative.
pub(super) fn bits(flag: i32) -> u64 {
    u64::from(flag.unsigned_abs())
}

/// All of these conditions together.
pub(super) fn all<const N: usize>(
    conditions: [SeccompCondition; N],
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into())
}

/// Whether the lower half of an argument equals a number.
pub(super) fn is(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Whether the bits of an argument that are in `mask` are those of `value`.
pub(super) fn masked(
    argument: u8,
    mask: u64,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
}
