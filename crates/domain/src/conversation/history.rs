//! The history that a question comes with.

use std::collections::VecDeque;

use super::Message;
use crate::limits;
use crate::text::is_blank;

/// The newest of `messages`, oldest first: at most [`HISTORY_MESSAGES`](limits::HISTORY_MESSAGES) with
/// [`HISTORY_BYTES`](limits::HISTORY_BYTES) of text. Blank ones are left out. The first message from the end that does not fit
/// ends the history, so that it has no gap.
pub fn recent(messages: impl DoubleEndedIterator<Item = Message>) -> Vec<Message> {
    let mut room = limits::HISTORY_BYTES;
    let mut recent = VecDeque::new();
    for message in messages.rev().filter(|message| !is_blank(&message.content)) {
        let Some(left) = room.checked_sub(message.content.len()) else { break };
        if recent.len() == limits::HISTORY_MESSAGES {
            break;
        }
        room = left;
        recent.push_front(message);
    }
    recent.into()
}

#[cfg(test)]
mod tests {
    use super::{Message, recent};
    use crate::conversation::Role;
    use crate::{Timestamp, limits};

    fn said(texts: &[&str]) -> Vec<String> {
        let message = |text: &&str| Message {
            role: Role::User,
            content: (*text).to_owned(),
            sources_used: Vec::new(),
            timestamp: Timestamp::from_millis(0),
        };
        recent(texts.iter().map(message)).into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn the_newest_messages_that_fit_are_kept() {
        assert_eq!(said(&["a", " ", "b"]), ["a", "b"]);
        let long = "x".repeat(limits::HISTORY_BYTES - 3);
        assert_eq!(said(&["a", &long, "two", ""]), [&long, "two"]);
        assert_eq!(said(&["a", &long, "four"]), ["four"]);
        let many = vec!["m"; limits::HISTORY_MESSAGES + 1];
        assert_eq!(said(&many).len(), limits::HISTORY_MESSAGES);
    }
}
