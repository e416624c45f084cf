//! The adjectives of questions for a measure: "how heavy", "wie spät".

use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};
use whatlang::Lang;

use crate::language::Language;
use crate::terms::terms;

/// For each language the word that asks, and adjectives, each with what tables and texts call its measure.
const MEASURES: &[(Lang, &str, &str)] = &[
    (
        Lang::Eng,
        "how",
        "heavy weight weigh|loud noise sound|tall height|high height|wide width|deep depth|big size dimensions|\
         large size dimensions|small size dimensions|fast speed|quick|quickly|hot temperature|warm temperature|\
         cold temperature|old age|expensive price cost|long|late|early|soon|often|far distance range|frequently",
    ),
    (
        Lang::Deu,
        "wie",
        "schwer gewicht|laut lautstärke geräusch|groß größe abmessungen|hoch höhe|breit breite|tief tiefe|\
         schnell geschwindigkeit|heiß temperatur|warm temperatur|kalt temperatur|alt alter|teuer preis|lang|lange|spät|\
         früh|bald|oft|häufig|weit entfernung reichweite",
    ),
    (
        Lang::Nld,
        "hoe",
        "zwaar gewicht|luid geluid|groot afmeting|hoog hoogte|breed breedte|diep diepte|snel snelheid|heet temperatuur|\
         warm temperatuur|koud temperatuur|oud leeftijd|duur prijs|lang|laat|vroeg|vaak|ver afstand",
    ),
];

/// The measures of a language by the analysed form of their adjectives.
struct Asking {
    word: &'static str,
    names: HashMap<String, Vec<String>>,
}

static KNOWN: OnceLock<HashMap<Lang, Asking>> = OnceLock::new();

/// The analysed forms of the names of a measure, if a question asks for it with the word `before` and an adjective with the analysed
/// form `form`: for "how heavy", that of "weight". Empty if a measure has no name, as in "how late"; `None` if no measure is asked for.
///
/// # Examples
///
/// ```
/// use cicerone_language::{Language, measure};
///
/// assert_eq!(measure("How", "heavi", Language::ENGLISH), Some(&["weight".into(), "weigh".into()][..]));
/// assert_eq!(measure("how", "late", Language::ENGLISH), Some(&[][..]));
/// assert_eq!(measure("too", "late", Language::ENGLISH), None);
/// ```
pub fn measure(before: &str, form: &str, language: Language) -> Option<&'static [String]> {
    let asking = KNOWN.get_or_init(known).get(&language.0)?;
    let asks = before.eq_ignore_ascii_case(asking.word);
    asking.names.get(form).filter(|_| asks).map(Vec::as_slice)
}

fn known() -> HashMap<Lang, Asking> {
    let of = |(language, word, measures): &(Lang, &'static str, &str)| {
        let mut names = HashMap::new();
        for measure in measures.split('|') {
            let mut forms = forms(measure, *language).into_iter();
            let Some(adjective) = forms.next() else { continue };
            names.insert(adjective, forms.collect());
        }
        (*language, Asking { word, names })
    };
    MEASURES.iter().map(of).collect()
}

/// The analysed forms of words.
fn forms(words: &str, language: Lang) -> Vec<String> {
    let analysed = |word| terms(word, Some(Language(language))).into_iter().next();
    words.split_whitespace().filter_map(analysed).map(|term| term.text).collect()
}

#[cfg(test)]
mod tests {
    use super::{MEASURES, forms};

    #[test]
    fn every_word_of_the_list_has_a_form() {
        for (language, _, measures) in MEASURES {
            for words in measures.split('|') {
                let all = words.split_whitespace().count();
                assert_eq!(forms(words, *language).len(), all, "{words}");
            }
        }
    }
}
