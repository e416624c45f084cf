//! Facts that a page states in JSON-LD but not in its text: questions with their answers (`FAQPage`, `QAPage`), the
//! price of a product, the address and opening hours of a place (schema.org).

use select::document::Document;
use select::node::Node;
use select::predicate::Name;
use serde_json::Value;

/// The maximum size of the JSON that is read from a page.
const BYTES: usize = 512 * 1024;
/// The maximum number of objects that are read from it.
const THINGS: usize = 300;
/// The maximum nesting depth.
const DEPTH: usize = 8;
/// A text is already contained in the page if this many of its letters and digits occur there in a row.
const REPEATED_CHARS: usize = 40;
/// The longest value of a fact, in characters.
const FACT_CHARS: usize = 300;

/// Properties of products, places and events that people ask about, and their labels.
const FACTS: [(&str, &str); 15] = [
    ("price", "Price"),
    ("lowPrice", "Price from"),
    ("highPrice", "Price to"),
    ("availability", "Availability"),
    ("brand", "Brand"),
    ("sku", "SKU"),
    ("mpn", "Part number"),
    ("telephone", "Telephone"),
    ("faxNumber", "Fax"),
    ("email", "E-mail"),
    ("address", "Address"),
    ("openingHours", "Opening hours"),
    ("startDate", "Begins"),
    ("endDate", "Ends"),
    ("location", "Location"),
];
/// The types whose facts are read. Articles and websites are excluded, because they would repeat the publisher's
/// address on every page.
const WITH_FACTS: [&str; 12] = [
    "AggregateOffer",
    "Event",
    "Hotel",
    "IndividualProduct",
    "LocalBusiness",
    "Museum",
    "Offer",
    "Place",
    "Product",
    "ProductModel",
    "Restaurant",
    "Store",
];

/// The facts that the page states and `text` lacks, as Markdown; empty if there are none.
pub(super) fn beyond(document: &Document, text: &str) -> String {
    let mut facts = Facts { said: letters(text), out: String::new(), things: 0 };
    let mut left = BYTES;
    for script in document.find(Name("script")) {
        let is_data = script.attr("type").is_some_and(|kind| {
            kind.trim().to_ascii_lowercase().starts_with("application/ld+json")
        });
        if !is_data {
            continue;
        }
        let json = script.text();
        if json.len() > left {
            break;
        }
        left -= json.len();
        // Invalid JSON is ignored.
        if let Ok(value) = serde_json::from_str::<Value>(json.trim()) {
            facts.value(&value, 0);
        }
    }
    facts.out
}

struct Facts {
    /// The letters and digits of the page's text and of the added facts.
    said: String,
    out: String,
    things: usize,
}

impl Facts {
    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.value(value, depth)),
            Value::Object(thing) if depth < DEPTH && self.things < THINGS => {
                self.things += 1;
                if is_a(value, &["Question"]) {
                    self.question(value);
                } else if is_a(value, &WITH_FACTS) {
                    self.facts(value);
                }
                for key in ["@graph", "mainEntity", "hasPart", "itemListElement", "item"] {
                    if let Some(inner) = thing.get(key) {
                        self.value(inner, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn question(&mut self, question: &Value) {
        let Some(asked) = question.get("name").and_then(plain) else { return };
        let answers =
            ["acceptedAnswer", "suggestedAnswer"].into_iter().filter_map(|key| question.get(key));
        let answers = answers.flat_map(many).filter_map(|answer| plain(answer.get("text")?));
        let new: Vec<String> = answers.filter(|answer| !self.says(answer)).collect();
        if !new.is_empty() {
            self.add(&format!("## {}", one_line(&asked)));
            new.iter().for_each(|answer| self.add(answer));
        }
    }

    fn facts(&mut self, thing: &Value) {
        let mut lines = Vec::new();
        self.facts_of(thing, &mut lines);
        thing
            .get("offers")
            .into_iter()
            .flat_map(many)
            .take(10)
            .for_each(|offer| self.facts_of(offer, &mut lines));
        if lines.is_empty() {
            return;
        }
        let name = thing.get("name").and_then(plain).map(|name| format!("{}\n", one_line(&name)));
        self.add(&(name.unwrap_or_default() + &lines.join("\n")));
    }

    fn facts_of(&self, thing: &Value, lines: &mut Vec<String>) {
        for (key, label) in FACTS {
            let values = thing.get(key).into_iter().flat_map(many).filter_map(fact);
            let values: Vec<String> = values.filter(|value| !self.says(value)).collect();
            if values.is_empty() {
                continue;
            }
            let currency = thing
                .get("priceCurrency")
                .and_then(Value::as_str)
                .filter(|_| label.starts_with("Price"));
            let currency = currency.map(|currency| format!(" {currency}")).unwrap_or_default();
            let line = format!("- {label}: {}{currency}", values.join("; "));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }

    /// Whether the page contains a text. Only the beginning is compared, because pages cut long texts differently.
    fn says(&self, text: &str) -> bool {
        let start: String = letters(text).chars().take(REPEATED_CHARS).collect();
        self.said.contains(&start)
    }

    fn add(&mut self, block: &str) {
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
        self.out.push_str(block);
        self.said.push_str(&letters(block));
    }
}

/// Whether an object has one of these types.
fn is_a(thing: &Value, types: &[&str]) -> bool {
    let stated = thing.get("@type").into_iter().flat_map(many).filter_map(Value::as_str);
    stated
        .map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or_default())
        .any(|name| types.contains(&name))
}

/// One value or several.
fn many(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    }
    .iter()
}

/// A fact in one line: a text, a number, or the parts of a name or an address.
fn fact(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => plain_text(
            text.strip_prefix("https://schema.org/")
                .or_else(|| text.strip_prefix("http://schema.org/"))
                .unwrap_or(text),
        ),
        Value::Number(number) => number.to_string(),
        Value::Object(parts) => {
            const PARTS: [&str; 6] = [
                "name",
                "streetAddress",
                "postalCode",
                "addressLocality",
                "addressRegion",
                "addressCountry",
            ];
            let texts = PARTS.iter().filter_map(|part| parts.get(*part)).filter_map(Value::as_str);
            let mut texts: Vec<String> = texts.map(plain_text).collect();
            texts
                .extend(parts.get("address").filter(|_| parts.contains_key("name")).and_then(fact));
            texts.join(", ")
        }
        _ => return None,
    };
    let text = one_line(&text);
    (!text.is_empty() && text.chars().count() <= FACT_CHARS).then_some(text)
}

fn plain(value: &Value) -> Option<String> {
    let text = plain_text(value.as_str()?);
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The text of a value, which may contain HTML elements.
fn plain_text(value: &str) -> String {
    if !value.contains(['<', '&']) || super::depth::exceeds(value, super::DEPTH) {
        return value.to_owned();
    }
    let document = Document::from(value);
    let mut text = String::new();
    super::dom::roots(&document).for_each(|root| push(&root, &mut text));
    text.trim().to_owned()
}

fn push(node: &Node<'_>, text: &mut String) {
    if let Some(own) = node.as_text() {
        text.push_str(own);
        return;
    }
    let name = node.name().unwrap_or_default();
    if super::dom::is_unread(node, name) && name != "head" {
        return;
    }
    let is_block = !super::dom::is_inline(name);
    if is_block && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    node.children().for_each(|child| push(&child, text));
    if is_block && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Letters and digits in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
