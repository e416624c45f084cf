//! Search in the texts of an agent's conversations.
//!
//! There is no index of them: the texts are read and compared, newest conversation first, up to limits. A request that
//! reaches a limit returns what it has found so far and where to continue.

use crate::access::Scope;
use crate::conversation::{
    Batch, Conversation, ConversationFilter, ListedConversation, Look, NumberedText,
    ReadConversation, ReadFrom, SearchWords,
};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits;
use crate::page::{Listed as _, Page, PageRequest};
use crate::services::conversations::Conversations;
use crate::timestamp::Timestamp;

impl Conversations {
    /// Conversations of an agent in whose messages every word occurs, newest first.
    ///
    /// A page has fewer items than its size, or none, if the search reached one of its limits:
    /// [`SEARCHED_CONVERSATIONS`](limits::SEARCHED_CONVERSATIONS), [`SEARCHED_BYTES`](limits::SEARCHED_BYTES) and
    /// [`SEARCH_MILLIS`](limits::SEARCH_MILLIS). It continues after the last conversation that was searched.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn search(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        words: &SearchWords,
        page: PageRequest,
    ) -> Result<Page<ListedConversation>, Error> {
        let until = self.clock.now().plus_millis(limits::SEARCH_MILLIS);
        let mut search = Search::new(words, &page);
        let mut from = ReadFrom { after: page.after, within: None };
        loop {
            let batch = self.store.read_texts(scope, agent, filter.clone(), from).await?;
            let turn = self.thinking.turn(scope.account).await;
            let next = search.look_through(batch, self.clock.now(), until);
            drop(turn);
            match next {
                Some(next) => from = next,
                None => return Ok(search.page),
            }
        }
    }
}

/// A search in progress.
struct Search<'a> {
    words: &'a SearchWords,
    /// Most conversations to find.
    size: usize,
    page: Page<ListedConversation>,
    /// The conversation that was searched only in part so far.
    current: Option<(Id<kind::Conversation>, Look<'a>)>,
    /// The number of conversations that were searched.
    looked: usize,
    /// The number of bytes of texts that were searched.
    bytes: usize,
}

impl<'a> Search<'a> {
    fn new(words: &'a SearchWords, page: &PageRequest) -> Self {
        Self {
            words,
            size: usize::try_from(page.size).unwrap_or(usize::MAX),
            page: Page { items: Vec::new(), next: page.after.clone() },
            current: None,
            looked: 0,
            bytes: 0,
        }
    }

    /// Searches a batch. Returns where to continue; `None` if the page is complete.
    fn look_through(
        &mut self,
        batch: Batch<NumberedText>,
        now: Timestamp,
        until: Timestamp,
    ) -> Option<ReadFrom> {
        let Batch { read, next } = batch;
        let unfinished = next.as_ref().and_then(|next| next.within).map(|(id, _)| id);
        let mut begun = self.current.take();
        let mut left = read.len();
        for ReadConversation { conversation, messages } in read {
            left -= 1;
            let mut look = match begun.take() {
                Some((id, look)) if id == conversation.id => look,
                Some(_) | None => Look::new(self.words),
            };
            for message in &messages {
                self.bytes += message.text.len();
                look.look_at(message.number, &message.text);
            }
            let goes_on = unfinished == Some(conversation.id) && !look.is_over();
            if goes_on && self.bytes < limits::SEARCHED_BYTES {
                self.current = Some((conversation.id, look));
                break;
            }
            if goes_on && self.looked > 0 {
                // The next request begins with it. One that is larger than the limit is compared up to the limit.
                return None;
            }
            if self.take(conversation, look, left > 0 || next.is_some()) {
                return None;
            }
        }
        let Some(next) = next else {
            self.page.next = None;
            return None;
        };
        if self.current.is_none() {
            self.page.next.clone_from(&next.after);
        }
        let is_over = self.bytes >= limits::SEARCHED_BYTES || now >= until;
        // A request searches at least one conversation, so that the next one makes progress.
        let is_first = self.current.is_some() && self.looked == 0;
        if is_over && !is_first {
            return None;
        }
        Some(match self.current {
            Some(_) => next,
            None => ReadFrom { within: None, ..next },
        })
    }

    /// Adds a conversation that was searched, if the words were found. Returns true if the page is complete.
    fn take(&mut self, conversation: Conversation, look: Look<'_>, follows: bool) -> bool {
        self.looked += 1;
        self.page.next = follows.then(|| conversation.position());
        if let Some(found) = look.outcome() {
            self.page.items.push(ListedConversation { conversation, found: Some(found) });
        }
        let is_full = self.page.items.len() >= self.size;
        is_full || self.looked >= limits::SEARCHED_CONVERSATIONS || !follows
    }
}

#[cfg(test)]
mod tests {
    use super::Search;
    use crate::conversation::{
        Batch, Channel, Conversation, ConversationCounts, Metadata, NumberedText, ReadConversation,
        ReadFrom, SearchWords,
    };
    use crate::page::{Listed as _, PageRequest};
    use crate::{Id, SystemEntropy, Timestamp, limits};

