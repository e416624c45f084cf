//! `robots.txt`, and the matching of its rules compared with a slow and simple implementation.
//!
//! The input is a file, a link and a pattern, separated by NUL.

#![no_main]

use cicerone_ingestion::crawl::PRODUCT_TOKEN;
use cicerone_ingestion::crawl::rules::Robots;
use libfuzzer_sys::fuzz_target;
use url::{Position, Url};

/// The longest pattern and path for which the slow implementation is used.
const MATCHED_BYTES: usize = 256;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let (file, link, pattern) = (next(), next(), next());
    let root = Url::parse("https://site.example/robots.txt").expect("an address");
    let robots = Robots::parse(file, PRODUCT_TOKEN);
    assert!(robots.allows(&root), "the file itself is not allowed");
    check_line_ends(file, &robots);

    let Ok(mut url) = root.join(&String::from_utf8_lossy(link)) else { return };
    if url.cannot_be_a_base() {
        return;
    }
    let allows = robots.allows(&url);
    url.set_fragment(Some("part"));
    assert_eq!(robots.allows(&url), allows, "a fragment changes the result for {url}");
    let path = &url[Position::BeforePath..Position::AfterQuery];
    check_matching(pattern, path, &url);
});

/// Checks that the kind of line ends in a file makes no difference.
fn check_line_ends(file: &[u8], robots: &Robots) {
    let ended = [file, b"\n"].concat();
    assert_eq!(&Robots::parse(&ended, PRODUCT_TOKEN), robots);
    let carriage_returns: Vec<u8> =
        file.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
    assert_eq!(&Robots::parse(&carriage_returns, PRODUCT_TOKEN), robots);
}

/// Checks a rule against the slow implementation, if no encoding is involved.
fn check_matching(pattern: &[u8], path: &str, url: &Url) {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'%' | b'#');
    let is_asked = !pattern.is_empty()
        && pattern.len().max(path.len()) <= MATCHED_BYTES
        && pattern.iter().chain(path.as_bytes()).all(is_plain)
        && path != "/robots.txt";
    if is_asked {
        let file = [b"user-agent: *\ndisallow: ", pattern].concat();
        let is_allowed = Robots::parse(&file, PRODUCT_TOKEN).allows(url);
        let pattern = String::from_utf8_lossy(pattern);
        assert_eq!(is_allowed, !matches(pattern.as_bytes(), path.as_bytes()), "{pattern} {path}");
    }
}

/// Whether a path matches: computes all positions that each prefix of the pattern can reach.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (body, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for byte in body {
        if *byte == b'*' {
            let first = reached.iter().position(|is_reached| *is_reached);
            reached.iter_mut().skip(first.unwrap_or(path.len() + 1)).for_each(|at| *at = true);
        } else {
            for at in (0..path.len()).rev() {
                reached[at + 1] = reached[at] && path[at] == *byte;
            }
            reached[0] = false;
        }
    }
    if is_anchored { reached[path.len()] } else { reached.contains(&true) }
}
