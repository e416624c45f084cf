//! The beginnings of words, which tell whether two words may have the same analysed form.

use cicerone_language::{Language, Script, fold_start};

/// The common beginning of a word and its analysed form in most languages, in letters, and of a short word: "skies" and "dying"
/// become "sky" and "die".
const COMMON: usize = 3;
const COMMON_IF_SHORT: usize = 2;
/// The longest short word, in bytes.
const SHORT_BYTES: usize = 5;

/// The Cyrillic letters of Serbian, and the letters with which their Latin spellings begin.
const SERBIAN: (&str, &str) = ("абвгдђежзијклљмнњопрстћуфхцчџш", "abvgddezzijkllmnnoprstcufhccds");

/// The first letters of a word, folded, padded with NUL. `y` counts as `i`, which English stems have instead.
pub(super) type Beginning = [char; COMMON];

pub(super) fn beginning(word: &str) -> Beginning {
    let letters = match word.as_bytes().first_chunk() {
        Some(bytes) if bytes.is_ascii() => bytes.map(|byte| char::from(byte.to_ascii_lowercase())),
        _ => fold_start(word),
    };
    letters.map(|letter| if letter == 'y' { 'i' } else { letter })
}

/// What the analysis of a language leaves of the beginnings of words.
pub(super) struct Beginnings {
    /// The number of letters that stay the same.
    common: usize,
    /// The prefixes that are removed.
    prefixes: &'static [Beginning],
    /// Cyrillic words become Latin.
    is_serbian: bool,
}

impl Beginnings {
    /// Those of words in a text in this language.
    pub(super) fn of(language: Option<Language>) -> Self {
        let code = language.map(Language::code);
        let (common, prefixes): (_, &'static [Beginning]) = match code {
            // Many prefixes are removed: "perpustakaan" becomes "pustaka".
            Some("ind") => (0, &[]),
            // "uren" becomes "uur", "ingeleverd" and "gesloten" become "inlever" and "sloot".
            Some("nld") => (1, &[['g', 'e', '\0']]),
            // "lijepo" becomes "lep".
            Some("hrv" | "srp") => (1, &[]),
            // "ősszel" becomes "ősz".
            Some("hun") => (2, &[]),
            // "найкращі" becomes "кращ".
            Some("ukr") => (COMMON, &[['н', 'а', 'и']]),
            _ => (COMMON, &[]),
        };
        Self { common, prefixes, is_serbian: code == Some("srp") }
    }

    /// Whether the analysed form of a word with this first byte may begin with another letter.
    pub(super) fn may_change(&self, first: u8) -> bool {
        let begins = |[letter, ..]: &Beginning| *letter == char::from(first.to_ascii_lowercase());
        self.common == 0 || self.prefixes.iter().any(begins)
    }

    /// Whether the analysed form of `word` may be one that has one of the beginnings `known`.
    pub(super) fn may_match(&self, word: &str, known: &[Beginning]) -> bool {
        let Some(first) = word.chars().next().filter(|_| self.common > 0) else { return true };
        let common = match Script::of(first) {
            // Articles, conjunctions and other syllables may be prefixes of the word.
            Some(Script::Arabic | Script::Hebrew) => return true,
            None | Some(Script::Latin | Script::Greek) if word.len() > SHORT_BYTES => self.common,
            None | Some(Script::Latin | Script::Greek) => self.common.min(COMMON_IF_SHORT),
            // The stemmers of other scripts are less known.
            Some(script) => {
                let [first] = fold_start(word);
                let is_serbian = self.is_serbian && script == Script::Cyrillic;
                let first = if is_serbian { in_latin(first) } else { first };
                return known.iter().any(|[letter, ..]| *letter == first) || self.is_prefixed(word);
            }
        };
        let own = beginning(word);
        known.iter().any(|known| agree(known, &own, common)) || self.is_prefixed(word)
    }

    fn is_prefixed(&self, word: &str) -> bool {
        !self.prefixes.is_empty() && {
            let own = beginning(word);
            self.prefixes.iter().any(|prefix| agree(prefix, &own, COMMON))
        }
    }
}

/// Whether two beginnings have the same first `letters`, or one of them is shorter and part of the other.
fn agree(one: &Beginning, other: &Beginning, letters: usize) -> bool {
    let is_same = |(a, b): (&char, &char)| a == b || *a == '\0' || *b == '\0';
    one.iter().zip(other).take(letters).all(is_same)
}

