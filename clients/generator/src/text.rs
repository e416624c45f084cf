//! Texts of generated files.

use std::collections::BTreeSet;

use super::contract::{Answer, Body, Contract};

/// `createAgent` as `create_agent`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// The text as lines of at most so many characters, unless a word is longer.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The schemas that operations name.
pub(super) fn names(contract: &Contract) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for operation in &contract.operations {
        if let Body::Json(name) = &operation.body {
            names.insert(name.as_str());
        }
        if let Answer::Object(name) | Answer::List(name) = &operation.answer {
            names.insert(name.as_str());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lines_have_the_form_of_the_language() {
        assert_eq!(snake("listApiKeys"), "list_api_keys");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped(" ", 7), [""; 0]);
    }
}
