//! `robots.txt` according to RFC 9309: which pages of a site a crawler may request.
//!
//! If the RFC does not specify something, this follows Google's documentation of its parser: misspelled keys, a missing
//! colon, lines that are too long, `/index.html` as another name of its folder. In one case it follows the RFC and not
//! Google: `%61` and `a` are the same in a rule (section 2.2.2).

mod pattern;
mod rules;

use std::time::Duration;

use url::{Position, Url};

use pattern::Pattern;
use rules::{Rule, Rules};

/// How much of a file is used; the RFC asks for at least this much.
const FILE_BYTES: usize = 500 * 1_024;
/// How much of a line is used: eight times the longest address of Internet Explorer.
const LINE_BYTES: usize = 2_083 * 8 - 1;

/// The rules of a site's `robots.txt` for one crawler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    rules: Rules,
    /// The pause between requests that it asks for.
    pub crawl_delay: Option<Duration>,
    /// The sitemaps that it names, unchanged.
    pub sitemaps: Vec<String>,
}

/// The rules of the groups that name the crawler, or of those for all crawlers.
#[derive(Debug, Default)]
struct Group {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Reads a file for the crawler with this product token. Bytes beyond 500 KiB are ignored.
    /// Reading cannot fail: lines that are not understood are ignored.
    ///
    /// The groups that name the crawler are combined; the groups for all (`*`) are used only if there is
    /// no such group. This takes up to about 0.1 s for a hostile file, so call it where blocking is allowed.
    pub fn parse(file: &[u8], product_token: &str) -> Self {
        let file = file.get(..FILE_BYTES).unwrap_or(file);
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        let mut parser = Parser::new(product_token);
        for line in file.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let line = String::from_utf8_lossy(line.get(..LINE_BYTES).unwrap_or(line));
            if let Some((key, value)) = key_and_value(&line) {
                parser.line(key, value);
            }
        }
        parser.finish()
    }

    /// Whether the crawler may request an address. The longest rule that matches decides, and of two
    /// that are equally long the one that allows. `/robots.txt` itself is always allowed.
    ///
    /// Of the rules with stars, the first 1,000 of at most 64 KiB are compared with the address. Further ones that allow are
    /// ignored, and further ones that disallow apply to all addresses that begin like them. So this takes a few milliseconds at
    /// most for addresses of usual length, whatever the file contains.
    pub fn allows(&self, url: &Url) -> bool {
        let path = &url[Position::BeforePath..Position::AfterQuery];
        path == "/robots.txt" || self.rules.allow(&super::site::normal_encoding(path))
    }
}

/// The result of the lines so far.
struct Parser<'a> {
    product_token: &'a str,
    sitemaps: Vec<String>,
    ours: Group,
    everyones: Group,
    /// Whether any group named the crawler.
    is_named: bool,
    /// Whether the group that is being read is for the crawler, and whether for all.
    is_ours: bool,
    is_everyones: bool,
    /// Whether that group already has rules, so that the next `user-agent` starts another.
    has_rules: bool,
}

impl<'a> Parser<'a> {
    fn new(product_token: &'a str) -> Self {
        Self {
            product_token,
            sitemaps: Vec::new(),
            ours: Group::default(),
            everyones: Group::default(),
            is_named: false,
            is_ours: false,
            is_everyones: false,
            has_rules: false,
        }
    }

    fn line(&mut self, key: Key, value: &str) {
        match key {
            Key::UserAgent => self.user_agent(value),
            Key::Allow => self.rule(value, true),
            Key::Disallow => self.rule(value, false),
            Key::CrawlDelay => self.crawl_delay(value),
            Key::Sitemap => self.sitemaps.push(value.to_owned()),
        }
    }

    fn user_agent(&mut self, value: &str) {
        if self.has_rules {
            (self.is_ours, self.is_everyones, self.has_rules) = (false, false, false);
        }
        let is_star =
            value.strip_prefix('*').is_some_and(|rest| rest.is_empty() || starts_blank(rest));
        if is_star {
            self.is_everyones = true;
        } else if product_token(value).eq_ignore_ascii_case(self.product_token) {
            (self.is_ours, self.is_named) = (true, true);
        }
    }

    fn rule(&mut self, value: &str, is_allowed: bool) {
        self.has_rules = true;
        // An empty rule matches nothing.
        if value.is_empty() {
            return;
        }
        let mut rules = vec![Rule { pattern: Pattern::parse(value), is_allowed }];
        if is_allowed && let Some(folder) = folder_of_index(value) {
            rules.push(Rule { pattern: Pattern::parse(&format!("{folder}$")), is_allowed });
        }
        for group in self.groups() {
            group.rules.extend(rules.iter().cloned());
        }
    }

    fn crawl_delay(&mut self, value: &str) {
        let seconds: Option<f64> = value.parse().ok();
        let Some(delay) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        else {
            return;
        };
        for group in self.groups() {
            group.crawl_delay = group.crawl_delay.max(Some(delay));
        }
    }

    /// The groups that the current lines belong to.
    fn groups(&mut self) -> impl Iterator<Item = &mut Group> {
        let ours = self.is_ours.then_some(&mut self.ours);
        let everyones = self.is_everyones.then_some(&mut self.everyones);
        ours.into_iter().chain(everyones)
    }

    fn finish(self) -> Robots {
        let group = if self.is_named { self.ours } else { self.everyones };
        let rules = Rules::new(group.rules);
        Robots { rules, crawl_delay: group.crawl_delay, sitemaps: self.sitemaps }
    }
}

#[derive(Debug, Clone, Copy)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "user-agent" | "useragent" | "user agent" => Self::UserAgent,
            "allow" => Self::Allow,
            "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw" => {
                Self::Disallow
            }
            "crawl-delay" | "crawldelay" | "crawl delay" => Self::CrawlDelay,
            "sitemap" | "site-map" => Self::Sitemap,
            _ => return None,
        })
    }
}

/// The key and value of a line. A missing colon is accepted if there is exactly one run of blanks instead.
fn key_and_value(line: &str) -> Option<(Key, &str)> {
    let line = line.split('#').next().unwrap_or_default().trim_matches(is_blank);
    let (key, value) = line.split_once(':').or_else(|| {
        let mut words = line.split(is_blank).filter(|word| !word.is_empty());
        match (words.next(), words.next(), words.next()) {
            (Some(key), Some(value), None) => Some((key, value)),
            _ => None,
        }
    })?;
    Some((Key::parse(key.trim_matches(is_blank))?, value.trim_matches(is_blank)))
}

fn is_blank(char: char) -> bool {
    // Files that are UTF-16 by mistake have NUL bytes between and after their letters.
    char.is_ascii_whitespace() || char == '\0'
}

fn starts_blank(text: &str) -> bool {
    text.starts_with(is_blank)
}

/// The product token that a `user-agent` value begins with: letters, `_` and `-`.
fn product_token(value: &str) -> &str {
    let end = value.find(|char: char| !char.is_ascii_alphabetic() && char != '_' && char != '-');
    end.and_then(|end| value.get(..end)).unwrap_or(value)
}

/// The folder of a rule for its index page.
fn folder_of_index(value: &str) -> Option<&str> {
    let (folder, file) = value.split_at_checked(value.rfind('/')? + 1)?;
    file.starts_with("index.htm").then_some(folder)
}

#[cfg(test)]
mod tests;
