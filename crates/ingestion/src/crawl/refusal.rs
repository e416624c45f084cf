//! Addresses that are skipped without a request: files that are not pages, and crawler traps.

use std::collections::HashMap;

use cicerone_domain::crawl::{FileKind, PageReason};
use url::Url;

/// The longest address that is kept. Longer ones are not meant for people.
const ADDRESS_CHARS: usize = 2_000;
/// Most segments of a path.
const PATH_SEGMENTS: u32 = 24;
/// How often one segment may occur in a path: broken relative links append it again and again.
const SEGMENT_REPEATS: usize = 3;
/// The number of different queries of one path that are visited in the order in which they are found. Further ones wait
/// until everything else has been visited, because calendars, filters and sort orders have endless queries.
const QUERIES_A_PATH: u32 = 500;

/// File name extensions that are not pages, by kind.
const FILES: [(FileKind, &[&str]); 10] = [
    (
        FileKind::Image,
        &[
            "apng", "avif", "bmp", "cur", "eps", "gif", "heic", "heif", "ico", "jfif", "jpeg",
            "jpg", "jxl", "png", "psd", "svg", "svgz", "tif", "tiff", "webp",
        ],
    ),
    (
        FileKind::Media,
        &[
            "3gp", "aac", "aif", "aiff", "avi", "flac", "flv", "m3u8", "m4a", "m4v", "mid", "midi",
            "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "oga", "ogg", "ogv", "opus", "srt", "vtt",
            "wav", "weba", "webm", "wma", "wmv",
        ],
    ),
    (
        FileKind::Archive,
        &[
            "7z", "br", "bz2", "cab", "crate", "gz", "jar", "lz4", "rar", "tar", "tbz2", "tgz",
            "war", "whl", "xz", "zip", "zst",
        ],
    ),
    (
        FileKind::Program,
        &[
            "apk", "appimage", "bin", "deb", "dll", "dmg", "exe", "ipa", "iso", "msi", "pkg",
            "rpm", "wasm",
        ],
    ),
    (FileKind::StyleSheet, &["css", "less", "scss"]),
    (FileKind::Script, &["cjs", "js", "map", "mjs"]),
    (FileKind::Font, &["eot", "otf", "ttf", "woff", "woff2"]),
    (
        FileKind::Office,
        &[
            "doc", "docm", "docx", "dotx", "epub", "mobi", "odp", "ods", "odt", "pps", "ppsx",
            "ppt", "pptx", "rtf", "xls", "xlsm", "xlsx",
        ],
    ),
    (
        FileKind::Data,
        &[
            "atom", "bib", "csv", "dat", "db", "geojson", "gpx", "ics", "json", "jsonl", "kml",
            "kmz", "ndjson", "parquet", "rdf", "rss", "sql", "sqlite", "toml", "tsv", "vcf", "xml",
            "yaml", "yml",
        ],
    ),
    (FileKind::Signature, &["asc", "md5", "pem", "pgp", "sha1", "sha256", "sha512", "sig"]),
];

/// Why a page of the site is skipped without being requested; `None` if it may be requested.
pub fn refusal(url: &Url) -> Option<PageReason> {
    if let Some(kind) = file_kind(url) {
        return Some(PageReason::NamesFile(kind));
    }
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    if u32::try_from(segments.len()).map_or(true, |parts| parts > PATH_SEGMENTS) {
        return Some(PageReason::LongPath { parts: PATH_SEGMENTS });
    }
    let mut counts = HashMap::new();
    for segment in segments {
        let count: &mut usize = counts.entry(segment).or_default();
        *count += 1;
        if *count > SEGMENT_REPEATS {
            return Some(PageReason::RepeatingPath { part: segment.to_owned() });
        }
    }
    None
}

/// The kind of file that an extension names, unless it is a page, PDF or text.
fn file_kind(url: &Url) -> Option<FileKind> {
    let (_, extension) = url.path_segments()?.next_back()?.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    FILES
        .iter()
        .find(|(_, extensions)| extensions.contains(&extension.as_str()))
        .map(|(kind, _)| *kind)
}

/// Whether an address is longer than any that is kept.
pub(super) fn is_overlong(url: &Url) -> bool {
    url.as_str().len() > ADDRESS_CHARS
}

/// Counts the queries of each path, so that a path with endless queries does not delay other pages.
#[derive(Debug, Default)]
pub(super) struct Variants(HashMap<String, u32>);

impl Variants {
    /// Whether the path of an address has not used up its share of queries.
    pub(super) fn admit(&mut self, url: &Url) -> bool {
        if url.query().is_none() {
            return true;
        }
        let count = self.0.entry(url.path().to_owned()).or_default();
        *count = count.saturating_add(1);
        *count <= QUERIES_A_PATH
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{QUERIES_A_PATH, Variants, is_overlong, refusal};

    fn refused(path: &str) -> Option<String> {
        let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
        refusal(&url).map(|reason| reason.to_string())
    }

    #[test]
    fn pages_texts_and_pdfs_are_taken() {
        for path in [
            "/",
            "/docs",
            "/docs/",
            "/a.html",
            "/a.php?x=b.png",
            "/a.pdf",
            "/a.PDF",
            "/a.txt",
            "/README.md",
            "/v1.2",
            "/v1.2/",
            "/example.com",
            "/.well-known",
            "/a.aspx",
            "/png",
            "/node.js/",
            "/releases/v0.3.78",
        ] {
            assert_eq!(refused(path), None, "{path}");
        }
    }

    #[test]
    fn files_that_are_no_pages_are_left_out_with_what_they_are() {
        for (path, kind) in [
            ("/a.png", "an image"),
            ("/a.JPG?size=2", "an image"),
            ("/a/b.c.zip", "an archive"),
            ("/a.tar.gz", "an archive"),
            ("/a.mp4", "a video or sound"),
            ("/a.css", "a style sheet"),
            ("/a.js", "a script"),
            ("/a.woff2", "a font"),
            ("/feed.xml", "data"),
            ("/a.docx", "an office document"),
        ] {
            let reason = refused(path).unwrap();
            assert_eq!(reason, format!("not a page: its address names {kind}"), "{path}");
        }
    }

    #[test]
    fn endless_paths_are_left_out() {
        assert_eq!(refused("/a/b/a/b/a/c"), None);
        assert!(refused("/a/b/a/b/a/b/a").unwrap().contains("`a` repeats"));
        let deep: Vec<String> = (0..24).map(|part| part.to_string()).collect();
        assert_eq!(refused(&format!("/{}", deep.join("/"))), None);
        assert!(refused(&format!("/{}/x", deep.join("/"))).unwrap().contains("more than 24"));
    }

    #[test]
    fn overlong_addresses_and_endless_queries_are_told() {
        let url = |text: String| Url::parse(&format!("https://example.com/{text}")).unwrap();
        let mut variants = Variants::default();
        assert!(!is_overlong(&url("a".repeat(1_900))));
        assert!(is_overlong(&url("a".repeat(2_000))));
        for query in 0..QUERIES_A_PATH {
            assert!(variants.admit(&url(format!("calendar?day={query}"))));
        }
        assert!(!variants.admit(&url("calendar?day=last".to_owned())));
        assert!(variants.admit(&url("calendar".to_owned())));
        assert!(variants.admit(&url("shop?day=1".to_owned())));
    }
}
