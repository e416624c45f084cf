//! Replies that are based on no source: if the sources do not cover a question, and to messages that ask for nothing.

use cicerone_domain::conversation::Role;
use cicerone_domain::ports::ReplyRequest;
use cicerone_language::{Language, Script, SmallTalk, terms};

/// The texts of a language.
struct Texts {
    /// The ISO 639-3 code.
    code: &'static str,
    /// If the sources do not cover a question.
    refusal: &'static str,
    greeting: &'static str,
    thanks: &'static str,
    farewell: &'static str,
    /// After "ok" and the like.
    ask: &'static str,
}

/// English, which is also used for languages that are not listed.
const ENGLISH: Texts = Texts {
    code: "eng",
    refusal: "My sources do not cover this question, so I cannot answer it.",
    greeting: "Hello!",
    thanks: "You are welcome.",
    farewell: "Goodbye!",
    ask: "What would you like to know?",
};
const TEXTS: [Texts; 15] = [
    ENGLISH,
    Texts {
        code: "spa",
        refusal: "Mis fuentes no tratan esta pregunta, así que no puedo responderla.",
        greeting: "¡Hola!",
        thanks: "De nada.",
        farewell: "¡Hasta luego!",
        ask: "¿Qué le gustaría saber?",
    },
    Texts {
        code: "fra",
        refusal: "Mes sources ne traitent pas de cette question, je ne peux donc pas y répondre.",
        greeting: "Bonjour !",
        thanks: "Je vous en prie.",
        farewell: "Au revoir !",
        ask: "Que souhaitez-vous savoir ?",
    },
    Texts {
        code: "deu",
        refusal: "Meine Quellen behandeln diese Frage nicht, daher kann ich sie nicht beantworten.",
        greeting: "Hallo!",
        thanks: "Gern geschehen.",
        farewell: "Auf Wiedersehen!",
        ask: "Was möchten Sie wissen?",
    },
    Texts {
        code: "por",
        refusal: "As minhas fontes não abordam esta pergunta, por isso não posso respondê-la.",
        greeting: "Olá!",
        thanks: "De nada.",
        farewell: "Até logo!",
        ask: "O que gostaria de saber?",
    },
    Texts {
        code: "ita",
        refusal: "Le mie fonti non trattano questa domanda, quindi non posso rispondere.",
        greeting: "Buongiorno!",
        thanks: "Prego.",
        farewell: "Arrivederci!",
        ask: "Che cosa desidera sapere?",
    },
    Texts {
        code: "nld",
        refusal: "Mijn bronnen behandelen deze vraag niet, dus ik kan haar niet beantwoorden.",
        greeting: "Hallo!",
        thanks: "Graag gedaan.",
        farewell: "Tot ziens!",
        ask: "Wat wilt u weten?",
    },
    Texts {
        code: "pol",
        refusal: "Moje źródła nie obejmują tego pytania, więc nie mogę na nie odpowiedzieć.",
        greeting: "Dzień dobry!",
        thanks: "Proszę bardzo.",
        farewell: "Do widzenia!",
        ask: "O co chcesz zapytać?",
    },
    Texts {
        code: "tur",
        refusal: "Kaynaklarım bu soruyu kapsamıyor, bu yüzden yanıtlayamıyorum.",
        greeting: "Merhaba!",
        thanks: "Rica ederim.",
        farewell: "Hoşça kalın!",
        ask: "Ne öğrenmek istersiniz?",
    },
    Texts {
        code: "rus",
        refusal: "В моих источниках нет ответа на этот вопрос, поэтому я не могу на него ответить.",
        greeting: "Здравствуйте!",
        thanks: "Пожалуйста.",
        farewell: "До свидания!",
        ask: "Что вы хотели бы узнать?",
    },
    Texts {
        code: "cmn",
        refusal: "我的资料中没有涉及这个问题，因此无法回答。",
        greeting: "您好！",
        thanks: "不客气。",
        farewell: "再见！",
        ask: "您想了解什么？",
    },
    Texts {
        code: "jpn",
        refusal: "手元の資料にはこの質問に関する内容がないため、お答えできません。",
        greeting: "こんにちは。",
        thanks: "どういたしまして。",
        farewell: "さようなら。",
        ask: "どのようなことをお知りになりたいですか？",
    },
    Texts {
        code: "kor",
        refusal: "제 자료에는 이 질문에 대한 내용이 없어 답변할 수 없습니다.",
        greeting: "안녕하세요.",
        thanks: "천만에요.",
        farewell: "안녕히 가세요.",
        ask: "무엇이 궁금하신가요?",
    },
    Texts {
        code: "ara",
        refusal: "لا تتناول مصادري هذا السؤال، لذلك لا يمكنني الإجابة عنه.",
        greeting: "مرحبًا!",
        thanks: "على الرحب والسعة.",
        farewell: "إلى اللقاء!",
        ask: "ماذا تود أن تعرف؟",
    },
    Texts {
        code: "hin",
        refusal: "मेरे स्रोतों में इस प्रश्न का उत्तर नहीं है, इसलिए मैं इसका उत्तर नहीं दे सकता।",
        greeting: "नमस्ते!",
        thanks: "आपका स्वागत है।",
        farewell: "अलविदा!",
        ask: "आप क्या जानना चाहेंगे?",
    },
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
/// A question with as many small words of a language is in that language. With fewer, the other messages decide, too.
const TELLING: usize = 2;

/// The characters of a message that tell its language: each language takes an analysis of its own.
const TELLING_CHARS: usize = 500;

/// That the sources do not cover the question, in its language.
pub(super) fn text(request: &ReplyRequest) -> &'static str {
    texts(language(request)).refusal
}

