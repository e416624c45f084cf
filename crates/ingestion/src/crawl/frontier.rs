//! The pages that a crawl has found but not visited yet, in the order in which they were found. If
//! one path has very many queries, most of them wait behind all other pages.

use std::collections::{HashSet, VecDeque};

use cicerone_domain::crawl::FoundPage;
use url::Url;

use super::refusal::{Variants, is_overlong, refusal};

/// The maximum bytes of all addresses that are found; four thousand typical ones take less than a
/// tenth of it.
const ADDRESS_BYTES: usize = 4 * 1_024 * 1_024;

/// Pages that wait to be visited, and all that were ever found.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    waiting: VecDeque<FoundPage>,
    /// Pages that wait behind all others.
    last: VecDeque<FoundPage>,
    seen: HashSet<String>,
    variants: Variants,
    /// The maximum number of pages that are found, and of addresses that are not pages.
    capacity: usize,
    /// How many of the found addresses are not pages.
    refused: usize,
    /// Bytes of the addresses that were found.
    bytes: usize,
}

impl Frontier {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Notes a page that was visited before an interruption.
    pub(super) fn note(&mut self, name: &str) {
        if let Ok(url) = Url::parse(name) {
            self.variants.admit(&url);
            self.refused += usize::from(refusal(&url).is_some());
        }
        self.bytes += name.len();
        self.seen.insert(name.to_owned());
    }

    /// Adds a page that was waiting before an interruption.
    pub(super) fn restore(&mut self, page: FoundPage) {
        let Ok(url) = Url::parse(&page.url) else { return };
        self.refused += usize::from(refusal(&url).is_some());
        self.bytes += page.url.len();
        self.seen.insert(page.url.clone());
        self.wait(&url, page);
    }

    fn wait(&mut self, name: &Url, page: FoundPage) {
        let queue = if self.variants.admit(name) { &mut self.waiting } else { &mut self.last };
        queue.push_back(page);
    }

    /// Adds a page by its name. Returns it if it is new and there is room.
    pub(super) fn offer(&mut self, name: &Url, depth: u32) -> Option<FoundPage> {
        if self.has_seen(name.as_str()) || is_overlong(name) {
            return None;
        }
        let is_refused = refusal(name).is_some();
        let of_its_kind = if is_refused { self.refused } else { self.seen.len() - self.refused };
        if of_its_kind >= self.capacity || self.bytes + name.as_str().len() > ADDRESS_BYTES {
            return None;
        }
        self.bytes += name.as_str().len();
        self.refused += usize::from(is_refused);
        self.seen.insert(name.to_string());
        let page = FoundPage { url: name.to_string(), depth };
        self.wait(name, page.clone());
        Some(page)
    }

    /// The next page to visit.
    pub(super) fn next(&mut self) -> Option<FoundPage> {
        self.waiting.pop_front().or_else(|| self.last.pop_front())
    }

    /// Whether a page was found, visited or not.
    pub(super) fn has_seen(&self, name: &str) -> bool {
        self.seen.contains(name)
    }

    /// How many pages were ever found.
    pub(super) fn found(&self) -> usize {
        self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{ADDRESS_BYTES, Frontier};

    #[test]
    fn pages_come_in_the_order_in_which_they_were_found_and_once() {
        let url = |path: &str| Url::parse("https://example.com").unwrap().join(path).unwrap();
        let mut frontier = Frontier::new(4);
        frontier.note("https://example.com/");
        for (path, is_new) in [("/", false), ("/b", true), ("/a", true), ("/b", false)] {
            assert_eq!(frontier.offer(&url(path), 1).is_some(), is_new, "{path}");
        }
        assert!(frontier.offer(&url("/c"), 2).is_some());
        assert!(frontier.offer(&url("/d"), 2).is_none(), "beyond its capacity");
        let order: Vec<String> =
            std::iter::from_fn(|| frontier.next()).map(|page| page.url).collect();
        assert_eq!(order, [url("/b"), url("/a"), url("/c")].map(String::from));
        assert_eq!(frontier.found(), 4);
    }

    #[test]
    fn addresses_have_a_bound_in_bytes() {
        let long = "x".repeat(1_900);
        let url = |number| Url::parse(&format!("https://example.com/{number}/{long}")).unwrap();
        let mut frontier = Frontier::new(4_000);
        let taken = (0..4_000).filter(|number| frontier.offer(&url(*number), 1).is_some()).count();
        assert!((2_000..=ADDRESS_BYTES / 1_900).contains(&taken), "{taken}");
        assert!(frontier.offer(&Url::parse("https://example.com/short").unwrap(), 1).is_some());
    }

    #[test]
    fn what_is_no_page_takes_no_pages_place() {
        let url = |path: &str| Url::parse("https://example.com").unwrap().join(path).unwrap();
        let mut frontier = Frontier::new(10);
        let images = (0..20).filter(|n| frontier.offer(&url(&format!("/{n}.png")), 1).is_some());
        assert_eq!(images.count(), 10);
        assert!(frontier.offer(&url("/page"), 1).is_some());
    }

    #[test]
    fn endless_queries_wait_behind_everything_else() {
        let url = |path: &str| Url::parse("https://example.com").unwrap().join(path).unwrap();
        let mut frontier = Frontier::new(2_000);
        for number in 0..700 {
            assert!(frontier.offer(&url(&format!("/?p={number}")), 1).is_some());
        }
        frontier.offer(&url("/page"), 1).unwrap();
        let order: Vec<String> =
            std::iter::from_fn(|| frontier.next()).map(|page| page.url).collect();
        assert_eq!(order.len(), 701);
        assert_eq!(order[500], url("/page").as_str());
    }
}
