//! Replies that are cached with the result of the search that they are based on.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::ports::ModelReply;

/// A place for one reply. Clones share it.
///
/// A model whose reply depends only on the question, the hits and the token limit caches it here, so that the same
/// question to the same content is not answered twice. Replies of more than 1,024 bytes are not kept.
#[derive(Clone, Default)]
pub struct ReplyMemo(Arc<OnceLock<KnownReply>>);

struct KnownReply {
    question: Box<str>,
    max_tokens: u32,
    reply: ModelReply,
}

impl ReplyMemo {
    /// The longest text that is kept, of the question and the reply together.
    const TEXT_BYTES: usize = 1_024;
    /// The maximum memory that it takes.
    pub const BYTES: usize = Self::TEXT_BYTES + size_of::<OnceLock<KnownReply>>() + 128;

    /// The reply to `question` with this token limit: the cached one, or the result of `make`.
    pub fn reply(
        &self,
        question: &str,
        max_tokens: u32,
        make: impl FnOnce() -> ModelReply,
    ) -> ModelReply {
        let is_same =
            |kept: &&KnownReply| *kept.question == *question && kept.max_tokens == max_tokens;
        if let Some(kept) = self.0.get().filter(is_same) {
            return kept.reply.clone();
        }
        let reply = make();
        if question.len() + reply.text.len() <= Self::TEXT_BYTES {
            let kept = KnownReply { question: question.into(), max_tokens, reply: reply.clone() };
            // Another request with the same question may have been first.
            let _ = self.0.set(kept);
        }
        reply
    }
}

impl fmt::Debug for ReplyMemo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyMemo").field("is_kept", &self.0.get().is_some()).finish()
    }
}

/// Results do not depend on whether a reply is kept.
impl PartialEq for ReplyMemo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::ReplyMemo;
    use crate::ports::ModelReply;

    fn reply(text: &str) -> ModelReply {
        ModelReply { text: text.to_owned(), ..ModelReply::default() }
    }

    #[test]
    fn a_reply_is_made_once_for_the_same_question_and_bound() {
        let memo = ReplyMemo::default();
        let said =
            |question: &str, bound, new: &str| memo.reply(question, bound, || reply(new)).text;
        assert_eq!(said("a", 9, "first"), "first");
        assert_eq!(memo.clone().reply("a", 9, || unreachable!()).text, "first");
        assert_eq!(said("b", 9, "of b"), "of b");
        assert_eq!(said("a", 8, "shorter"), "shorter");
        assert_eq!(said("a", 9, "later"), "first");
    }

    #[test]
    fn a_long_reply_is_not_kept() {
        let memo = ReplyMemo::default();
        let long = "x".repeat(ReplyMemo::TEXT_BYTES);
        assert_eq!(memo.reply("a", 9, || reply(&long)).text, long);
        assert_eq!(memo.reply("a", 9, || reply("again")).text, "again");
    }
}
