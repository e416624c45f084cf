//! The parts that an export writes, one after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use cicerone_domain::conversation::{Batch, PlacedMessage};
use cicerone_domain::{Conversation, Id, kind};

/// A thing to write.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// The export begins.
    Start,
    Begin(Rc<Conversation>),
    /// A message of the conversation that has begun.
    Message(Rc<Conversation>, PlacedMessage),
    /// The conversation is over.
    End,
}

/// The things to write of the pieces that were read.
#[derive(Debug)]
pub(super) struct Steps {
    queue: VecDeque<Step>,
    /// The conversation that has begun and is not over.
    open: Option<Id<kind::Conversation>>,
    is_over: bool,
}

impl Default for Steps {
    fn default() -> Self {
        Self { queue: VecDeque::from([Step::Start]), open: None, is_over: false }
    }
}

impl Steps {
    /// Adds a piece; `None` is the end.
    pub(super) fn extend(&mut self, piece: Option<Batch<PlacedMessage>>) {
        let Some(Batch { read, next }) = piece else {
            self.close();
            self.is_over = true;
            return;
        };
        if read.is_empty() {
            // The conversation that had begun was deleted.
            self.close();
        }
        let unfinished = next.and_then(|next| next.within).map(|(id, _)| id);
        for read in read {
            let id = read.conversation.id;
            let conversation = Rc::new(read.conversation);
            if self.open != Some(id) {
                self.close();
                self.queue.push_back(Step::Begin(Rc::clone(&conversation)));
                self.open = Some(id);
            }
            let message = |message| Step::Message(Rc::clone(&conversation), message);
            self.queue.extend(read.messages.into_iter().map(message));
            if unfinished != Some(id) {
                self.close();
            }
        }
    }

    /// The next one; `None` if another piece is needed.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.queue.pop_front()
    }

    /// Whether the end was added.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.queue.push_back(Step::End);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use cicerone_domain::conversation::{
        Batch, Channel, ConversationCounts, Metadata, NewRating, PlacedMessage, Rating,
        ReadConversation, ReadFrom,
    };
    use cicerone_domain::{
        Citation, Conversation, Id, Listed as _, Message, Role, SystemEntropy, Timestamp,
    };

    use super::{Step, Steps};

    const AT: Timestamp = Timestamp::from_millis(0);

    pub(crate) fn conversation() -> Conversation {
        let pairs = BTreeMap::from([("a".to_owned(), "b,\"c\"".to_owned())]);
        Conversation {
            id: "conv_0123456789".parse().unwrap(),
            account_id: Id::random(&SystemEntropy),
            agent_id: "agent_0123456789".parse().unwrap(),
            metadata: Metadata::parse(pairs).unwrap(),
            channel: Channel::Mcp,
            widget_id: None,
            visitor: None,
            handoff_requested_at: None,
            lead: None,
            counts: ConversationCounts::default(),
            created_at: AT,
            updated_at: AT,
        }
    }

    /// A message; a cited title makes it an answered reply that is rated down.
    pub(crate) fn message(position: i64, content: &str, cited: Option<&str>) -> PlacedMessage {
        let citation = |title: &str| Citation {
            id: "src_0123456789".parse().unwrap(),
            title: title.to_owned(),
            url: None,
            document_id: None,
            passages: Vec::new(),
        };
        let role = if position % 2 == 0 { Role::User } else { Role::Assistant };
        let rating = NewRating::parse("down", Some("=no".to_owned())).unwrap();
        PlacedMessage {
            position,
            message: Message {
                role,
                content: content.to_owned(),
                sources_used: cited.into_iter().map(citation).collect(),
                timestamp: AT,
            },
            rating: cited.map(|_| Rating::after(None, rating, AT)),
        }
    }

    pub(crate) fn batch(
        read: &[(&Conversation, Vec<PlacedMessage>)],
        goes_on: bool,
    ) -> Option<Batch<PlacedMessage>> {
        let within = read.last().filter(|_| goes_on).map(|(last, _)| (last.id, 1));
        let after = read.last().map(|(last, _)| last.position());
        let read = read.iter().map(|(conversation, messages)| ReadConversation {
            conversation: (*conversation).clone(),
            messages: messages.clone(),
        });
        Some(Batch { read: read.collect(), next: Some(ReadFrom { after, within }) })
    }

    fn names(steps: &mut Steps) -> String {
        let name = |step| match step {
            Step::Start => 'S',
            Step::Begin(_) => 'B',
            Step::Message(..) => 'm',
            Step::End => 'E',
        };
        std::iter::from_fn(|| steps.next()).map(name).collect()
    }

    #[test]
    fn a_conversation_in_pieces_begins_and_ends_once() {
        let (one, two) =
            (conversation(), Conversation { id: Id::random(&SystemEntropy), ..conversation() });
        let some = |count| (0..count).map(|at| message(at, "x", None)).collect::<Vec<_>>();
        let mut steps = Steps::default();
        steps.extend(batch(&[(&one, some(2)), (&two, some(1))], true));
        assert_eq!(names(&mut steps), "SBmmEBm");
        steps.extend(batch(&[(&two, some(2))], true));
        steps.extend(batch(&[(&two, some(1))], false));
        assert_eq!(names(&mut steps), "mmmE");
        steps.extend(None);
        assert_eq!(names(&mut steps), "");
        assert!(steps.is_over());
    }

    #[test]
    fn a_conversation_that_is_deleted_between_two_pieces_ends_early() {
        let (one, two) =
            (conversation(), Conversation { id: Id::random(&SystemEntropy), ..conversation() });
        let mut steps = Steps::default();
        steps.extend(batch(&[(&one, vec![message(0, "x", None)])], true));
        assert_eq!(names(&mut steps), "SBm");
        steps.extend(batch(&[], false));
        steps.extend(batch(&[(&two, Vec::new())], false));
        assert_eq!(names(&mut steps), "EBE");
    }
}
