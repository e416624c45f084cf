//! Sitemaps: XML, lines of text, and both compressed.

#![no_main]

use std::io::Write as _;

use cicerone_ingestion::crawl::rules::Sitemap;
use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 256 * 1024;
/// The most addresses of a sitemap: the limit of the protocol.
const ADDRESSES: usize = 50_000;
const ADDRESS_BYTES: usize = 2_048;

fuzz_target!(|file: &[u8]| {
    let sitemap = Sitemap::parse(file, LIMIT);
    assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= ADDRESSES);
    for address in sitemap.pages.iter().chain(&sitemap.sitemaps) {
        assert!(!address.is_empty() && address.trim() == address, "{address:?}");
        assert!(address.len() <= ADDRESS_BYTES, "{} bytes", address.len());
    }
    if !file.starts_with(&[0x1f, 0x8b]) {
        let half = file.len() / 2;
        let start = Sitemap::parse(&file[..half], LIMIT);
        assert_eq!(Sitemap::parse(file, half), start, "text beyond the limit was read");
        let packed = packed(file);
        assert_eq!(Sitemap::parse(&packed, LIMIT), sitemap, "compression changes the result");
        assert_eq!(Sitemap::parse(&packed, half), start, "the limit must apply to the content");
    }
});

fn packed(file: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(file).expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}
