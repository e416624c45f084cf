//! The reading order: text that runs from right to left is stored in visual order.

use hayro_font::kurbo::{Point, Vec2};
use unicode_bidi::{BidiInfo, Level};
use unicode_normalization::UnicodeNormalization as _;

use super::glyph::Glyph;
use super::runs::Piece;

/// A direction with less vertical movement than this is not vertical.
const DOWN: f64 = 0.9;
/// A step across the line of less than this, relative to the font size, stays on the line.
const LEVEL: f64 = 0.2;
/// A step along of more than this leaves the line.
const BESIDE: f64 = 3.0;
/// Glyphs are at most this wide.
const WIDTH: f64 = 1.2;
/// A page with fewer glyphs is not judged.
const FEW: usize = 8;

/// The text of pieces, in logical order, with a blank between two that are more than `gap` apart.
pub(super) fn text(
    pieces: Vec<Piece>,
    gap: f64,
    has_right_to_left: bool,
    is_right_to_left: bool,
) -> String {
    if !has_right_to_left {
        let mut text = String::new();
        for piece in pieces {
            if piece.is_apart && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&piece.text);
        }
        return text;
    }
    // The order in which the pieces are shown depends on the program; their positions do not.
    let mut pieces = with_marks(pieces);
    pieces.sort_by(|one, other| one.from.total_cmp(&other.from));
    let mut seen = String::new();
    let mut end = f64::INFINITY;
    for piece in &pieces {
        let is_blank = piece.text == " ";
        if (is_blank || piece.from - end > gap) && !seen.ends_with(' ') {
            seen.push(' ');
        }
        end = piece.to;
        if is_blank {
            continue;
        }
        let letters = shapes(&piece.text);
        if letters.chars().nth(1).is_none() {
            seen.push_str(&letters);
        } else {
            // The letters of a ligature are in logical order; the whole text is reversed below.
            seen.push_str(&turned(&letters, Level::rtl()));
        }
    }
    let level = if is_right_to_left { Level::rtl() } else { Level::ltr() };
    // The marks on one letter are shown in any order.
    turned(&seen, level).nfc().collect()
}

/// Converts between logical and visual order; the function is its own inverse.
fn turned(text: &str, level: Level) -> String {
    let info = BidiInfo::new(text, Some(level));
    let line = info.paragraphs.first().map(|line| info.reorder_line(line, line.range.clone()));
    line.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

/// The pieces, with vowel marks, which are above or below letters, after the letters that they belong to.
fn with_marks(pieces: Vec<Piece>) -> Vec<Piece> {
    let (marks, mut letters): (Vec<Piece>, Vec<Piece>) =
        pieces.into_iter().partition(|piece| piece.text.chars().all(is_mark));
    for mark in marks {
        let middle = mark.from.midpoint(mark.to);
        let distance = |letter: &Piece| (letter.from - middle).max(middle - letter.to).max(0.0);
        let is_letter = |letter: &&mut Piece| letter.text != " ";
        let nearest = letters
            .iter_mut()
            .filter(is_letter)
            .min_by(|one, other| distance(one).total_cmp(&distance(other)));
        match nearest {
            Some(letter) => letter.text.push_str(&mark.text),
            None => letters.push(mark),
        }
    }
    letters
}

/// Whether it is an Arabic or Hebrew mark above or below a letter.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}')
        || is_form_of_mark(char)
}

/// Whether it is a presentation form of such a mark. Their compatibility mappings begin with a blank or a tatweel,
/// which are not in the text.
fn is_form_of_mark(char: char) -> bool {
    matches!(char, '\u{fc5e}'..='\u{fc63}' | '\u{fcf2}'..='\u{fcf4}' | '\u{fe70}'..='\u{fe72}' | '\u{fe74}'
        | '\u{fe76}'..='\u{fe7f}')
}

/// Replaces presentation forms by their letters.
fn shapes(text: &str) -> String {
    let is_form = |char| matches!(char, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    text.chars()
        .flat_map(|char| {
            let is_mark = is_form_of_mark(char);
            let is_shown = move |form: &char| !is_mark || !matches!(form, ' ' | '\u{640}');
            let form = is_form(char).then(|| char.nfkc().filter(is_shown));
            let plain = (!is_form(char)).then_some(char);
            form.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Vertical type whose glyphs are placed side by side is not vertical: its direction is changed to that of its line.
///
/// Some programs declare a vertical encoding but position each glyph themselves.
pub(super) fn settled(mut glyphs: Vec<Glyph>) -> Vec<Glyph> {
    let is_down = |glyph: &Glyph| glyph.along.y < -DOWN;
    let pairs = glyphs.iter().zip(glyphs.iter().skip(1));
    let (mut beside, mut below) = (0_usize, 0_usize);
    for (glyph, next) in pairs.filter(|(glyph, next)| is_down(glyph) && is_down(next)) {
        let step = (next.start - glyph.start) / glyph.size;
        let is_beside = step.y.abs() < LEVEL && (0.0..BESIDE).contains(&step.x);
        let is_below = step.x.abs() < LEVEL && (-BESIDE..0.0).contains(&step.y);
        beside += usize::from(is_beside);
        below += usize::from(is_below);
    }
    if beside <= 2 * below || beside < FEW {
        return glyphs;
    }
    let starts: Vec<Point> = glyphs.iter().map(|glyph| glyph.start).collect();
    for (index, glyph) in glyphs.iter_mut().enumerate().filter(|(_, glyph)| is_down(glyph)) {
        let to_next = starts.get(index + 1).map(|next| *next - glyph.start);
        let width = to_next
            .filter(|step| step.y.abs() < LEVEL * glyph.size)
            .map(|step| step.x)
            .filter(|width| (0.0..WIDTH * glyph.size).contains(width))
            .unwrap_or(0.5 * glyph.size);
        glyph.along = Vec2::new(1.0, 0.0);
        glyph.end = glyph.start + Vec2::new(width, 0.0);
    }
    glyphs
}
