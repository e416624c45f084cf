//! An unfinished reply.

use cicerone_domain::ports::{ReplyRequest, Stage, Stages, TokenSink};

use crate::citations::MarkFilter;

/// The text of a reply so far, without citation marks. It is passed on as it grows.
pub(super) struct Draft {
    filter: MarkFilter,
    text: String,
    tokens: Option<TokenSink>,
    stages: Stages,
    is_started: bool,
    /// Bytes that the model may still write.
    room: usize,
}

/// The assumed largest size of a token in bytes. Real ones have about four.
const BYTES_A_TOKEN: usize = 32;

impl Draft {
    /// An empty draft of a reply to `request`, with the number of passages that the model received and the maximum
    /// number of tokens.
    pub(super) fn new(
        request: &ReplyRequest,
        passages: usize,
        tokens: Option<TokenSink>,
        most_tokens: u32,
    ) -> Self {
        Self {
            filter: MarkFilter::new(passages),
            text: String::new(),
            tokens,
            stages: request.stages.clone(),
            is_started: false,
            room: usize::try_from(most_tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_A_TOKEN),
        }
    }

    /// Whether the model wrote far more than was requested. The rest is dropped.
    pub(super) const fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Bytes that the model may still write.
    pub(super) const fn room(&self) -> usize {
        self.room
    }

    /// Adds text that the model wrote.
    pub(super) fn push(&mut self, fragment: &str) {
        self.is_started |= !fragment.is_empty();
        let fits = if fragment.len() <= self.room {
            self.room -= fragment.len();
            fragment
        } else {
            let ends = fragment.char_indices().map(|(at, _)| at);
            let end = ends.take_while(|at| *at <= self.room).last().unwrap_or(0);
            self.room = 0;
            fragment.get(..end).unwrap_or_default()
        };
        let clean = self.filter.push(fits);
        self.pass_on(clean);
    }

    /// Whether anything has arrived.
    pub(super) const fn is_started(&self) -> bool {
        self.is_started
    }

    /// Whether the reply has any text.
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
        // Databases cannot store this character in texts, and readers do not miss it.
        clean.retain(|char| char != '\0');
        if clean.is_empty() {
            return;
        }
        let is_first = self.text.is_empty();
        self.text.push_str(&clean);
        if let Some(tokens) = &self.tokens {
            if is_first {
                self.stages.begin(Stage::Tokens);
            }
            tokens.send(clean);
        }
    }
}
