//! Bounds of the numeric settings.

use super::Settings;

/// The largest accepted number of anything that runs at once. A larger one is a typing mistake.
const MOST_AT_ONCE: usize = 100_000;
/// The largest accepted number of threads. Each takes memory and files at the start.
const MOST_THREADS: usize = 1_024;
/// The longest list of languages of texts in pictures.
const LANGUAGES_CHARS: usize = 100;
/// The most pages of a document whose text may be recognised.
const MOST_PAGES: u32 = 10_000;
/// The time limit of an attempt at a delivery, after which the HTTP client aborts it.
const LONGEST_ATTEMPT_SECONDS: u64 = 15;

impl Settings {
    /// Checks every number against its limits. The error names the setting by its key in the file.
    pub(in crate::configuration) fn check_numbers(&self) -> Result<(), (&'static str, String)> {
        let (http, workers) = (&self.http, &self.workers);
        let positive = [
            ("http.threads", http.threads.is_none_or(|threads| threads > 0)),
            ("http.replies_at_once", http.replies_at_once > 0),
            ("http.longest_wait_ms", http.longest_wait_ms > 0),
            ("http.uploads_at_once", http.uploads_at_once > 0),
            ("http.connections_at_once", http.connections_at_once > 0),
            ("http.head_seconds", http.head_seconds > 0),
            ("http.body_seconds", http.body_seconds > 0),
            ("http.upload_seconds", http.upload_seconds > 0),
            ("http.stall_seconds", http.stall_seconds > 0),
            ("database.read_seconds", self.database.read_seconds > 0),
            ("database.write_seconds", self.database.write_seconds > 0),
            ("workers.parallel", workers.parallel > 0),
            ("workers.deadline_seconds", workers.deadline_seconds > 0),
            ("workers.readers", workers.readers > 0),
            ("workers.document_seconds", workers.document_seconds > 0),
            ("crawl.parallel", self.crawl.parallel > 0),
            ("crawl.pages", self.crawl.pages > 0),
            ("crawl.seconds", self.crawl.seconds > 0),
            ("crawl.requests_per_host", self.crawl.requests_per_host > 0),
            ("crawl.page_bytes", self.crawl.page_bytes > 0),
            ("webhooks.parallel", self.webhooks.parallel > 0),
            ("webhooks.per_endpoint", self.webhooks.per_endpoint > 0),
            ("webhooks.timeout_seconds", self.webhooks.timeout_seconds > 0),
            ("index.open_agents", self.index.open_agents > 0),
            ("retention.deliveries_days", self.retention.deliveries_days > 0),
            ("retention.audit_days", self.retention.audit_days > 0),
        ];
        if let Some((key, _)) = positive.into_iter().find(|(_, holds)| !holds) {
            return Err((key, "must be at least 1".to_owned()));
        }
        if http.threads.is_some_and(|threads| threads > MOST_THREADS) {
            return Err(("http.threads", format!("must be at most {MOST_THREADS}")));
        }
        let bounded = [
            ("http.replies_at_once", http.replies_at_once),
            ("http.uploads_at_once", http.uploads_at_once),
            ("http.connections_at_once", http.connections_at_once),
            ("workers.parallel", workers.parallel),
            ("workers.readers", workers.readers),
            ("crawl.parallel", self.crawl.parallel),
            ("crawl.requests_per_host", self.crawl.requests_per_host),
            ("webhooks.parallel", self.webhooks.parallel),
        ];
        if let Some((key, _)) = bounded.into_iter().find(|(_, number)| *number > MOST_AT_ONCE) {
            return Err((key, format!("must be at most {MOST_AT_ONCE}")));
        }
        if self.webhooks.timeout_seconds > LONGEST_ATTEMPT_SECONDS {
            let message = format!("must be at most {LONGEST_ATTEMPT_SECONDS}");
            return Err(("webhooks.timeout_seconds", message));
        }
        if self.crawl.seconds >= workers.deadline_seconds {
            let deadline = workers.deadline_seconds;
            let message = format!(
                "must be less than `workers.deadline_seconds` (`{deadline}`), which ends any processing"
            );
            return Err(("crawl.seconds", message));
        }
        Ok(())
    }

    /// Checks the program that recognises text.
    pub(in crate::configuration) fn check_ocr(&self) -> Result<(), (&'static str, String)> {
        let languages = &self.ocr.languages;
        let is_name = |name: &str| {
            let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '/');
            name.starts_with(|char: char| char.is_ascii_alphanumeric()) && name.chars().all(allowed)
        };
        if languages.len() > LANGUAGES_CHARS || !languages.split('+').all(is_name) {
            return Err((
                "ocr.languages",
                format!("must be names such as `eng+deu`, not `{languages}`"),
            ));
        }
        if let Some(folder) = self.ocr.folders.iter().find(|folder| !folder.starts_with('/')) {
            return Err(("ocr.folders", format!("must be absolute paths, not `{folder}`")));
        }
        if !(1..=MOST_PAGES).contains(&self.ocr.pages) {
            return Err(("ocr.pages", format!("must be from 1 to {MOST_PAGES}")));
        }
        match self.ocr() {
            Some(ocr) if ocr.place().is_none() => {
                let message = format!("names a program that was not found: `{}`", ocr.program);
                Err(("ocr.command", message))
            }
            Some(_) | None => Ok(()),
        }
    }
}
