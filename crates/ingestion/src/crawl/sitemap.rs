//! Sitemaps (sitemaps.org): the addresses that a site lists, as XML or as plain text.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

/// Longest address that is read.
const ADDRESS_CHARS: usize = 2_048;
/// Most addresses of one file (the protocol's own limit).
const ADDRESSES: usize = 50_000;
/// The first bytes of compressed files.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The addresses that a sitemap lists, unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Addresses of pages.
    pub pages: Vec<String>,
    /// Further sitemaps.
    pub sitemaps: Vec<String>,
}

impl Sitemap {
    /// Reads a sitemap, compressed or not, up to `limit` bytes after decompression. There are no
    /// errors: reading ends at the first part that is malformed.
    ///
    /// This function blocks while it decompresses and parses.
    pub fn parse(file: &[u8], limit: usize) -> Self {
        let bytes: Cow<'_, [u8]> = match inflate(file, limit) {
            Some(bytes) => bytes.into(),
            None => file.get(..limit).unwrap_or(file).into(),
        };
        let text = decode(&bytes);
        if text.trim_start().starts_with('<') { of_xml(&text) } else { of_lines(&text) }
    }

    fn is_full(&self) -> bool {
        self.pages.len() + self.sitemaps.len() >= ADDRESSES
    }
}

/// The decompressed file. `None` if it is not compressed; the readable beginning if it is damaged.
fn inflate(file: &[u8], limit: usize) -> Option<Vec<u8>> {
    if !file.starts_with(GZIP) {
        return None;
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    if let Err(cause) = MultiGzDecoder::new(file).take(most).read_to_end(&mut bytes) {
        tracing::debug!(%cause, "a compressed sitemap is damaged; its beginning is read");
    }
    Some(bytes)
}

/// UTF-8, or the encoding of the byte order mark.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

fn of_lines(text: &str) -> Sitemap {
    let is_address = |line: &&str| line.starts_with("http://") || line.starts_with("https://");
    let lines = text.lines().map(str::trim).filter(is_address);
    let pages = lines.filter(|line| line.len() <= ADDRESS_CHARS).take(ADDRESSES);
    Sitemap { pages: pages.map(str::to_owned).collect(), sitemaps: Vec::new() }
}

/// The kind of element around an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Page,
    Sitemap,
}

/// The current place in the document. Only depths are kept, so that nesting takes no memory.
#[derive(Debug, Default)]
struct Cursor {
    depth: usize,
    /// The entry that is open, and its depth.
    entry: Option<(EntryKind, usize)>,
    /// The address that is being read.
    address: Option<String>,
}

fn of_xml(text: &str) -> Sitemap {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_dangling_amp = true;
    let mut sitemap = Sitemap::default();
    let mut place = Cursor::default();
    while !sitemap.is_full() {
        match reader.read_event() {
            Ok(Event::Start(start)) => place.open(start.local_name().as_ref()),
            Ok(Event::End(_)) => place.close(&mut sitemap),
            Ok(Event::Text(text)) => place.text(&text.xml10_content()),
            Ok(Event::CData(text)) => place.text(&text.xml10_content()),
            Ok(Event::GeneralRef(entity)) => place.entity(&entity),
            Ok(Event::Eof) => break,
            Ok(
                Event::Empty(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_),
            ) => {}
            Err(cause) => {
                tracing::debug!(%cause, "a sitemap is not valid XML; the part before the error is used");
                break;
            }
        }
    }
    sitemap
}

impl Cursor {
    fn open(&mut self, name: &str) {
        self.depth += 1;
        self.address = None;
        match (name, self.entry) {
            ("url", None) => self.entry = Some((EntryKind::Page, self.depth)),
            ("sitemap", None) => self.entry = Some((EntryKind::Sitemap, self.depth)),
            // `image:loc` is nested deeper.
            ("loc", Some((_, depth))) if self.depth == depth + 1 => {
                self.address = Some(String::new());
            }
            _ => {}
        }
    }

