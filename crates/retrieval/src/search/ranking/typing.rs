//! Typing mistakes: a word that no passage has is looked for one edit away.

use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Field;

use crate::search::question::Word;
use crate::search::snapshot::Snapshot;
use crate::store::WORD_FIELDS;

/// The shortest word, in characters, in which a mistake is assumed. One letter makes another word of a shorter one.
const WORD_CHARS: usize = 5;
/// The most words that are taken for what was meant.
const MEANT: usize = 4;

/// The words of the passages that are one edit away from `word`: a letter too many, missing or wrong, or two in the
/// wrong order. The first letter is hardly ever mistyped, and numbers are not corrected: another number means
/// something else.
pub(super) fn one_edit_away(snapshot: &Snapshot, word: &Word) -> tantivy::Result<Vec<String>> {
    let is_long = word.range.as_ref().is_some_and(|range| range.len() >= WORD_CHARS);
    let Some(form) = word.forms.first().filter(|_| is_long && !word.is_stop_word) else {
        return Ok(Vec::new());
    };
    let Some(first) = form.chars().next().filter(|_| form.chars().nth(WORD_CHARS - 2).is_some())
    else {
        return Ok(Vec::new());
    };
    if word.is_compound || form.contains(|c: char| c.is_numeric()) {
        return Ok(Vec::new());
    }
    let from = first.to_string();
    let mut to = from.clone().into_bytes();
    to.push(u8::MAX);
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let term = Term::from_field_text(Field::from_field_id(0), form);
    let query = FuzzyTermQuery::new(term, 1, true);
    for field in 0..WORD_FIELDS {
        let range = (from.as_bytes(), to.as_slice());
        snapshot.content.matching(
            field,
            || query.automaton(),
            range,
            |word, frequency| {
                *found.entry(word.to_owned()).or_default() += u64::from(frequency);
            },
        )?;
    }
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    found.sort_by(|(_, one), (_, other)| other.cmp(one));
    Ok(found.into_iter().take(MEANT).map(|(word, _)| word).collect())
}
