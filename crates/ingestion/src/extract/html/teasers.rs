//! References to other pages: lists of links, teasers and "read more" lines, between and after the page's own texts.
//!
//! An article is followed, and often interrupted, by blocks that only link to other articles. They have no common
//! names, but a common form: nearly all of their letters are in links to pages, and a heading or label above them has
//! nothing else below it. A page with little other text is a table of contents, from which nothing is omitted.

use std::collections::{HashMap, HashSet};

use select::document::Document;
use select::node::Node;

use super::dom::{is_inline, roots};
use super::selection::Selection;
use super::weights::weight_of;
use crate::extract::links;

/// A block with at least this percentage of its letters in links to pages counts as a list of links.
const LINKED: usize = 80;
/// A block with this many letters and digits outside such links is running text.
const PROSE: usize = 100;
/// A page with less running text is a table of contents, ...
const LEAST_PROSE: usize = 300;
/// ... and so is one from which more than this percentage would be omitted.
const MOST: usize = 30;
/// The maximum number of letters and digits of a label above a list.
const LABEL: usize = 60;
/// The same, if the list is inside the text and is omitted because of the label.
const SHORT_LABEL: usize = 30;
/// The text below the linked heading of a teaser has fewer letters and digits.
const TEASER: usize = 120;
/// The minimum number of linked headings that are teasers: a single one may be the title of the page itself.
const TEASERS: usize = 2;

/// A line after the last text of a page with at most this many letters and digits is a remark.
const REMARK: usize = 40;
/// A link with at least this many letters and digits is the headline of another page.
const HEADLINE: usize = 25;
/// The maximum number of nodes in a box of a heading and links.
const BOX: usize = 400;
const COLONS: [char; 2] = [':', '：'];

/// The selected texts of one block.
#[derive(Default)]
struct Block<'a> {
    node: usize,
    texts: Vec<Node<'a>>,
    /// The level, if it is a heading.
    level: Option<u8>,
    /// The list around it.
    list: Option<usize>,
    /// Whether it is in a table, in a list of terms or in an address.
    is_cell: bool,
    all: usize,
    /// Letters and digits in links to pages.
    linked: usize,
    /// Digits outside links, such as dates of the other pages.
    plain_digits: usize,
    ends_with_colon: bool,
    /// Whether the text before its first link ends with a colon.
    has_colon_before_link: bool,
    /// Whether it contains a digit, an `@`, a colon or the end of a sentence.
    tells: bool,
    is_dropped: bool,
}

impl Block<'_> {
    fn plain(&self) -> usize {
        self.all - self.linked
    }

    fn is_links(&self) -> bool {
        let all = self.all - self.plain_digits;
        self.linked > 0 && self.linked * 100 >= all * LINKED
    }

    fn is_prose(&self) -> bool {
        self.level.is_none() && self.plain() >= PROSE
    }

    fn is_linked_heading(&self) -> bool {
        self.level.is_some_and(|level| level > 1) && self.is_links()
    }

    /// Whether it refers to a page after a label: `Read on: …`.
    fn is_reference(&self) -> bool {
        let is_headline = self.linked >= HEADLINE && self.plain() <= SHORT_LABEL;
        self.level.is_none() && self.list.is_none() && is_headline && self.has_colon_before_link
    }

    /// Whether it is a few words that have no meaning on their own.
    fn is_remark(&self) -> bool {
        let is_short = self.all <= REMARK && self.list.is_none() && !self.is_cell;
        is_short && self.level.is_none() && !self.tells
    }

    fn is_label(&self) -> bool {
        self.level.is_none() && self.ends_with_colon && self.all <= LABEL
    }
}

/// The selection without references to other pages.
pub(super) fn without(document: &Document, selection: Selection) -> Selection {
    let mut blocks = Blocks { selection: &selection, found: Vec::new() };
    for root in roots(document) {
        blocks.collect(&root, TextPosition { block: root.index(), ..TextPosition::default() });
    }
    let mut blocks = blocks.found;
    let all: usize = blocks.iter().map(|block| block.all).sum();
    let prose: usize =
        blocks.iter().filter(|block| block.is_prose()).map(|block| block.plain()).sum();
    if prose < LEAST_PROSE {
        return selection;
    }
    drop_links(&mut blocks);
    drop_teasers(&mut blocks);
    drop_announcements(document, &selection, &mut blocks);
    drop_labels(&mut blocks);
    drop_end(&mut blocks);
    let dropped: usize =
        blocks.iter().filter(|block| block.is_dropped).map(|block| block.all).sum();
    if dropped * 100 > all * MOST {
        return selection;
    }
    let dropped = blocks.iter().filter(|block| block.is_dropped);
    selection.without(document, dropped.flat_map(|block| &block.texts))
}

/// The blocks with kept texts, in order.
struct Blocks<'s, 'a> {
    selection: &'s Selection,
    found: Vec<Block<'a>>,
}

