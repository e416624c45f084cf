//! A reply in the making.

use cicerone_domain::ports::TokenSink;

use crate::citations::MarkFilter;

/// What has come of a reply: its text without marks of citation, passed on as it grows.
pub(super) struct Draft {
    filter: MarkFilter,
    text: String,
    tokens: Option<TokenSink>,
    is_started: bool,
}

impl Draft {
    /// An empty one, over so many passages.
    pub(super) fn new(passages: usize, tokens: Option<TokenSink>) -> Self {
        Self { filter: MarkFilter::new(passages), text: String::new(), tokens, is_started: false }
    }

    /// Adds what the model wrote.
    pub(super) fn push(&mut self, fragment: &str) {
        self.is_started |= !fragment.is_empty();
        let clean = self.filter.push(fragment);
        self.pass_on(clean);
    }

    /// Whether anything has come.
    pub(super) const fn is_started(&self) -> bool {
        self.is_started
    }

    /// Whether there is a reply at all.
    pub(super) fn has_text(&self) -> bool {
        !self.text.is_empty() || self.filter.holds_text()
    }

    /// The whole text, and the positions of the passages that it cites, in order.
    pub(super) fn finish(mut self) -> (String, Vec<usize>) {
        let rest = self.filter.finish();
        self.pass_on(rest);
        (self.text, self.filter.cited())
    }

    fn pass_on(&mut self, mut clean: String) {
        // No database text can hold it, and no reader misses it.
        clean.retain(|char| char != '\0');
        if clean.is_empty() {
            return;
        }
        self.text.push_str(&clean);
        if let Some(tokens) = &self.tokens {
            tokens.send(clean);
        }
    }
}
