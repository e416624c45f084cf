//! Messages that ask for nothing: greetings, thanks, farewells, agreement.

use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};

use crate::fold::lower;
use crate::language::Language;

/// What a message says that asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SmallTalk {
    /// "ok", "no", "great", or signs alone.
    Agreement,
    /// "hello", "good morning".
    Greeting,
    /// "goodbye".
    Farewell,
    /// "thanks", "thank you very much".
    Thanks,
}

/// The longest message that is examined, in bytes and in words.
const BYTES: usize = 200;
const WORDS: usize = 8;
/// The longest phrase in the lists, in words.
const PHRASE_WORDS: usize = 3;

/// The phrases of a language in lower case, separated by `|`.
struct Phrases {
    /// The ISO 639-3 code.
    code: &'static str,
    greeting: &'static str,
    farewell: &'static str,
    thanks: &'static str,
    agreement: &'static str,
    /// Phrases that say nothing alone, but may stand beside the others: "very much".
    beside: &'static str,
}

/// For each phrase, the languages that have it, by their places in [`PHRASES`], and what it says there; `None` if it only
/// accompanies others.
type Known = HashMap<&'static str, Vec<(usize, Option<SmallTalk>)>>;

static KNOWN: OnceLock<Known> = OnceLock::new();

impl SmallTalk {
    /// What `message` says, if it asks for nothing, with the language in which all of it is said. If that may be several
    /// languages, it is the `usual` one if that is among them, and the first otherwise. Signs alone are said in the usual one.
    pub fn of(message: &str, usual: Option<Language>) -> Option<(Self, Option<Language>)> {
        if message.len() > BYTES {
            return None;
        }
        let lower = lower(message, None);
        let is_between = |c: char| !c.is_alphanumeric() && !is_mark(c);
        let words = lower.split(is_between).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.take(WORDS + 1).collect();
        if words.is_empty() {
            return Some((Self::Agreement, usual));
        }
        if words.len() > WORDS {
            return None;
        }
        let known = KNOWN.get_or_init(known);
        let beginnings = beginnings(&words).filter_map(|(_, phrase)| known.get(phrase.as_str()));
        let mut languages: Vec<usize> =
            beginnings.flatten().map(|(language, _)| *language).collect();
        let code = |language: &usize| PHRASES.get(*language).map(|phrases| phrases.code);
        languages.sort_by_key(|language| (code(language) != usual.map(Language::code), *language));
        let said =
            languages.iter().find_map(|language| Some((say(&words, *language, known)?, language)));
        said.map(|(said, language)| (said, code(language).and_then(Language::from_code)))
    }
}

/// What the words say, if they are nothing but phrases of this language.
fn say(words: &[&str], language: usize, known: &Known) -> Option<SmallTalk> {
    let mut said = None;
    let mut rest = words;
    while !rest.is_empty() {
        let (length, kind) = beginnings(rest).find_map(|(length, phrase)| {
            let of_language = |(other, _): &&(usize, Option<SmallTalk>)| *other == language;
            let (_, kind) = known.get(phrase.as_str())?.iter().find(of_language)?;
            Some((length, *kind))
        })?;
        said = said.max(kind);
        rest = rest.get(length..).unwrap_or_default();
    }
    said
}

/// The phrases with which the words may begin, and their numbers of words, the longest first.
fn beginnings<'w>(words: &'w [&str]) -> impl Iterator<Item = (usize, String)> + use<'w> {
    let lengths = (1..=PHRASE_WORDS.min(words.len())).rev();
    lengths.filter_map(|length| Some((length, words.get(..length)?.join(" "))))
}

fn known() -> Known {
    let mut known = Known::new();
    for (language, phrases) in PHRASES.iter().enumerate() {
        let kinds = [
            (phrases.thanks, Some(SmallTalk::Thanks)),
            (phrases.farewell, Some(SmallTalk::Farewell)),
            (phrases.greeting, Some(SmallTalk::Greeting)),
            (phrases.agreement, Some(SmallTalk::Agreement)),
            (phrases.beside, None),
        ];
        for (list, kind) in kinds {
            for phrase in list.split('|').filter(|phrase| !phrase.is_empty()) {
                known.entry(phrase).or_default().push((language, kind));
            }
        }
    }
    known
}

