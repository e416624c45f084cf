//! The book: Markdown of `docs/`, shown as web pages that load nothing from other servers.
//!
//! The program contains the Markdown. A page is rendered when it is first requested, so the book takes no memory until
//! somebody reads it.

mod links;
mod page;
mod search;
mod section;

use std::borrow::Cow;

use cicerone_domain::widget::WidgetToken;

/// The table of contents, in the format of mdBook.
const SUMMARY: &str = include_str!("../../../docs/book/SUMMARY.md");
const ADDRESS: &str = "/docs";
/// The search index among the assets.
pub(crate) const INDEX: &str = "search-index";
/// Only this server's own files. Scripts cannot turn text into markup.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// The source of a page.
struct Source {
    /// Its file, from `docs/book`.
    file: &'static str,
    markdown: &'static str,
}

/// Embeds files, named from `docs/book`.
macro_rules! sources {
    ($($file:literal),* $(,)?) => {
        [$(Source { file: $file, markdown: include_str!(concat!("../../../docs/book/", $file)) }),*]
    };
}

/// Every page, in any order: the table of contents has the order of readers.
const SOURCES: [Source; 29] = sources![
    "introduction.md",
    "quick-start.md",
    "concepts.md",
    "websites.md",
    "files.md",
    "texts.md",
    "pairs.md",
    "conversations.md",
    "widget.md",
    "visitors.md",
    "webhook-events.md",
    "keys.md",
    "agents-as-code.md",
    "openai-clients.md",
    "mcp-tools.md",
    "statistics.md",
    "operation.md",
    "securing.md",
    "from-chatbase.md",
    "../api-design.md",
    "../console.md",
    "../openai.md",
    "../mcp.md",
    "../webhooks.md",
    "../as-code.md",
    "../configuration.md",
    "../deploy.md",
    "../reading.md",
    "../../SECURITY.md",
];

/// A line of the table of contents.
enum Entry {
    /// The title of a part.
    Part(&'static str),
    Page {
        title: &'static str,
        source: &'static Source,
    },
}

impl Source {
    /// The last segment of its address: `quick-start` of `quick-start.md`.
    fn name(&self) -> Cow<'static, str> {
        let file = self.file.rsplit('/').next().unwrap_or(self.file);
        let stem = file.strip_suffix(".md").unwrap_or(file);
        if stem.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Cow::Owned(stem.to_ascii_lowercase());
        }
        Cow::Borrowed(stem)
    }

    fn address(&self) -> String {
        format!("{ADDRESS}/{}", self.name())
    }
}

/// The page of that name as HTML, `None` if there is no such page. The first page has the empty name too. A widget of this
/// server answers on it.
pub(crate) fn page(name: &str, widget: Option<WidgetToken>) -> Option<String> {
    let contents = contents();
    let position = contents.iter().position(|entry| match entry {
        Entry::Page { source, .. } => name.is_empty() || source.name() == name,
        Entry::Part(_) => false,
    })?;
    Some(page::html(&contents, position, widget))
}

/// The search index: JSON with every section of every page.
pub(crate) fn index() -> String {
    search::index(&contents())
}

/// The table of contents. Lines that do not name a page of [`SOURCES`] are skipped; a test finds them.
fn contents() -> Vec<Entry> {
    SUMMARY.lines().filter_map(entry).collect()
}

fn entry(line: &'static str) -> Option<Entry> {
    if let Some(part) = line.strip_prefix("# ").filter(|part| *part != "Summary") {
        return Some(Entry::Part(part));
    }
    let link = line.trim_start().strip_prefix("- [").or_else(|| line.strip_prefix('['))?;
    let (title, file) = link.strip_suffix(')')?.split_once("](")?;
    let source = SOURCES.iter().find(|source| source.file == file)?;
    Some(Entry::Page { title, source })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_table_of_contents_has_every_page_once() {
        let lines = SUMMARY.lines().filter(|line| line.contains("](")).count();
        let listed: Vec<_> = contents()
            .iter()
            .filter_map(|entry| match entry {
                Entry::Page { source, .. } => Some(source.file),
                Entry::Part(_) => None,
            })
            .collect();
        assert_eq!(lines, listed.len(), "a line of SUMMARY.md names no page");
        assert_eq!(listed.len(), SOURCES.len());
        assert_eq!(listed.iter().collect::<HashSet<_>>().len(), SOURCES.len());
        let names: HashSet<_> = SOURCES.iter().map(Source::name).collect();
        assert_eq!(names.len(), SOURCES.len(), "two pages have one address");
    }

    #[test]
    fn every_link_of_every_page_leads_somewhere() {
        let mut anchors = HashSet::new();
        let mut links = Vec::new();
        for source in &SOURCES {
            let html = page(&source.name(), None).unwrap();
            let address = source.address();
            anchors.insert(address.clone());
            anchors.extend(attributes(&html, "id").map(|id| format!("{address}#{id}")));
            links.extend(attributes(&html, "href").map(|link| match link.strip_prefix('#') {
                Some(id) => (address.clone(), format!("{address}#{id}")),
                None => (address.clone(), link.to_owned()),
            }));
        }
        for (page, link) in links {
            let is_elsewhere = link.starts_with("https://") || link.starts_with("/v1/");
            let is_asset = ["/docs", "/docs/api", "/docs/book.css", "/docs/icon.svg"];
            assert!(
                is_elsewhere || is_asset.contains(&&*link) || anchors.contains(&link),
                "`{link}` on {page}"
            );
        }
    }

    fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
        let parts = html.split(&format!(" {name}=\"")).skip(1).collect::<Vec<_>>();
        parts.into_iter().filter_map(|rest| rest.split('"').next())
    }

    #[test]
    fn markup_in_a_page_is_shown_as_text() {
        for source in &SOURCES {
            let html = page(&source.name(), None).unwrap();
            assert!(!html.contains("<!--") && !html.contains(" style="), "{}", source.file);
            assert_eq!(html.matches("<script").count(), 1, "{}", source.file);
        }
    }

    #[test]
    fn the_index_is_json_with_addresses_of_sections() {
        let index: Vec<serde_json::Value> = serde_json::from_str(&index()).unwrap();
        let found = index.iter().find(|section| section["heading"] == "Refresh it").unwrap();
        assert_eq!(found["url"], "/docs/websites#refresh-it");
        assert!(index.iter().any(|section| section["url"] == "/docs/quick-start"));
        assert!(index.iter().all(|section| section["page"] != ""));
    }
}
