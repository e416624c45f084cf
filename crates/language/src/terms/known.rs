//! A cache of the words that this thread analysed.
//!
//! Looking up a word is several times faster than stemming it, and texts and questions repeat the same
//! words.

use std::cell::RefCell;

use foldhash::HashMap;
use whatlang::Lang;

use super::Form;

/// The number of cached words of all languages together. When it is reached, the cache is emptied.
const WORDS: usize = 8_192;
/// The longest cached word, in bytes. Longer ones are rarely repeated.
const WORD_BYTES: usize = 32;

/// The forms of words by language.
#[derive(Default)]
struct Known {
    languages: HashMap<Option<Lang>, HashMap<Box<str>, Form>>,
    count: usize,
}

/// Calls `with` with the form of `word`, from the cache or from `analyse`. Neither closure may call this function: the cache is
/// borrowed.
pub(super) fn form<T>(
    word: &str,
    language: Option<Lang>,
    analyse: impl FnOnce() -> Form,
    with: impl FnOnce(&Form) -> T,
) -> T {
    thread_local! {
        static KNOWN: RefCell<Known> = RefCell::default();
    }
    if word.len() > WORD_BYTES {
        return with(&analyse());
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(form) = known.languages.get(&language).and_then(|words| words.get(word)) {
            return with(form);
        }
        if known.count >= WORDS {
            *known = Known::default();
        }
        let form = analyse();
        let result = with(&form);
        known.count += 1;
        known.languages.entry(language).or_default().insert(word.into(), form);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::WORDS;
    use crate::language::Language;
    use crate::terms::terms;

    #[test]
    fn a_word_has_the_same_form_each_time_and_in_each_language_its_own() {
        for round in 0..3 {
            for (language, form) in [("eng", "gift"), ("deu", "gift"), ("fra", "gift")] {
                let terms = terms("Gifts", Language::from_code(language));
                assert!(terms[0].text.starts_with(form), "{round}: {terms:?}");
            }
            // The cache is emptied on the way.
            for number in 0..=WORDS {
                assert_eq!(terms(&format!("w{number}x"), None)[0].text, format!("w{number}x"));
            }
        }
    }
}
