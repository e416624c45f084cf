//! Forbidden system calls, with arguments that would work.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A call and what it is named in the report.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) call: Call,
    /// Whether it is not tried without restrictions: the child could not continue, or the system would change.
    pub(crate) only_walled: bool,
}

/// The number of a system call and its arguments.
pub(crate) struct Call(i64, [usize; 6]);

impl Call {
    /// Makes the call, and gives the error's number; 0 if it succeeded.
    #[expect(unsafe_code, reason = "no library makes calls that must fail")]
    pub(crate) fn try_it(&self) -> i32 {
        let Self(number, [a, b, c, d, e, f]) = *self;
        // SAFETY: pointers among the arguments are of strings and buffers that are never freed, and
        // this process does nothing else.
        let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
        if result == -1 { std::io::Error::last_os_error().raw_os_error().unwrap_or(-1) } else { 0 }
    }
}

fn path(folder: &Path, name: &str) -> usize {
    let path = CString::new(folder.join(name).as_os_str().as_bytes()).expect("a path");
    path.into_raw() as usize
}

fn text(text: &str) -> usize {
    CString::new(text).expect("a text").into_raw() as usize
}

/// A buffer of zeros that is never freed.
fn buffer() -> usize {
    Box::leak(Box::new([0_u64; 512])).as_mut_ptr() as usize
}

/// The calls, in an order in which they would work one after the other.
pub(crate) fn attempts(folder: &Path) -> Vec<Attempt> {
    let mut list = files(folder);
    list.extend(network());
    list.extend(processes());
    list.extend(kernel(folder));
    #[cfg(target_arch = "x86_64")]
    list.extend(older(folder));
    list
}

fn attempt<const N: usize>(name: &'static str, number: i64, given: [usize; N]) -> Attempt {
    let mut arguments = [0; 6];
    arguments.iter_mut().zip(given).for_each(|(to, from)| *to = from);
    Attempt { name, call: Call(number, arguments), only_walled: false }
}

/// A call that is not tried without walls.
fn walled<const N: usize>(name: &'static str, number: i64, given: [usize; N]) -> Attempt {
    Attempt { only_walled: true, ..attempt(name, number, given) }
}

const HERE: usize = libc::AT_FDCWD as usize;
const WRITE: usize = (libc::O_RDWR | libc::O_CREAT) as usize;

fn files(folder: &Path) -> Vec<Attempt> {
    let victim = path(folder, "victim");
    let made = |name: &str| path(folder, name);
    let how: &mut [u64; 3] = Box::leak(Box::new([WRITE as u64, 0o600, 0]));
    vec![
        attempt("openat", libc::SYS_openat, [HERE, victim, libc::O_RDONLY as usize]),
        attempt("openat_new", libc::SYS_openat, [HERE, made("opened"), WRITE, 0o600]),
        attempt("openat2", libc::SYS_openat2, [HERE, made("two"), how.as_mut_ptr() as usize, 24]),
        attempt("truncate", libc::SYS_truncate, [victim, 3]),
        attempt("ftruncate", libc::SYS_ftruncate, [1, 0]),
        attempt("fallocate", libc::SYS_fallocate, [1, 0, 0, 4_096]),
        attempt("mkdirat", libc::SYS_mkdirat, [HERE, made("folder"), 0o700]),
        attempt("linkat", libc::SYS_linkat, [HERE, victim, HERE, made("linked"), 0]),
        attempt("symlinkat", libc::SYS_symlinkat, [victim, HERE, made("symbolic")]),
        attempt("renameat2", libc::SYS_renameat2, [HERE, made("linked"), HERE, made("moved"), 0]),
        attempt("unlinkat", libc::SYS_unlinkat, [HERE, made("moved"), 0]),
        attempt("fchmodat", libc::SYS_fchmodat, [HERE, victim, 0o777]),
        attempt("fchmod", libc::SYS_fchmod, [1, 0o777]),
        attempt("fchownat", libc::SYS_fchownat, [HERE, victim, usize::MAX, usize::MAX, 0]),
        attempt("mknodat", libc::SYS_mknodat, [HERE, made("pipe"), libc::S_IFIFO as usize | 0o600]),
        attempt("utimensat", libc::SYS_utimensat, [HERE, victim, 0, 0]),
        attempt("setxattr", libc::SYS_setxattr, [victim, text("user.a"), text("b"), 1, 0]),
        attempt("getxattr", libc::SYS_getxattr, [victim, text("user.a"), buffer(), 8]),
        attempt("removexattr", libc::SYS_removexattr, [victim, text("user.a")]),
        attempt("statx", libc::SYS_statx, [HERE, victim, 0, 0xfff, buffer()]),
        attempt("statfs", libc::SYS_statfs, [victim, buffer()]),
        attempt("readlinkat", libc::SYS_readlinkat, [HERE, made("symbolic"), buffer(), 4_000]),
        attempt("faccessat", libc::SYS_faccessat, [HERE, victim, 0]),
        attempt("chdir", libc::SYS_chdir, [path(folder, "")]),
        attempt("getdents64", libc::SYS_getdents64, [0, buffer(), 4_096]),
        attempt("dup", libc::SYS_dup, [1]),
        attempt("fcntl", libc::SYS_fcntl, [1, libc::F_DUPFD as usize, 9]),
        attempt("ioctl", libc::SYS_ioctl, [0, libc::FIONREAD as usize, buffer()]),
        attempt("sendfile", libc::SYS_sendfile, [1, 0, 0, 0]),
        attempt("read_other", libc::SYS_read, [1, buffer(), 0]),
        attempt("write_other", libc::SYS_write, [0, buffer(), 0]),
        attempt("pipe2", libc::SYS_pipe2, [buffer(), 0]),
        attempt("name_to_handle", libc::SYS_name_to_handle_at, [HERE, victim, buffer(), buffer()]),
        attempt("inotify", libc::SYS_inotify_init1, [0]),
    ]
}