/// Whether a character belongs to the letter before it, as vowel signs of Hindi do.
fn is_mark(c: char) -> bool {
    ('\u{900}'..='\u{97F}').contains(&c) && !matches!(c, '\u{964}' | '\u{965}')
}

const PHRASES: &[Phrases] = &[
    Phrases {
        code: "eng",
        greeting: "hi|hello|hey|hiya|howdy|good morning|good afternoon|good evening|good day|\
                   greetings|how are you|how are you doing|hi there|hello there",
        farewell: "bye|goodbye|good bye|bye bye|see you|see ya|good night|cya|farewell",
        thanks: "thanks|thank you|thx|ty|tnx|cheers|thank u|many thanks|much appreciated",
        agreement: "ok|okay|k|yes|yep|yeah|no|nope|sure|great|good|cool|nice|perfect|fine|alright|\
                    all right|got it|i see|understood|right|awesome|excellent|help|test|lol|wow",
        beside: "so much|very much|a lot|for your help|for the help|for your answer|for that|there|\
                 and|you|then|now|again|everyone|all|team|sir|madam|very|so|that is|thats|that s|\
                 that was|this was|that helped|this helped|it helped|it worked|that worked|helpful|useful|\
                 it is|later|have a nice|have a good|day|evening|weekend|please|oh|well|no problem",
    },
    Phrases {
        code: "deu",
        greeting: "hallo|hi|hey|moin|servus|guten tag|guten morgen|guten abend|grüezi|grüß gott|\
                   gruss gott|wie geht s|wie geht es dir|wie geht es ihnen|wie gehts",
        farewell: "tschüss|tschuess|tschüß|ciao|auf wiedersehen|bis bald|bis dann|gute nacht|\
                   schönen tag noch|schönes wochenende|ade",
        thanks: "danke|vielen dank|herzlichen dank|danke schön|dankeschön|danke sehr|besten dank|\
                 danke dir|danke ihnen",
        agreement: "ok|okay|ja|nein|jo|nö|gut|super|toll|prima|klar|alles klar|in ordnung|genau|\
                    verstanden|perfekt|passt|hilfe|ach so|aha|schön",
        beside: "für die hilfe|für ihre hilfe|für deine hilfe|für die auskunft|zusammen|sehr|dann|\
                 und|auch|schon mal|noch|bitte|das ist|das war|ihnen|dir|leute|\
                 das hat geholfen|hat geholfen|hilfreich",
    },
    Phrases {
        code: "spa",
        greeting: "hola|buenas|buenos días|buenos dias|buenas tardes|buenas noches|qué tal|que tal|\
                   cómo estás|como estas|cómo está",
        farewell: "adiós|adios|hasta luego|hasta pronto|chao|chau|nos vemos",
        thanks: "gracias|muchas gracias|mil gracias|muchísimas gracias",
        agreement: "ok|vale|sí|si|no|bien|muy bien|perfecto|genial|claro|de acuerdo|entendido|ayuda|\
                    excelente|listo",
        beside: "por la ayuda|por su ayuda|por tu ayuda|por todo|me ayudó|me ha ayudado|a todos|y|muy|entonces|amable",
    },
    Phrases {
        code: "fra",
        greeting: "bonjour|salut|bonsoir|coucou|allô|comment ça va|ça va|comment allez vous",
        farewell: "au revoir|à bientôt|a bientot|à plus|bonne nuit|bonne journée|bonne soirée|adieu",
        thanks: "merci|merci beaucoup|merci bien|mille mercis|un grand merci",
        agreement: "ok|oui|non|bien|très bien|parfait|d accord|super|génial|compris|entendu|aide",
        beside: "pour votre aide|pour ton aide|pour tout|ça m a aidé|c est parfait|c est gentil|à tous|et|très|à vous|alors|bon",
    },
    Phrases {
        code: "ita",
        greeting: "ciao|salve|buongiorno|buon giorno|buonasera|buona sera|come va|come stai",
        farewell: "arrivederci|a presto|buonanotte|buona notte|addio|buona giornata",
        thanks: "grazie|grazie mille|molte grazie|tante grazie",
        agreement: "ok|sì|si|no|bene|va bene|perfetto|certo|d accordo|capito|ottimo|aiuto",
        beside: "per l aiuto|per il tuo aiuto|per tutto|a tutti|e|molto|allora",
    },
    Phrases {
        code: "por",
        greeting: "olá|ola|oi|bom dia|boa tarde|boa noite|tudo bem|como vai",
        farewell: "tchau|adeus|até logo|até mais|até breve",
        thanks: "obrigado|obrigada|muito obrigado|muito obrigada|valeu",
        agreement: "ok|sim|não|nao|certo|perfeito|ótimo|claro|entendi|está bem|ajuda",
        beside: "pela ajuda|por tudo|a todos|e|muito|então",
    },
    Phrases {
        code: "nld",
        greeting: "hallo|hoi|hey|goedemorgen|goedemiddag|goedenavond|goedendag|hoe gaat het",
        farewell: "doei|dag|tot ziens|tot straks|fijne dag|welterusten",
        thanks: "bedankt|dank je|dank u|dankjewel|dankuwel|dank je wel|dank u wel|hartelijk dank",
        agreement: "ok|oké|oke|ja|nee|goed|prima|perfect|duidelijk|begrepen|top|hulp",
        beside: "voor de hulp|voor je hulp|voor uw hulp|en|heel|dan|allemaal",
    },
    Phrases {
        code: "pol",
        greeting: "cześć|czesc|hej|dzień dobry|dzien dobry|dobry wieczór|witam|siema",
        farewell: "do widzenia|na razie|pa|dobranoc|do zobaczenia",
        thanks: "dziękuję|dziekuje|dzięki|dzieki|dziękuję bardzo|wielkie dzięki",
        agreement: "ok|tak|nie|dobrze|super|świetnie|jasne|rozumiem|pomoc",
        beside: "za pomoc|bardzo|i|wszystkim",
    },
    Phrases {
        code: "tur",
        greeting: "merhaba|selam|günaydın|iyi günler|iyi akşamlar|nasılsın|nasılsınız",
        farewell: "hoşça kal|hoşçakal|görüşürüz|güle güle|iyi geceler",
        thanks: "teşekkürler|teşekkür ederim|çok teşekkürler|çok teşekkür ederim|sağ ol|sağol",
        agreement: "tamam|evet|hayır|peki|güzel|harika|anladım|yardım|ok",
        beside: "için|çok|herkese|ve|yardımınız",
    },
    Phrases {
        code: "rus",
        greeting: "привет|здравствуйте|добрый день|доброе утро|добрый вечер|здравствуй|как дела",
        farewell: "пока|до свидания|всего доброго|спокойной ночи|до встречи",
        thanks: "спасибо|большое спасибо|спасибо большое|благодарю",
        agreement: "ок|окей|да|нет|хорошо|отлично|понятно|понял|поняла|ясно|ладно|супер|помощь",
        beside: "за помощь|вам|тебе|всем|и|очень",
    },
    Phrases {
        code: "cmn",
        greeting: "你好|您好|你们好|大家好|嗨|早上好|晚上好|下午好|哈喽",
        farewell: "再见|再見|拜拜|晚安",
        thanks: "谢谢|謝謝|多谢|谢谢你|谢谢您|非常感谢|感谢",
        agreement: "好|好的|是|是的|不|不是|可以|明白|明白了|知道了|嗯|对|帮助",
        beside: "了|啊|吧",
    },
    Phrases {
        code: "jpn",
        greeting: "こんにちは|こんばんは|おはよう|おはようございます|はじめまして|もしもし",
        farewell: "さようなら|またね|おやすみ|おやすみなさい|失礼します",
        thanks: "ありがとう|ありがとうございます|ありがとうございました|どうも|感謝します",
        agreement: "はい|いいえ|了解|了解です|わかりました|なるほど|いいね|オーケー|うん",
        beside: "",
    },
    Phrases {
        code: "kor",
        greeting: "안녕|안녕하세요|안녕하십니까|반갑습니다",
        farewell: "안녕히 계세요|안녕히 가세요|잘가|잘 가요",
        thanks: "감사합니다|고맙습니다|고마워|고마워요|감사해요",
        agreement: "네|예|아니요|아니오|좋아요|알겠습니다|알겠어요|그래요|응|도움",
        beside: "정말|매우|대단히",
    },
    Phrases {
        code: "ara",
        greeting: "مرحبا|مرحباً|أهلا|أهلاً|السلام عليكم|صباح الخير|مساء الخير",
        farewell: "مع السلامة|وداعا|وداعاً|إلى اللقاء|تصبح على خير",
        thanks: "شكرا|شكراً|شكرا لك|شكرا جزيلا|شكراً جزيلاً|أشكرك",
        agreement: "نعم|لا|حسنا|حسناً|تمام|جيد|ممتاز|مفهوم|مساعدة",
        beside: "جزيلا|لكم|لك|جدا",
    },
    Phrases {
        code: "hin",
        greeting: "नमस्ते|नमस्कार|हैलो|हेलो|हाय|सुप्रभात",
        farewell: "अलविदा|फिर मिलेंगे|शुभ रात्रि",
        thanks: "धन्यवाद|शुक्रिया|बहुत धन्यवाद|बहुत शुक्रिया",
        agreement: "हाँ|हां|नहीं|ठीक है|ठीक|अच्छा|जी|समझ गया|समझ गई|मदद",
        beside: "आपका|जी|बहुत",
    },
];

