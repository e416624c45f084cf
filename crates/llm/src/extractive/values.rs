//! Values that are recognised in a text without the name of what they measure: sums of money and times.

use std::sync::LazyLock;

use compact_str::CompactString;
use foldhash::HashSet;

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A sum of money.
    Sum,
    /// How long something takes.
    Duration,
    /// When something is: a date, a time of the day, or how long after something else.
    Moment,
}

/// A set of words, which the source lists with spaces between them.
type List = LazyLock<HashSet<&'static str>>;

macro_rules! list {
    ($words:literal) => {
        LazyLock::new(|| $words.split_ascii_whitespace().collect())
    };
}

/// Words for money beside a number, and for what is free, in lower case.
const CURRENCIES: [&str; 24] = [
    "euro", "euros", "eur", "dollar", "dollars", "usd", "pound", "pounds", "gbp", "pence", "cent",
    "cents", "chf", "franken", "pln", "zł", "złotych", "kč", "czk", "kr", "sek", "nok", "dkk",
    "tl",
];
const FREE: [&str; 9] = [
    "free",
    "gratis",
    "kostenlos",
    "kostenfrei",
    "gratuit",
    "gratuite",
    "gratuito",
    "gratuita",
    "gratuits",
];
const CURRENCY_SIGNS: &str = "€$£¥₹₩₽₺₴₪฿₫₱円元원";
/// Numbers in words, and units of time, in English, German, Spanish, French, Italian, Dutch and Portuguese.
static NUMBERS: List = list!(
    "one two three four five six seven eight nine ten twelve fifteen twenty thirty \
    ein eine einen einem einer zwei drei vier fünf sechs sieben acht neun zehn zwölf \
    un una dos tres cuatro cinco seis siete ocho nueve diez une deux trois quatre cinq sept huit neuf dix \
    due tre quattro cinque sei sette otto nove dieci een twee drie vijf zes zeven negen tien \
    dois duas três quatro oito dez"
);
static UNITS: List = list!(
    "second seconds minute minutes min mins hour hours day days night nights week weeks fortnight month months \
    year years sekunde sekunden minuten stunde stunden tag tage tagen werktage werktagen nacht nächte woche wochen monat \
    monate monaten jahr jahre jahren segundo segundos minuto minutos hora horas día días noche noches semana semanas mes \
    meses año años seconde secondes heure heures jour jours nuit nuits semaine semaines mois an ans année années \
    secondi minuti ora ore giorno giorni notte notti settimana settimane mese mesi anno anni seconden minuut \
    uur uren dag dagen werkdagen nachten weken maand maanden jaar dia dias mês anos h std"
);
/// Units of time in scripts without spaces, after a digit.
const UNSPACED_UNITS: &str = "年月日時时点點分秒週周天小ヶか년월일시분주";
/// Names of days and months, and other words that say when something is.
static MOMENTS: List = list!(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays \
    saturdays sundays weekday weekdays weekend weekends january february march april june july august september october \
    november december noon midnight midday daily weekly monthly yearly annually \
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs donnerstags freitags \
    samstags sonntags wochenende januar jänner februar märz mai juni juli oktober dezember mittags mitternacht täglich \
    wöchentlich monatlich jährlich lunes martes miércoles jueves viernes sábado sábados domingo domingos enero febrero marzo \
    abril mayo junio julio agosto septiembre octubre noviembre diciembre mediodía medianoche diario mensual anual \
    lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis samedis dimanches janvier \
    février mars avril juin juillet août septembre octobre novembre décembre midi minuit \
    lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre \
    dicembre mezzogiorno mezzanotte maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei \
    augustus dagelijks wekelijks maandelijks jaarlijks segunda terça quarta quinta sexta janeiro fevereiro março maio junho \
    julho setembro outubro novembro dezembro"
);
/// What follows the hour of a time of the day.
static HOURS: List = list!("am pm uhr o'clock noon h heures horas uur");

impl Value {
    /// Whether a text has a value of this kind.
    pub(super) fn is_in(self, text: &str) -> bool {
        match self {
            Self::Sum => is_sum(text),
            Self::Duration => is_duration(text),
            Self::Moment => is_moment(text),
        }
    }
}

