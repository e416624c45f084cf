//! Content streams: the glyphs that a page shows, and their positions (ISO 32000-2, 7.8 and 9.4).

use hayro_font::kurbo::{Affine, Point, Rect, Vec2};
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use hayro_syntax::page::Resources;

use super::bounds::{self, Budget};
use super::fonts::{Code, Fonts};
use super::glyph::{Characters, Glyph, UNKNOWN};
use super::layers::Layers;
use super::marked::Marked;
use super::overprint::Overprint;
use super::shows;
use super::state::{Cursor, State};

/// A glyph that is outside the page by more than this fraction of its size is not visible.
const OUTSIDE: f64 = 0.5;

/// The content has ended if the parser reports the end this many times in a row.
const STOPS: usize = 64;

/// The context for reading a page's content.
pub(super) struct Tools<'a, 'd> {
    pub(super) fonts: &'d mut Fonts<'a>,
    pub(super) budget: &'d mut Budget,
    pub(super) layers: &'d Layers,
}

/// What is collected from a page.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The glyphs in the order in which they are shown.
    pub(super) glyphs: Vec<Glyph>,
    /// Those that are outside the page.
    pub(super) outside: Vec<Glyph>,
    /// Bytes of strings that were shown.
    pub(super) bytes: usize,
    /// The number of glyphs whose character is unknown.
    pub(super) unknown: usize,
    /// Something was omitted: a stream that cannot be decoded, or content beyond the limits.
    pub(super) is_cut: bool,
    /// The content ended before all strings that it shows were found.
    pub(super) is_broken: bool,
    /// The fraction of the page that its pictures cover; overlaps are counted twice.
    pub(super) picture_share: f64,
    overprint: Overprint,
    strings: u32,
}

/// Reads content and collects what it shows.
pub(super) struct Interpreter<'a, 'd, 't> {
    pub(super) tools: &'t mut Tools<'a, 'd>,
    pub(super) shown: &'t mut Shown,
    /// The visible area of the page; `None` if its size is unknown.
    pub(super) visible: Option<Rect>,
    marked: Marked,
}

impl<'a, 'd, 't> Interpreter<'a, 'd, 't> {
    pub(super) fn new(
        tools: &'t mut Tools<'a, 'd>,
        shown: &'t mut Shown,
        visible: Option<Rect>,
    ) -> Self {
        Self { tools, shown, visible, marked: Marked::default() }
    }

    /// Reads a content stream.
    pub(super) fn read(
        &mut self,
        content: &[u8],
        resources: &Resources<'a>,
        state: State<'a>,
        depth: usize,
    ) {
        let meant = shows::count(content);
        let mut content = UntypedIter::new(content);
        let mut frame =
            Frame { state, states: Vec::new(), cursor: Cursor::default(), resources, depth };
        let marks = self.marked.depth();
        let (mut stops, mut shows) = (0, 0);
        // The parser stops at an operator with too many operands. The next call continues after it.
        while stops < STOPS {
            let Some(instruction) = content.next() else {
                stops += 1;
                continue;
            };
            stops = 0;
            if !self.tools.budget.operator() {
                // It is not broken: the second reader would take too long for it.
                self.shown.is_cut = true;
                self.marked.truncate(marks);
                return;
            }
            let operator: &[u8] = instruction.operator;
            shows += usize::from(matches!(operator, b"Tj" | b"TJ"));
            self.instruction(&instruction, &mut frame);
        }
        self.shown.is_broken |= shows < meant;
        self.marked.truncate(marks);
    }

    /// Draws a form: a separate content stream with its own coordinate system.
    pub(super) fn form(
        &mut self,
        form: &Stream<'a>,
        outer: &Resources<'a>,
        mut state: State<'a>,
        depth: usize,
    ) {
        if depth >= bounds::FORM_DEPTH || !self.tools.budget.form() {
            self.shown.is_cut = true;
            return;
        }
        // Decoding takes time, too: nothing is decoded that would not be drawn, and what decodes to nothing counts.
        let has_bytes = self.tools.budget.has_form_bytes();
        let content = if has_bytes { bounds::decoded(form) } else { None };
        let bytes = content.as_ref().map_or(0, |content| content.len());
        let fits = self.tools.budget.form_bytes(bytes.max(form.raw_data().len()));
        let Some(content) = content.filter(|_| fits) else {
            self.shown.is_cut = true;
            return;
        };
        let dictionary = form.dict();
        if let Some(matrix) = dictionary.get::<[f64; 6]>(b"Matrix") {
            state.page *= Affine::new(matrix);
        }
        let own = dictionary.get::<Dict<'a>>(b"Resources").map(Resources::new);
        self.read(&content, own.as_ref().unwrap_or(outer), state, depth + 1);
    }

