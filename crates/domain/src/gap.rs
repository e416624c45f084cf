//! Gaps: groups of alike questions that were not answered, or whose replies were rated down.

mod question;

use crate::conversation::{Channel, RatingValue, Turn};
use crate::error::{Error, FieldError};
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;

pub use question::{AskedQuestion, Joined, KnownGap, PlacedQuestion, QuestionAt, Ungrouped};

/// A group of alike questions that the agent did not answer well.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// `gap_` and 10 characters.
    pub id: Id<kind::Gap>,
    /// Whether it is open, answered or dismissed.
    pub status: GapStatus,
    /// The source that got a pair for it, if that still exists.
    pub source_id: Option<Id<kind::Source>>,
    /// The agent's generation at the last search for an answer to it.
    pub checked_generation: Option<u64>,
    /// The question that was asked first.
    pub question: String,
    /// Questions whose reply cites no source.
    pub unanswered: u64,
    /// Other questions, whose reply was rated down.
    pub rated_down: u64,
    /// When its first question was asked.
    pub first_asked_at: Timestamp,
    /// When its last question was asked.
    pub last_asked_at: Timestamp,
    /// Its latest questions, newest first, at most [`GAP_EXAMPLES`](limits::GAP_EXAMPLES), each cut.
    pub examples: Vec<AskedQuestion>,
}

impl Gap {
    /// Whether to search for an answer again: all of its questions are unanswered, and the agent's content has changed
    /// since the last search.
    pub fn is_due(&self, generation: u64) -> bool {
        self.rated_down == 0 && self.checked_generation != Some(generation)
    }
}

/// What has become of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GapStatus {
    /// Its questions are not answered.
    #[default]
    Open,
    /// Its questions are answered, as far as is known. A later similar question opens it again.
    Answered,
    /// The owner does not want to answer it. Further questions change nothing.
    Dismissed,
}

impl GapStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Open, Self::Answered, Self::Dismissed];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Dismissed => "dismissed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Reads the query parameter `status`.
    ///
    /// # Errors
    ///
    /// Returns an error for any other text.
    pub fn parse(name: &str) -> Result<Self, FieldError> {
        let invalid = || FieldError::new("status", "must be one of open, answered, dismissed");
        Self::from_name(name).ok_or_else(invalid)
    }

    /// The status after a question that was asked at `asked_at` has joined; `since` is when the gap got its status. An
    /// answered gap is opened by questions that were asked later, not by earlier ones that were only grouped later.
    #[must_use]
    pub fn joined_by(self, asked_at: Timestamp, since: Option<Timestamp>) -> Self {
        match self {
            Self::Answered if since.is_none_or(|since| asked_at > since) => Self::Open,
            Self::Open | Self::Answered | Self::Dismissed => self,
        }
    }
}

/// A change of a gap by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapChange {
    /// See [`GapStatus::Open`].
    Open,
    /// See [`GapStatus::Dismissed`].
    Dismiss,
}

impl GapChange {
    /// The names of the statuses that can be set.
    pub const NAMES: [&'static str; 2] = [GapStatus::Open.name(), GapStatus::Dismissed.name()];

    /// Reads the field `status`.
    ///
    /// # Errors
    ///
    /// Returns an error for any other text. A gap becomes answered by an answer only.
    pub fn parse(name: &str) -> Result<Self, FieldError> {
        match GapStatus::from_name(name) {
            Some(GapStatus::Open) => Ok(Self::Open),
            Some(GapStatus::Dismissed) => Ok(Self::Dismiss),
            Some(GapStatus::Answered) | None => {
                Err(FieldError::new("status", "must be one of open, dismissed"))
            }
        }
    }

    /// The status that it leads to.
    pub const fn status(self) -> GapStatus {
        match self {
            Self::Open => GapStatus::Open,
            Self::Dismiss => GapStatus::Dismissed,
        }
    }
}

/// A gap without its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapState {
    /// The gap that has this state.
    pub id: Id<kind::Gap>,
    /// The agent that the questions were for.
    pub agent_id: Id<kind::Agent>,
    /// Whether it is open, answered or dismissed.
    pub status: GapStatus,
    /// The source that got a pair for it, if that still exists.
    pub source_id: Option<Id<kind::Source>>,
    /// The agent's generation at the last search for an answer to it.
    pub checked_generation: Option<u64>,
    /// When it got its status; `None` if it was never changed.
    pub changed_at: Option<Timestamp>,
}

