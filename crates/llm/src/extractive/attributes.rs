//! Questions for a measure, and what the measure is called in tables and lists: "how heavy is it" is answered by "Weight: 19 kg".

use compact_str::CompactString;

use super::spaced::Spaced;

/// How people ask for a measure, and its names.
pub(super) struct Attribute {
    asked: &'static [&'static str],
    names: &'static [&'static str],
    /// Whether it is a sum of money, which is recognised without a name.
    is_money: bool,
}

/// English, German, Spanish, French, Italian, Dutch. Questions for a number of things or a time ("how many", "when") name them
/// themselves.
const ATTRIBUTES: &[Attribute] = &[
    Attribute {
        asked: &[
            "how heavy",
            "weigh",
            "weighs",
            "wie schwer",
            "wiegt",
            "wiegen",
            "pesa",
            "pesan",
            "pèse",
            "pèsent",
            "pesano",
            "hoe zwaar",
            "weegt",
        ],
        names: &["weight", "gewicht", "peso", "poids"],
        is_money: false,
    },
    Attribute {
        asked: &["how far", "wie weit", "hasta dónde", "jusqu'où", "hoe ver"],
        names: &[
            "range",
            "distance",
            "reichweite",
            "entfernung",
            "alcance",
            "autonomía",
            "distancia",
            "autonomie",
            "portée",
            "autonomia",
            "bereik",
            "afstand",
        ],
        is_money: false,
    },
    Attribute {
        asked: &[
            "how big",
            "how large",
            "what size",
            "wie groß",
            "wie gross",
            "qué tamaño",
            "quelle taille",
            "quanto è grande",
            "hoe groot",
        ],
        names: &[
            "size",
            "dimensions",
            "größe",
            "grösse",
            "abmessungen",
            "maße",
            "tamaño",
            "medidas",
            "taille",
            "dimensioni",
            "afmetingen",
        ],
        is_money: false,
    },
    Attribute {
        asked: &[
            "how tall",
            "how high",
            "wie hoch",
            "qué altura",
            "quelle hauteur",
            "quanto è alto",
            "hoe hoog",
        ],
        names: &["height", "höhe", "altura", "hauteur", "altezza", "hoogte"],
        is_money: false,
    },
    Attribute {
        asked: &[
            "how wide",
            "wie breit",
            "qué ancho",
            "quelle largeur",
            "quanto è largo",
            "hoe breed",
        ],
        names: &["width", "breite", "ancho", "anchura", "largeur", "larghezza", "breedte"],
        is_money: false,
    },
    Attribute {
        asked: &["how deep", "wie tief", "qué profundidad", "quelle profondeur", "hoe diep"],
        names: &["depth", "tiefe", "profundidad", "profondeur", "profondità", "diepte"],
        is_money: false,
    },
    Attribute {
        asked: &["how fast", "wie schnell", "qué velocidad", "quelle vitesse", "hoe snel"],
        names: &["speed", "geschwindigkeit", "velocidad", "vitesse", "velocità", "snelheid"],
        is_money: false,
    },
    Attribute {
        asked: &[
            "cost",
            "costs",
            "price",
            "prices",
            "fee",
            "fees",
            "kostet",
            "kosten",
            "preis",
            "preise",
            "cuesta",
            "cuestan",
            "precio",
            "precios",
            "coûte",
            "coûtent",
            "prix",
            "tarif",
            "tarifs",
            "costa",
            "costano",
            "prezzo",
            "prezzi",
            "kost",
            "prijs",
            "prijzen",
            "how much is",
            "how much are",
            "how much does",
            "how much do",
            "how expensive",
            "was kostet",
            "was kosten",
            "wie teuer",
            "wie viel kostet",
            "wieviel kostet",
            "cuánto cuesta",
            "cuánto cuestan",
            "cuánto vale",
            "combien coûte",
            "combien coûtent",
            "quanto costa",
            "quanto costano",
            "hoeveel kost",
        ],
        names: &[
            "price",
            "prices",
            "cost",
            "costs",
            "fee",
            "fees",
            "preis",
            "preise",
            "kosten",
            "gebühr",
            "gebühren",
            "precio",
            "precios",
            "coste",
            "costo",
            "prix",
            "tarif",
            "tarifs",
            "prezzo",
            "prezzi",
            "prijs",
            "prijzen",
        ],
        is_money: true,
    },
    Attribute {
        asked: &[
            "how long does",
            "how long do",
            "how long will",
            "wie lange",
            "cuánto tarda",
            "cuánto tardan",
            "cuánto dura",
            "combien de temps",
            "quanto dura",
            "quanto tempo",
            "hoe lang",
        ],
        names: &[
            "duration",
            "time",
            "dauer",
            "zeit",
            "plazo",
            "duración",
            "tiempo",
            "durée",
            "délai",
            "durata",
            "tempo",
            "tempi",
            "duur",
            "tijd",
        ],
        is_money: false,
    },
    Attribute {
        asked: &["how hot", "how warm", "how cold", "wie heiß", "wie warm", "wie kalt"],
        names: &["temperature", "temperatur"],
        is_money: false,
    },
];
/// How people ask for a price in scripts without spaces, where it is found anywhere in the text.
const PRICE_UNSPACED: &[&str] =
    &["いくら", "料金", "値段", "価格", "多少钱", "多少錢", "价格", "價格", "얼마", "가격"];
