//! Words that this thread analysed lately.
//!
//! Stemming a word costs several times what looking it up does, and texts and questions are made of
//! the same words again and again.

use std::cell::RefCell;
use std::collections::HashMap;

use whatlang::Lang;

use super::Form;

/// Words that are kept for all languages together; with the next one the thread begins anew.
const WORDS: usize = 8_192;
/// Longest word that is kept, in bytes: longer ones hardly come again.
const WORD_BYTES: usize = 32;

/// The forms of words by language.
#[derive(Default)]
struct Known {
    languages: HashMap<Option<Lang>, HashMap<Box<str>, Form>>,
    count: usize,
}

/// The form of `word`, by `analyse` where it is not known.
pub(super) fn form(word: &str, language: Option<Lang>, analyse: impl FnOnce() -> Form) -> Form {
    thread_local! {
        static KNOWN: RefCell<Known> = RefCell::default();
    }
    if word.len() > WORD_BYTES {
        return analyse();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(form) = known.languages.get(&language).and_then(|words| words.get(word)) {
            return form.clone();
        }
        if known.count >= WORDS {
            *known = Known::default();
        }
        let form = analyse();
        known.count += 1;
        known.languages.entry(language).or_default().insert(word.into(), form.clone());
        form
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
            // Everything known is forgotten on the way.
            for number in 0..=WORDS {
                assert_eq!(terms(&format!("w{number}x"), None)[0].text, format!("w{number}x"));
            }
        }
    }
}