impl GapState {
    /// The gap after a search for an answer at this generation of its agent. A gap that is no longer open does not
    /// change.
    #[must_use]
    pub fn checked(self, generation: u64, is_answered: bool, now: Timestamp) -> Self {
        match (self.status, is_answered) {
            (GapStatus::Answered | GapStatus::Dismissed, _) => self,
            (GapStatus::Open, false) => Self { checked_generation: Some(generation), ..self },
            (GapStatus::Open, true) => Self {
                status: GapStatus::Answered,
                checked_generation: Some(generation),
                changed_at: Some(now),
                ..self
            },
        }
    }

    /// The gap after its owner has opened or dismissed it, at this generation of its agent. A gap that the owner opens
    /// is not closed again until the agent's content changes.
    #[must_use]
    pub fn changed(self, change: GapChange, generation: u64, now: Timestamp) -> Self {
        let checked_generation = match change {
            GapChange::Open => Some(generation),
            GapChange::Dismiss => self.checked_generation,
        };
        Self { status: change.status(), checked_generation, changed_at: Some(now), ..self }
    }

    /// The gap after its owner has answered it by adding a pair to this source.
    #[must_use]
    pub fn answered(self, source: Id<kind::Source>, now: Timestamp) -> Self {
        Self { status: GapStatus::Answered, source_id: Some(source), changed_at: Some(now), ..self }
    }
}

/// The error for an answer that names an unknown source, or one of another agent.
pub fn unknown_source() -> Error {
    Error::invalid("source_id", "must be the id of a source of the agent")
}

/// Why a question is in a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// Its reply cites no source.
    Unanswered,
    /// Its reply was rated down.
    RatedDown,
}

impl GapReason {
    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::RatedDown => "rated_down",
        }
    }
}

/// Whether the questions of conversations of this channel become gaps. Programs that use an agent as a model send
/// prompts of their own, which are not questions of people.
pub const fn is_collected(channel: Channel) -> bool {
    match channel {
        Channel::Api | Channel::Mcp | Channel::Widget => true,
        Channel::OpenAi => false,
    }
}

/// Why the question of a new turn is put into a gap; `None` if it is not.
pub fn reason_of(turn: &Turn) -> Option<GapReason> {
    let is_gap = !turn.is_answered() && is_collected(turn.conversation.channel);
    is_gap.then_some(GapReason::Unanswered)
}

/// What a rating of a reply changes about its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatedQuestion {
    /// It is put into a gap.
    Added,
    /// It is removed from its gap.
    Removed,
}

impl RatedQuestion {
    /// The change if the rating was `before` and is `after`, in a conversation of this channel. A reply is in a gap as
    /// long as it is rated down, if questions of the channel are collected.
    pub fn after(
        before: Option<RatingValue>,
        after: Option<RatingValue>,
        channel: Channel,
    ) -> Option<Self> {
        let [was_down, is_down] = [before, after].map(|value| value == Some(RatingValue::Down));
        match (was_down, is_down) {
            (true, false) => Some(Self::Removed),
            (false, true) if is_collected(channel) => Some(Self::Added),
            (false, _) | (true, true) => None,
        }
    }
}

/// Which gaps are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapFilter {
    /// Those of this status.
    pub status: GapStatus,
    /// The maximum number; the most frequent gaps are listed.
    pub limit: GapLimit,
}

/// Most gaps of a list: 1 to 100, and 20 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapLimit(u32);

impl GapLimit {
    /// Checks the query parameter `limit`.
    ///
    /// # Errors
    ///
    /// The requirement, if it is not an integer in the range.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let (low, high) = limits::PAGE_SIZE_RANGE;
        let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
        let number = number.flatten().filter(|number| (low..=high).contains(number));
        number.map(Self).ok_or_else(|| {
            FieldError::new("limit", format!("must be an integer between {low} and {high}"))
        })
    }

    /// The number of gaps.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for GapLimit {
    fn default() -> Self {
        Self(limits::PAGE_SIZE_DEFAULT)
    }
}

/// Gaps of an agent, the most frequent first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GapList {
    /// At most one page of them.
    pub gaps: Vec<Gap>,
    /// Questions that are in no gap yet.
    pub ungrouped: u64,
}

/// The result of a search for an answer to a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedGap {
    /// The gap that was searched for.
    pub id: Id<kind::Gap>,
    /// Whether its first question is answered.
    pub is_answered: bool,
}

#[cfg(test)]
mod tests {
    use super::{Gap, GapChange, GapLimit, GapState, GapStatus, RatedQuestion};
    use crate::clock::SystemEntropy;
    use crate::conversation::{Channel, RatingValue};
    use crate::id::Id;
    use crate::timestamp::Timestamp;

