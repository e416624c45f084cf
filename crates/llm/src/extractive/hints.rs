//! The kind of answer that a question asks for, and the sentences that contain that kind.

use compact_str::CompactString;

use super::spaced::Spaced;

/// The kind of thing that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A count, a price, a date.
    Number,
    /// A person or an organisation.
    Name,
    /// How something is done.
    Steps,
    /// Anything else.
    Any,
}

/// Words that ask for a number or a time, in languages with spaces.
pub(super) const NUMBER: &[&str] = &[
    "how many",
    "how much",
    "how long",
    "how often",
    "how old",
    "how far",
    "how big",
    "how large",
    "how tall",
    "how high",
    "how fast",
    "how late",
    "how early",
    "how soon",
    "when",
    "what year",
    "which year",
    "what time",
    "what date",
    "what day",
    "what percentage",
    "what number",
    "what price",
    "cost",
    "price",
    "cuánto",
    "cuántos",
    "cuánta",
    "cuántas",
    "cuándo",
    "qué año",
    "qué porcentaje",
    "qué fecha",
    "cuesta",
    "wie viel",
    "wieviel",
    "wie viele",
    "wie lange",
    "wie oft",
    "wie alt",
    "wie hoch",
    "wie weit",
    "wann",
    "combien",
    "quand",
    "quelle année",
    "quanto",
    "quantos",
    "quanta",
    "quantas",
    "quanti",
    "quante",
    "quando",
    "hoeveel",
    "wanneer",
    "hoe lang",
    "сколько",
    "когда",
    "ile",
    "kiedy",
    "kaç",
    "कितने",
    "कितना",
    "कितनी",
    "कब",
    "كم",
    "متى",
];
/// The same for scripts without spaces, where they are found anywhere in the text.
pub(super) const NUMBER_UNSPACED: &[&str] = &[
    "多少",
    "几",
    "幾",
    "何时",
    "何時",
    "什么时候",
    "哪一年",
    "哪年",
    "多久",
    "多长",
    "いつ",
    "いくつ",
    "いくら",
    "何年",
    "何人",
    "언제",
    "얼마",
    "몇",
];
/// Words that ask for a person.
pub(super) const NAME: &[&str] = &[
    "who",
    "whose",
    "whom",
    "quién",
    "quiénes",
    "wer",
    "wem",
    "wen",
    "qui",
    "quem",
    "chi",
    "wie is",
    "кто",
    "kto",
    "kim",
    "किसने",
    "कौन",
    "من",
];
/// Words that ask how something is done.
pub(super) const HOW: &[&str] = &[
    "how do",
    "how can",
    "how to",
    "how should",
    "how does one",
    "steps",
    "cómo puedo",
    "wie kann",
    "comment puis",
    "comment faire",
    "como posso",
    "como faço",
    "come posso",
    "как",
];
/// The same, with other meanings ("¿Cómo se llama?").
const STEPS: &[&str] = &["cómo se"];

/// Words that ask how things differ.
const COMPARES: &[&str] = &[
    "difference",
    "differences",
    "differ",
    "compare",
    "compared",
    "comparison",
    "versus",
    "vs",
    "unterschied",
    "unterschiede",
    "unterscheiden",
    "vergleich",
    "différence",
    "différences",
    "diferencia",
    "diferencias",
    "diferença",
    "differenza",
    "verschil",
    "verschillen",
    "разница",
    "różnica",
    "fark",
];
/// The same for scripts without spaces.
const COMPARES_UNSPACED: &[&str] = &["違い", "比較", "区别", "區別", "차이"];

/// Whether a question asks how things differ.
pub(super) fn compares(words: &Spaced) -> bool {
    words.has(COMPARES) || words.contains(COMPARES_UNSPACED)
}

/// Words that negate, besides those that end with "n't".
const NEGATIONS: [&str; 27] = [
    "not",
    "no",
    "without",
    "never",
    "cannot",
    "nicht",
    "kein",
    "keine",
    "ohne",
    "nie",
    "sin",
    "nunca",
    "ne",
    "pas",
    "sans",
    "jamais",
    "não",
    "sem",
    "non",
    "senza",
    "mai",
    "niet",
    "geen",
    "zonder",
    "не",
    "без",
    "никогда",
];

/// Whether a text contains a negation.
pub(super) fn is_negated(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’')).any(|word| {
        let word = CompactString::from_str_to_lowercase(word);
        NEGATIONS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    })
}

impl Wanted {
    /// The kind of answer that a question asks for.
    pub(super) fn of(words: &Spaced) -> Self {
        if words.has(NUMBER) || words.contains(NUMBER_UNSPACED) {
            Self::Number
        } else if words.has(HOW) || words.has(STEPS) {
            Self::Steps
        } else if words.has(NAME) || words.contains(&["谁", "誰", "누구"]) {
            Self::Name
        } else {
            Self::Any
        }
    }

    /// Whether `sentence` contains something of that kind.
    pub(super) fn is_met_by(self, sentence: &str) -> bool {
        match self {
            Self::Number => sentence
                .contains(|c: char| c.is_numeric() || "一二三四五六七八九十百千万".contains(c)),
            Self::Name => sentence
                .split_whitespace()
                .skip(1)
                .any(|word| word.chars().next().is_some_and(char::is_uppercase)),
            Self::Steps | Self::Any => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spaced, Wanted, is_negated};

    #[test]
    fn questions_are_told_apart() {
        for (question, wanted) in [
            ("How many days do I have?", Wanted::Number),
            ("When was it founded?", Wanted::Number),
            ("¿Cuántos puntos?", Wanted::Number),
            ("有多少人？", Wanted::Number),
            ("Who founded it?", Wanted::Name),
            ("How do I reset my password?", Wanted::Steps),
            ("What is a whenever?", Wanted::Any),
            ("", Wanted::Any),
        ] {
            assert_eq!(Wanted::of(&Spaced::new(question)), wanted, "{question}");
        }
    }

    #[test]
    fn negations_are_known() {
        for text in ["Do not stop", "don’t stop", "Don't stop.", "ohne Halt", "sin parar"] {
            assert!(is_negated(text), "{text}");
        }
        assert!(!is_negated("Notes in a knot, nothing else"));
    }

    #[test]
    fn sentences_of_the_kind_are_known() {
        assert!(Wanted::Number.is_met_by("within 30 days"));
        assert!(!Wanted::Number.is_met_by("within some days"));
        assert!(Wanted::Name.is_met_by("It was founded by Ada."));
        assert!(!Wanted::Name.is_met_by("Ada"));
    }
}
