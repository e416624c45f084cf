//! Open files: the limit of the system, and the share of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::configuration::Settings;

/// Files of the program itself: libraries, logs, the runtime's own, listeners.
const OWN: usize = 96;
/// Files of the database: connections, and on SQLite three files for each.
const DATABASE: usize = 64;
/// Files of indexes that are being opened or written.
const INDEXES: usize = 96;
/// Files of a child process that reads a document: its pipes on both sides.
const EACH_READER: usize = 8;

/// Raises the limit of open files to the highest that the system allows and returns it; `None` if
/// there is no limit. To be called before the first thread starts.
pub(super) fn raise() -> Option<usize> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = if raised.is_ok() { maximum } else { current };
    files.map(|files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// How many connections may be open at once: the number in the settings, or fewer if the limit of
/// open files leaves no more after everything else. Connections always get at least a fourth of the
/// files.
pub(super) fn connections(files: Option<usize>, settings: &Settings) -> usize {
    let wanted = settings.http.connections_at_once;
    let Some(files) = files else { return wanted };
    let left = files.saturating_sub(reserve(settings)).max(files / 4).max(1);
    wanted.min(left)
}

/// The most files that everything except connections needs.
fn reserve(settings: &Settings) -> usize {
    let crawls = settings.crawl.parallel.saturating_mul(settings.crawl.requests_per_host);
    let needs = [
        OWN + DATABASE + INDEXES,
        settings.http.uploads_at_once,
        // Each of them may call an upstream.
        settings.http.replies_at_once,
        settings.webhooks.parallel,
        crawls,
        settings.workers.parallel,
        settings.workers.readers.saturating_mul(EACH_READER),
    ];
    needs.into_iter().fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::{connections, reserve};
    use crate::configuration::Settings;

    #[test]
    fn connections_take_what_everything_else_leaves() {
        let settings = Settings::default();
        let reserve = reserve(&settings);
        assert_eq!(connections(None, &settings), 16_384);
        assert_eq!(connections(Some(1_048_576), &settings), 16_384);
        assert_eq!(connections(Some(reserve + 5_000), &settings), 5_000);
        assert_eq!(connections(Some(1_024), &settings), 256, "a fourth in any case");
        assert_eq!(connections(Some(0), &settings), 1);
        assert!((512..2_048).contains(&reserve), "{reserve}");
    }
}