/// A name of at least this length may also be the end of a compound: "Lieferzeit".
const COMPOUND_BYTES: usize = 4;

/// The measure that a question asks for.
pub(super) fn asked_for(words: &Spaced) -> Option<&'static Attribute> {
    let is_asked = |attribute: &&Attribute| {
        words.has(attribute.asked) || attribute.is_money && words.contains(PRICE_UNSPACED)
    };
    ATTRIBUTES.iter().find(is_asked)
}

impl Attribute {
    /// Whether a term or the first cell of a row is called so.
    pub(super) fn is_name(&self, term: &str) -> bool {
        is_called(term, self.names)
    }

    /// The words that only say which measure is meant, if its values are recognised without them: "cost", "price".
    pub(super) fn words(&self) -> Option<&'static [&'static str]> {
        self.is_money.then_some(self.asked)
    }

    /// Whether a text has a value of the measure, if that can be recognised.
    pub(super) fn is_value(&self, text: &str) -> bool {
        self.is_money && is_sum(text)
    }
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

/// Whether a text has a sum of money, or says that something is free.
fn is_sum(text: &str) -> bool {
    let has_number = text.contains(|c: char| c.is_numeric());
    if has_number && text.contains(|c: char| CURRENCY_SIGNS.contains(c)) {
        return true;
    }
    let mut words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.any(|word| {
        let word = CompactString::from_str_to_lowercase(word);
        has_number && CURRENCIES.contains(&word.as_str()) || FREE.contains(&word.as_str())
    })
}

/// Whether a term or the first cell of a row is called so.
fn is_called(term: &str, names: &[&str]) -> bool {
    let is_name = |word: &str| {
        let word = word.to_lowercase();
        let is_it =
            |name: &&str| word == *name || name.len() >= COMPOUND_BYTES && word.ends_with(*name);
        names.iter().any(is_it)
    };
    term.split(|c: char| !c.is_alphanumeric()).any(is_name)
}

#[cfg(test)]
mod tests {
    use super::{asked_for, is_sum};
    use crate::extractive::spaced::Spaced;

    #[test]
    fn a_measure_has_names() {
        let is_name = |question: &str, term: &str| {
            asked_for(&Spaced::new(question)).is_some_and(|measure| measure.is_name(term))
        };
        assert!(is_name("How heavy is the crane?", "Weight"));
        assert!(is_name("wie schwer ist der Kran", "Gesamtgewicht"));
        assert!(is_name("wie lange dauert das?", "Lieferzeit (Inland)"));
        assert!(is_name("What does a berth cost?", "Price per day"));
        assert!(!is_name("How heavy is the crane?", "Height"));
        assert!(!is_name("Which crane is it?", "Freight"));
    }

    #[test]
    fn sums_of_money_are_known() {
        for text in ["£12", "14,50 €", "12 euros", "EUR 5", "It is free of charge.", "660円"] {
            assert!(is_sum(text), "{text}");
        }
        for text in ["12 days", "euros are taken", "Freedom", "$HOME"] {
            assert!(!is_sum(text), "{text}");
        }
    }
}
