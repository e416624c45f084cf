//! Lists: their definitions, and the label of the next item.

use std::collections::{HashMap, HashSet};

use super::element::Element;
use super::numerals::numeral;

/// Levels of a list.
const LEVELS: usize = 9;
/// How much of a label's pattern is read.
const PATTERN_CHARS: usize = 64;

/// The lists of a document and their counters.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    lists: HashMap<String, List>,
    /// By definition: lists that share a definition share its counter.
    counts: HashMap<String, [Option<i64>; LEVELS]>,
    /// Lists that have had an item.
    begun: HashSet<String>,
}

/// An `abstractNum`.
#[derive(Debug, Default)]
struct Definition {
    levels: HashMap<usize, Level>,
    /// The style that defines it instead.
    style: Option<String>,
}

/// A `num`: a use of a definition.
#[derive(Debug)]
struct List {
    definition: String,
    /// The number with which it restarts.
    starts: HashMap<usize, i64>,
    levels: HashMap<usize, Level>,
}

#[derive(Debug)]
struct Level {
    start: i64,
    format: String,
    pattern: String,
    /// The style of paragraphs that are items of this level.
    style: Option<String>,
    is_decimal_throughout: bool,
    /// Whether it continues counting after items of outer levels.
    never_restarts: bool,
}

impl Numbering {
    /// Reads `word/numbering.xml`.
    pub(super) fn of(part: &Element<'_>) -> Self {
        let mut numbering = Self::default();
        let mut styled = HashMap::new();
        for element in part.elements().flat_map(Element::elements) {
            match element.name() {
                "abstractNum" => {
                    let Some(id) = element.attribute("abstractNumId") else { continue };
                    if let Some(style) = element.value("styleLink") {
                        styled.insert(style.into_owned(), id.clone().into_owned());
                    }
                    let style = element.value("numStyleLink").map(|style| style.into_owned());
                    let definition = Definition { levels: levels(element), style };
                    numbering.definitions.insert(id.into_owned(), definition);
                }
                "num" => {
                    let (Some(id), Some(list)) = (element.attribute("numId"), list(element)) else {
                        continue;
                    };
                    numbering.lists.insert(id.into_owned(), list);
                }
                _ => {}
            }
        }
        for list in numbering.lists.values_mut() {
            let style =
                numbering.definitions.get(&list.definition).and_then(|one| one.style.as_ref());
            if let Some(id) = style.and_then(|style| styled.get(style)) {
                list.definition.clone_from(id);
            }
        }
        numbering
    }

    /// The level of a list whose items have that style.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<i64> {
        let definition = self.definitions.get(&self.lists.get(list)?.definition)?;
        let mut levels = definition.levels.iter();
        let (level, _) = levels.find(|(_, level)| level.style.as_deref() == Some(style))?;
        i64::try_from(*level).ok()
    }

    /// Counts an item, and gives its label (`-`, `1.`, `b)`, `2.4`); `None` if the list has no
    /// label for it.
    pub(super) fn next(&mut self, list_id: &str, level: i64) -> Option<String> {
        let depth = usize::try_from(level).ok().filter(|depth| *depth < LEVELS)?;
        let list = self.lists.get(list_id)?;
        let definition = self.definitions.get(&list.definition)?;
        let level_at = |depth: usize| list.levels.get(&depth).or(definition.levels.get(&depth));
        let counts = self.counts.entry(list.definition.clone()).or_default();
        if self.begun.insert(list_id.to_owned()) {
            for (depth, start) in &list.starts {
                if let Some(count) = counts.get_mut(*depth) {
                    *count = Some(start.saturating_sub(1));
                }
            }
        }
        let count = counts.get_mut(depth)?;
        let start = level_at(depth).map_or(1, |level| level.start);
        *count = Some(count.map_or(start, |count| count.saturating_add(1)));
        for (deeper, count) in counts.iter_mut().enumerate().skip(depth + 1) {
            if !level_at(deeper).is_some_and(|level| level.never_restarts) {
                *count = list.starts.get(&deeper).map(|start| start.saturating_sub(1));
            }
        }

        let level = level_at(depth)?;
        if level.format == "bullet" {
            return Some("-".to_owned());
        }
        let label = level.label(|depth| {
            let one = level_at(depth)?;
            let count = counts.get(depth).copied().flatten().unwrap_or(one.start);
            Some((count, if level.is_decimal_throughout { "decimal" } else { &one.format }))
        });
        (!label.is_empty()).then_some(label)
    }
}

impl Level {
    /// Its pattern with `%1` to `%9` replaced by the counts of the levels.
    fn label<'f>(&self, count: impl Fn(usize) -> Option<(i64, &'f str)>) -> String {
        let mut label = String::new();
        let mut pattern = self.pattern.chars();
        while let Some(char) = pattern.next() {
            let digit = if char == '%' { pattern.clone().next() } else { None };
            match digit.and_then(|digit| digit.to_digit(10)).filter(|digit| *digit > 0) {
                Some(digit) => {
                    pattern.next();
                    if let Some((number, format)) = count(digit as usize - 1) {
                        label.push_str(&numeral(number, format));
                    }
                }
                None => label.push(char),
            }
        }
        label.trim().to_owned()
    }
}

fn list(element: &Element<'_>) -> Option<List> {
    let definition = element.value("abstractNumId")?.into_owned();
    let mut list = List { definition, starts: HashMap::new(), levels: HashMap::new() };
    for change in element.elements().filter(|change| change.name() == "lvlOverride") {
        let Some(depth) = depth(change) else { continue };
        if let Some(start) = change.number("startOverride") {
            list.starts.insert(depth, start);
        }
        list.levels.extend(levels(change));
    }
    Some(list)
}

fn levels(element: &Element<'_>) -> HashMap<usize, Level> {
    let levels = element.elements().filter(|level| level.name() == "lvl");
    levels
        .filter_map(|level| {
            let pattern = level.value("lvlText").unwrap_or_default();
            let one = Level {
                start: level.number("start").unwrap_or(0),
                format: level
                    .value("numFmt")
                    .map_or_else(|| "decimal".to_owned(), |format| format.into_owned()),
                pattern: pattern.chars().take(PATTERN_CHARS).collect(),
                style: level.value("pStyle").map(|style| style.into_owned()),
                is_decimal_throughout: level.is_on("isLgl"),
                never_restarts: level.number("lvlRestart") == Some(0),
            };
            Some((depth(level)?, one))
        })
        .collect()
}

fn depth(element: &Element<'_>) -> Option<usize> {
    element.attribute("ilvl")?.parse().ok().filter(|depth| *depth < LEVELS)
}
