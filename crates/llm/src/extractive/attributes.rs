//! Questions for a measure, and what the measure is called in tables and lists: "how heavy is it" is answered by "Weight: 19 kg".

use super::spaced::Spaced;
use super::values::Value;

/// How people ask for a measure, and its names.
pub(super) struct Attribute {
    asked: &'static [&'static str],
    names: &'static [&'static str],
    /// The kind of its values, if they are recognised without a name.
    value: Option<Value>,
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
        value: None,
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
        value: None,
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
        value: None,
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
        value: None,
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
        value: None,
    },
    Attribute {
        asked: &["how deep", "wie tief", "qué profundidad", "quelle profondeur", "hoe diep"],
        names: &["depth", "tiefe", "profundidad", "profondeur", "profondità", "diepte"],
        value: None,
    },
    Attribute {
        asked: &["how fast", "wie schnell", "qué velocidad", "quelle vitesse", "hoe snel"],
        names: &["speed", "geschwindigkeit", "velocidad", "vitesse", "velocità", "snelheid"],
        value: None,
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
        value: Some(Value::Sum),
    },
    Attribute {
        asked: &[
            "how long",
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
        value: Some(Value::Duration),
    },
    Attribute {
        asked: &["how hot", "how warm", "how cold", "wie heiß", "wie warm", "wie kalt"],
        names: &["temperature", "temperatur"],
        value: None,
    },
    Attribute {
        asked: &[
            "when",
            "what time",
            "what date",
            "what day",
            "what days",
            "which date",
            "which day",
            "which days",
            "how late",
            "how early",
            "how soon",
            "wann",
            "welchen tagen",
            "welche uhrzeit",
            "wie spät",
            "wie früh",
            "cuándo",
            "qué hora",
            "qué horas",
            "qué día",
            "qué días",
            "quand",
            "quelle heure",
            "quel jour",
            "quels jours",
            "quando",
            "che ora",
            "che giorno",
            "che giorni",
            "que horas",
            "que dia",
            "que dias",
            "wanneer",
            "hoe laat",
            "welke dag",
            "welke dagen",
        ],
        names: &[],
        value: Some(Value::Moment),
    },
];
/// Words that only say that a time is asked for.
const TIME_WORDS: &[&str] = &[
    "time", "late", "early", "soon", "date", "day", "hour", "tag", "tage", "tagen", "uhrzeit",
    "spät", "früh", "hora", "día", "heure", "jour", "ora", "giorno", "dia", "laat", "dag",
];
/// How people ask for a price in scripts without spaces, where it is found anywhere in the text.
const PRICE_UNSPACED: &[&str] =
    &["いくら", "料金", "値段", "価格", "多少钱", "多少錢", "价格", "價格", "얼마", "가격"];
/// A name of at least this length may also be the end of a compound: "Lieferzeit".
const COMPOUND_BYTES: usize = 4;

/// The measure that a question asks for.
pub(super) fn asked_for(words: &Spaced) -> Option<&'static Attribute> {
    let is_asked = |attribute: &&Attribute| {
        words.has(attribute.asked)
            || attribute.value == Some(Value::Sum) && words.contains(PRICE_UNSPACED)
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
        Some(match self.value? {
            Value::Sum => self.asked,
            Value::Duration | Value::Moment => TIME_WORDS,
        })
    }

    /// Whether a text has a value of the measure; `None` if that cannot be recognised.
    pub(super) fn has_value(&self, text: &str) -> Option<bool> {
        Some(self.value?.is_in(text))
    }
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
    use super::asked_for;
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
}
