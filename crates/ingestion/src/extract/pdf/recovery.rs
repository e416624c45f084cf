//! Characters of glyphs whose font does not map them in the usual way.
//!
//! The library handles `ToUnicode` maps and glyph names. This module handles composite fonts without a map and one-byte
//! fonts with nonstandard names.

use std::cell::OnceCell;
use std::collections::HashMap;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded};
use hayro_font::{FontGlyph, GlyphId};
use hayro_syntax::object::{Array, Dict, Name, Stream, String as Bytes};
use skrifa::{FontRef, MetadataProvider as _};

use super::bounds;
use super::glyph::Characters;

/// The maximum number of entries of an embedded font's map that are read.
const MAPPINGS: usize = 200_000;
/// In the fonts that come with Windows and their clones, glyph 3 is the blank and the glyphs of ASCII follow in order.
/// Programs that do not embed such a font write its glyphs' numbers.
const ASCII_FROM_GLYPH: u32 = 29;

/// Information on a font in addition to its map and its names.
pub(super) enum Recovery {
    /// Codes of one byte.
    Bytes(Reversed),
    /// A composite font.
    Composite(Box<Composite>),
}

/// A composite font: its codes select characters of a collection, or glyphs.
pub(super) struct Composite {
    codes_are_characters: bool,
    /// From codes to members of the collection; `None` if they are the same.
    encoding: Option<CMap>,
    /// From members of the collection to characters.
    collection: Option<CMap>,
    is_embedded: bool,
    reversed: Reversed,
}

/// The embedded font's own map from characters to glyphs, reversed once it is needed.
#[derive(Default)]
pub(super) struct Reversed(OnceCell<HashMap<u32, char>>);

impl Recovery {
    pub(super) fn of(font: &Dict<'_>) -> Self {
        let descendants = font.get::<Array<'_>>(b"DescendantFonts");
        let Some(descendant) = descendants.and_then(|fonts| fonts.iter::<Dict<'_>>().next()) else {
            return Self::Bytes(Reversed::default());
        };
        let name = font.get::<Name<'_>>(b"Encoding");
        let name = name.as_ref().map_or(b"".as_slice(), |name| name.as_ref());
        let collection = collection_of(name, &descendant);
        let descriptor = descendant.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
        let is_embedded = [b"FontFile".as_slice(), b"FontFile2", b"FontFile3"]
            .iter()
            .any(|key| descriptor.contains_key(key));
        Self::Composite(Box::new(Composite {
            codes_are_characters: states_characters(font) || writes_unicode(name),
            encoding: encoding_of(font, name),
            collection: collection.and_then(|family| parsed(family.ucs2_cmap()?)),
            is_embedded,
            reversed: Reversed::default(),
        }))
    }

    /// The characters of a code that selects a glyph; `None` if unknown.
    pub(super) fn characters(&self, code: u32, glyph: &FontGlyph<'_>) -> Option<Characters> {
        match self {
            Self::Bytes(reversed) => reversed.character(glyph).or_else(|| windows_character(code)),
            Self::Composite(font) => font.characters(code, glyph),
        }
        .or_else(|| blank(glyph))
    }

    /// The characters of a glyph that the file maps to private use, according to the font's own map.
    pub(super) fn of_private(&self, glyph: &FontGlyph<'_>) -> Option<Characters> {
        match self {
            Self::Bytes(reversed) => reversed.character(glyph),
            Self::Composite(font) => font.reversed.character(glyph),
        }
    }
}

impl Composite {
    fn characters(&self, code: u32, glyph: &FontGlyph<'_>) -> Option<Characters> {
        if self.codes_are_characters {
            return readable(code);
        }
        if let Some(collection) = &self.collection {
            let member = match &self.encoding {
                Some(encoding) => (1..=4).find_map(|bytes| encoding.lookup_cid_code(code, bytes)),
                None => Some(code),
            };
            let found = member.and_then(|member| collection.lookup_bf_string(member));
            if let Some(found) = found.and_then(|found| characters_of(&found)) {
                return Some(found);
            }
        }
        if let Some(found) = self.reversed.character(glyph) {
            return Some(found);
        }
        let is_plain = !self.is_embedded && self.collection.is_none() && self.encoding.is_none();
        let ascii = code.checked_add(ASCII_FROM_GLYPH).filter(|code| (32..127).contains(code));
        ascii.filter(|_| is_plain).and_then(readable)
    }
}

impl Reversed {
    fn character(&self, glyph: &FontGlyph<'_>) -> Option<Characters> {
        let FontGlyph::Outline(outline) = glyph else { return None };
        let id = outline.glyph_id();
        if id == GlyphId::NOTDEF {
            return None;
        }
        let map = self.0.get_or_init(|| {
            let data = outline.font_data();
            data.map(|font| reversed((*font.data).as_ref())).unwrap_or_default()
        });
        map.get(&id.to_u32()).copied().map(Characters::One)
    }
}

