//! The fonts of a document: from the bytes of a string to characters and their widths.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, load_embedded};
use hayro_font::kurbo::Vec2;
use hayro_font::{
    CMapResolverFn, Font as Program, FontCache, FontGlyph, FontQuery, FontResolverFn, StandardFont,
};
use hayro_syntax::object::{Array, Dict, Name, Rect, Stream};

use super::bounds;
use super::draft::guarded;
use super::glyph::Characters;
use super::recovery::{Recovery, characters_of, symbol, variant};

/// Widths and heights of glyphs are thousandths of the size of the type.
const UNITS: f64 = 1000.0;
/// The minimum weight of a bold font (ISO 32000-2, 9.8.1).
const BOLD_WEIGHT: f64 = 600.0;
/// The flag of a font that is to be drawn bold.
const FORCE_BOLD: u32 = 1 << 18;
/// The average width of a glyph, relative to the size of its type.
const AVERAGE_WIDTH: f64 = 0.5;

/// The fonts of a document, each loaded once.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    loaded: HashMap<(usize, usize), Option<Rc<Font<'a>>>>,
    fallback: Option<Rc<Font<'a>>>,
    programs: FontResolverFn,
    maps: CMapResolverFn,
}

pub(super) struct Font<'a> {
    program: Program<'a>,
    recovery: Recovery,
    known: RefCell<HashMap<u32, Option<Characters>>>,
    /// Whether its glyphs are bullets and arrows, regardless of their codes.
    is_symbols: bool,
    pub(super) is_bold: bool,
    /// How high its glyphs are, relative to the size that a page gives it: 1, except for Type 3 fonts, which have a
    /// scale of their own.
    pub(super) height: f64,
    /// Whether it replaces a missing font.
    pub(super) is_fallback: bool,
}

/// A code of a string.
pub(super) struct Code {
    /// Its length in bytes.
    pub(super) bytes: usize,
    /// The characters that it shows; `None` if unknown.
    pub(super) characters: Option<Characters>,
    /// The distance to the next origin, relative to the font size.
    pub(super) advance: Vec2,
    /// The distance from the current position to its origin.
    pub(super) displacement: Vec2,
    /// Whether it is the single byte 32, which word spacing widens.
    pub(super) is_space: bool,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        let programs: FontResolverFn = Arc::new(|query| match query {
            FontQuery::Standard(font) => Some(font.get_font_data()),
            FontQuery::Fallback(query) => Some(query.pick_standard_font().get_font_data()),
        });
        Self {
            cache: FontCache::new(),
            loaded: HashMap::new(),
            fallback: None,
            programs,
            maps: Arc::new(load_embedded),
        }
    }

    /// The font of a dictionary; Helvetica if it cannot be loaded.
    pub(super) fn font(&mut self, dictionary: Option<&Dict<'a>>) -> Option<Rc<Font<'a>>> {
        let Some(dictionary) = dictionary else { return self.fallback() };
        let data = dictionary.data();
        let key = (data.as_ptr().addr(), data.len());
        let loaded = match self.loaded.get(&key) {
            Some(font) => font.clone(),
            None => {
                let font = guarded(|| self.load(dictionary)).ok().flatten().map(Rc::new);
                self.loaded.insert(key, font.clone());
                font
            }
        };
        loaded.or_else(|| self.fallback())
    }

    fn load(&self, dictionary: &Dict<'a>) -> Option<Font<'a>> {
        if has_large_parts(dictionary) {
            return None;
        }
        let program = self.cache.font(dictionary, &self.programs, &self.maps)?;
        Some(Font {
            height: height_of(dictionary, &program),
            program,
            recovery: Recovery::of(dictionary),
            known: RefCell::default(),
            is_symbols: is_symbols(dictionary),
            is_bold: is_bold(dictionary),
            is_fallback: false,
        })
    }

    fn fallback(&mut self) -> Option<Rc<Font<'a>>> {
        if self.fallback.is_none() {
            let program = self.cache.standard_font(StandardFont::Helvetica, &self.programs)?;
            self.fallback = Some(Rc::new(Font {
                program,
                recovery: Recovery::of(&Dict::empty()),
                known: RefCell::default(),
                is_symbols: false,
                is_bold: false,
                height: 1.0,
                is_fallback: true,
            }));
        }
        self.fallback.clone()
    }
}

