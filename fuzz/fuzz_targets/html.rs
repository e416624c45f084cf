//! Web pages. The input may begin with the label of an encoding and NUL.

#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use cicerone_fuzz::check_reading;
use cicerone_fuzz::stack::{LargeStack, let_panics_be_caught};
use cicerone_ingestion::read_page;
use libfuzzer_sys::fuzz_target;
use url::Url;

/// The longest label of an encoding.
const LABEL_BYTES: usize = 20;

static READER: LazyLock<LargeStack> = LazyLock::new(|| LargeStack::new(check));

fuzz_target!(
    init: let_panics_be_caught(),
    |input: &[u8]| READER.check(input)
);

fn check(input: &[u8]) {
    let nul = input.iter().take(LABEL_BYTES).position(|byte| *byte == 0);
    let (label, page) = match nul {
        Some(nul) => (std::str::from_utf8(&input[..nul]).ok(), &input[nul + 1..]),
        None => (None, input),
    };
    let url = Url::parse("https://site.example/folder/page?x=1").expect("an address");
    let Ok(page) = read_page(page, label, &url) else { return };
    let mut seen = HashSet::new();
    for link in page.links.iter().chain(&page.canonical) {
        let parsed = Url::parse(link).expect("links are addresses");
        assert!(matches!(parsed.scheme(), "http" | "https"), "{link}");
        assert_eq!(parsed.fragment(), None, "{link}");
    }
    assert!(page.links.iter().all(|link| seen.insert(link)), "a link is listed twice");
    assert!(page.reading.title.as_ref().is_none_or(|title| !title.trim().is_empty()));
    check_reading(&page.reading);
}
