//! The metadata of a page: its title, its links, and its instructions for crawlers.

use std::collections::HashSet;

use cicerone_domain::content::cut_title;
use cicerone_domain::limits;
use cicerone_domain::text::is_blank;
use select::document::Document;
use select::node::Node;
use select::predicate::Name;
use url::Url;

use super::dom::elements;

/// Names of the `meta` elements that address this crawler.
const ROBOTS: [&str; 2] = ["robots", "cicerone"];

/// The metadata of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    pub(super) title: Option<String>,
    pub(super) links: Vec<String>,
    pub(super) canonical: Option<String>,
    pub(super) refresh: Option<Refresh>,
    pub(super) is_noindex: bool,
    pub(super) is_nofollow: bool,
}

/// The address that a browser requests after this many seconds instead of showing the page further.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refresh {
    pub(super) seconds: u32,
    pub(super) address: String,
}

/// The metadata of the page at `url`.
pub(super) fn of(document: &Document, url: &Url) -> About {
    let base = base(document, url);
    let mut about = About {
        title: title(document),
        canonical: document
            .find(Name("link"))
            .filter(|link| has_token(link, "rel", "canonical"))
            .find_map(|link| resolved(link.attr("href")?, &base)),
        refresh: document.find(Name("meta")).find_map(|meta| refresh(&meta, &base)),
        ..About::default()
    };
    for meta in document.find(Name("meta")) {
        let is_ours = meta
            .attr("name")
            .is_some_and(|name| ROBOTS.iter().any(|ours| name.trim().eq_ignore_ascii_case(ours)));
        if is_ours {
            for rule in meta.attr("content").unwrap_or_default().split(',') {
                let rule = rule.trim().to_ascii_lowercase();
                about.is_noindex |= rule == "noindex" || rule == "none";
                about.is_nofollow |= rule == "nofollow" || rule == "none";
            }
        }
    }
    about.links = links(document, &base);
    about
}

/// The address that links are relative to.
fn base(document: &Document, url: &Url) -> Url {
    let stated =
        document.find(Name("base")).find_map(|base| url.join(base.attr("href")?.trim()).ok());
    let stated = stated.filter(|base| !base.cannot_be_a_base() && !is_overlong(base));
    stated.unwrap_or_else(|| url.clone())
}

/// The `title` element; if absent, the title for shared links or the first heading.
fn title(document: &Document) -> Option<String> {
    let element = document
        .find(Name("title"))
        // An image within the page may have a title of its own.
        .filter(|title| title.parent().is_none_or(|parent| parent.name() != Some("svg")))
        .map(|title| title.text());
    let shared = document
        .find(Name("meta"))
        .filter(|meta| meta.attr("property") == Some("og:title"))
        .filter_map(|meta| meta.attr("content").map(str::to_owned));
    let heading = document.find(Name("h1")).map(|heading| heading.text());
    element.chain(shared).chain(heading).find_map(|title| {
        let words: Vec<&str> = title.split_whitespace().collect();
        let title = words.join(" ");
        (!is_blank(&title)).then(|| cut_title(&title).into_owned())
    })
}

/// The distinct addresses that the page links to, up to the limit.
fn links(document: &Document, base: &Url) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut left = limits::PAGE_LINK_BYTES;
    elements(document)
        .filter(|node| matches!(node.name(), Some("a" | "area")))
        .filter(|link| !has_token(link, "rel", "nofollow"))
        .filter_map(|link| resolved(link.attr("href")?, base))
        .filter(|address| seen.insert(address.clone()))
        .take(limits::PAGE_LINKS)
        .take_while(|address| {
            let fits = address.len() <= left;
            left = left.saturating_sub(address.len());
            fits
        })
        .collect()
}

/// Whether an address is longer than the limit for pages of a website.
fn is_overlong(address: &Url) -> bool {
    address.as_str().len() > limits::WEBSITE_URL_CHARS
}

/// What a `meta` element states about another address to request: `0; url=/docs/` (HTML 4.2.5.3).
fn refresh(meta: &Node<'_>, base: &Url) -> Option<Refresh> {
    let is_refresh =
        meta.attr("http-equiv").is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"));
    let content = meta.attr("content").filter(|_| is_refresh)?.trim_start();
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let (seconds, rest) = content.split_at_checked(digits)?;
    let rest = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
    let rest =
        rest.trim_start_matches(|char: char| matches!(char, ';' | ',') || char.is_whitespace());
    let stated = rest.split_at_checked(3).filter(|(name, _)| name.eq_ignore_ascii_case("url"));
    let stated = stated.and_then(|(_, rest)| rest.trim_start().strip_prefix('='));
    let address = stated.unwrap_or(rest).trim();
    let quote = address.chars().next().filter(|char| matches!(char, '"' | '\''));
    let address = quote.map_or(address, |quote| address.trim_matches(quote));
    if address.is_empty() {
        return None;
    }
    Some(Refresh { seconds: seconds.parse().ok()?, address: resolved(address, base)? })
}

/// The web address that a reference names, without its fragment. `None` if it names another kind of address.
fn resolved(reference: &str, base: &Url) -> Option<String> {
    let mut address = base.join(reference.trim()).ok()?;
    address.set_fragment(None);
    let is_web = matches!(address.scheme(), "http" | "https");
    (is_web && !is_overlong(&address)).then(|| address.into())
}

fn has_token(node: &Node<'_>, key: &str, token: &str) -> bool {
    let tokens = node.attr(key).unwrap_or_default();
    tokens.split_ascii_whitespace().any(|other| other.eq_ignore_ascii_case(token))
}
