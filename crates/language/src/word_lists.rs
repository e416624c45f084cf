//! Lists of words, which are compared in their analysed forms.

use foldhash::HashMap;
use whatlang::Lang;

use crate::language::Language;
use crate::terms::terms;

/// For each language, the words that stand for a word, all in their analysed forms.
pub(crate) type Groups = HashMap<Lang, HashMap<String, Vec<String>>>;

/// Groups of words, separated by `|`. Each word of a group stands for the others; a word before `>` only stands for those
/// behind it.
pub(crate) fn groups(lists: &[(Lang, &str)]) -> Groups {
    let mut known = Groups::default();
    for (language, groups) in lists {
        let of_language = known.entry(*language).or_default();
        for group in groups.split('|') {
            let (from, to) = group.split_once('>').unwrap_or((group, group));
            let to = forms(to, *language);
            for form in forms(from, *language) {
                let others = of_language.entry(form.clone()).or_default();
                for other in to.iter().filter(|other| **other != form) {
                    if !others.contains(other) {
                        others.push(other.clone());
                    }
                }
            }
        }
    }
    known
}

/// The analysed forms of words; those of compounds as a whole.
pub(crate) fn forms(words: &str, language: Lang) -> Vec<String> {
    let analysed = |word| terms(word, Some(Language(language))).into_iter().next();
    words.split_whitespace().filter_map(analysed).map(|term| term.text).collect()
}

/// Panics if a word of a list has no form, so that it could never be found.
#[cfg(test)]
pub(crate) fn check_forms(words: &str, language: Lang) {
    for word in words.split([' ', '|']).filter(|word| !matches!(*word, "" | ">")) {
        assert_eq!(forms(word, language).len(), 1, "{word}");
    }
}