impl Font<'_> {
    pub(super) fn is_vertical(&self) -> bool {
        !self.program.is_horizontal()
    }

    /// The first code of a string; `None` if the string is empty.
    pub(super) fn code(&self, string: &[u8]) -> Option<Code> {
        let first = *string.first()?;
        let (code, bytes) = self.program.read_code(string, 0);
        let known = self.known.borrow().get(&code).cloned();
        let characters = known.unwrap_or_else(|| {
            let characters = self.characters(code);
            self.known.borrow_mut().insert(code, characters.clone());
            characters
        });
        Some(Code {
            bytes: bytes.max(1),
            characters,
            advance: self.program.code_advance(code) / UNITS,
            displacement: self.program.origin_displacement(code) / UNITS,
            is_space: bytes == 1 && first == b' ',
        })
    }

    fn characters(&self, code: u32) -> Option<Characters> {
        let glyph = self.program.glyph(self.program.map_code(code), code);
        let stated = match &glyph {
            FontGlyph::Outline(outline) => outline.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        if let Some(BfString::Char(char @ '\u{e000}'..='\u{f8ff}')) = stated {
            let public = symbol(char, self.is_symbols).or_else(|| variant(char));
            return public.or_else(|| self.recovery.of_private(&glyph));
        }
        let stated = stated.as_ref().and_then(characters_of);
        stated.or_else(|| self.recovery.characters(code, &glyph))
    }
}

/// The dictionary of a composite font's only descendant, or the font's own.
fn descendant<'a>(font: &Dict<'a>) -> Dict<'a> {
    let descendants = font.get::<Array<'a>>(b"DescendantFonts");
    descendants.and_then(|fonts| fonts.iter::<Dict<'a>>().next()).unwrap_or_else(|| font.clone())
}

fn name_of(font: &Dict<'_>) -> String {
    let name = font.get::<Name<'_>>(b"BaseFont");
    name.map(|name| name.as_str().to_lowercase()).unwrap_or_default()
}

/// Whether the font's name is that of a symbol font with bullets and arrows.
fn is_symbols(font: &Dict<'_>) -> bool {
    let name = name_of(font);
    ["symbol", "wingdings", "webdings", "dingbats"].iter().any(|word| name.contains(word))
}

/// Whether the font's name, weight or flags say so.
fn is_bold(font: &Dict<'_>) -> bool {
    let descendant = descendant(font);
    let descriptor = descendant.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    let name = name_of(font);
    ["bold", "black", "heavy", "semibold", "demi"].iter().any(|word| name.contains(word))
        || descriptor.get::<f64>(b"FontWeight").is_some_and(|weight| weight >= BOLD_WEIGHT)
        || descriptor.get::<u32>(b"Flags").is_some_and(|flags| flags & FORCE_BOLD != 0)
}

/// The height of a Type 3 font by its box, or by its widths if it states none.
fn height_of(font: &Dict<'_>, program: &Program<'_>) -> f64 {
    if font.get::<Name<'_>>(b"Subtype").is_none_or(|kind| kind.as_ref() != b"Type3") {
        return 1.0;
    }
    let matrix = font.get::<[f64; 6]>(b"FontMatrix").unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let scale = matrix[3].abs().max(matrix[2].abs());
    let stated = font.get::<Rect>(b"FontBBox").map(|rect| rect.height().abs() * scale);
    let widths: Vec<f64> = (0..=255)
        .map(|code| (program.code_advance(code).x / UNITS).abs())
        .filter(|width| *width > 0.0 && width.is_finite())
        .collect();
    let average = widths.iter().sum::<f64>() / widths.len().max(1) as f64;
    let by_widths = (average > 0.0).then_some(average / AVERAGE_WIDTH);
    let plausible = |height: &f64| {
        *height > 0.0
            && height.is_finite()
            && by_widths.is_none_or(|other| (0.5..4.0).contains(&(height / other)))
    };
    stated.filter(plausible).or(by_widths).unwrap_or(1.0)
}

/// Whether a part of the font would take more memory than is allowed.
fn has_large_parts(font: &Dict<'_>) -> bool {
    let descendant = descendant(font);
    let descriptor = descendant.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    let large = |dictionary: &Dict<'_>, key: &[u8]| {
        dictionary.get::<Stream<'_>>(key).is_some_and(|stream| bounds::is_too_large(&stream))
    };
    large(font, b"ToUnicode")
        || large(font, b"Encoding")
        || large(&descendant, b"CIDToGIDMap")
        || [b"FontFile".as_slice(), b"FontFile2", b"FontFile3"]
            .iter()
            .any(|key| large(&descriptor, key))
}
