//! Lines that pages repeat at their upper and lower edges.

use std::collections::HashMap;

/// Documents with fewer pages repeat nothing often enough.
const FEW_PAGES: usize = 4;
/// Lines at each edge of a page that can be a header or footer.
const EDGE_LINES: usize = 3;
/// A line on more than this share of the pages is one: left and right pages may differ.
const SHARE: f64 = 0.4;

/// The pages without the lines that most of them repeat at their edges. The first occurrence of a line with words stays;
/// page numbers go everywhere.
pub(super) fn without(mut pages: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if pages.len() < FEW_PAGES {
        return pages;
    }
    for from_the_end in [false, true] {
        let repeated = repeated(&pages, from_the_end);
        let mut seen: HashMap<String, ()> = HashMap::new();
        for page in &mut pages {
            for index in edge(page, from_the_end) {
                let Some(line) = page.get_mut(index) else { continue };
                let key = key(line);
                if !repeated.contains_key(&key) {
                    continue;
                }
                let is_number = !key.chars().any(char::is_alphabetic);
                if is_number || seen.insert(key, ()).is_some() {
                    line.clear();
                }
            }
        }
    }
    pages
}

/// The keys of the lines at that edge of most pages.
fn repeated(pages: &[Vec<String>], from_the_end: bool) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages {
        let mut keys: Vec<String> = edge(page, from_the_end)
            .filter_map(|index| page.get(index))
            .map(|line| key(line))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys.into_iter().filter(|key| can_repeat(key)) {
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

/// A line with its numbers alike: they count the pages.
fn key(line: &str) -> String {
    let mut key = String::new();
    for char in line.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        match char.is_numeric() {
            true if key.ends_with('#') => {}
            true => key.push('#'),
            false => key.extend(char.to_lowercase()),
        }
    }
    key
}

/// A line of words, or a page number alone; rows of numbers look alike without being the same.
fn can_repeat(key: &str) -> bool {
    let numbers = key.matches('#').count();
    let has_words = key.chars().any(char::is_alphabetic);
    has_words && numbers <= 3 || (1..=2).contains(&numbers) && key.len() <= 8
}
