//! A cache of replies: the same questions are asked again, and get the same reply until the content changes.

use std::fmt;
use std::sync::Arc;

use cicerone_domain::ports::{ModelReply, ReplyRequest};
use cicerone_domain::retrieval::ResultId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The size of the cache in bytes, for all agents together: some 12,000 replies.
const BYTES: u64 = 5 * 1_024 * 1_024;
/// Twice the expected number of entries: the keys of as many evicted ones as are expected are remembered, and one that
/// comes again replaces entries that did not.
const ENTRIES: usize = 24_576;
/// The longest cached reply, in bytes. Replies have some 300 characters, or up to 900, of at most three bytes in most scripts.
const TEXT_BYTES: usize = 3_072;
/// The size of an entry in addition to its content: its place in the table, and what the allocator adds.
const OVERHEAD: usize = 128;

/// The replies to questions, by the search that they are based on. Clones share them.
#[derive(Clone)]
pub(super) struct Replies(Arc<Cache<ResultId, Arc<Known>, Weight>>);

/// A reply, and what it depends on besides the search.
struct Known {
    max_tokens: u32,
    text: Box<str>,
    cited: Box<[u8]>,
    is_cut: bool,
}

impl Replies {
    /// The reply to a request: the cached one, or the result of `make`. It depends only on the search and the token limit, unless
    /// nothing was found: then the earlier messages tell the language.
    pub(super) fn of(
        &self,
        request: &ReplyRequest,
        make: impl FnOnce() -> ModelReply,
    ) -> ModelReply {
        let is_found = !request.passages.is_empty();
        let Some(result) = request.result.filter(|_| is_found) else { return make() };
        let max_tokens = request.profile.max_tokens.get();
        if let Some(known) = self.0.get(&result).filter(|known| known.max_tokens == max_tokens) {
            let cited = known.cited.iter().map(|index| usize::from(*index)).collect();
            let (text, is_cut) = (known.text.to_string(), known.is_cut);
            return ModelReply { text, cited, is_cut, ..ModelReply::default() };
        }
        let reply = make();
        let cited: Option<Box<[u8]>> =
            reply.cited.iter().map(|index| u8::try_from(*index).ok()).collect();
        if let Some(cited) = cited.filter(|_| reply.text.len() <= TEXT_BYTES) {
            let (text, is_cut) = (reply.text.as_str().into(), reply.is_cut);
            let known = Known { max_tokens, text, cited, is_cut };
            self.0.insert(result, Arc::new(known));
        }
        reply
    }
}

impl Default for Replies {
    fn default() -> Self {
        Self(Arc::new(Cache::with_weighter(ENTRIES, BYTES, Weight)))
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replies").field("replies", &self.0.len()).finish()
    }
}

/// The size of an entry in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<ResultId, Arc<Known>> for Weight {
    fn weight(&self, _: &ResultId, known: &Arc<Known>) -> u64 {
        (OVERHEAD + size_of::<Known>() + known.text.len() + known.cited.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::agent::ReplyTokens;
    use cicerone_domain::ports::{ModelReply, ReplyRequest};
    use cicerone_domain::retrieval::ResultId;

    use super::{Replies, TEXT_BYTES};
    use crate::testing::request;

    fn asked(max_tokens: u32, result: Option<ResultId>) -> ReplyRequest {
        let mut request = request("When does it open?", vec![crate::testing::hit("At nine.")]);
        request.profile.max_tokens = ReplyTokens::parse(max_tokens.into()).unwrap();
        ReplyRequest { result, ..request }
    }

    fn text(replies: &Replies, request: &ReplyRequest, new: &str) -> String {
        let new = ModelReply { text: new.to_owned(), cited: vec![2, 0], ..ModelReply::default() };
        let reply = replies.of(request, || new);
        assert_eq!(reply.cited, [2, 0]);
        reply.text
    }

    #[test]
    fn a_reply_is_made_once_for_the_same_search_and_limit() {
        let replies = Replies::default();
        let (one, two) = (Some(ResultId::unique()), Some(ResultId::unique()));
        assert_eq!(text(&replies, &asked(9, one), "first"), "first");
        assert_eq!(text(&replies.clone(), &asked(9, one), "again"), "first");
        assert_eq!(text(&replies, &asked(9, two), "of two"), "of two");
        assert_eq!(text(&replies, &asked(8, one), "shorter"), "shorter");
        assert_eq!(text(&replies, &asked(9, None), "without a search"), "without a search");
    }

    #[test]
    fn a_long_reply_is_not_kept() {
        let replies = Replies::default();
        let request = asked(9, Some(ResultId::unique()));
        let long = "x".repeat(TEXT_BYTES + 1);
        assert_eq!(text(&replies, &request, &long), long);
        assert_eq!(text(&replies, &request, "again"), "again");
    }

    #[test]
    fn many_replies_take_no_more_than_the_cache_may() {
        let replies = Replies::default();
        for _ in 0..20_000 {
            let request = asked(9, Some(ResultId::unique()));
            text(&replies, &request, &"x".repeat(1_000));
        }
        assert!(replies.0.weight() <= super::BYTES, "{} bytes", replies.0.weight());
        assert!(replies.0.len() > 3_000, "{} replies", replies.0.len());
    }
}
