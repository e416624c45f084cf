//! Pairs in JSON files, and what Chatbase exports and its API returns.

use serde_json::{Map, Value};

use super::found::Found;

/// Names of questions and answers in objects of pairs.
const QUESTIONS: [&str; 5] = ["question", "questions", "q", "prompt", "input"];
const ANSWERS: [&str; 6] = ["answer", "a", "completion", "response", "reply", "output"];
/// Names of lists of pairs.
const PAIRS: [&str; 7] = ["pairs", "qa", "qna", "qAndAs", "qaPairs", "questionsAndAnswers", "faqs"];
/// Names of lists of sources, chatbots or other objects.
const LISTS: [&str; 6] = ["data", "sources", "items", "chatbots", "agents", "chatbot"];
/// Names of lists of web pages.
const PAGES: [&str; 4] = ["urlsToScrape", "urls", "links", "websites"];
/// Names of texts.
const TEXTS: [&str; 2] = ["sourceText", "text"];
/// Settings, which are not content.
const SETTINGS: [&str; 8] = [
    "chatbotName",
    "instructions",
    "systemPrompt",
    "initialMessages",
    "model",
    "temp",
    "temperature",
    "styles",
];
/// How deep objects and lists are looked into.
const DEPTH: usize = 8;

/// Adds what a file contains.
pub(super) fn add(input: &str, bytes: &[u8], found: &mut Found) {
    match serde_json::from_slice(bytes) {
        Ok(value) => {
            if !look(input, "", &value, DEPTH, found) {
                found.refuse(input, "nothing in the file is a pair, a text or an address");
            }
        }
        Err(error) => found.refuse(input, format!("the file is not JSON: {error}")),
    }
}

/// Adds what a value contains. Returns false if it contains nothing that is known.
fn look(input: &str, place: &str, value: &Value, depth: usize, found: &mut Found) -> bool {
    if depth == 0 {
        found.refuse(at(input, place), "it is nested too deeply");
        return true;
    }
    match value {
        Value::Array(items) => {
            let mut is_known = false;
            for (index, item) in items.iter().enumerate() {
                let place = format!("{place}[{index}]");
                let looked = look(input, &place, item, depth - 1, found);
                if !looked {
                    found.refuse(at(input, &place), "it is not a pair, a text or an address");
                }
                is_known = true;
            }
            is_known
        }
        Value::Object(fields) => object(input, place, fields, depth, found),
        _ => false,
    }
}

fn object(
    input: &str,
    place: &str,
    fields: &Map<String, Value>,
    depth: usize,
    found: &mut Found,
) -> bool {
    if fields.contains_key("messages") {
        found.refuse(at(input, place), "conversations are not content and are not imported");
        return true;
    }
    if pair(input, place, fields, found) {
        return true;
    }
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    if ["file", "document", "notion"].contains(&kind) {
        let name =
            ["name", "filename", "title"].iter().find_map(|field| fields.get(*field)?.as_str());
        let name = name.unwrap_or("unnamed");
        found.refuse(
            at(input, place),
            format!("the export does not contain the {kind} `{name}`; import the file itself"),
        );
        return true;
    }
    let mut is_known = false;
    let mut others = Vec::new();
    for (name, value) in fields {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let known = match (name.as_str(), value) {
            (_, Value::Null) => false,
            (name, Value::String(text))
                if TEXTS.contains(&name) || (name == "content" && kind == "text") =>
            {
                found.text(&at(input, &place), text);
                true
            }
            (name, Value::String(url))
                if name == "url" && ["link", "website", "page", "sitemap", ""].contains(&kind) =>
            {
                found.website(url);
                true
            }
            (name, Value::Array(pages)) if PAGES.contains(&name) => {
                for page in pages {
                    match page.as_str().or_else(|| page.get("url")?.as_str()) {
                        Some(url) => found.website(url),
                        None => found.refuse(at(input, &place), "an address must be a text"),
                    }
                }
                true
            }
            (name, list @ (Value::Array(_) | Value::Object(_)))
                if PAIRS.contains(&name) || LISTS.contains(&name) =>
            {
                look(input, &place, list, depth - 1, found)
            }
            (name, _) if SETTINGS.contains(&name) => {
                let reason =
                    "settings are not imported; declare them in a file for `cicerone apply`";
                found.refuse(at(input, &place), reason);
                true
            }
            (_, Value::Array(items)) if !items.is_empty() => {
                others.push(place);
                false
            }
            (_, Value::Object(fields)) if !fields.is_empty() => {
                others.push(place);
                false
            }
            _ => false,
        };
        is_known |= known;
    }
    // An object without any known field is reported as a whole.
    for place in others.iter().filter(|_| is_known) {
        found.refuse(at(input, place), "this field is not known");
    }
    is_known
}

