//! A list of sources in Markdown, for clients that drop other citations.

use cicerone_domain::Citation;

use super::frame::CompleteReply;

impl CompleteReply {
    /// The list that follows the text; `None` if there is none.
    pub(super) fn source_list(&self) -> Option<String> {
        if !self.lists_sources || self.citations.is_empty() {
            return None;
        }
        let lines: Vec<String> = self.citations.iter().map(line).collect();
        Some(format!("\n\n{}", lines.join("\n")))
    }

    /// The text with the list of sources, if it has one.
    pub(super) fn text_with_sources(&self) -> String {
        format!("{}{}", self.text, self.source_list().unwrap_or_default())
    }
}

fn line(citation: &Citation) -> String {
    let title = escaped(&citation.title);
    match &citation.url {
        Some(url) => format!("- [{title}]({})", destination(url)),
        None => format!("- {title}"),
    }
}

/// The text in one line and without a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.push(' ');
            continue;
        }
        if character.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// The address without characters that would end it.
fn destination(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for character in url.chars() {
        match character {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            other if other.is_control() || other.is_whitespace() => out.push_str("%20"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{destination, escaped};

    #[test]
    fn titles_and_addresses_stay_what_they_are_in_markdown() {
        assert_eq!(escaped("Opening hours 2026"), "Opening hours 2026");
        assert_eq!(escaped("a](x) *b*\n<i>"), "a\\]\\(x\\) \\*b\\* \\<i\\>");
        let url = "https://museum.example/a_(b)?c=d e";
        assert_eq!(destination(url), "https://museum.example/a_%28b%29?c=d%20e");
    }
}
