//! Questions, and the groups that they join.

use crate::content::cut_at_word;
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;

/// The place of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionAt {
    /// The conversation in which it was asked.
    pub conversation_id: Id<kind::Conversation>,
    /// Its position in the conversation, from 0.
    pub position: i64,
}

impl QuestionAt {
    /// The number of the message in the conversation, from 1.
    pub fn number(self) -> u64 {
        u64::try_from(self.position).map_or(0, |position| position + 1)
    }

    /// The id of the gap that the question begins. Requests that group at the same time give it the same id.
    pub fn gap_id(self) -> Id<kind::Gap> {
        Id::derived(&[&self.conversation_id.to_string(), &self.position.to_string()])
    }
}

/// A question as it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedQuestion {
    /// Where it was asked.
    pub at: QuestionAt,
    /// What was asked; a long text is cut.
    pub text: String,
    /// When it was asked.
    pub asked_at: Timestamp,
}

impl AskedQuestion {
    /// The question as it is shown: at most [`GAP_EXAMPLE_CHARS`](limits::GAP_EXAMPLE_CHARS).
    #[must_use]
    pub fn shortened(self) -> Self {
        Self { text: cut_at_word(&self.text, limits::GAP_EXAMPLE_CHARS).into_owned(), ..self }
    }
}

/// Questions without a group, and the groups that they may join.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ungrouped {
    /// The questions, oldest first.
    pub questions: Vec<AskedQuestion>,
    /// The gaps with the latest questions.
    pub gaps: Vec<KnownGap>,
}

/// A gap that questions may join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownGap {
    /// The gap that a question joins if it is similar enough.
    pub id: Id<kind::Gap>,
    /// Its first questions, which represent it, each cut.
    pub questions: Vec<String>,
}

/// The group that a question joins, because it is most similar to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The group with that number.
    Group(usize),
    /// The group that the question with that number began: an earlier one, or the question itself.
    Question(usize),
}

/// A question with the gap that it was put into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedQuestion {
    /// The message that asks it.
    pub at: QuestionAt,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The gap that counts it.
    pub gap: Id<kind::Gap>,
    /// Whether the gap is made if it does not exist.
    pub is_new: bool,
}

impl Ungrouped {
    /// The gap of each question, from the groups that the questions joined.
    pub fn place(&self, joined: &[Joined]) -> Vec<PlacedQuestion> {
        let placed = |(question, joined): (&AskedQuestion, &Joined)| {
            let (gap, is_new) = match joined {
                Joined::Group(number) => (self.gaps.get(*number)?.id, false),
                Joined::Question(first) => (self.questions.get(*first)?.at.gap_id(), true),
            };
            Some(PlacedQuestion { at: question.at, asked_at: question.asked_at, gap, is_new })
        };
        self.questions.iter().zip(joined).filter_map(placed).collect()
    }
}
