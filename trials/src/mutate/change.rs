//! Changes a file: its bytes or, if it is a ZIP archive, the bytes of its parts, with valid
//! checksums.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Cursor, Read as _, Write as _};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The largest part that is changed.
const PART_BYTES: u64 = 8 * 1_024 * 1_024;
/// The most changes of one file.
const CHANGES: u64 = 8;
/// The longest section that is removed, repeated or moved.
const PIECE_BYTES: u64 = 512;
/// One in this many archives is changed directly, without regard to its parts.
const RAW_EVERY: u64 = 5;
/// Values that programs often handle wrongly.
const WORDS: [&[u8]; 20] = [
    b"0",
    b"-1",
    b"65535",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"18446744073709551615",
    b"1e308",
    b"NaN",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"&#0;",
    b"&a;",
    b"<![CDATA[",
    b"-->",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"{\\",
];

/// The changed file with this number.
pub(super) fn of(original: &[u8], seed: u64, format: &str, number: usize) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    (seed, format, number).hash(&mut hasher);
    let mut random = Random(StdRng::seed_from_u64(hasher.finish()));
    if original.starts_with(b"PK")
        && random.below(RAW_EVERY) > 0
        && let Some(changed) = of_archive(original, &mut random)
    {
        return changed;
    }
    let mut bytes = original.to_vec();
    random.change(&mut bytes);
    bytes
}

/// An archive with one or two parts changed. `None` if it cannot be unpacked.
fn of_archive(original: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(original)).ok()?;
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).ok()?;
        let name = part.name().ok()?.into_owned();
        let mut bytes = Vec::new();
        part.by_ref().take(PART_BYTES).read_to_end(&mut bytes).ok()?;
        parts.push((name, bytes));
    }
    // Most parts of a document have little effect; the important ones are XML.
    let texts: Vec<usize> = (0..parts.len())
        .filter(|index| parts.get(*index).is_some_and(|(name, _)| is_text(name)))
        .collect();
    for _ in 0..=random.below(2) {
        let chosen = *texts.get(random.place(texts.len()))?;
        random.change(&mut parts.get_mut(chosen)?.1);
    }
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(name, stored).ok()?;
        writer.write_all(&bytes).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}

fn is_text(name: &str) -> bool {
    [".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx"]
        .iter()
        .any(|end| name.ends_with(end))
}

struct Random(StdRng);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound.max(1)
    }

    fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap_or(u64::MAX))).unwrap_or(0)
    }

    /// A random section of at most [`PIECE_BYTES`].
    fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.place(length);
        let size = usize::try_from(1 + self.below(PIECE_BYTES)).unwrap_or(1);
        start..length.min(start + size)
    }

    /// Changes bytes in a few places.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(CHANGES) {
            let at = self.place(bytes.len());
            match self.below(9) {
                0 | 1 => {
                    let by = 1 + self.below(255) as u8;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= by;
                    }
                }
                2 => drop(bytes.drain(self.piece(bytes.len()))),
                3 => {
                    let piece = bytes.get(self.piece(bytes.len())).unwrap_or_default().to_vec();
                    bytes.splice(at..at, piece);
                }
                4 => {
                    // Many repetitions: nested elements become deeply nested.
                    let piece = bytes.get(self.piece(bytes.len())).unwrap_or_default().to_vec();
                    let times = usize::try_from(self.below(200)).unwrap_or(0);
                    bytes.splice(at..at, piece.repeat(times));
                }
                5 => {
                    let word = WORDS.get(self.place(WORDS.len())).copied().unwrap_or_default();
                    let end = bytes.len().min(at + usize::from(self.below(2) == 0) * word.len());
                    bytes.splice(at..end, word.iter().copied());
                }
                6 => self.number(bytes, at),
                7 => {
                    let (one, other) = (self.place(bytes.len()), self.place(bytes.len()));
                    if one < bytes.len() && other < bytes.len() {
                        bytes.swap(one, other);
                    }
                }
                _ => {
                    // Rarely, the end is cut off.
                    if self.below(8) == 0 {
                        bytes.truncate(at);
                    }
                }
            }
        }
    }

    /// Replaces the first number at or after a position.
    fn number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let Some(start) = bytes.iter().skip(at).position(is_digit).map(|found| at + found) else {
            return;
        };
        let digits = bytes.iter().skip(start).take_while(|byte| is_digit(byte)).count();
        let value = self.0.next_u64() >> self.below(64);
        bytes.splice(start..start + digits, value.to_string().bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_change_comes_from_its_number_alone() {
        let original = b"{\\rtf1 The harbour falls dry 2 times a day.\\par}".repeat(9);
        assert_eq!(of(&original, 1, "rtf", 7), of(&original, 1, "rtf", 7));
        let changed = (0..50).filter(|number| of(&original, 1, "rtf", *number) != original).count();
        assert!(changed > 40, "{changed}");
    }
}
