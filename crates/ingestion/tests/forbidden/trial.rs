//! The trial: the same program as the parent, which looks at what changed, and as the child, which tries.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::attempts::{Attempt, attempts};

/// The first argument of a child behind walls, and of one without.
const WALLED: &str = "--walled";
const FREE: &str = "--free";
/// Errors that mean that the call itself was refused.
const REFUSED: [i32; 2] = [libc::EPERM, libc::ENOSYS];
/// Calls that are tried at least.
const AT_LEAST: usize = 60;
/// The fewest calls that succeed without restrictions; more do for the superuser.
const WOULD_REACH: usize = 25;

pub(crate) fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some(WALLED), Some(folder)) => child(Path::new(&folder), true),
        (Some(FREE), Some(folder)) => child(Path::new(&folder), false),
        _ => {
            would_reach_something();
            reaches_nothing();
            ExitCode::SUCCESS
        }
    }
}

/// Tries every call and prints its result: `name errno`, with 0 for success.
fn child(folder: &Path, is_walled: bool) -> ExitCode {
    let attempts = attempts(folder);
    if is_walled {
        cicerone_ingestion::put_up_walls().expect("the restrictions apply");
    }
    for Attempt { name, call, only_walled } in attempts {
        if is_walled || !only_walled {
            let errno = call.try_it();
            writeln!(io::stdout(), "{name} {errno}").expect("a pipe");
        }
    }
    ExitCode::SUCCESS
}

/// A folder with a file that must not change.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("victim"), "everything that the owner has").expect("a file");
    folder
}

/// What a folder looks like: each file with its mode, length, links, owner and times.
fn look(folder: &Path) -> BTreeMap<String, (u32, u64, u64, u32, i64)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let about = entry.path().symlink_metadata().expect("an entry");
            let facts = (about.mode(), about.len(), about.nlink(), about.uid(), about.mtime());
            (entry.file_name().to_string_lossy().into_owned(), facts)
        })
        .collect()
}

/// Runs the child to its end, and gives what came of each call.
fn run(mode: &str, folder: &Path) -> BTreeMap<String, i32> {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .args([mode.as_ref(), folder.as_os_str()])
        .stdin(Stdio::piped())
        .stderr(Stdio::inherit())
        .output()
        .expect("the child runs");
    assert!(child.status.success(), "the child ended with {}", child.status);
    let said = String::from_utf8(child.stdout).expect("text");
    let outcome = |line: &str| {
        let (name, errno) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), errno.parse().expect("a number"))
    };
    said.lines().map(outcome).collect()
}

fn would_reach_something() {
    let folder = folder();
    let before = look(folder.path());
    let outcomes = run(FREE, folder.path());
    let reached = outcomes.values().filter(|errno| **errno == 0).count();
    assert!(reached >= WOULD_REACH, "only {reached} calls reach something: {outcomes:?}");
    assert_ne!(look(folder.path()), before);
    println!("without walls {reached} of {} calls reach something", outcomes.len());
}

fn reaches_nothing() {
    let folder = folder();
    let before = look(folder.path());
    let limits = || std::fs::read_to_string("/proc/self/limits").expect("own limits");
    let own = limits();
    let outcomes = run(WALLED, folder.path());
    assert!(outcomes.len() >= AT_LEAST, "only {} calls were tried", outcomes.len());
    let passed: Vec<_> = outcomes.iter().filter(|(_, errno)| !REFUSED.contains(errno)).collect();
    assert!(passed.is_empty(), "not refused: {passed:?}");
    assert_eq!(look(folder.path()), before);
    assert_eq!(limits(), own);
    println!("behind the walls all of {} calls are refused", outcomes.len());
}