#[cfg(test)]
mod tests {
    use super::SmallTalk;
    use crate::Language;

    fn said(message: &str) -> Option<(SmallTalk, &'static str)> {
        let (said, language) = SmallTalk::of(message, None)?;
        Some((said, language.map_or("", Language::code)))
    }

    #[test]
    fn what_asks_for_nothing_is_known_with_its_language() {
        for (message, expected) in [
            ("Hello!", (SmallTalk::Greeting, "eng")),
            ("good morning", (SmallTalk::Greeting, "eng")),
            ("Ok, thank you very much for your help :)", (SmallTalk::Thanks, "eng")),
            ("great", (SmallTalk::Agreement, "eng")),
            ("Thank you very much, that was helpful", (SmallTalk::Thanks, "eng")),
            ("thanks, that helped!", (SmallTalk::Thanks, "eng")),
            ("Danke, das hat geholfen", (SmallTalk::Thanks, "deu")),
            ("Danke schön, tschüss!", (SmallTalk::Thanks, "deu")),
            ("Nein.", (SmallTalk::Agreement, "deu")),
            ("¡Muchas gracias!", (SmallTalk::Thanks, "spa")),
            ("Au revoir", (SmallTalk::Farewell, "fra")),
            ("谢谢", (SmallTalk::Thanks, "cmn")),
            ("धन्यवाद", (SmallTalk::Thanks, "hin")),
            ("???", (SmallTalk::Agreement, "")),
            ("👍", (SmallTalk::Agreement, "")),
        ] {
            assert_eq!(said(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn what_asks_for_something_is_not() {
        for message in [
            "Hi, when do you open?",
            "why?",
            "and you?",
            "how much",
            "Hello World program",
            "thank you card",
            "no returns",
            "Good Night Hotel",
            "und sonntags?",
            "that was it",
            "you",
            "hello hello hello hello hello hello hello hello hello",
        ] {
            assert_eq!(said(message), None, "{message}");
        }
    }

    #[test]
    fn of_several_languages_it_is_the_usual_one() {
        let german = Language::from_code("deu");
        let of = |message: &str| SmallTalk::of(message, german).and_then(|(_, language)| language);
        assert_eq!(of("ok"), german);
        assert_eq!(of("Hi!"), german);
        assert_eq!(of("?"), german);
        assert_eq!(of("hello").map(Language::code), Some("eng"));
    }
}