    fn instruction(&mut self, instruction: &Instruction<'_, '_>, frame: &mut Frame<'a, '_>) {
        let operator: &[u8] = instruction.operator;
        let state = &mut frame.state;
        match operator {
            b"q" if frame.states.len() < bounds::STATES => frame.states.push(state.clone()),
            b"Q" => *state = frame.states.pop().unwrap_or_else(|| state.clone()),
            b"cm" => {
                state.page *= Affine::new(numbers(instruction));
            }
            b"BT" => frame.cursor.set(Affine::IDENTITY),
            b"Tc" => state.char_space = first(numbers(instruction)),
            b"Tw" => state.word_space = first(numbers(instruction)),
            b"Tz" => state.stretch = first(numbers(instruction)) / 100.0,
            b"TL" => state.leading = first(numbers(instruction)),
            b"Ts" => state.rise = first(numbers(instruction)),
            b"Tr" => state.mode = first(numbers(instruction)),
            b"Tf" => self.select_font(instruction, frame),
            b"gs" => self.select_state(instruction, frame),
            b"Td" | b"TD" => {
                let [x, y] = numbers(instruction);
                if operator == b"TD" {
                    state.leading = -y;
                }
                frame.cursor.next_line(Vec2::new(x, y));
            }
            b"Tm" => {
                frame.cursor.set(Affine::new(numbers(instruction)));
            }
            b"T*" => frame.next_line(),
            b"Tj" | b"TJ" => self.strings(instruction, frame),
            b"'" => {
                frame.next_line();
                self.strings(instruction, frame);
            }
            b"\"" => {
                let [word_space, char_space] = numbers(instruction);
                (state.word_space, state.char_space) = (word_space, char_space);
                frame.next_line();
                self.strings(instruction, frame);
            }
            b"Do" => self.draw(instruction, frame),
            b"BMC" => self.marked.begin(true, None),
            b"BDC" => self.begin_marked(instruction, frame.resources),
            b"EMC" => self.marked.end(),
            _ => {}
        }
    }

    fn select_font(&mut self, instruction: &Instruction<'_, '_>, frame: &mut Frame<'a, '_>) {
        let mut operands = instruction.operands();
        let name = operands.find_map(name);
        let dictionary = name.and_then(|name| frame.resources.get_font(name));
        frame.state.font = self.tools.fonts.font(dictionary.as_ref());
        frame.state.size = first(numbers(instruction));
    }

    /// The font that a named graphics state sets.
    fn select_state(&mut self, instruction: &Instruction<'_, '_>, frame: &mut Frame<'a, '_>) {
        let name = instruction.operands().find_map(name);
        let state = name.and_then(|name| frame.resources.get_ext_g_state(name));
        let Some(font) = state.and_then(|state| state.get::<Array<'a>>(b"Font")) else { return };
        let size = font.iter::<Object<'a>>().nth(1).and_then(Object::into_f32);
        if let (Some(dictionary), Some(size)) = (font.iter::<Dict<'a>>().next(), size) {
            frame.state.font = self.tools.fonts.font(Some(&dictionary));
            frame.state.size = f64::from(size);
        }
    }

    fn begin_marked(&mut self, instruction: &Instruction<'_, '_>, resources: &Resources<'a>) {
        let mut operands = instruction.operands();
        let tag = operands.next().and_then(name);
        let is_layer = tag.is_some_and(|tag| tag.as_ref() == b"OC");
        match operands.next() {
            Some(Object::Dict(properties)) => self.marked.begin(true, Some(properties)),
            Some(Object::Name(name)) => {
                let properties = resources.properties.get::<Dict<'a>>(name);
                let is_seen = !is_layer
                    || properties.as_ref().is_none_or(|group| {
                        let id = resources.properties.get_ref(name).map(Into::into);
                        self.tools.layers.are_seen(group, id.or(group.obj_id()))
                    });
                self.marked.begin(is_seen, properties.as_ref());
            }
            _ => self.marked.begin(true, None),
        }
    }

    fn draw(&mut self, instruction: &Instruction<'_, '_>, frame: &Frame<'a, '_>) {
        let name = instruction.operands().find_map(name);
        let Some(drawn) = name.and_then(|name| frame.resources.get_x_object(name)) else { return };
        let dictionary = drawn.dict();
        match dictionary.get::<Name<'_>>(b"Subtype").as_deref() {
            Some(b"Form") => {}
            Some(b"Image") => return self.picture(frame.state.page),
            _ => return,
        }
        let layer = dictionary.get::<Dict<'a>>(b"OC");
        let id = dictionary.get_ref(b"OC").map(Into::into);
        if layer.is_some_and(|layer| !self.tools.layers.are_seen(&layer, id)) {
            return;
        }
        self.form(&drawn, frame.resources, frame.state.clone(), frame.depth);
    }

    /// Records how much of the page a picture covers, which is the unit square in its space.
    fn picture(&mut self, space: Affine) {
        let Some(page) = self.visible else { return };
        let share = space.determinant().abs() / page.area();
        self.shown.picture_share += share;
    }

