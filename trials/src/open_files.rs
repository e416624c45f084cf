//! The limit of open files and connections.

use std::io;

use anyhow::{Context as _, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to `count`, for this program and every program that it starts from now on.
/// Returns an error if the system allows fewer.
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