/// From the glyphs of a font program to the first character that each shows.
fn reversed(program: &[u8]) -> HashMap<u32, char> {
    let mut map = HashMap::new();
    let Ok(font) = FontRef::new(program) else { return map };
    for (code, glyph) in font.charmap().mappings().take(MAPPINGS) {
        let char = char::from_u32(code).filter(|char| is_told(*char));
        if let Some(char) = char {
            map.entry(glyph.to_u32()).or_insert(char);
        }
    }
    map
}

/// The meaningful part of the library's text of a glyph; `None` if there is none.
pub(super) fn characters_of(found: &BfString) -> Option<Characters> {
    match found {
        BfString::Char(char) => readable(u32::from(*char)),
        BfString::String(text) => {
            let text: String = text.chars().filter(|char| is_told(*char)).collect();
            Characters::of(&text)
        }
    }
}

/// The character of a code point; a blank for spacing characters.
fn readable(code: u32) -> Option<Characters> {
    let char = char::from_u32(code)?;
    if matches!(char, '\t' | '\n' | '\r') {
        return Some(Characters::One(' '));
    }
    is_told(char).then_some(Characters::One(char))
}

/// Whether a character has a meaning: control, replacement and private-use characters have none.
fn is_told(char: char) -> bool {
    !char.is_control()
        && !matches!(char, '\u{fffd}'..='\u{ffff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// The character of a symbol font's code, which is written as U+F020 to U+F0FF. In a font with the name of a symbol
/// font it is mostly a bullet; other fonts encode their letters this way.
pub(super) fn symbol(char: char, is_symbol_font: bool) -> Option<Characters> {
    let code = u32::from(char).checked_sub(0xf000).filter(|code| (0x20..=0xff).contains(code))?;
    if !is_symbol_font {
        return windows_character(code);
    }
    Some(Characters::One(match code {
        0x6c | 0x6e | 0x71 | 0x75 | 0x76 | 0x77 | 0x9e | 0x9f | 0xa7 | 0xa8 | 0xb7 => '•',
        0xd8 | 0xe0 | 0xe8 | 0xf0 => '→',
        0xfc | 0xfe => '✓',
        _ => ' ',
    }))
}

/// The character that a variant is of: Adobe's list of glyph names has small capitals and old-style digits at the codes of
/// their letters and digits above U+F700.
pub(super) fn variant(char: char) -> Option<Characters> {
    let code = u32::from(char).checked_sub(0xf700).filter(|code| (0x21..=0xff).contains(code))?;
    char::from_u32(code)
        .filter(|char| char.is_alphanumeric() || char.is_ascii())
        .map(Characters::One)
}

/// The character of a one-byte code in Windows-1252.
fn windows_character(code: u32) -> Option<Characters> {
    let byte = u8::try_from(code).ok()?;
    let (text, _, _) = encoding_rs::WINDOWS_1252.decode(std::slice::from_ref(&byte));
    readable(u32::from(text.chars().next()?))
}

/// An empty glyph is a blank.
fn blank(glyph: &FontGlyph<'_>) -> Option<Characters> {
    match glyph {
        FontGlyph::Outline(outline) => {
            outline.outline().elements().is_empty().then_some(Characters::One(' '))
        }
        FontGlyph::Type3(glyph) => glyph.program().is_none().then_some(Characters::One(' ')),
    }
}

/// Whether the font's `ToUnicode` is a name, or a map without entries: its codes are characters.
fn states_characters(font: &Dict<'_>) -> bool {
    if font.get::<Name<'_>>(b"ToUnicode").is_some() {
        return true;
    }
    let Some(stream) = font.get::<Stream<'_>>(b"ToUnicode") else { return false };
    let Some(map) = bounds::decoded(&stream) else { return false };
    !map.windows(7).any(|window| window == b"beginbf") && !map.windows(7).any(|it| it == b"usecmap")
}

/// Whether a predefined encoding is Unicode itself: its codes are units of UTF-16.
fn writes_unicode(name: &[u8]) -> bool {
    name.starts_with(b"Uni") && (has(name, b"UCS2") || has(name, b"UTF16"))
}

fn has(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

/// The encoding that is not the identity.
fn encoding_of(font: &Dict<'_>, name: &[u8]) -> Option<CMap> {
    if let Some(stream) = font.get::<Stream<'_>>(b"Encoding") {
        return CMap::parse(&bounds::decoded(&stream)?, load_embedded);
    }
    if name.is_empty() || name.starts_with(b"Identity") {
        return None;
    }
    parsed(CMapName::from_bytes(name))
}

fn parsed(name: CMapName<'_>) -> Option<CMap> {
    CMap::parse(load_embedded(name)?, load_embedded)
}

/// The collection of characters: the predefined encoding's, or the one that the font states.
fn collection_of(name: &[u8], descendant: &Dict<'_>) -> Option<CidFamily> {
    let predefined = Some(name).filter(|name| !name.is_empty() && !name.starts_with(b"Identity"));
    let predefined = predefined.and_then(|name| parsed(CMapName::from_bytes(name)));
    let predefined = predefined.and_then(|map| map.metadata().character_collection.clone());
    predefined.map(|collection| collection.family).or_else(|| {
        let stated = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let registry = stated.get::<Bytes<'_>>(b"Registry")?;
        let ordering = stated.get::<Bytes<'_>>(b"Ordering")?;
        Some(CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes()))
    })
}