/// The reply to a message that asks for nothing; `None` if it asks for something.
pub(super) fn small_talk(request: &ReplyRequest) -> Option<String> {
    // Finding the language takes longer.
    SmallTalk::of(&request.question, None)?;
    let usual = spoken(request).or_else(|| usual(request));
    let usual = usual.and_then(Language::from_code);
    let (said, language) = SmallTalk::of(&request.question, usual)?;
    let texts = texts(language.map_or(ENGLISH.code, Language::code));
    Some(match said {
        SmallTalk::Greeting => format!("{} {}", texts.greeting, texts.ask),
        SmallTalk::Thanks => texts.thanks.to_owned(),
        SmallTalk::Farewell => texts.farewell.to_owned(),
        SmallTalk::Agreement => texts.ask.to_owned(),
    })
}

fn texts(code: &str) -> &'static Texts {
    TEXTS.iter().find(|texts| texts.code == code).unwrap_or(&ENGLISH)
}

/// The language code of the question, or of the conversation or the agent's passages if the question does not tell.
fn language(request: &ReplyRequest) -> &'static str {
    if let Some(code) = by_script(&request.question) {
        return code;
    }
    let (code, words) = by_words(&request.question, usual(request));
    if words >= TELLING { code } else { spoken(request).or(usual(request)).unwrap_or(code) }
}

/// The language of the user's earlier messages, if they tell.
fn spoken(request: &ReplyRequest) -> Option<&'static str> {
    let users = request.history.iter().rev().filter(|message| message.role == Role::User);
    users.take(2).find_map(|message| {
        let (code, words) = by_words(&message.content, usual(request));
        by_script(&message.content).or_else(|| (words >= TELLING).then_some(code))
    })
}

/// The language of most of the agent's passages, if there are texts in it.
fn usual(request: &ReplyRequest) -> Option<&'static str> {
    let code = request.language?;
    TEXTS.iter().map(|texts| texts.code).find(|known| *known == code)
}

/// The language code of a text whose script is enough to tell it.
fn by_script(text: &str) -> Option<&'static str> {
    let has = |script| text.chars().any(|c| Script::of(c) == Some(script));
    let (_, code) = BY_SCRIPT.into_iter().find(|(script, _)| has(*script))?;
    // Ukrainian and Persian have letters that Russian and Arabic lack.
    Some(Language::detect(text).map_or(code, Language::code))
}

/// The language with the most small words in a text, and their number. If several have as many, that is the `usual` one if it
/// is among them, or English.
fn by_words(text: &str, usual: Option<&str>) -> (&'static str, usize) {
    let end = text.char_indices().nth(TELLING_CHARS).map_or(text.len(), |(at, _)| at);
    let beginning = text.get(..end).unwrap_or_default();
    let count = |code: &str| {
        let words = terms(beginning, Language::from_code(code));
        words.iter().filter(|word| word.is_stop_word).count()
    };
    let counted = TEXTS.iter().map(|texts| (count(texts.code), texts.code));
    // The last of the best ones is taken; English comes first in the list.
    let rank = |code: &str| (Some(code) == usual, code == ENGLISH.code);
    let best = counted.max_by_key(|(words, code)| (*words, rank(code)));
    best.map_or((ENGLISH.code, 0), |(words, code)| (code, words))
}

#[cfg(test)]
mod tests {
    use cicerone_domain::Timestamp;
    use cicerone_domain::conversation::{Message, Role};
    use cicerone_domain::ports::ReplyRequest;

    use super::{TEXTS, language, small_talk};
    use crate::testing::request;

    fn asked(question: &str, earlier: &[&str], usual: Option<&'static str>) -> ReplyRequest {
        let message = |text: &&str| Message {
            role: Role::User,
            content: (*text).to_owned(),
            sources_used: Vec::new(),
            timestamp: Timestamp::from_millis(0),
        };
        let history = earlier.iter().map(message).collect();
        ReplyRequest { history, language: usual, ..request(question, Vec::new()) }
    }

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
            assert_eq!(language(&asked(question, &[], None)), code, "{question}");
        }
    }

    #[test]
    fn a_few_words_are_in_the_language_of_the_conversation_or_of_the_content() {
        let german = Some("deu");
        assert_eq!(language(&asked("Telefonnummer", &[], german)), "deu");
        assert_eq!(language(&asked("Stornierung", &["Was ist die Adresse?"], None)), "deu");
        let english = ["What is the address of the shop?"];
        assert_eq!(language(&asked("cancellation", &english, german)), "eng");
        assert_eq!(language(&asked("What is the capital of France?", &[], german)), "eng");
        assert_eq!(language(&asked("Telefonnummer", &[], Some("ces"))), "eng");
    }

    #[test]
    fn what_asks_for_nothing_is_replied_to_in_its_language() {
        let reply = |question: &str, usual| small_talk(&asked(question, &[], usual));
        assert_eq!(reply("Hello", None).as_deref(), Some("Hello! What would you like to know?"));
        assert_eq!(reply("thanks!", Some("deu")).as_deref(), Some("You are welcome."));
        assert_eq!(reply("Tschüss", None).as_deref(), Some("Auf Wiedersehen!"));
        assert_eq!(reply("ok", Some("deu")).as_deref(), Some("Was möchten Sie wissen?"));
        assert_eq!(reply("hello, when do you open?", None), None);
        let spanish = small_talk(&asked("ok", &["¿Cuándo es la visita de la tarde?"], None));
        assert_eq!(spanish.as_deref(), Some("¿Qué le gustaría saber?"));
    }

    #[test]
    fn each_language_is_listed_once() {
        let codes: std::collections::HashSet<&str> = TEXTS.iter().map(|texts| texts.code).collect();
        assert_eq!(codes.len(), TEXTS.len());
    }
}
