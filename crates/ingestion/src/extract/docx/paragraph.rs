//! A story (the body, a note, a header): its paragraphs and tables in order.

use std::collections::HashSet;

use super::drawings::Drawings;
use super::element::Element;
use super::field::Fields;
use super::inline::{Line, alternative, is_placeholder};
use super::markdown::{Block, Kind, one_line};
use super::notes::Notes;
use super::numbering::Numbering;
use super::styles::{Properties, Styles};

/// The longest heading, in characters; a longer one is a paragraph, even if its style is that of a heading.
const HEADING_CHARS: usize = 300;
/// The deepest heading of Markdown.
const HEADING_LEVELS: i64 = 6;
/// The longest text that may be an initial: a letter, or a first word.
const INITIAL_CHARS: usize = 12;
/// In a header, a line of fewer letters beside a page number is `Page of`.
const MARGIN_LETTERS: usize = 12;

/// Reads one story of a document.
pub(super) struct Story<'s> {
    styles: &'s Styles,
    numbering: &'s mut Numbering,
    pub(super) notes: &'s Notes<'s>,
    pub(super) drawings: &'s Drawings,
    pub(super) fields: Fields,
    /// Referenced notes that wait for the end of the block.
    waiting: Vec<&'s Element<'s>>,
    /// Notes that were read.
    read: HashSet<*const Element<'s>>,
    /// How many tables, text boxes and notes enclose the current place.
    depth: usize,
    /// It is a header or footer.
    is_margin: bool,
    /// A drop cap, which is in a separate frame, until the paragraph that it belongs to.
    initial: String,
    /// The paragraph in the style of a title.
    pub(super) title: Option<String>,
}

impl<'s> Story<'s> {
    /// The body of a document.
    pub(super) fn new(
        styles: &'s Styles,
        numbering: &'s mut Numbering,
        notes: &'s Notes<'s>,
        drawings: &'s Drawings,
    ) -> Self {
        Self {
            styles,
            numbering,
            notes,
            drawings,
            initial: String::new(),
            fields: Fields::default(),
            waiting: Vec::new(),
            read: HashSet::new(),
            depth: 0,
            is_margin: false,
            title: None,
        }
    }

    /// A header or footer; plain page numbers are omitted.
    pub(super) fn margin(
        styles: &'s Styles,
        numbering: &'s mut Numbering,
        notes: &'s Notes<'s>,
        drawings: &'s Drawings,
    ) -> Self {
        Self { is_margin: true, ..Self::new(styles, numbering, notes, drawings) }
    }

    pub(super) fn read(&mut self, part: &Element<'_>) -> Vec<Block> {
        let mut blocks = Vec::new();
        for root in part.elements() {
            // The body of a document is nested one deeper than the content of a header.
            self.collect(root.child("body").unwrap_or(root), &mut blocks);
        }
        if !self.initial.is_empty() {
            blocks.push(Block { kind: Kind::Paragraph, text: std::mem::take(&mut self.initial) });
        }
        blocks
    }

    /// The blocks of a cell, a text box or a note.
    pub(super) fn blocks(&mut self, container: &Element<'_>) -> Vec<Block> {
        self.depth += 1;
        let mut blocks = Vec::new();
        self.collect(container, &mut blocks);
        self.depth -= 1;
        blocks
    }

    fn collect(&mut self, container: &Element<'_>, blocks: &mut Vec<Block>) {
        for element in container.elements() {
            match element.name() {
                "p" => self.paragraph(element, blocks),
                "tbl" => self.table(element, blocks),
                "sdt" if is_placeholder(element) => {}
                "sdt" | "sdtContent" | "customXml" | "smartTag" | "ins" | "moveTo" => {
                    self.collect(element, blocks);
                }
                "AlternateContent" => {
                    if let Some(chosen) = alternative(element) {
                        self.collect(chosen, blocks);
                    }
                }
                _ => {}
            }
            if self.depth == 0 {
                self.read_notes(blocks);
            }
        }
    }

    fn paragraph(&mut self, element: &Element<'_>, blocks: &mut Vec<Block>) {
        let properties = element.child("pPr");
        let style =
            properties.and_then(|properties| properties.value("pStyle")).unwrap_or_default();
        let mut line = Line::default();
        self.inline(element, &mut line);
        let had_repetition = self.fields.end_paragraph();
        self.waiting.append(&mut line.notes);
        let mut text = line.text.trim().to_owned();
        let frame = properties.and_then(|properties| properties.child("framePr"));
        let is_initial = frame
            .and_then(|frame| frame.attribute("dropCap"))
            .is_some_and(|kind| matches!(kind.as_ref(), "drop" | "margin"));
        if is_initial && self.initial.is_empty() && text.chars().count() <= INITIAL_CHARS {
            self.initial = text;
            blocks.append(&mut line.boxes);
            return;
        }
        if !text.is_empty() {
            text.insert_str(0, &std::mem::take(&mut self.initial));
        }
        let letters = text.chars().filter(|char| char.is_alphabetic()).count();
        let says_nothing =
            self.is_margin && (letters == 0 || had_repetition && letters < MARGIN_LETTERS);
        if !text.is_empty() && !says_nothing {
            let own = Properties::of(properties).or(self.styles.properties(&style));
            blocks.push(self.block(own, &style, text));
        }
        blocks.append(&mut line.boxes);
    }

    /// A paragraph as a block of the kind that its properties specify.
    fn block(&mut self, properties: Properties, style: &str, text: String) -> Block {
        let label = properties.list.as_deref().and_then(|list| {
            let level =
                properties.list_level.or_else(|| self.numbering.level_of_style(list, style));
            let level = level.unwrap_or(0);
            Some((usize::try_from(level).ok()?, self.numbering.next(list, level)?))
        });
        let is_title = self.styles.is_title(style);
        if is_title && self.title.is_none() {
            self.title = Some(one_line(&text));
        }
        let outline = if is_title { Some(0) } else { properties.outline };
        let outline = outline.filter(|_| !self.is_margin);
        let heading =
            outline.filter(|level| (0..9).contains(level) && text.chars().count() <= HEADING_CHARS);
        match (heading, label) {
            (Some(level), label) => {
                let level = usize::try_from((level + 1).min(HEADING_LEVELS)).unwrap_or(1);
                let text = match label.filter(|(_, label)| label != "-") {
                    Some((_, label)) => format!("{label} {text}"),
                    None => text,
                };
                Block { kind: Kind::Heading(level), text }
            }
            (None, Some((level, label))) => Block { kind: Kind::Item(level, label), text },
            (None, None) => Block { kind: Kind::Paragraph, text },
        }
    }

    /// The notes that the previous block refers to, each after its first reference.
    fn read_notes(&mut self, blocks: &mut Vec<Block>) {
        for note in std::mem::take(&mut self.waiting) {
            if self.read.insert(std::ptr::from_ref(note)) {
                let of_note = self.blocks(note);
                blocks.extend(of_note);
            }
        }
        // A note refers to no further note.
        self.waiting.clear();
    }
}
