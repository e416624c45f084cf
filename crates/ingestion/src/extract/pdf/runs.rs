//! Runs: consecutive glyphs on a line without a gap as wide as between cells or columns.

use hayro_font::kurbo::Vec2;

use super::direction;
use super::glyph::{Glyph, is_ideograph, runs_right_to_left};

/// A gap this wide, relative to the font size, separates words.
const WORD_GAP: f64 = 0.15;
/// Ideographs are spaced more widely without being words.
const IDEOGRAPH_GAP: f64 = 0.5;
/// A gap this wide separates cells of a table or columns.
const CELL_GAP: f64 = 1.5;
/// A step this far across the line leaves it; a smaller one is a superscript or subscript.
const LINE: f64 = 0.5;
/// A step this far across the line does not change its height.
const LEVEL: f64 = 0.2;
/// A step this far back, and before the start of the last glyph, starts another run; accents and kerning step back
/// less.
const BACK: f64 = 0.6;
/// Letters whose usual gap is wider than this are spaced out: gaps between words are wider than that.
const SPACED: f64 = 0.06;
/// ... and if the usual gap exceeds this, each letter is a word, unless blanks separate the words.
const MOST_SPACED: f64 = 0.4;
/// A run has at most this many glyphs: lines have fewer.
const MOST_GLYPHS: usize = 2_000;
/// With fewer gaps, there is no usual one.
const GAPS: usize = 6;
/// ... unless blanks separate the words.
const GAPS_WITH_BLANKS: usize = 4;
/// Lines whose directions have a lower cosine are different.
const SAME_DIRECTION: f64 = 0.97;
/// Superscript digits smaller than this, after a digit, are an exponent.
const EXPONENT_SIZE: f64 = 0.85;

/// A run of glyphs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// Its text in logical order.
    pub(super) text: String,
    /// The direction of its line, of length 1.
    pub(super) along: Vec2,
    /// Where it begins and ends, along its line.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Its position across the lines; it increases upwards.
    pub(super) level: f64,
    /// The size of most of its type.
    pub(super) size: f64,
    /// Whether most of it is bold.
    pub(super) is_bold: bool,
    pub(super) is_right_to_left: bool,
}

/// The runs of a page, in the order in which it shows them.
pub(super) fn of(glyphs: &[Glyph]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut open: Option<Open> = None;
    for glyph in glyphs {
        if let Some(run) = &mut open
            && run.takes(glyph)
        {
            continue;
        }
        runs.extend(open.take().and_then(Open::close));
        open = Some(Open::new(glyph));
    }
    runs.extend(open.and_then(Open::close));
    runs
}

/// A run that may continue.
struct Open {
    along: Vec2,
    level: f64,
    size: f64,
    /// The ends of its last glyph that is not blank.
    start: f64,
    end: f64,
    from: f64,
    to: f64,
    /// The level of that glyph.
    last_level: f64,
    /// The string that shows that glyph, and the space that the page states to follow it.
    string: u32,
    spacing: f64,
    /// Whether a blank follows that glyph.
    is_blank: bool,
    /// The width of the gap after that glyph according to the page, if it is a single blank of its string.
    stated: f64,
    pieces: Vec<Piece>,
    largest: f64,
    bold: usize,
    right_to_left: usize,
}

/// What a glyph adds to a run.
pub(super) struct Piece {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) text: String,
    /// Whether a blank precedes it.
    pub(super) is_apart: bool,
    /// The gap before it, relative to the font size.
    gap: f64,
}

impl Piece {
    fn is_letters(&self) -> bool {
        self.text.chars().all(char::is_alphabetic)
    }
}

impl Open {
    fn new(glyph: &Glyph) -> Self {
        let along = glyph.along;
        let (from, to, level) = places(glyph, along);
        let mut run = Self {
            along,
            level,
            size: glyph.size,
            start: from,
            end: to.max(from),
            from,
            to,
            last_level: level,
            string: glyph.string,
            spacing: glyph.spacing,
            is_blank: false,
            stated: 0.0,
            pieces: Vec::new(),
            largest: 0.0,
            bold: 0,
            right_to_left: 0,
        };
        run.push(glyph, false, 0.0);
        run
    }