    /// Shows the strings of an operator, which form one string with numbers in between.
    fn strings(&mut self, instruction: &Instruction<'_, '_>, frame: &mut Frame<'a, '_>) {
        self.shown.strings = self.shown.strings.wrapping_add(1);
        for operand in instruction.operands() {
            match operand {
                Object::String(string) => self.string(string.as_bytes(), frame),
                Object::Array(strings) => {
                    for part in strings.iter::<Object<'_>>() {
                        match part {
                            Object::String(string) => self.string(string.as_bytes(), frame),
                            Object::Number(number) => frame.adjust(number.as_f64()),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn string(&mut self, mut string: &[u8], frame: &mut Frame<'a, '_>) {
        if frame.state.font.is_none() {
            frame.state.font = self.tools.fonts.font(None);
        }
        let Some(font) = frame.state.font.clone() else { return };
        self.shown.bytes += string.len();
        if font.is_fallback && !string.is_ascii() {
            // If the font is missing, only text that is probably Latin is read.
            self.shown.unknown += string.len();
            return;
        }
        while let Some(code) = font.code(string) {
            if !self.tools.budget.glyph() {
                self.shown.is_cut = true;
                return;
            }
            let step = frame.state.step(code.advance, font.is_vertical(), code.is_space);
            if self.marked.is_seen() {
                self.glyph(&code, frame, &font);
            }
            frame.cursor.step(step);
            string = string.get(code.bytes..).unwrap_or_default();
        }
    }

    fn glyph(&mut self, code: &Code, frame: &Frame<'a, '_>, font: &super::fonts::Font<'a>) {
        let space = frame.state.glyph_space(frame.cursor);
        let coefficients = space.as_coeffs();
        let [a, b, c, d, ..] = coefficients;
        let (x, y) = (Vec2::new(a, b), Vec2::new(c, d));
        let size = y.hypot() * font.height;
        let along = if font.is_vertical() { -y } else { x };
        let length = along.hypot();
        let is_sound = coefficients.iter().all(|part| part.is_finite())
            && size > 1e-6
            && size < 1e6
            && length > 1e-9;
        if !is_sound {
            return;
        }
        let start = if font.is_vertical() { Point::ZERO } else { code.displacement.to_point() };
        let start = space * start;
        let end = start + (space * code.advance.to_point() - space * Point::ZERO);
        let stated = code.characters.clone();
        if stated.is_none() {
            self.shown.unknown += 1;
        }
        let own = stated.unwrap_or(Characters::One(UNKNOWN));
        let Some(text) = self.marked.replaced(own) else {
            if let Some(last) = self.shown.glyphs.last_mut() {
                last.end = end;
            }
            return;
        };
        let glyph = Glyph {
            text,
            start,
            end,
            along: along / length,
            spacing: frame.state.spacing(code.is_space) / frame.state.size * length,
            size,
            is_bold: font.is_bold || frame.state.is_stroked(),
            string: self.shown.strings,
        };
        self.shown.collect(glyph, self.visible);
    }
}

impl Shown {
    /// Adds a glyph, unless it overprints an existing one to make it bold.
    pub(super) fn collect(&mut self, glyph: Glyph, visible: Option<Rect>) {
        if self.overprint.repeats(&glyph) {
            return;
        }
        let middle = glyph.start.midpoint(glyph.end);
        let margin = OUTSIDE * glyph.size;
        let is_seen = visible.is_none_or(|page| page.inflate(margin, margin).contains(middle));
        if is_seen { &mut self.glyphs } else { &mut self.outside }.push(glyph);
    }

    /// A number for a string that is not in a content stream.
    pub(super) fn next_string(&mut self) -> u32 {
        self.strings = self.strings.wrapping_add(1);
        self.strings
    }
}

/// The state within a content stream.
struct Frame<'a, 'r> {
    state: State<'a>,
    states: Vec<State<'a>>,
    cursor: Cursor,
    resources: &'r Resources<'a>,
    depth: usize,
}

impl Frame<'_, '_> {
    fn next_line(&mut self) {
        self.cursor.next_line(Vec2::new(0.0, -self.state.leading));
    }

    fn adjust(&mut self, thousandths: f64) {
        let is_vertical = self.state.font.as_ref().is_some_and(|font| font.is_vertical());
        self.cursor.step(self.state.adjustment(thousandths, is_vertical));
    }
}

/// The numbers among the operands; 0 for those that are missing.
pub(super) fn numbers<const COUNT: usize>(instruction: &Instruction<'_, '_>) -> [f64; COUNT] {
    let mut numbers = [0.0; COUNT];
    let found = instruction.operands().filter_map(|operand| match operand {
        Object::Number(number) => Some(number.as_f64()),
        _ => None,
    });
    for (place, number) in numbers.iter_mut().zip(found) {
        *place = number;
    }
    numbers
}

fn first([number]: [f64; 1]) -> f64 {
    number
}

fn name<'b, 'o>(object: &'b Object<'o>) -> Option<&'b Name<'o>> {
    match object {
        Object::Name(name) => Some(name),
        _ => None,
    }
}