fn network() -> Vec<Attempt> {
    let (inet, unix, stream) =
        (libc::AF_INET as usize, libc::AF_UNIX as usize, libc::SOCK_STREAM as usize);
    vec![
        attempt("socket", libc::SYS_socket, [inet, stream, 0]),
        attempt("socket_unix", libc::SYS_socket, [unix, stream, 0]),
        attempt("socketpair", libc::SYS_socketpair, [unix, stream, 0, buffer()]),
        attempt("connect", libc::SYS_connect, [0, buffer(), 16]),
        attempt("bind", libc::SYS_bind, [0, buffer(), 16]),
        attempt("listen", libc::SYS_listen, [0, 1]),
        attempt("accept4", libc::SYS_accept4, [0, 0, 0, 0]),
        attempt("sendto", libc::SYS_sendto, [0, buffer(), 1, 0, 0, 0]),
    ]
}

fn processes() -> Vec<Attempt> {
    let parent = std::os::unix::process::parent_id() as usize;
    let signal = libc::SIGCHLD as usize;
    let memory: &mut [usize; 2] = Box::leak(Box::new([buffer(), 8]));
    let memory = memory.as_mut_ptr() as usize;
    let arguments: &mut [usize; 2] = Box::leak(Box::new([text("true"), 0]));
    let arguments = arguments.as_mut_ptr() as usize;
    let nofile = libc::RLIMIT_NOFILE as usize;
    let fsize = libc::RLIMIT_FSIZE as usize;
    let limit: &mut [u64; 2] = Box::leak(Box::new([1 << 40, 1 << 40]));
    let limit = limit.as_mut_ptr() as usize;
    vec![
        attempt("kill", libc::SYS_kill, [parent, 0]),
        attempt("tkill", libc::SYS_tkill, [parent, 0]),
        attempt("tgkill", libc::SYS_tgkill, [parent, parent, 0]),
        attempt("sigqueue", libc::SYS_rt_sigqueueinfo, [parent, 0, buffer()]),
        attempt("tgsigqueue", libc::SYS_rt_tgsigqueueinfo, [parent, parent, 0, buffer()]),
        attempt("prlimit_parent", libc::SYS_prlimit64, [parent, nofile, 0, buffer()]),
        attempt("prlimit_files", libc::SYS_prlimit64, [0, nofile, 0, buffer()]),
        attempt("prlimit_raise", libc::SYS_prlimit64, [0, fsize, limit, 0]),
        attempt("setpriority", libc::SYS_setpriority, [0, 0, 1]),
        attempt("sched_setaffinity", libc::SYS_sched_setaffinity, [parent, 8, buffer()]),
        walled("ptrace", libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, parent, 0, 0]),
        attempt("vm_readv", libc::SYS_process_vm_readv, [parent, memory, 1, memory, 1, 0]),
        attempt("vm_writev", libc::SYS_process_vm_writev, [parent, memory, 1, memory, 1, 0]),
        attempt("pidfd_open", libc::SYS_pidfd_open, [parent, 0]),
        attempt("pidfd_getfd", libc::SYS_pidfd_getfd, [0, 0, 0]),
        attempt("pidfd_send", libc::SYS_pidfd_send_signal, [0, 0, 0, 0]),
        attempt("wait4", libc::SYS_wait4, [usize::MAX, 0, libc::WNOHANG as usize, 0]),
        walled("clone_process", libc::SYS_clone, [signal, 0, 0, 0, 0]),
        walled("clone3", libc::SYS_clone3, [buffer(), 64]),
        walled("execve", libc::SYS_execve, [text("/bin/true"), arguments, 0]),
        walled("execveat", libc::SYS_execveat, [HERE, text("/bin/true"), arguments, 0, 0]),
        attempt("setsid", libc::SYS_setsid, []),
        walled("setuid", libc::SYS_setuid, [0]),
        attempt("umask", libc::SYS_umask, [0o22]),
    ]
}