    const NOW: Timestamp = Timestamp::from_millis(0);
    const LATER: Timestamp = Timestamp::from_millis(1);

    fn read(texts: &[&str]) -> ReadConversation<NumberedText> {
        let conversation = Conversation {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            agent_id: Id::random(&SystemEntropy),
            metadata: Metadata::default(),
            channel: Channel::Api,
            widget_id: None,
            visitor: None,
            handoff_requested_at: None,
            lead: None,
            counts: ConversationCounts::default(),
            created_at: NOW,
            updated_at: NOW,
        };
        let text = |(number, text): (u64, &&str)| NumberedText { number, text: (*text).to_owned() };
        ReadConversation { conversation, messages: (1..).zip(texts).map(text).collect() }
    }

    /// A batch whose last conversation is incomplete, or that others follow.
    fn batch(read: &[&ReadConversation<NumberedText>], goes_on: bool) -> Batch<NumberedText> {
        let last = read.last().map(|last| &last.conversation).unwrap();
        let within = goes_on.then_some((last.id, 7));
        let next = Some(ReadFrom { after: Some(last.position()), within });
        Batch { read: read.iter().map(|read| (*read).clone()).collect(), next }
    }

    fn search(words: &SearchWords) -> Search<'_> {
        Search::new(words, &PageRequest { size: 2, after: None })
    }

    #[test]
    fn a_page_ends_when_it_is_full_and_goes_on_behind_its_last_item() {
        let words = SearchWords::parse("nine").unwrap();
        let (hit, miss) = (read(&["at nine"]), read(&["at ten"]));
        let mut search = search(&words);
        let next = search.look_through(batch(&[&hit, &miss, &hit, &miss], false), NOW, LATER);
        assert_eq!((next, search.page.items.len()), (None, 2));
        assert_eq!(search.page.next, Some(hit.conversation.position()));
        let mut search = self::search(&words);
        let last = Batch { next: None, ..batch(&[&hit, &hit], false) };
        assert_eq!(search.look_through(last, NOW, LATER), None);
        assert_eq!(search.page.next, None, "the last page is known");
    }

    #[test]
    fn a_conversation_is_looked_at_over_several_batches() {
        let words = SearchWords::parse("nine ten").unwrap();
        let whole = read(&["at nine"]);
        let mut search = search(&words);
        let next = search.look_through(batch(&[&whole], true), NOW, LATER).unwrap();
        assert!(next.within.is_some() && search.page.items.is_empty());
        let rest = ReadConversation { messages: read(&["ten"]).messages, ..whole.clone() };
        // The words are found before its end, so the rest is skipped.
        let next = search.look_through(batch(&[&rest], true), NOW, LATER).unwrap();
        assert_eq!((next.within, search.page.items.len()), (None, 1));
        assert_eq!(search.page.items[0].found.as_ref().unwrap().text, "at nine");
        // Hits in a conversation that has been deleted do not count for the next one.
        let mut search = self::search(&words);
        search.look_through(batch(&[&whole], true), NOW, LATER).unwrap();
        let other = read(&["ten"]);
        assert_eq!(
            search.look_through(Batch { next: None, ..batch(&[&other], false) }, NOW, LATER),
            None
        );
        assert!(search.page.items.is_empty());
    }

    #[test]
    fn a_search_ends_at_its_bounds_and_always_gets_on() {
        let words = SearchWords::parse("nine").unwrap();
        let miss = read(&["at ten"]);
        let mut late = search(&words);
        assert_eq!(late.look_through(batch(&[&miss], false), LATER, LATER), None);
        assert_eq!(late.page.next, Some(miss.conversation.position()));
        // The first conversation is searched up to the limit of bytes, even if it takes long.
        let large = read(&[&"x".repeat(limits::SEARCHED_BYTES / 2)]);
        let mut alone = search(&words);
        assert!(alone.look_through(batch(&[&large], true), LATER, LATER).is_some());
        let next = alone.look_through(batch(&[&large], true), LATER, LATER);
        assert_eq!((next, alone.page.next), (None, Some(large.conversation.position())));
        // Further ones are left to the next request.
        let mut second = search(&words);
        assert!(second.look_through(batch(&[&miss, &large], true), NOW, LATER).is_some());
        assert_eq!(second.look_through(batch(&[&large], true), NOW, LATER), None);
        assert_eq!(second.page.next, Some(miss.conversation.position()));
        // A conversation that was deleted after its beginning was read does not end the list.
        let mut gone = search(&words);
        gone.look_through(batch(&[&large], true), NOW, LATER).unwrap();
        let after = Some(large.conversation.position());
        let nothing = Batch { read: Vec::new(), next: Some(ReadFrom { after, within: None }) };
        assert_eq!(gone.look_through(nothing, LATER, LATER), None);
        assert_eq!(gone.page.next, Some(large.conversation.position()));
        let mut many = search(&words);
        let mut batches = 0;
        while many.look_through(batch(&[&miss; 64], false), NOW, LATER).is_some() {
            batches += 1;
        }
        assert_eq!((batches, many.looked), (31, limits::SEARCHED_CONVERSATIONS));
    }
}
