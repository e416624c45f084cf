//! Whether a question asks for an explanation or for a fact.

use super::hints::{HOW, NAME, NUMBER, NUMBER_UNSPACED};
use super::spaced::{Spaced, longest};

/// Words that ask for an explanation, besides [`HOW`]. "How did" and "how was" ask for facts of history more often.
const EXPLAINED: &[&str] = &[
    // English
    "why",
    "how come",
    "how is",
    "how are",
    "how does",
    "how could",
    "how would",
    "how will",
    "how must",
    "what do i do",
    "what should i do",
    "what can i do",
    "what happens",
    "what if",
    "difference between",
    "differences between",
    "what is the difference",
    "what are the differences",
    // Spanish, Portuguese
    "cómo",
    "por qué",
    "para qué",
    "diferencia entre",
    "qué pasa",
    "qué hago",
    "como",
    "por que",
    "diferença entre",
    // German, Dutch
    "wie",
    "warum",
    "wieso",
    "weshalb",
    "wozu",
    "was passiert",
    "was mache ich",
    "was muss ich",
    "unterschied zwischen",
    "hoe",
    "waarom",
    "verschil tussen",
    "wat gebeurt",
    // French, Italian
    "comment",
    "pourquoi",
    "que faire",
    "que se passe",
    "différence entre",
    "come",
    "perché",
    "cosa succede",
    "differenza tra",
    // Russian, Polish, Turkish
    "как",
    "почему",
    "зачем",
    "что делать",
    "jak",
    "dlaczego",
    "nasıl",
    "neden",
    "niçin",
    // Arabic, Hindi
    "كيف",
    "لماذا",
    "कैसे",
    "क्यों",
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
    // English. "Was" and "am" are German words, too.
    "can",
    "could",
    "is",
    "are",
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
    "had",
    "were",
    "was it",
    "was the",
    "was there",
    "was my",
    "am i",
    "can't",
    "cannot",
    "couldn't",
    "isn't",
    "aren't",
    "don't",
    "doesn't",
    "didn't",
    "shouldn't",
    "won't",
    "wouldn't",
    "haven't",
    "hasn't",
    // Spanish, Portuguese, Italian
    "puedo",
    "puede",
    "pueden",
    "se puede",
    "es posible",
    "hay",
    "tengo que",
    "debo",
    "posso",
    "pode",
    "é possível",
    "há",
    "tem",
    "si può",
    "è possibile",
    "devo",
    "c'è",
    // German, Dutch
    "kann",
    "können",
    "darf",
    "dürfen",
    "muss",
    "ist",
    "sind",
    "gibt es",
    "habe",
    "hat",
    "kan",
    "mag ik",
    "moet",
    "zijn",
    // French
    "puis je",
    "peut on",
    "peut il",
    "est ce",
    "dois je",
    "y a t il",
    "faut il",
    // Russian, Polish, Arabic, Hindi
    "можно",
    "могу",
    "есть ли",
    "czy",
    "هل",
    "क्या",
];
/// Words that ask for a fact, besides [`NUMBER`] and [`NAME`]. Of phrases that begin at the same place, the longest counts.
pub(super) const FACT: &[&str] = &[
    // English
    "what",
    "which",
    "where",
    "whats",
    "what's",
    "where's",
    // Spanish, Portuguese
    "qué",
    "cuál",
    "cuáles",
    "dónde",
    "cómo se llama",
    "cómo se llamaba",
    "cómo se llaman",
    "cómo se denomina",
    "cómo se conoce",
    "o que",
    "qual",
    "quais",
    "onde",
    "como se chama",
    // German, Dutch
    "was",
    "welche",
    "welcher",
    "welches",
    "welchen",
    "welchem",
    "wo",
    "wohin",
    "woher",
    "wie heißt",
    "wie heißen",
    "wat",
    "welk",
    "welke",
    "waar",
    "hoe heet",
    // French, Italian
    "quel",
    "quelle",
    "quels",
    "quelles",
    "où",
    "quoi",
    "qu'est ce",
    "comment s'appelle",
    "che",
    "cosa",
    "quale",
    "quali",
    "dove",
    "come si chiama",
    // Russian, Polish, Turkish
    "что",
    "какой",
    "какая",
    "какое",
    "какие",
    "где",
    "как называется",
    "как зовут",
    "co to",
    "który",
    "która",
    "które",
    "gdzie",
    "jak długo",
    "jak często",
    "jak się nazywa",
    "hangi",
    "nerede",
    "nedir",
    // Arabic, Hindi
    "ما",
    "ماذا",
    "أين",
    "أي",
    "कहाँ",
];
/// The same for scripts without spaces.
const FACT_UNSPACED: &[&str] =
    &["什么", "什麼", "哪", "何が", "何を", "何の", "何です", "どこ", "どれ", "무엇", "뭐", "어디"];
