//! Rewrites the widths of glyphs so that `pdf-extract` reads them correctly.
//!
//! A font states its widths as `first [w w w]` or as `first last w` (ISO 32000-2, 9.7.4.3). `pdf-extract` 0.12 takes
//! `first` for all three of the latter, and ignores a default width that is not an integer; what browsers and Google Docs
//! print then falls apart ("Exa mp le").

use pdf_extract::{Dictionary, Document, Object};

/// Glyphs of one font whose widths are stated.
const GLYPHS: usize = 65_536;
/// ... and those of all fonts; the widths of further fonts stay as they are.
const ALL_GLYPHS: usize = 32 * GLYPHS;

/// Rewrites the widths of all composite fonts.
pub(super) fn repair(document: &mut Document) {
    // Very many fonts may share their widths.
    let mut left = ALL_GLYPHS;
    let fonts: Vec<_> = document
        .objects
        .iter()
        .filter_map(|(id, object)| {
            Some((*id, repaired(document, object.as_dict().ok()?, &mut left)?))
        })
        .collect();
    for (id, font) in fonts {
        document.objects.insert(id, Object::Dictionary(font));
    }
}

/// The font with its widths in the form that is read correctly. `None` if it is not such a font.
fn repaired(document: &Document, font: &Dictionary, left: &mut usize) -> Option<Dictionary> {
    let kind = font.get(b"Subtype").ok()?.as_name().ok()?;
    if !kind.starts_with(b"CIDFontType") {
        return None;
    }
    let mut font = font.clone();
    if let Some(width) = font.get(b"DW").ok().and_then(|width| number(document, width)) {
        font.set("DW", Object::Integer(width.round() as i64));
    }
    if let Some(Ok(widths)) =
        font.get(b"W").ok().map(|widths| resolved(document, widths).as_array())
    {
        if *left == 0 {
            return Some(font);
        }
        font.set("W", Object::Array(spelled_out(document, widths, left)));
    }
    Some(font)
}

/// All widths as `first [w w w]`.
fn spelled_out(document: &Document, widths: &[Object], left: &mut usize) -> Vec<Object> {
    let mut spelled = Vec::new();
    let mut glyphs = 0;
    let mut rest = widths;
    while let [first, second, after @ ..] = rest {
        let Some(start) = number(document, first) else { break };
        let list = if let Ok(list) = resolved(document, second).as_array() {
            rest = after;
            list.iter()
                .filter_map(|width| number(document, width))
                .map(width_object)
                .collect::<Vec<_>>()
        } else {
            let (Some(last), [width, after @ ..]) = (number(document, second), after) else {
                break;
            };
            let Some(width) = number(document, width) else { break };
            rest = after;
            let count = (last - start + 1.0).clamp(0.0, GLYPHS as f64) as usize;
            vec![width_object(width); count]
        };
        glyphs += list.len();
        if glyphs > GLYPHS {
            break;
        }
        spelled.extend([Object::Integer(start as i64), Object::Array(list)]);
    }
    // Each entry of the list counts, also if it names no glyph.
    *left = left.saturating_sub(glyphs.max(widths.len()));
    spelled
}

fn width_object(width: f64) -> Object {
    Object::Real(width as f32)
}

fn number(document: &Document, object: &Object) -> Option<f64> {
    match resolved(document, object) {
        Object::Integer(number) => Some(*number as f64),
        Object::Real(number) => Some(f64::from(*number)),
        _ => None,
    }
}

fn resolved<'d>(document: &'d Document, object: &'d Object) -> &'d Object {
    document.dereference(object).map_or(object, |(_, resolved)| resolved)
}
