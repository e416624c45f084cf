//! Questions for a measure, and what the measure is called in tables and lists: "how heavy is it" is answered by "Weight: 19 kg".

use super::spaced::Spaced;

/// How people ask for a measure, and its names.
struct Attribute {
    asked: &'static [&'static str],
    names: &'static [&'static str],
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
    },
    Attribute {
        asked: &["how deep", "wie tief", "qué profundidad", "quelle profondeur", "hoe diep"],
        names: &["depth", "tiefe", "profundidad", "profondeur", "profondità", "diepte"],
    },
    Attribute {
        asked: &["how fast", "wie schnell", "qué velocidad", "quelle vitesse", "hoe snel"],
        names: &["speed", "geschwindigkeit", "velocidad", "vitesse", "velocità", "snelheid"],
    },
    Attribute {
        asked: &[
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
            "wat kost",
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
    },
    Attribute {
        asked: &["how hot", "how warm", "how cold", "wie heiß", "wie warm", "wie kalt"],
        names: &["temperature", "temperatur"],
    },
];
/// A name of at least this length may also be the end of a compound: "Lieferzeit".
const COMPOUND_BYTES: usize = 4;

/// The names of the measure that a question asks for; empty if it asks for none.
pub(super) fn names_asked_for(words: &Spaced) -> &'static [&'static str] {
    let attribute = ATTRIBUTES.iter().find(|attribute| words.has(attribute.asked));
    attribute.map_or(&[], |attribute| attribute.names)
}

/// Whether a term or the first cell of a row is called so.
pub(super) fn is_called(term: &str, names: &[&str]) -> bool {
    let is_name = |word: &str| {
        let word = word.to_lowercase();
        let is_it =
            |name: &&str| word == *name || name.len() >= COMPOUND_BYTES && word.ends_with(*name);
        names.iter().any(is_it)
    };
    !names.is_empty() && term.split(|c: char| !c.is_alphanumeric()).any(is_name)
}

#[cfg(test)]
mod tests {
    use super::{is_called, names_asked_for};
    use crate::extractive::spaced::Spaced;

    #[test]
    fn a_measure_has_names() {
        let names = |question: &str| names_asked_for(&Spaced::new(question));
        assert!(is_called("Weight", names("How heavy is the crane?")));
        assert!(is_called("Gesamtgewicht", names("wie schwer ist der Kran")));
        assert!(is_called("Lieferzeit (Inland)", names("wie lange dauert das?")));
        assert!(!is_called("Height", names("How heavy is the crane?")));
        assert!(!is_called("Freight", names("Which crane is it?")));
    }
}
