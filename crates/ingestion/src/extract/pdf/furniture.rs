//! Headers and footers: lines that pages repeat at their upper and lower edges.

use std::collections::HashMap;

/// In documents with fewer pages, no line is repeated often enough.
const FEW_PAGES: usize = 4;
/// The number of lines at each edge of a page that can be a header or footer.
const EDGE_LINES: usize = 3;
/// A line on more than this fraction of the pages is one; left and right pages may differ.
const SHARE: f64 = 0.4;

/// A line, in the form in which it may recur on other pages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The same line.
    Same(String),
    /// The same line except for one number, whose difference from the page number is this.
    Counting { text: String, above: i64 },
}

/// The pages without the lines that most of them repeat at their edges. The first occurrence of a line with words is
/// kept; page numbers are removed everywhere.
///
/// Only identical lines count as repeated, or lines with a number that follows the page number: the numbers, dates and
/// totals of five invoices in one file differ and are its content.
pub(super) fn without(mut pages: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if pages.len() < FEW_PAGES {
        return pages;
    }
    for from_the_end in [false, true] {
        let repeated = repeated(&pages, from_the_end);
        let mut seen: HashMap<Key, ()> = HashMap::new();
        for (number, page) in (1..).zip(&mut pages) {
            for index in edge(page, from_the_end) {
                let Some(line) = page.get_mut(index) else { continue };
                let Some(key) =
                    keys(line, number).into_iter().find(|key| repeated.contains_key(key))
                else {
                    continue;
                };
                let is_number = !line.chars().any(char::is_alphabetic);
                if is_number || seen.insert(key, ()).is_some() {
                    line.clear();
                }
            }
        }
    }
    pages
}

/// The keys of the lines at that edge of most pages.
fn repeated(pages: &[Vec<String>], from_the_end: bool) -> HashMap<Key, usize> {
    let mut counts: HashMap<Key, usize> = HashMap::new();
    for (number, page) in (1..).zip(pages) {
        let mut found: Vec<Key> = edge(page, from_the_end)
            .filter_map(|index| page.get(index))
            .flat_map(|line| keys(line, number))
            .collect();
        found.sort_unstable_by_key(|key| format!("{key:?}"));
        found.dedup();
        for key in found {
            *counts.entry(key).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count as f64 > SHARE * pages.len() as f64);
    counts
}

/// The places of the outermost lines that are not blank.
fn edge(page: &[String], from_the_end: bool) -> std::vec::IntoIter<usize> {
    let filled = |(index, line): (usize, &String)| (!line.trim().is_empty()).then_some(index);
    let filled = page.iter().enumerate().filter_map(filled);
    let places: Vec<usize> = if from_the_end {
        filled.rev().take(EDGE_LINES).collect()
    } else {
        filled.take(EDGE_LINES).collect()
    };
    places.into_iter()
}

/// The forms that a line can have on other pages: unchanged if it has words, and with each of its numbers as the page
/// number.
fn keys(line: &str, page: i64) -> Vec<Key> {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut keys = Vec::new();
    for (start, end) in numbers(&line) {
        let number = line.get(start..end).and_then(|number| number.parse::<i64>().ok());
        if let (Some(number), Some(before), Some(after)) =
            (number, line.get(..start), line.get(end..))
        {
            keys.push(Key::Counting { text: format!("{before}#{after}"), above: number - page });
        }
    }
    if line.chars().any(char::is_alphabetic) {
        keys.push(Key::Same(line));
    }
    keys
}

/// The first few runs of digits of a line that can be page numbers.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let mut numbers: Vec<(usize, usize)> = Vec::new();
    for (place, char) in line.char_indices().filter(|(_, char)| char.is_ascii_digit()) {
        match numbers.last_mut() {
            Some((_, end)) if *end == place => *end += char.len_utf8(),
            _ => numbers.push((place, place + char.len_utf8())),
        }
    }
    numbers.retain(|(start, end)| end - start <= 5);
    numbers.truncate(4);
    numbers
}
