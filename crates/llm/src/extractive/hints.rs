//! The kind of answer that a question asks for, and the sentences that contain that kind.

use compact_str::CompactString;

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
const NUMBER: &[&str] = &[
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
const NUMBER_UNSPACED: &[&str] = &[
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
const NAME: &[&str] = &[
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
const HOW: &[&str] = &[
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

/// Words that ask for an explanation, besides [`HOW`].
const EXPLAINED: &[&str] = &[
    "why",
    "how come",
    "how does",
    "difference between",
    "differences between",
    "what do i do",
    "what should i do",
    "what can i do",
    "what happens",
    "por qué",
    "cómo hago",
    "diferencia entre",
    "warum",
    "wieso",
    "weshalb",
    "wie mache",
    "wie geht",
    "unterschied zwischen",
    "pourquoi",
    "comment",
    "différence entre",
    "perché",
    "come si fa",
    "come faccio",
    "differenza tra",
    "por que",
    "diferença entre",
    "waarom",
    "hoe kan",
    "hoe moet",
    "verschil tussen",
    "почему",
    "зачем",
    "dlaczego",
    "jak",
    "neden",
    "nasıl",
];
/// The same for scripts without spaces, where they are found anywhere in the text.
const EXPLAINED_UNSPACED: &[&str] = &[
    "为什么",
    "為什麼",
    "怎么",
    "怎麼",
    "如何",
    "なぜ",
    "どうやって",
    "どうすれば",
    "왜",
    "어떻게",
];
/// Words with which a question begins that asks whether something is so, or may be done.
const WHETHER: &[&str] = &[
    "can",
    "could",
    "is",
    "are",
    "am",
    "was",
    "were",
    "do",
    "does",
    "did",
    "should",
    "must",
    "will",
    "would",
    "may",
    "has",
    "have",
    "puedo",
    "puede",
    "se puede",
    "es posible",
    "hay",
    "tengo que",
    "debo",
    "kann",
    "können",
    "darf",
    "muss",
    "ist",
    "sind",
    "gibt",
    "habe",
    "hat",
    "puis-je",
    "peut-on",
    "est-ce",
    "dois-je",
    "posso",
    "si può",
    "è possibile",
    "devo",
    "é possível",
    "há",
    "kan",
    "mag",
    "moet",
    "zijn",
    "можно",
    "могу",
    "czy",
];
/// Words that ask for a fact, besides [`NUMBER`] and [`NAME`].
const FACT: &[&str] = &[
    "what",
    "which",
    "where",
    "how",
    "qué",
    "que",
    "cuál",
    "cuáles",
    "dónde",
    "was",
    "welche",
    "welcher",
    "welches",
    "welchen",
    "wo",
    "wohin",
    "woher",
    "quel",
    "quelle",
    "quels",
    "quelles",
    "où",
    "quoi",
    "che",
    "cosa",
    "quale",
    "quali",
    "dove",
    "qual",
    "quais",
    "onde",
    "wat",
    "welk",
    "welke",
    "waar",
    "что",
    "какой",
    "какая",
    "какие",
    "где",
    "co",
    "który",
    "która",
    "gdzie",
    "ne",
    "hangi",
    "nerede",
    "ما",
    "ماذا",
    "أين",
    "أي",
    "क्या",
    "कहाँ",
];
/// The same for scripts without spaces.
const FACT_UNSPACED: &[&str] = &["什么", "什麼", "哪", "何", "どこ", "どれ", "무엇", "뭐", "어디"];

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

/// A question in small letters, with one space before, between and after its words.
pub(super) struct Spaced(String);

impl Spaced {
    pub(super) fn new(question: &str) -> Self {
        let mut words = String::with_capacity(question.len() + 2);
        words.push(' ');
        for c in question.chars() {
            if c.is_alphanumeric() || c == '\'' || !c.is_ascii() && !"¿？?".contains(c) {
                words.extend(c.to_lowercase());
            } else if !words.ends_with(' ') {
                words.push(' ');
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
        Self(words)
    }

    /// Whether it has one of the phrases.
    fn has(&self, phrases: &[&str]) -> bool {
        let starts = self.0.match_indices(' ').filter_map(|(at, _)| self.0.get(at + 1..));
        starts.into_iter().any(|rest| begins(rest, phrases))
    }

    /// Whether it begins with one of the phrases.
    fn begins(&self, phrases: &[&str]) -> bool {
        begins(self.0.trim_start(), phrases)
    }

    /// Whether it has one of the pieces, also within words.
    fn contains(&self, pieces: &[&str]) -> bool {
        pieces.iter().any(|piece| self.0.contains(piece))
    }
}

/// Whether a text begins with one of the phrases, and another word follows.
fn begins(text: &str, phrases: &[&str]) -> bool {
    let first = text.as_bytes().first();
    let mut alike = phrases.iter().filter(|phrase| phrase.as_bytes().first() == first);
    alike.any(|phrase| text.strip_prefix(phrase).is_some_and(|after| after.starts_with(' ')))
}

/// Whether a question is answered by an explanation rather than a fact: it asks how or why something is, or whether it is, or it
/// is no question but names a subject.
pub(super) fn is_explained(question: &str, words: &Spaced) -> bool {
    if words.has(NUMBER) || words.contains(NUMBER_UNSPACED) || words.has(NAME) {
        return false;
    }
    if words.has(HOW) || words.has(EXPLAINED) || words.contains(EXPLAINED_UNSPACED) {
        return true;
    }
    let asks = question.contains(['?', '？', '؟']);
    words.begins(WHETHER) || !asks && !words.has(FACT) && !words.contains(FACT_UNSPACED)
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

    fn is_explained(question: &str) -> bool {
        super::is_explained(question, &Spaced::new(question))
    }

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
    fn explanations_are_told_from_facts() {
        for question in [
            "How do I reset my password?",
            "why is my order late?",
            "Can I pay by card?",
            "pay by card",
            "Tell me about refunds.",
            "What is the difference between a mortgage and a loan?",
            "¿Puedo pagar con tarjeta?",
            "Warum ist das so?",
            "如何付款？",
        ] {
            assert!(is_explained(question), "{question}");
        }
        for question in [
            "What is the capital of France?",
            "which city is the capital",
            "How many rooms are there?",
            "price of a room",
            "Who founded it?",
            "¿Cómo se llama la capital?",
            "Wo liegt der Hafen?",
            "首都是什么",
            "ما هي العاصمة؟",
        ] {
            assert!(!is_explained(question), "{question}");
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