/// The position of a text.
#[derive(Clone, Copy, Default)]
struct TextPosition {
    /// The element around it that is not inline.
    block: usize,
    level: Option<u8>,
    list: Option<usize>,
    is_cell: bool,
    is_linked: bool,
}

impl<'a> Blocks<'_, 'a> {
    fn collect(&mut self, node: &Node<'a>, mut place: TextPosition) {
        if !self.selection.holds(node) {
            return;
        }
        if let Some(letters) = node.as_text() {
            return self.text(node, letters, place);
        }
        let name = node.name().unwrap_or_default();
        if !is_inline(name) {
            place.block = node.index();
        }
        place.level = level(name).or(place.level);
        if matches!(name, "ul" | "ol" | "menu") {
            place.list = Some(node.index());
        }
        place.is_cell |= matches!(name, "td" | "th" | "dt" | "dd" | "caption" | "address");
        place.is_linked |= name == "a" && is_link_to_page(node);
        node.children().for_each(|child| self.collect(&child, place));
    }

    fn text(&mut self, text: &Node<'a>, letters: &str, place: TextPosition) {
        let TextPosition { block, level, list, is_cell, is_linked } = place;
        if self.found.last().is_none_or(|last| last.node != block) {
            self.found.push(Block { node: block, level, list, is_cell, ..Block::default() });
        }
        let Some(block) = self.found.last_mut() else { return };
        let weight = weight_of(letters);
        if is_linked && block.linked == 0 && weight > 0 {
            block.has_colon_before_link = block.ends_with_colon;
        }
        let text_end = letters.trim_end();
        block.tells |= letters.contains(|char: char| char.is_numeric() || char == '@')
            || text_end.trim_end_matches(COLONS).contains(COLONS)
            || text_end.ends_with(['.', '!', '?', '。', '！', '？']);
        block.all += weight;
        if is_linked {
            block.linked += weight;
        } else {
            block.plain_digits += letters.chars().filter(char::is_ascii_digit).count();
        }
        if !letters.trim().is_empty() {
            block.ends_with_colon = text_end.ends_with(COLONS);
        }
        block.texts.push(*text);
    }
}

fn level(name: &str) -> Option<u8> {
    let digit = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&digit).then_some(digit)
}

/// Whether a link leads to another page, and not to a place in this one, a file, a map, or an address that people ask
/// for.
fn is_link_to_page(link: &Node<'_>) -> bool {
    link.attr("href").is_some_and(|href| {
        let scheme = href.split_once(':').map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
        !href.contains('#')
            && !matches!(scheme.as_deref(), Some("mailto" | "tel" | "geo"))
            && !href.contains("maps")
            && links::target_to_show(href, &link.text()).is_none()
    })
}