/// The letter with which the Latin spelling of a Cyrillic letter of Serbian begins.
fn in_latin(letter: char) -> char {
    let (cyrillic, latin) = SERBIAN;
    let mut letters = cyrillic.chars().zip(latin.chars());
    letters.find(|(one, _)| *one == letter).map_or(letter, |(_, latin)| latin)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::QueryTerm;
    use cicerone_language::{Language, terms};

    use super::super::Matcher;

    /// Stemmers also change the beginnings of words, and Serbian ones become Latin.
    #[test]
    fn each_word_of_a_text_is_found_in_each_language() {
        let lost_in = |(code, text): (&'static str, &'static str)| {
            let language = Language::from_code(code);
            assert!(language.is_some(), "{code}");
            let lost = terms(text, language).into_iter().filter(|term| {
                let asked =
                    QueryTerm { text: term.text.clone(), weight: 1.0, is_context: false, word: 0 };
                Matcher::new(&[asked]).mask(text, language) == 0
            });
            let lost: Vec<&str> = lost.map(|term| &text[term.range]).collect();
            (!lost.is_empty()).then_some((code, lost))
        };
        let lost: Vec<(&str, Vec<&str>)> = SENTENCES.into_iter().filter_map(lost_in).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }

    /// A sentence or more in each language with a stemmer, and in Vietnamese.
    const SENTENCES: [(&str, &str); 35] = [
        (
            "ara",
            "يستعير القارئ الكتب من المكتبة، ويستخدم الحاسوب في القاعة. أسعار التذاكر والمواعيد",
        ),
        ("cat", "La biblioteca és oberta cada dia i els nens hi poden llegir llibres d’història."),
        ("ces", "Knihovna je otevřena každý den, žluté děti si mohou půjčit čtyři knihy. Ústí"),
        ("dan", "Ældre børn åbner døren, og øerne ligger tæt på havnen. Priserne er ændret."),
        ("deu", "Geöffnet wird täglich, die Häuser wurden übernommen, Äpfel und Öle verkauft."),
        ("ell", "Η βιβλιοθήκη είναι ανοιχτή, έξω από την Άνδρο. Ώρες λειτουργίας και όροι"),
        ("eng", "The flies were dying, skies lay grey, and early readers used the library daily."),
        ("epo", "La ĉefa biblioteko estas malfermita, ŝi ĝojas pri la ĵurnaloj ĉiutage."),
        ("est", "Õpilased ütlesid, et öösel avatud raamatukogu ääres äri käib. Järve vee"),
        ("fin", "Äidin yö on pitkä, öljy ja äänet kuuluvat kirjastossa, jossa luetaan."),
        ("fra", "Être élève à l’école, où les œuvres d’État étaient offertes ; ça va, île"),
        ("hin", "पुस्तकालय में लड़के और लड़कियाँ किताबें पढ़ते हैं, क़ीमतें ज़्यादा नहीं।"),
        (
            "hrv",
            "Đaci dolaze u knjižnicu, Čovjek čita knjige, šume i žene, vrijeme je lijepo, djeca.",
        ),
        ("hun", "Az üzletek ősszel éjjel is nyitva vannak, az írók és útjaik, öt óra."),
        ("hye", "Գրադարանը բաց է ամեն օր, երեխաները կարդում են գրքեր։ Եվ որոշ ուրիշներ"),
        (
            "ind",
            "Perpustakaan meminjamkan buku, anggota menulis dan membaca. Pembayaran dan pengiriman diterima.",
        ),
        (
            "ita",
            "È aperta ogni giorno la biblioteca; età, città, perché gli orari dell’università.",
        ),
        ("lit", "Šiandien biblioteka žada skaityti, čia ąžuolai ir ežerai, ėjo į miestą."),
        ("nep", "पुस्तकालयमा केटाहरूले किताब पढ्छन्, मूल्यहरू र समयहरू राम्रा छन्।"),
        (
            "nld",
            "Op zondag zijn wij gesloten. Gebakken, gestolen, gevonden, gelukt, genomen, gegeten, geschreven, één, uitgegeven, apen, uren, ogen, lezen, leven, ingeleverd, opgegeven, afgesloten, ideeën, oefenen, eieren, ijs, bijzonder",
        ),
        ("nob", "Åpne dører for ærlige øyboere, og prisene på øya er endret. Årene går."),
        ("pes", "کتابخانه‌ها باز هستند، می‌خوانند و کتاب‌های آن‌ها را می‌برند. ایران نمی‌رود"),
        ("pol", "Łódź ma najlepsze biblioteki, żółte łąki, święta, ćwiczenia i najnowsze źródła."),
        ("por", "Às vezes é óbvio: órgãos, água, índios e última edição; estão lá."),
        ("ron", "Îmi place ședința, țara are înălțimi, ștampile și împrumuturi. Ăsta"),
        (
            "rus",
            "Ёлка и ёжик, елка, библиотека открыта, наилучшие читатели взяли эту книгу. Йод, Ещё",
        ),
        ("slk", "Škola ľudí čaká, žiaci ďakujú, účet a ôsmy ústav. Najlepšie"),
        ("spa", "Él está allí, ésta es última; índice, óptimos años y ángeles, ñandú."),
        (
            "srp",
            "Ђаци долазе у библиотеку, човек чита књиге, љубав и њива, џеп, време, Шабац. Đaci čitaju knjige.",
        ),
        ("swe", "Äldre öppnar åtta dörrar på ön, och priserna ändras. Ålder över"),
        ("tam", "நூலகம் தினமும் திறந்திருக்கும், குழந்தைகள் புத்தகங்களை படிக்கிறார்கள். எந்த இடம்"),
        (
            "tur",
            "İstanbul’da ışık var, Isparta ILIK, öğrenciler üniversitede çok şey okur, ağaçlar.",
        ),
        (
            "ukr",
            "Їжак і ящірка, єдина бібліотека відчинена, ґанок, щодня йдуть читачі, найкращі книги.",
        ),
        ("vie", "Tôi có thể mượn sách không? Nhà hàng phở ở đâu, ăn ở Đà Nẵng. Ông ấy ước đợi."),
        ("yid", "די ביבליאָטעק איז אָפֿן יעדן טאָג, געלייענט און געשריבן, ייִדיש, אַ קינד"),
    ];
}