    fn close(&mut self, sitemap: &mut Sitemap) {
        if let (Some((entry, _)), Some(address)) = (self.entry, self.address.take()) {
            let address = address.trim();
            if !address.is_empty() && address.len() <= ADDRESS_CHARS {
                match entry {
                    EntryKind::Page => sitemap.pages.push(address.to_owned()),
                    EntryKind::Sitemap => sitemap.sitemaps.push(address.to_owned()),
                }
            }
        }
        if self.entry.is_some_and(|(_, depth)| depth == self.depth) {
            self.entry = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn text(&mut self, text: &str) {
        if let Some(address) = &mut self.address
            && address.len() <= ADDRESS_CHARS
        {
            address.push_str(text);
        }
    }

    /// A character or one of XML's five entities; entities that a document declares are not expanded.
    fn entity(&mut self, entity: &BytesRef<'_>) {
        if let Ok(Some(char)) = entity.resolve_char_ref() {
            self.text(char.encode_utf8(&mut [0; 4]));
        } else if let Some(text) = resolve_predefined_entity(entity) {
            self.text(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{ADDRESSES, Sitemap};

    const LIMIT: usize = 10 * 1_024 * 1_024;

    fn pages(file: &str) -> Vec<String> {
        Sitemap::parse(file.as_bytes(), LIMIT).pages
    }

    fn gzip(file: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(file).unwrap();
        encoder.finish().unwrap()
    }

    const URLSET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
          <url><loc> https://a.com/1 </loc><lastmod>2026-01-01</lastmod></url>
          <url><loc>https://a.com/2?x=1&amp;y=2&#38;z=&#x33;</loc>
            <image:image><image:loc>https://a.com/i.png</image:loc></image:image></url>
          <url><loc><![CDATA[https://a.com/3?a&b]]></loc></url>
          <url><loc></loc></url><url/>
        </urlset>"#;

    #[test]
    fn a_urlset_lists_pages_with_their_entities_resolved() {
        let expected = ["https://a.com/1", "https://a.com/2?x=1&y=2&z=3", "https://a.com/3?a&b"];
        assert_eq!(pages(URLSET), expected);
    }

    #[test]
    fn an_index_lists_sitemaps() {
        let file =
            "<sitemapindex><sitemap><loc>https://a.com/s.xml.gz</loc></sitemap></sitemapindex>";
        let sitemap = Sitemap::parse(file.as_bytes(), LIMIT);
        assert_eq!(sitemap.sitemaps, ["https://a.com/s.xml.gz"]);
        assert_eq!(sitemap.pages, Vec::<String>::new());
    }

    #[test]
    fn compression_is_told_by_content() {
        let sitemap = Sitemap::parse(&gzip(URLSET.as_bytes()), LIMIT);
        assert_eq!(sitemap.pages.len(), 3);
    }

    #[test]
    fn lines_of_text_are_pages() {
        let file = "\u{feff}https://a.com/1\r\n\r\n# no\n  http://a.com/2\nftp://a.com/3\n";
        assert_eq!(pages(file), ["https://a.com/1", "http://a.com/2"]);
    }

    #[test]
    fn utf_16_is_read_by_its_mark() {
        let file = "\u{feff}<urlset><url><loc>https://a.com/ü</loc></url></urlset>";
        let bytes: Vec<u8> = file.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Sitemap::parse(&bytes, LIMIT).pages, ["https://a.com/ü"]);
    }

    #[test]
    fn a_damaged_file_gives_what_stands_before() {
        assert_eq!(
            pages("<urlset><url><loc>https://a.com/1</loc></url><url><loc"),
            ["https://a.com/1"]
        );
        assert_eq!(pages("<url><loc>https://a.com/a&b</loc></url>"), ["https://a.com/a&b"]);
        let mut cut = gzip(URLSET.as_bytes());
        cut.truncate(cut.len() - 12);
        assert!(Sitemap::parse(&cut, LIMIT).pages.len() <= 3);
        for file in ["", "<", "<html><body>no</body></html>", "\u{1f}\u{8b}", "</url></url>"] {
            assert_eq!(pages(file), Vec::<String>::new(), "{file}");
        }
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let file = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
            <urlset><url><loc>https://a.com/&b;1</loc></url></urlset>"#;
        assert_eq!(pages(file), ["https://a.com/1"]);
    }

    #[test]
    fn a_bomb_is_read_as_far_as_the_limit() {
        let bomb = gzip(&vec![b' '; 4 * 1_024 * 1_024]);
        assert!(bomb.len() < 100 * 1_024);
        assert_eq!(Sitemap::parse(&bomb, 1_024), Sitemap::default());
        let entries = "<url><loc>https://a.com/1</loc></url>".repeat(ADDRESSES + 1);
        assert_eq!(pages(&format!("<urlset>{entries}</urlset>")).len(), ADDRESSES);
        let nested = "<a>".repeat(100_000);
        assert_eq!(pages(&nested), Vec::<String>::new());
        let long = format!("<url><loc>https://a.com/{}</loc></url>", "a".repeat(3_000));
        assert_eq!(pages(&long), Vec::<String>::new());
    }
}