/// Adds a pair, or one for each of several questions.
fn pair(input: &str, place: &str, fields: &Map<String, Value>, found: &mut Found) -> bool {
    let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let (Some(questions), Some(Value::String(answer))) = (field(&QUESTIONS), field(&ANSWERS))
    else {
        return false;
    };
    match questions {
        Value::String(question) => found.pair(input, place, question, answer),
        Value::Array(questions) => {
            for question in questions {
                match question.as_str() {
                    Some(question) => found.pair(input, place, question, answer),
                    None => found.refuse(at(input, place), "a question must be a text"),
                }
            }
        }
        _ => return false,
    }
    true
}

fn at(input: &str, place: &str) -> String {
    if place.is_empty() { input.to_owned() } else { format!("{input}: {place}") }
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::commands::import::found::{Found, Item};

    fn read(json: &str) -> (Vec<Item>, Vec<String>) {
        let mut found = Found::default();
        add("a.json", json.as_bytes(), &mut found);
        let refused =
            found.refused.iter().map(|one| format!("{}: {}", one.what, one.reason)).collect();
        (found.into_items(), refused)
    }

    #[test]
    fn pairs_in_the_usual_shapes() {
        for json in [
            r#"[{"question": "When?", "answer": "At nine."}]"#,
            r#"{"pairs": [{"q": "When?", "a": "At nine."}]}"#,
            r#"[{"prompt": "When?", "completion": "At nine."}]"#,
            r#"{"data": [{"type": "qna", "questions": ["When?"], "answer": "At nine."}]}"#,
        ] {
            let (items, refused) = read(json);
            let [Item::Pairs { content, .. }] = items.as_slice() else {
                panic!("{json}: {items:?}")
            };
            assert_eq!(content, r#"[{"answer":"At nine.","question":"When?"}]"#);
            assert!(refused.is_empty(), "{refused:?}");
        }
    }

    #[test]
    fn what_chatbase_has_is_taken_or_reported() {
        let (items, refused) = read(
            r#"{"chatbotId": "x", "chatbotName": "Guide", "sourceText": "The museum.", "urlsToScrape": ["https://example.com/", "nowhere"],
                "qAndAs": [{"question": "When?", "answer": "At nine."}, {"question": "", "answer": "x"}, 5]}"#,
        );
        let names: Vec<String> = items.iter().map(Item::name).collect();
        assert_eq!(names, ["a.json: sourceText", "https://example.com/", "a.json: 1 pairs"]);
        assert_eq!(refused.len(), 4, "{refused:?}");
        let (items, refused) = read(
            r#"{"data": [{"type": "file", "name": "prices.pdf"}, {"type": "text", "title": "Hours", "content": "Nine."},
                {"type": "link", "url": "https://example.com/a"}]}"#,
        );
        assert_eq!(items.len(), 2);
        assert!(refused[0].contains("prices.pdf"), "{refused:?}");
        let (items, refused) =
            read(r#"[{"id": "1", "messages": [{"role": "user", "content": "Hi"}]}]"#);
        assert!(items.is_empty() && refused[0].contains("conversations"), "{refused:?}");
    }

    #[test]
    fn what_is_something_else_is_reported() {
        for json in ["5", "{}", "[]", r#"{"a": 1}"#, "{", r#"["text"]"#] {
            let (items, refused) = read(json);
            assert!(items.is_empty() && refused.len() == 1, "{json}: {refused:?}");
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(read(&deep).1[0].contains("too deeply"));
    }
}