fn kernel(folder: &Path) -> Vec<Attempt> {
    let executable = (libc::PROT_READ | libc::PROT_EXEC) as usize;
    let private = libc::MAP_PRIVATE as usize;
    let anonymous = private | libc::MAP_ANONYMOUS as usize;
    let page = buffer() & !4_095;
    vec![
        attempt("mmap_code", libc::SYS_mmap, [0, 4_096, executable, anonymous, usize::MAX, 0]),
        attempt("mmap_file", libc::SYS_mmap, [0, 4_096, 1, private, 0, 0]),
        attempt("mprotect_code", libc::SYS_mprotect, [page, 4_096, executable | 2]),
        walled("chroot", libc::SYS_chroot, [path(folder, "")]),
        walled("mount", libc::SYS_mount, [0, path(folder, ""), 0, libc::MS_BIND as usize, 0]),
        walled("umount2", libc::SYS_umount2, [path(folder, ""), 0]),
        walled("pivot_root", libc::SYS_pivot_root, [path(folder, ""), path(folder, "")]),
        walled("unshare", libc::SYS_unshare, [libc::CLONE_NEWNS as usize]),
        walled("setns", libc::SYS_setns, [0, 0]),
        walled("bpf", libc::SYS_bpf, [0, buffer(), 64]),
        attempt("perf_event_open", libc::SYS_perf_event_open, [buffer(), 0, usize::MAX, 0, 0]),
        attempt("userfaultfd", libc::SYS_userfaultfd, [0]),
        attempt("io_uring_setup", libc::SYS_io_uring_setup, [1, buffer()]),
        walled("keyctl", libc::SYS_keyctl, [0, 0xffff_ffff]),
        walled("add_key", libc::SYS_add_key, [text("user"), text("a"), text("b"), 1, 0xffff_ffff]),
        walled("request_key", libc::SYS_request_key, [text("user"), text("a"), 0, 0]),
        attempt("memfd_create", libc::SYS_memfd_create, [text("a"), 0]),
        walled("shmget", libc::SYS_shmget, [0, 4_096, 0o600]),
        walled("msgget", libc::SYS_msgget, [0, 0o600]),
        walled("semget", libc::SYS_semget, [0, 1, 0o600]),
        attempt("personality", libc::SYS_personality, [0xffff_ffff]),
        attempt("seccomp", libc::SYS_seccomp, [2, 0, buffer()]),
        attempt("prctl", libc::SYS_prctl, [libc::PR_GET_DUMPABLE as usize]),
        attempt("uname", libc::SYS_uname, [buffer()]),
        attempt("timer_create", libc::SYS_timer_create, [0, 0, buffer()]),
        attempt("epoll_create1", libc::SYS_epoll_create1, [0]),
        attempt("eventfd2", libc::SYS_eventfd2, [0, 0]),
        walled("reboot", libc::SYS_reboot, [0, 0, 0, 0]),
        walled("init_module", libc::SYS_init_module, [buffer(), 0, text("")]),
        walled("acct", libc::SYS_acct, [path(folder, "victim")]),
    ]
}

/// Older forms of calls, which only this architecture has.
#[cfg(target_arch = "x86_64")]
fn older(folder: &Path) -> Vec<Attempt> {
    let victim = path(folder, "victim");
    let made = |name: &str| path(folder, name);
    vec![
        attempt("open", libc::SYS_open, [victim, libc::O_RDONLY as usize]),
        attempt("creat", libc::SYS_creat, [made("created"), 0o600]),
        attempt("mkdir", libc::SYS_mkdir, [made("older"), 0o700]),
        attempt("rmdir", libc::SYS_rmdir, [made("older")]),
        attempt("link", libc::SYS_link, [victim, made("hard")]),
        attempt("symlink", libc::SYS_symlink, [victim, made("soft")]),
        attempt("chmod", libc::SYS_chmod, [victim, 0o666]),
        attempt("chown", libc::SYS_chown, [victim, usize::MAX, usize::MAX]),
        attempt("mknod", libc::SYS_mknod, [made("fifo"), libc::S_IFIFO as usize | 0o600]),
        attempt("rename", libc::SYS_rename, [victim, made("gone")]),
        attempt("unlink", libc::SYS_unlink, [made("gone")]),
        attempt("access", libc::SYS_access, [path(folder, ""), 0]),
        attempt("pipe", libc::SYS_pipe, [buffer()]),
        attempt("dup2", libc::SYS_dup2, [1, 9]),
        walled("fork", libc::SYS_fork, []),
        walled("vfork", libc::SYS_vfork, []),
    ]
}
