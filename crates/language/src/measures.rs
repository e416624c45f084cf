//! The adjectives of questions for a measure: "how heavy", "wie spät".

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _};
use whatlang::Lang;

use crate::language::Language;
use crate::word_lists::forms;

/// For each language the words that ask, and the words that follow, each with what tables and texts call the measure.
const MEASURES: &[(Lang, &str, &str)] = &[
    (
        Lang::Eng,
        "how",
        "heavy weight weigh|loud noise sound|tall height|high height|wide width|deep depth|big size dimensions|\
         large size dimensions|small size dimensions|fast speed|quick|quickly|hot temperature|warm temperature|\
         cold temperature|old age|expensive price cost|long|late|early|soon|often|far distance range|frequently",
    ),
    (Lang::Eng, "what which", "time|day|date|hour|month|year"),
    (
        Lang::Deu,
        "wie",
        "schwer gewicht|laut lautstärke geräusch|groß größe abmessungen|hoch höhe|breit breite|tief tiefe|\
         schnell geschwindigkeit|heiß temperatur|warm temperatur|kalt temperatur|alt alter|teuer preis|lang|lange|spät|\
         früh|bald|oft|häufig|weit entfernung reichweite",
    ),
    (Lang::Deu, "welche welchem welchen welcher welches", "uhrzeit|tag|tage|datum|monat|jahr"),
    (Lang::Fra, "quel quelle quels quelles", "heure|jour|date|mois|année"),
    (Lang::Spa, "qué que", "hora|día|fecha|mes|año"),
    (Lang::Ita, "che quale quali", "ora|giorno|data|mese|anno"),
    (Lang::Por, "que qual quais", "hora|dia|data|mês|ano"),
    (
        Lang::Nld,
        "hoe",
        "zwaar gewicht|luid geluid|groot afmeting|hoog hoogte|breed breedte|diep diepte|snel snelheid|heet temperatuur|\
         warm temperatuur|koud temperatuur|oud leeftijd|duur prijs|lang|laat|vroeg|vaak|ver afstand",
    ),
    (Lang::Nld, "welke welk", "dag|dagen|datum|maand|jaar|uur"),
];

/// For each language what follows the words that ask, by its analysed form.
type Known = HashMap<Lang, Vec<(&'static str, HashMap<String, Vec<String>>)>>;

static KNOWN: LazyLock<Known> = LazyLock::new(known);

/// The analysed forms of the names of a measure, if a question asks for it with the word `before` and one with the analysed form
/// `form`: for "how heavy", that of "weight". Empty if the measure has no other name, as in "how late"; `None` if no measure is
/// asked for.
///
/// # Examples
///
/// ```
/// use cicerone_language::{Language, measure};
///
/// assert_eq!(measure("How", "heavi", Language::ENGLISH), Some(&["weight".into(), "weigh".into()][..]));
/// assert_eq!(measure("what", "time", Language::ENGLISH), Some(&[][..]));
/// assert_eq!(measure("too", "late", Language::ENGLISH), None);
/// ```
pub fn measure(before: &str, form: &str, language: Language) -> Option<&'static [String]> {
    let known = KNOWN.get(&language.0)?;
    let asks = |words: &str| words.split(' ').any(|word| word == before.to_lowercase());
    let asked = known.iter().find_map(|(words, names)| names.get(form).filter(|_| asks(words)));
    asked.map(Vec::as_slice)
}

fn known() -> Known {
    let mut known = Known::new();
    for (language, words, measures) in MEASURES {
        let mut names = HashMap::new();
        for measure in measures.split('|') {
            let mut forms = forms(measure, *language).into_iter();
            if let Some(asked) = forms.next() {
                names.insert(asked, forms.collect());
            }
        }
        known.entry(*language).or_default().push((*words, names));
    }
    known
}

#[cfg(test)]
mod tests {
    use super::MEASURES;
    use crate::word_lists::check_forms;

    #[test]
    fn every_word_of_the_list_has_a_form() {
        MEASURES.iter().for_each(|(language, _, words)| check_forms(words, *language));
    }
}