    #[test]
    fn a_later_question_opens_an_answered_gap_and_no_other() {
        let at = Timestamp::from_millis;
        for (status, asked, since, after) in [
            (GapStatus::Answered, 11, Some(10), GapStatus::Open),
            (GapStatus::Answered, 10, Some(10), GapStatus::Answered),
            (GapStatus::Answered, 10, None, GapStatus::Open),
            (GapStatus::Dismissed, 11, Some(10), GapStatus::Dismissed),
            (GapStatus::Open, 9, Some(10), GapStatus::Open),
        ] {
            assert_eq!(status.joined_by(at(asked), since.map(at)), after);
        }
    }

    fn state(status: GapStatus) -> GapState {
        GapState {
            id: Id::random(&SystemEntropy),
            agent_id: Id::random(&SystemEntropy),
            status,
            source_id: None,
            checked_generation: Some(6),
            changed_at: None,
        }
    }

    #[test]
    fn a_search_closes_an_open_gap_that_is_answered_and_changes_no_other() {
        let now = Timestamp::from_millis(9);
        let read = |gap: GapState| (gap.status, gap.checked_generation, gap.changed_at);
        let open = || state(GapStatus::Open);
        assert_eq!(read(open().checked(7, false, now)), (GapStatus::Open, Some(7), None));
        assert_eq!(read(open().checked(7, true, now)), (GapStatus::Answered, Some(7), Some(now)));
        for status in [GapStatus::Answered, GapStatus::Dismissed] {
            assert_eq!(state(status).checked(7, true, now).checked_generation, Some(6));
            assert_eq!(state(status).checked(7, true, now).status, status);
        }
    }

    #[test]
    fn an_opened_gap_is_not_closed_by_what_the_agent_knows_already() {
        let now = Timestamp::from_millis(9);
        let opened = state(GapStatus::Answered).changed(GapChange::Open, 7, now);
        assert_eq!((opened.status, opened.checked_generation), (GapStatus::Open, Some(7)));
        let dismissed = state(GapStatus::Open).changed(GapChange::Dismiss, 7, now);
        assert_eq!(
            (dismissed.status, dismissed.checked_generation),
            (GapStatus::Dismissed, Some(6))
        );
        let source = Id::random(&SystemEntropy);
        let answered = dismissed.answered(source, now);
        assert_eq!((answered.status, answered.source_id), (GapStatus::Answered, Some(source)));
    }

    #[test]
    fn a_gap_is_searched_for_once_in_each_generation_unless_a_reply_in_it_was_rated_down() {
        let gap = |rated_down, checked_generation| Gap {
            id: Id::random(&SystemEntropy),
            status: GapStatus::Open,
            source_id: None,
            checked_generation,
            question: "Is it open?".to_owned(),
            unanswered: 1,
            rated_down,
            first_asked_at: Timestamp::from_millis(1),
            last_asked_at: Timestamp::from_millis(2),
            examples: Vec::new(),
        };
        assert!(gap(0, None).is_due(7) && gap(0, Some(6)).is_due(7));
        assert!(!gap(0, Some(7)).is_due(7));
        assert!(!gap(1, None).is_due(7) && !gap(1, Some(6)).is_due(7));
    }

    #[test]
    fn a_gap_is_opened_or_dismissed_by_hand_and_not_answered() {
        for name in GapChange::NAMES {
            assert_eq!(GapChange::parse(name).unwrap().status().name(), name);
        }
        for name in ["answered", "", "Open"] {
            assert_eq!(GapChange::parse(name).unwrap_err().param, "status");
        }
    }

    #[test]
    fn a_limit_is_an_integer_from_1_to_100() {
        assert_eq!(GapLimit::default().get(), 20);
        assert_eq!(GapLimit::parse("1").unwrap().get(), 1);
        assert_eq!(GapLimit::parse("100").unwrap().get(), 100);
        for text in ["0", "101", "-1", "+5", "1.0", "", "ten", "99999999999999999999"] {
            assert!(GapLimit::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_question_is_in_a_gap_while_its_reply_is_rated_down() {
        let (up, down) = (Some(RatingValue::Up), Some(RatingValue::Down));
        let (added, removed) = (Some(RatedQuestion::Added), Some(RatedQuestion::Removed));
        for (before, after, change) in [
            (None, down, added),
            (up, down, added),
            (down, down, None),
            (down, up, removed),
            (down, None, removed),
            (None, up, None),
            (up, None, None),
        ] {
            let changed = |channel| RatedQuestion::after(before, after, channel);
            assert_eq!(changed(Channel::Widget), change, "{before:?} {after:?}");
            // Questions of programs are not collected, but one that was is removed.
            assert_eq!(
                changed(Channel::OpenAi),
                change.filter(|change| *change == RatedQuestion::Removed)
            );
        }
    }
}
