//! Inserts the addresses of a page's links into its text.

use std::collections::{HashMap, HashSet};

use super::annotations::Link;
use super::glyph::{Characters, Glyph};

/// The maximum number of comparisons between glyphs and links of a page.
const COMPARISONS: usize = 20_000_000;

/// A page with more addresses is a list of links, or a printed website: they would bury its text. Mail addresses and
/// telephone numbers are always included.
const ADDRESSES: usize = 8;
/// ... and one whose addresses are longer than this share of its text.
const SHARE: f64 = 0.5;

/// The glyphs with the address of each link after its last one: `the form (https://harbour.example/form)`.
///
/// An address that the page shows or that was already inserted is not repeated.
pub(super) fn with_targets(glyphs: Vec<Glyph>, links: &[Link]) -> Vec<Glyph> {
    if links.is_empty() || glyphs.len().saturating_mul(links.len()) > COMPARISONS {
        return glyphs;
    }
    let mut inserted: HashSet<&str> = HashSet::new();
    let mut after: HashMap<usize, String> = HashMap::new();
    for link in links.iter().rev() {
        let place = link.place.inflate(1.0, 1.0);
        let inside = |glyph: &Glyph| place.contains(middle(glyph));
        let mut text = String::new();
        let mut last = None;
        for (index, glyph) in glyphs.iter().enumerate().filter(|(_, glyph)| inside(glyph)) {
            glyph.text.push_to(&mut text);
            last = Some(index);
        }
        let Some(last) = last else { continue };
        let address = link.address.strip_prefix("mailto:").unwrap_or(&link.address);
        // The query of a mail address contains a subject.
        let is_mail = link.address.starts_with("mailto:");
        let address = if is_mail { address.split('?').next().unwrap_or_default() } else { address };
        if !shows(&text, address) && !address.is_empty() && inserted.insert(address) {
            after.insert(last, format!(" ({address})"));
        }
    }
    let is_web = |address: &String| address.starts_with(" (http");
    let addresses = after.values().filter(|address| is_web(address));
    let chars: usize = addresses.clone().map(String::len).sum();
    if addresses.count() > ADDRESSES || chars as f64 > SHARE * glyphs.len() as f64 {
        after.retain(|_, address| !is_web(address));
    }
    if after.is_empty() {
        return glyphs;
    }
    let mut all = Vec::with_capacity(glyphs.len() + after.len());
    for (index, glyph) in glyphs.into_iter().enumerate() {
        let address = after.remove(&index).and_then(|text| Characters::of(&text));
        let address =
            address.map(|text| Glyph { text, start: glyph.end, end: glyph.end, ..glyph.clone() });
        all.push(glyph);
        all.extend(address);
    }
    all
}

/// The centre of a glyph, at half the x-height.
fn middle(glyph: &Glyph) -> hayro_font::kurbo::Point {
    let up = hayro_font::kurbo::Vec2::new(-glyph.along.y, glyph.along.x);
    glyph.start.midpoint(glyph.end) + up * (0.25 * glyph.size)
}

/// Whether a text shows an address, or a part of one that is broken over lines.
fn shows(text: &str, address: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_lowercase();
        let text = text.trim_start_matches("https://").trim_start_matches("http://");
        text.chars().filter(|char| char.is_alphanumeric()).collect::<String>()
    };
    let (text, address) = (plain(text), plain(address));
    text.contains(&address)
        || text.chars().count() >= 8 && address.contains(&text)
        || text.contains("www") && address.contains(&text)
}
