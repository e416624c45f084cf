//! Compounds: in languages that write them as one word, a question has "Telefonnummer" where a passage has "Telefon", or
//! "parken" where it has "Parkplatz".

use std::cell::Cell;
use std::collections::BTreeMap;

use cicerone_language::Language;
use tantivy_fst::Automaton;

use super::typing::Corrections;
use crate::search::question::Word;
use crate::search::snapshot::Snapshot;
use crate::store::WORD_FIELDS;

/// The languages, by their ISO 639-3 codes: German, Dutch, Swedish, Danish, Norwegian.
const LANGUAGES: [&str; 5] = ["deu", "nld", "swe", "dan", "nob"];
/// The shortest part of a word of the question that is looked up alone, in letters.
const PART: usize = 5;
/// The shortest word of the question that compounds of passages may begin with.
const BEGINNING: usize = 4;
/// The shortest other part.
const OTHER: usize = 3;
/// The longest word that is divided.
const LONGEST: usize = 40;
/// The most words that are taken for one of the question.
const MOST: usize = 4;
/// Letters that join two parts: "Arbeit-s-zeit", "Student-en-rabatt".
const LINKS: [&str; 4] = ["", "s", "n", "en"];

/// Whether words of a language are compounds often.
pub(super) fn has_compounds(language: Option<Language>) -> bool {
    language.is_some_and(|language| LANGUAGES.contains(&language.code()))
}

/// The words of passages that are a part of `word`, or compounds that begin with it, if no passage has the word itself. At most
/// eight words of a question are divided, and no more of the dictionaries is read than for typing mistakes.
pub(super) fn related(
    snapshot: &Snapshot,
    word: &Word,
    budget: &Corrections,
) -> tantivy::Result<Vec<String>> {
    let is_divided = !word.is_stop_word && !word.is_compound;
    let Some(form) = word.forms.first().filter(|_| is_divided) else { return Ok(Vec::new()) };
    let letters = form.chars().count();
    let is_word = form.chars().all(char::is_alphabetic);
    if !is_word || !(BEGINNING..=LONGEST).contains(&letters) {
        return Ok(Vec::new());
    }
    let Some(steps) = budget.divide() else { return Ok(Vec::new()) };
    let mut related = parts(snapshot, form, letters)?;
    for compound in beginning_with(snapshot, form, letters, steps)? {
        if related.len() < MOST && !related.contains(&compound) {
            related.push(compound);
        }
    }
    Ok(related)
}

/// The longest part at the end and the longest one at the beginning. The last letter may be an ending: "liefert", "liefer".
fn parts(snapshot: &Snapshot, form: &str, letters: usize) -> tantivy::Result<Vec<String>> {
    let mut parts = Vec::new();
    let divisions = || form.char_indices().map(|(at, _)| at).enumerate().skip(OTHER);
    let is_long = |(before, _): &(usize, usize)| letters - before >= PART;
    for (_, at) in divisions().take_while(is_long) {
        let (_, end) = form.split_at_checked(at).unwrap_or_default();
        if snapshot.content.has_word(end)? {
            parts.push(end.to_owned());
            break;
        }
    }
    let beginnings: Vec<(usize, usize)> = divisions().collect();
    for (before, at) in beginnings.into_iter().rev() {
        let (start, rest) = form.split_at_checked(at).unwrap_or_default();
        let is_ending = rest == "t";
        if before < PART || !is_ending && letters - before < OTHER {
            continue;
        }
        let unlinked = LINKS.iter().filter_map(|link| start.strip_suffix(link));
        for part in unlinked.filter(|part| part.chars().nth(BEGINNING - 1).is_some()) {
            if snapshot.content.has_word(part)? {
                parts.push(part.to_owned());
                return Ok(parts);
            }
        }
    }
    Ok(parts)
}

/// The most frequent words that begin with `form` and another part.
fn beginning_with(
    snapshot: &Snapshot,
    form: &str,
    letters: usize,
    steps: &Cell<u32>,
) -> tantivy::Result<Vec<String>> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for field in 0..WORD_FIELDS {
        snapshot.content.matching(field, &Beginning { text: form, steps }, |word, frequency| {
            if word.chars().nth(letters + OTHER - 1).is_some() {
                *found.entry(word.to_owned()).or_default() += u64::from(frequency);
            }
        })?;
    }
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    found.sort_by(|(_, one), (_, other)| other.cmp(one));
    Ok(found.into_iter().take(MOST).map(|(word, _)| word).collect())
}

/// Accepts the words that begin with a text, as long as letters may be read.
struct Beginning<'a> {
    text: &'a str,
    /// The bytes that may still be read.
    steps: &'a Cell<u32>,
}

impl Automaton for Beginning<'_> {
    /// The number of bytes that are the same; `None` after another one.
    type State = Option<usize>;

    fn start(&self) -> Self::State {
        Some(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        state.is_some_and(|same| same >= self.text.len())
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_some()
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let same = (*state)?;
        self.steps.set(self.steps.get().checked_sub(1)?);
        match self.text.as_bytes().get(same) {
            None => Some(same),
            Some(expected) => (*expected == byte).then_some(same + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tantivy_fst::Automaton as _;

    use super::Beginning;
    use crate::search::ranking::typing::Corrections;

    fn accepts(word: &str, steps: &Cell<u32>) -> bool {
        let automaton = Beginning { text: "park", steps };
        let end =
            word.bytes().fold(automaton.start(), |state, byte| automaton.accept(&state, byte));
        automaton.is_match(&end)
    }

    #[test]
    fn words_that_begin_with_a_text_are_accepted_until_too_much_was_read() {
        let steps = Cell::new(24);
        assert!(accepts("parkplatz", &steps));
        assert!(!accepts("platz", &steps));
        assert!(accepts("parkhaus", &steps));
        assert!(!accepts("parkgarage", &steps), "{}", steps.get());
    }

    #[test]
    fn eight_words_of_a_question_are_divided() {
        let budget = Corrections::new();
        assert_eq!((0..100).filter(|_| budget.divide().is_some()).count(), 8);
    }
}