/// What a question may begin with before it asks.
const POLITE: &[&str] = &[
    "please",
    "can you tell me",
    "could you tell me",
    "can you explain",
    "do you know",
    "tell me",
    "i want to know",
    "i would like to know",
    "i'd like to know",
];

/// Whether a question is answered by an explanation rather than a fact: it asks how or why something is, or whether it is, or it
/// is no question but names a subject. The first word that asks for either decides.
pub(super) fn is_explained(question: &str, words: &Spaced) -> bool {
    let polite = words.starts().next().and_then(|(_, rest)| longest(rest, POLITE));
    let begin = polite.map_or(0, |length| length + 1);
    let mut starts = words.starts().skip_while(|(at, _)| *at < begin);
    let asks = question.contains(['?', '？', '؟']);
    let explains = |rest: &str| longest(rest, HOW).max(longest(rest, EXPLAINED));
    let states =
        |rest: &str| longest(rest, NUMBER).max(longest(rest, NAME)).max(longest(rest, FACT));
    let Some((_, first)) = starts.next() else { return false };
    if first.trim().is_empty() {
        return false;
    }
    // A phrase that asks at the beginning decides; further in, only if it is a question: "my order was cancelled".
    match (explains(first).max(longest(first, WHETHER)), states(first)) {
        (None, None) => {}
        (explained, fact) => return explained > fact,
    }
    if words.contains(EXPLAINED_UNSPACED) {
        return true;
    }
    if words.contains(NUMBER_UNSPACED)
        || words.contains(FACT_UNSPACED)
        || words.contains(&["谁", "誰", "누구"])
    {
        return false;
    }
    if asks {
        let mut asking = starts.map(|(_, rest)| (explains(rest), states(rest)));
        let first = asking.find(|found| *found != (None, None));
        // A question of which no word is known asks for a fact.
        return match first {
            Some((explained, fact)) => explained > fact,
            None => question.contains('吗') || question.contains('嗎'),
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{EXPLAINED, FACT, POLITE, Spaced, WHETHER};
    use crate::extractive::hints::{HOW, NAME, NUMBER};

    fn is_explained(question: &str) -> bool {
        super::is_explained(question, &Spaced::new(question))
    }

    #[test]
    fn explanations_are_asked_for() {
        for question in [
            "How do I reset my password?",
            "How do I cancel when I am abroad?",
            "How do I know who has access?",
            "how is my data used",
            "why is my order late?",
            "Why did the price go up?",
            "What happens when my trial ends?",
            "What should I do if a parcel is lost?",
            "What is the difference between a mortgage and a loan?",
            "Can I pay by card?",
            "Can’t I pay by card?",
            "Can I get a refund when I cancel?",
            "Please, can I pay by card?",
            "pay by card",
            "my order was cancelled",
            "refunds for Smith & Co",
            "Tell me about refunds.",
            "¿Puedo pagar con tarjeta?",
            "¿Cómo cambio mi clave?",
            "Warum ist das so?",
            "Wie ändere ich mein Kennwort?",
            "Kann ich mit Karte zahlen?",
            "Puis-je payer par carte ?",
            "Ma carte ne fonctionne pas",
            "La commande que j'ai passée est perdue",
            "Posso pagare qui con la carta?",
            "Come funziona?",
            "Como funciona?",
            "Hoe werkt dat?",
            "Как это работает?",
            "Jak to działa?",
            "كيف أدفع؟",
            "هل يمكنني الدفع؟",
            "मैं कैसे भुगतान करूं?",
            "क्या मैं कार्ड से भुगतान कर सकता हूँ?",
            "如何付款？",
            "可以退款吗？",
            "任何商品都可以退款",
        ] {
            assert!(is_explained(question), "{question}");
        }
    }

    #[test]
    fn facts_are_asked_for() {
        for question in [
            "",
            "?",
            "What is the capital of France?",
            "which city is the capital",
            "How many rooms are there?",
            "how long does it take",
            "price of a room",
            "Who founded it?",
            "Where is the comment field?",
            "Can you tell me what the capital is?",
            "What is the height of the steps?",
            "In which year did he die?",
            "¿Cómo se llama la capital?",
            "¿En qué año nació?",
            "Was ist die Hauptstadt von Frankreich?",
            "Was kostet der Eintritt?",
            "Am welchen Tag ist das Fest?",
            "Wie heißt die Hauptstadt?",
            "Wo liegt der Hafen?",
            "Comment s'appelle la capitale ?",
            "Qu'est-ce que la capitale ?",
            "Как называется столица?",
            "Jak długo trwa lot?",
            "首都是什么",
            "ما هي العاصمة؟",
            "राजधानी कहाँ है?",
        ] {
            assert!(!is_explained(question), "{question}");
        }
    }

    #[test]
    fn every_phrase_can_be_found() {
        for phrase in [HOW, EXPLAINED, WHETHER, FACT, POLITE, NUMBER, NAME].concat() {
            assert!(Spaced::new(phrase).is(phrase), "{phrase}");
        }
    }
}