    /// Whether the glyph belongs to the run; then it is added.
    fn takes(&mut self, glyph: &Glyph) -> bool {
        if self.along.dot(glyph.along) < SAME_DIRECTION || self.pieces.len() >= MOST_GLYPHS {
            return false;
        }
        let (from, to, level) = places(glyph, self.along);
        let size = self.size.max(glyph.size);
        if (level - self.level).abs() > LINE * size {
            return false;
        }
        if glyph.text.is_blank() {
            // A blank has its own position only among letters that are ordered by position: the next glyph determines
            // its width.
            let is_only = !self.is_blank && glyph.string == self.string;
            self.stated = if is_only { self.spacing + (to - from) + glyph.spacing } else { 0.0 };
            self.is_blank = true;
            if self.right_to_left > 0 {
                let text = " ".to_owned();
                self.pieces.push(Piece { from, to, text, is_apart: false, gap: 0.0 });
            }
            return true;
        }
        if self.pieces.is_empty() {
            *self = Self::new(glyph);
            return true;
        }
        let is_leftwards = (self.right_to_left > 0 || glyph.text.any(runs_right_to_left))
            && to < self.start + BACK * size;
        let gap = if is_leftwards { self.start - to } else { from - self.end };
        let is_back = gap < -BACK * size && from < self.start - LEVEL * size;
        // If letters are spaced out, the blank between two words may be as wide as the gap between two cells.
        if gap - self.stated.max(0.0) > CELL_GAP * size || !is_leftwards && is_back {
            return false;
        }
        let least = match self.last_char().is_some_and(is_ideograph) {
            true if is_ideograph(glyph.text.first()) => IDEOGRAPH_GAP - WORD_GAP,
            _ => 0.0,
        };
        if self.is_exponent(glyph, level) && !self.is_blank && gap < WORD_GAP * size {
            let text = "^".to_owned();
            self.pieces.push(Piece { from, to: from, text, is_apart: false, gap: 0.0 });
        }
        self.push(glyph, self.is_blank, gap / size - least);
        (self.string, self.spacing) = (glyph.string, glyph.spacing);
        (self.is_blank, self.stated) = (false, 0.0);
        self.last_level = level;
        (self.start, self.end) = (from, to.max(from));
        self.from = self.from.min(from);
        self.to = self.to.max(to);
        if (level - self.level).abs() < LEVEL * size {
            (self.level, self.size) = (level, glyph.size);
        }
        true
    }

    fn push(&mut self, glyph: &Glyph, is_apart: bool, gap: f64) {
        if glyph.text.is_blank() {
            return;
        }
        let (from, to, _) = places(glyph, self.along);
        let mut text = String::new();
        glyph.text.push_to(&mut text);
        self.right_to_left += usize::from(glyph.text.any(runs_right_to_left));
        self.bold += usize::from(glyph.is_bold);
        self.largest = self.largest.max(glyph.size);
        self.pieces.push(Piece { from, to, text, is_apart, gap });
    }

    fn last_char(&self) -> Option<char> {
        self.pieces.last().and_then(|piece| piece.text.chars().next_back())
    }

    /// Whether a glyph begins a superscript number after a digit: 10 to the power of 6 is not 106.
    fn is_exponent(&self, glyph: &Glyph, level: f64) -> bool {
        level - self.last_level > LEVEL * self.size
            && glyph.size < EXPONENT_SIZE * self.size
            && matches!(glyph.text.first(), '0'..='9' | '-' | '\u{2212}')
            && self.last_char().is_some_and(|char| char.is_ascii_digit())
    }

    fn close(mut self) -> Option<Run> {
        if self.pieces.is_empty() {
            return None;
        }
        let usual = usual_gap(&self.pieces);
        let mut is_letter = false;
        for piece in &mut self.pieces {
            let was_letter = is_letter;
            is_letter = piece.is_letters();
            // Letters may be spaced out; spaced digits are columns.
            let least = WORD_GAP + if was_letter && is_letter { usual } else { 0.0 };
            piece.is_apart |= piece.gap > least;
        }
        let letters = self.pieces.iter().filter(|piece| piece.text != " ").count();
        let is_right_to_left = 2 * self.right_to_left > letters;
        let is_bold = 2 * self.bold > self.pieces.len();
        let text = direction::text(
            self.pieces,
            WORD_GAP * self.largest,
            self.right_to_left > 0,
            is_right_to_left,
        );
        Some(Run {
            text,
            along: self.along,
            from: self.from,
            to: self.to,
            level: self.level,
            size: self.largest,
            is_bold,
            is_right_to_left,
        })
    }
}

/// The gap that most letters have; 0 if they touch each other, as they usually do. Leaders and symbols in formulas are
/// spaced out among letters that are not.
fn usual_gap(pieces: &[Piece]) -> f64 {
    let has_blanks = pieces.iter().any(|piece| piece.is_apart);
    let (few, most) = if has_blanks { (GAPS_WITH_BLANKS, CELL_GAP) } else { (GAPS, MOST_SPACED) };
    let pairs = pieces.iter().zip(pieces.iter().skip(1));
    let gaps = pairs.filter_map(|(before, piece)| {
        (!piece.is_apart && before.is_letters() && piece.is_letters()).then_some(piece.gap)
    });
    let mut gaps: Vec<f64> = gaps.collect();
    if gaps.len() < few {
        return 0.0;
    }
    let middle = gaps.len() / 2;
    let (_, usual, _) = gaps.select_nth_unstable_by(middle, f64::total_cmp);
    if (SPACED..most).contains(usual) { *usual } else { 0.0 }
}

/// The ends of a glyph along a direction, and its position across it.
fn places(glyph: &Glyph, along: Vec2) -> (f64, f64, f64) {
    let across = Vec2::new(-along.y, along.x);
    let (start, end) = (glyph.start.to_vec2(), glyph.end.to_vec2());
    let (from, to) = (start.dot(along), end.dot(along));
    (from.min(to), from.max(to), start.dot(across))
}