/// Whether a text has a sum of money, or says that something is free.
fn is_sum(text: &str) -> bool {
    let has_number = text.contains(|c: char| c.is_numeric());
    if has_number && text.contains(|c: char| CURRENCY_SIGNS.contains(c)) {
        return true;
    }
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let befores = std::iter::once("").chain(words());
    let afters = words().skip(1).chain([""]);
    words().zip(befores).zip(afters).any(|((word, before), after)| {
        let word = CompactString::from_str_to_lowercase(word);
        // "Feel free to ask" names no price.
        let is_free = || !before.eq_ignore_ascii_case("feel") && !after.eq_ignore_ascii_case("to");
        has_number && CURRENCIES.contains(&word.as_str())
            || FREE.contains(&word.as_str()) && is_free()
    })
}

/// The words and numbers of a text in lower case, numbers apart from the letters behind them.
fn words(text: &str) -> impl Iterator<Item = CompactString> {
    let is_part = |c: char| c.is_alphanumeric();
    let words = text.split(move |c: char| !is_part(c)).filter(|word| !word.is_empty());
    words.flat_map(|word| {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = word.split_at(digits);
        let parts = [number, rest].into_iter().filter(|part| !part.is_empty());
        parts.map(CompactString::from_str_to_lowercase)
    })
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text has a number of units of time, with a word between them at most: "ten working days".
fn is_duration(text: &str) -> bool {
    let mut since_number = usize::MAX;
    for word in words(text) {
        if since_number < 2 && UNITS.contains(word.as_str()) {
            return true;
        }
        let is_number = is_number(&word) || NUMBERS.contains(word.as_str());
        since_number = if is_number { 0 } else { since_number.saturating_add(1) };
    }
    has_unspaced_unit(text)
}

fn has_unspaced_unit(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let characters = text.chars().zip(text.chars().skip(1));
    let is_digit = |c: char| c.is_numeric() || "一二三四五六七八九十百".contains(c);
    characters.into_iter().any(|(one, next)| is_digit(one) && UNSPACED_UNITS.contains(next))
}

/// Whether a text has a date, a day, a time of the day, or a number of units of time.
fn is_moment(text: &str) -> bool {
    has_clock(text) || is_named_moment(text) || is_duration(text)
}

/// Whether a text has "9:30".
fn has_clock(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_colon = |(at, byte): (usize, &u8)| {
        *byte == b':' && at > 0 && is_digit(at - 1) && is_digit(at + 1) && is_digit(at + 2)
    };
    bytes.iter().enumerate().any(is_colon)
}

fn is_named_moment(text: &str) -> bool {
    let mut after_number = false;
    for word in words(text) {
        // "May" is a verb more often.
        let number = is_number(&word);
        let is_year = number
            && word.len() == 4
            && matches!(word.as_bytes(), [b'1', ..] | [b'2', b'0' | b'1', ..]);
        if is_year
            || MOMENTS.contains(word.as_str())
            || after_number && (HOURS.contains(word.as_str()) || word == "may")
        {
            return true;
        }
        after_number = number;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn sums_of_money_are_known() {
        for text in ["£12", "14,50 €", "12 euros", "EUR 5", "It is free of charge.", "660円"] {
            assert!(Value::Sum.is_in(text), "{text}");
        }
        for text in ["12 days", "euros are taken", "Freedom", "$HOME", "Feel free to ask"] {
            assert!(!Value::Sum.is_in(text), "{text}");
        }
    }

    #[test]
    fn durations_are_known() {
        for text in ["30 days", "ten working days", "2h", "zwei Wochen", "24 heures", "14日以内"]
        {
            assert!(Value::Duration.is_in(text), "{text}");
        }
        for text in ["30 items of the day", "Days", "v2 has hosts", "每天"] {
            assert!(!Value::Duration.is_in(text), "{text}");
        }
    }

    #[test]
    fn moments_are_known() {
        for text in [
            "8:30 – 20:00",
            "at 6 pm",
            "since 1998",
            "on 3 May",
            "Sundays",
            "um 8 Uhr",
            "after a year or 2 weeks",
        ] {
            assert!(Value::Moment.is_in(text), "{text}");
        }
        for text in ["12 items", "phone 01279 555", "some day", "ratio 3:4"] {
            assert!(!Value::Moment.is_in(text), "{text}");
        }
    }
}
