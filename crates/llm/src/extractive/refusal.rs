//! The reply if the sources do not cover a question.

use cicerone_language::{Language, Script, terms};

/// English, which is also used for languages that are not listed.
const ENGLISH: &str = "My sources do not cover this question, so I cannot answer it.";
/// Other languages, by their ISO 639-3 codes.
const TEXTS: [(&str, &str); 15] = [
    ("eng", ENGLISH),
    ("spa", "Mis fuentes no tratan esta pregunta, así que no puedo responderla."),
    ("fra", "Mes sources ne traitent pas de cette question, je ne peux donc pas y répondre."),
    ("deu", "Meine Quellen behandeln diese Frage nicht, daher kann ich sie nicht beantworten."),
    ("por", "As minhas fontes não abordam esta pergunta, por isso não posso respondê-la."),
    ("ita", "Le mie fonti non trattano questa domanda, quindi non posso rispondere."),
    ("nld", "Mijn bronnen behandelen deze vraag niet, dus ik kan haar niet beantwoorden."),
    ("pol", "Moje źródła nie obejmują tego pytania, więc nie mogę na nie odpowiedzieć."),
    ("tur", "Kaynaklarım bu soruyu kapsamıyor, bu yüzden yanıtlayamıyorum."),
    ("rus", "В моих источниках нет ответа на этот вопрос, поэтому я не могу на него ответить."),
    ("cmn", "我的资料中没有涉及这个问题，因此无法回答。"),
    ("jpn", "手元の資料にはこの質問に関する内容がないため、お答えできません。"),
    ("kor", "제 자료에는 이 질문에 대한 내용이 없어 답변할 수 없습니다."),
    ("ara", "لا تتناول مصادري هذا السؤال، لذلك لا يمكنني الإجابة عنه."),
    ("hin", "मेरे स्रोतों में इस प्रश्न का उत्तर नहीं है, इसलिए मैं इसका उत्तर नहीं दे सकता।"),
];

/// The usual language of a script. Japanese mixes three scripts.
const BY_SCRIPT: [(Script, &str); 7] = [
    (Script::Hiragana, "jpn"),
    (Script::Katakana, "jpn"),
    (Script::Han, "cmn"),
    (Script::Hangul, "kor"),
    (Script::Cyrillic, "rus"),
    (Script::Arabic, "ara"),
    (Script::Devanagari, "hin"),
];

/// The sentence in the language of the question.
pub(super) fn text(question: &str) -> &'static str {
    let code = language(question);
    TEXTS.iter().find(|(known, _)| *known == code).map_or(ENGLISH, |(_, text)| text)
}

/// The language code of the question: by its script if that is enough, otherwise the language with
/// the most common words in it, or English if several languages have equally many.
fn language(question: &str) -> &'static str {
    let has = |script| question.chars().any(|c| Script::of(c) == Some(script));
    if let Some((_, code)) = BY_SCRIPT.into_iter().find(|(script, _)| has(*script)) {
        // Ukrainian and Persian have letters that Russian and Arabic lack.
        return Language::detect(question).map_or(code, Language::code);
    }
    let by_words = TEXTS.iter().map(|(code, _)| {
        let words = terms(question, Language::from_code(code));
        (words.iter().filter(|word| word.is_stop_word).count(), *code)
    });
    // The first of the best ones; English comes first.
    let (_, code) =
        by_words.fold((0, "eng"), |best, other| if other.0 > best.0 { other } else { best });
    code
}

#[cfg(test)]
mod tests {
    use super::language;

    #[test]
    fn the_question_tells_its_language() {
        for (question, code) in [
            ("What is the capital of France?", "eng"),
            ("¿Cuál es la capital de Francia?", "spa"),
            ("Quelle est la capitale de la France ?", "fra"),
            ("Was ist die Hauptstadt von Frankreich?", "deu"),
            ("Qual é a capital da França e por que não?", "por"),
            ("Qual è la capitale della Francia?", "ita"),
            ("Что такое столица?", "rus"),
            ("法国的首都是什么？", "cmn"),
            ("フランスの首都はどこですか", "jpn"),
            ("프랑스의 수도는 어디입니까?", "kor"),
            ("ما هي عاصمة فرنسا؟", "ara"),
            ("फ्रांस की राजधानी क्या है?", "hin"),
            ("xyzzy", "eng"),
            ("", "eng"),
        ] {
            assert_eq!(language(question), code, "{question}");
        }
    }
}