/// Drops blocks that contain only links. Within the text, a list of links is dropped only if a heading or a short label
/// announces it; cells of tables are names rather than references.
fn drop_links(blocks: &mut [Block<'_>]) {
    let end = blocks.iter().rposition(|block| block.is_prose()).unwrap_or(0);
    let mut start = 0;
    while let Some(block) = blocks.get(start) {
        let list = block.list;
        let same = blocks.iter().skip(start).take_while(|next| list.is_some() && next.list == list);
        let count = same.clone().count().max(1);
        let is_announced = start > end
            || start.checked_sub(1).and_then(|before| blocks.get(before)).is_some_and(|before| {
                before.level.is_some() || before.is_label() && before.all <= SHORT_LABEL
            });
        let is_dropped = match list {
            Some(_) => is_announced && same.clone().all(Block::is_links),
            None => {
                block.level.is_none()
                    && !block.is_cell
                    && (block.is_links() || block.is_reference())
            }
        };
        for block in blocks.iter_mut().skip(start).take(count) {
            block.is_dropped = is_dropped;
        }
        start += count;
    }
}

/// Drops linked headings, and the few words below each, after the text of the page. Before its end, they are part of
/// the text or its title, which links to its own page; only a single one refers to another page.
fn drop_teasers(blocks: &mut [Block<'_>]) {
    let mut teasers: Vec<(usize, usize)> = Vec::new();
    let mut headlines = Vec::new();
    let mut is_in_teaser = vec![false; blocks.len()];
    for (start, _) in blocks.iter().enumerate().filter(|(_, block)| block.is_linked_heading()) {
        headlines.push(start);
        let below = blocks.iter().skip(start + 1).take_while(|block| block.level.is_none());
        let (count, weight) =
            below.fold((0, 0), |(count, weight), block| (count + 1, weight + block.plain()));
        if weight < TEASER {
            let end = start + 1 + count;
            teasers.push((start, end));
            is_in_teaser.iter_mut().take(end).skip(start).for_each(|is_in| *is_in = true);
        }
    }
    let is_text = |(block, is_in): (&Block<'_>, &bool)| block.is_prose() && !is_in;
    let texts = blocks.iter().zip(&is_in_teaser).enumerate();
    let mut texts = texts.filter(|(_, pair)| is_text(*pair)).map(|(index, _)| index);
    let Some(first) = texts.next() else { return };
    let last = texts.next_back().unwrap_or(first);
    let others = teasers.into_iter().filter(|(start, _)| *start > last);
    let others: Vec<(usize, usize)> = others.collect();
    if others.len() >= TEASERS {
        for (start, end) in others {
            for block in blocks.iter_mut().take(end).skip(start) {
                block.is_dropped = true;
            }
        }
    }
    if let [only] = headlines.as_slice()
        && let Some(block) = blocks.get_mut(*only).filter(|_| *only > first)
    {
        block.is_dropped |= block.all >= HEADLINE;
    }
}

/// Drops remarks and headings without text at the end of the page: `Print`, `Topics`, `Comments`.
fn drop_end(blocks: &mut [Block<'_>]) {
    for block in blocks.iter_mut().rev() {
        if !block.is_dropped && block.level.is_none() && !block.is_remark() {
            return;
        }
        block.is_dropped = true;
    }
}

/// Drops a heading that is all that remains of a box that contained links to pages.
fn drop_announcements(document: &Document, selection: &Selection, blocks: &mut [Block<'_>]) {
    let dropped = blocks.iter().filter(|block| block.is_dropped).flat_map(|block| &block.texts);
    let dropped: HashSet<usize> = dropped.map(Node::index).collect();
    let is_left = |text: &Node<'_>| selection.holds(text) && !dropped.contains(&text.index());
    let mut texts = Texts::default();
    for block in blocks.iter_mut().filter(|block| block.level.is_some_and(|level| level > 1)) {
        let Some(text) = document.nth(block.node) else { continue };
        block.is_dropped |= announces_links(&text, &is_left, &mut texts);
    }
}

/// What is known of texts and links, which may be in the boxes of many headings.
#[derive(Default)]
struct Texts {
    weights: HashMap<usize, usize>,
    are_links_to_pages: HashMap<usize, bool>,
}

impl Texts {
    fn weight(&mut self, text: &Node<'_>, letters: &str) -> usize {
        *self.weights.entry(text.index()).or_insert_with(|| weight_of(letters))
    }

    fn is_link_to_page(&mut self, link: &Node<'_>) -> bool {
        let is_link = || is_link_to_page(link);
        *self.are_links_to_pages.entry(link.index()).or_insert_with(is_link)
    }
}

/// Whether the box of a heading otherwise contains only omitted links.
fn announces_links(
    within: &Node<'_>,
    is_left: &impl Fn(&Node<'_>) -> bool,
    texts: &mut Texts,
) -> bool {
    let mut around = std::iter::successors(Some(*within), Node::parent);
    let heading = around.find(|node| node.name().and_then(level).is_some());
    let Some((heading, around)) = heading.and_then(|node| Some((node, node.parent()?))) else {
        return false;
    };
    let (mut all, mut linked) = (0, 0);
    for (count, text) in around.descendants().enumerate() {
        if count >= BOX {
            return false;
        }
        let Some(letters) = text.as_text() else { continue };
        let mut above = std::iter::successors(text.parent(), Node::parent);
        if above.clone().any(|above| above.index() == heading.index()) {
            continue;
        }
        if is_left(&text) {
            return false;
        }
        let weight = texts.weight(&text, letters);
        all += weight;
        let is_linked = above
            .find(|above| above.name() == Some("a") || above.index() == around.index())
            .is_some_and(|above| above.name() == Some("a") && texts.is_link_to_page(&above));
        linked += if is_linked { weight } else { 0 };
    }
    linked >= HEADLINE && linked * 100 >= all * LINKED
}

/// Drops headings and labels with nothing left below them, from last to first.
fn drop_labels(blocks: &mut [Block<'_>]) {
    // The highest level among the headings below, which ends the sections above.
    for at in (0..blocks.len()).rev() {
        let Some(block) = blocks.get(at) else { continue };
        let level = block.level;
        if block.is_dropped || level.is_none() && !block.is_label() {
            continue;
        }
        let below = blocks.iter().skip(at + 1);
        let mut section = below.take_while(|next| match (level, next.level) {
            (Some(level), Some(next)) => next > level,
            (None, next) => next.is_none(),
            (Some(_), None) => true,
        });
        let first_is_dropped = section.clone().next().is_some_and(|next| next.is_dropped);
        let is_last = blocks.get(at + 1).is_none();
        let is_empty = match level {
            Some(_) => section.all(|next| next.is_dropped),
            None => first_is_dropped || is_last,
        };
        let was_emptied = is_last || blocks.get(at + 1).is_some_and(|next| next.is_dropped);
        if is_empty
            && was_emptied
            && let Some(block) = blocks.get_mut(at)
        {
            block.is_dropped = true;
        }
    }
}
