//! How a crawl behaves.

use std::time::Duration;

/// The limits and politeness settings of crawls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrawlSettings {
    /// The most pages that are requested, not counting redirects. At most four times as many addresses are followed.
    pub pages: usize,
    /// The time limit of a crawl; an interruption starts it again.
    pub time: Duration,
    /// The maximum number of links between the start page and another. Sites whose pages only link
    /// to the next one are as deep as they are long.
    pub depth: u32,
    /// The maximum number of concurrent requests to one host, across all crawls that share a crawler.
    pub parallel: usize,
    /// The longest `Crawl-delay` that is obeyed; a longer one is shortened to this.
    pub longest_delay: Duration,
    /// How often a page with transient failures is requested, including the first time.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long.
    pub retry_pause: Duration,
    /// The longest `Retry-After` that is obeyed; a request with a longer one is not repeated.
    pub longest_pause: Duration,
    /// Largest page, text or PDF, in bytes after decompression.
    pub page_bytes: usize,
    /// Most sitemaps that are read.
    pub sitemaps: usize,
    /// Largest sitemap, in bytes after decompression.
    pub sitemap_bytes: usize,
    /// How long visited pages may wait to be recorded.
    pub record_every: Duration,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            pages: 1_000,
            time: Duration::from_secs(10 * 60),
            depth: 1_000,
            parallel: 4,
            longest_delay: Duration::from_secs(10),
            attempts: 3,
            retry_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(60),
            page_bytes: 10 * 1_024 * 1_024,
            sitemaps: 50,
            sitemap_bytes: 10 * 1_024 * 1_024,
            record_every: Duration::from_millis(500),
        }
    }
}
