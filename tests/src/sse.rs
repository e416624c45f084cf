//! Server-Sent Events, parsed strictly.

use serde_json::Value;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The text after `event:`.
    pub name: String,
    /// The JSON after `data:`.
    pub data: Value,
}

/// Parses a whole stream: each event is a line `event: <name>`, a line `data: <JSON>` and a blank
/// line; comments are separate blocks. Panics on anything else.
pub fn parse(stream: &str) -> Vec<Event> {
    let Some(body) = stream.strip_suffix("\n\n") else {
        panic!("the stream does not end with a blank line: {stream:?}");
    };
    body.split("\n\n").filter_map(block).collect()
}

fn block(block: &str) -> Option<Event> {
    if block.starts_with(':') {
        assert!(!block.contains('\n'), "a comment is one line: {block:?}");
        return None;
    }
    let (name, data) = block
        .strip_prefix("event: ")
        .and_then(|rest| rest.split_once("\ndata: "))
        .unwrap_or_else(|| panic!("not an event: {block:?}"));
    assert!(!data.contains('\n'), "an event has one line of data: {block:?}");
    let data = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {block:?}"));
    Some(Event { name: name.to_owned(), data })
}

/// A reply as its events describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// The tokens, in order.
    pub tokens: Vec<String>,
    /// The last event, `done` or `error`.
    pub last: Event,
}

impl Streamed {
    /// Parses a stream of tokens that ends with one `done` or `error`.
    pub fn parse(stream: &str) -> Self {
        let mut events = parse(stream);
        let last = events.pop().expect("a stream has at least one event");
        assert!(matches!(last.name.as_str(), "done" | "error"), "the end is missing: {last:?}");
        let tokens = events.into_iter().map(|event| {
            assert_eq!(event.name, "token", "{event:?}");
            let fields = event.data.as_object().expect("an object");
            assert_eq!(fields.len(), 1, "a token has one field: {event:?}");
            event.data["content"].as_str().expect("a string").to_owned()
        });
        Self { tokens: tokens.collect(), last }
    }

    /// The reply's text.
    pub fn text(&self) -> String {
        self.tokens.concat()
    }

    /// The data of the final `done`.
    #[track_caller]
    pub fn done(&self) -> &Value {
        assert_eq!(self.last.name, "done", "{:?}", self.last);
        &self.last.data
    }
}
