//! How many files and connections may be open at once.

use std::io;

use anyhow::{Context as _, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows so many, here and in every program that is started from now on. Returns an
/// error if the system allows fewer.
pub(crate) fn allow(count: u64) -> anyhow::Result<()> {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= count) {
        return Ok(());
    }
    ensure!(
        now.maximum.is_none_or(|maximum| maximum >= count),
        "{count} open files are needed and more than the system allows: `ulimit -Hn {count}`"
    );
    setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum: now.maximum })
        .map_err(io::Error::from)
        .context("allowing more open files")
}
