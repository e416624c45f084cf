//! Idempotency: repeating a request with the same key has no further effect and gets the same response.

mod record;

use std::fmt;

use crate::access::{ActingKey, Scope, hex};
use crate::audit::AuditRecord;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits;

pub use record::{Record, RecordState};

/// A caller's key: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads the header's value.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it does not have 1 to 255 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let fits = (1..=limits::IDEMPOTENCY_KEY_CHARS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.to_owned()));
        }
        let message =
            format!("must be 1 to {} visible ASCII characters", limits::IDEMPOTENCY_KEY_CHARS);
        Err(Error::invalid("Idempotency-Key", message))
    }

    /// The key as the caller sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// SHA-256 of method, path, query and body. Requests with the same fingerprint are the same
/// request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The right to carry out the request of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The account that the key is scoped to.
    pub account: Id<kind::Account>,
    /// The key that no other request can use until this one is settled.
    pub key: IdempotencyKey,
    /// Names this claim: 10 random characters. A completion with another token is refused.
    pub token: String,
}

/// The result of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// The key is free; the request is to be carried out.
    Granted(Claim),
    /// The same request is being carried out.
    InProgress,
    /// The key was used for another request.
    Reused,
    /// The same request was carried out; this is its response.
    Replay(KeptAnswer, Audience),
    /// The same request was carried out, but its response has since been erased: see [`Subject`].
    Erased(Audience),
}

/// Who may receive a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    /// What the caller who made the request could see.
    pub maker: Scope,
    /// The agents that the answer names; `None` if it is about the account as a whole.
    pub agents: Option<Vec<Id<kind::Agent>>>,
    /// Whether the answer is a refusal.
    pub is_refusal: bool,
}

impl Audience {
    /// Who may be given `answer`, the answer to a request of `maker`.
    pub fn of(maker: Scope, answer: &KeptAnswer) -> Self {
        let agents = answer.subject.as_ref().and_then(|subject| subject.agents.clone());
        Self { maker, agents, is_refusal: answer.is_refusal }
    }

    /// Whether `caller`, of the same account, may be given the answer.
    ///
    /// A success may go to every caller that sees all agents that it names; if it names none, to every
    /// caller that sees at least as much as its maker. A refusal may come from what its maker
    /// could not see, so only callers that see exactly the same are given it.
    pub fn admits(&self, caller: &Scope) -> bool {
        if self.is_refusal {
            return caller.covers(&self.maker) && self.maker.covers(caller);
        }
        match &self.agents {
            Some(agents) => agents.iter().all(|agent| caller.sees(*agent)),
            None => caller.covers(&self.maker),
        }
    }
}

/// A stored answer, in the format of the adapter that made it. Nothing else reads its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The answer as its adapter writes and reads it.
    pub content: Vec<u8>,
    /// Whether the request was refused.
    pub is_refusal: bool,
    /// The resource that the answer contains, if any.
    pub subject: Option<Subject>,
}

/// What a stored answer contains. Deleting the resource, or its agent, erases the answer; replacing the
/// secret of the resource erases the answers that hold one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The resource's id, prefix included, or a name for what has no id.
    pub id: String,
    /// The agent that it belongs to, or that it is.
    pub agent_id: Option<Id<kind::Agent>>,
    /// The agents that the answer names; `None` if it is about the account as a whole.
    pub agents: Option<Vec<Id<kind::Agent>>>,
    /// Whether the answer holds a secret.
    pub holds_secret: bool,
}

impl Subject {
    /// A resource of an agent, or the agent itself. The answer names no other agent.
    pub fn of_agent(id: impl fmt::Display, agent: Id<kind::Agent>) -> Self {
        Self { agent_id: Some(agent), agents: Some(vec![agent]), ..Self::of_account(id) }
    }

    /// Replies of an agent that are stored in no conversation. They may contain text of any of its sources, so that deleting
    /// one erases them; answers about the agent itself stay.
    pub fn of_replies(agent: Id<kind::Agent>) -> Self {
        Self::of_agent(format_args!("{agent}/replies"), agent)
    }

    /// A resource of the account as a whole.
    pub fn of_account(id: impl fmt::Display) -> Self {
        Self { id: id.to_string(), agent_id: None, agents: None, holds_secret: false }
    }

    /// The same resource; the answer names these agents.
    #[must_use]
    pub fn naming(self, agents: Option<Vec<Id<kind::Agent>>>) -> Self {
        Self { agents, ..self }
    }

    /// The same resource; the answer holds its secret.
    #[must_use]
    pub fn with_secret(self) -> Self {
        Self { holds_secret: true, ..self }
    }
}

/// What is written in the transaction of an effect: the answer that completes the claim of the
/// request's idempotency key, and the record for the audit log. Either may be missing. It may also name
/// the key that makes the change, which is then checked in that transaction.
///
/// Invariant: a store that is given a completion writes both in the same transaction as the effect,
/// and changes nothing if the claim was lost ([`Error::ClaimLost`]) or if [`ActingKey::check`] fails.
pub struct Completion<T> {
    answer: Option<(Claim, Render<T>)>,
    record: Option<MakeRecord<T>>,
    acting: Option<ActingKey>,
}

type Render<T> = Box<dyn Fn(&T) -> KeptAnswer + Send>;
type MakeRecord<T> = Box<dyn Fn(&T) -> AuditRecord + Send>;

impl<T> Completion<T> {
    /// A completion of `claim` with the answer that `render` makes of the outcome.
    pub fn new(claim: Claim, render: impl Fn(&T) -> KeptAnswer + Send + 'static) -> Self {
        Self { answer: Some((claim, Box::new(render))), record: None, acting: None }
    }

    /// A completion that only writes the audit record that `record` makes of the outcome.
    pub fn recording(record: impl Fn(&T) -> AuditRecord + Send + 'static) -> Self {
        Self { answer: None, record: Some(Box::new(record)), acting: None }
    }

    /// The same completion, which also writes the audit record that `record` makes of the outcome.
    #[must_use]
    pub fn and_recording(self, record: impl Fn(&T) -> AuditRecord + Send + 'static) -> Self {
        Self { record: Some(Box::new(record)), ..self }
    }

    /// The same completion, for a change made by `acting`.
    #[must_use]
    pub fn by(self, acting: Option<ActingKey>) -> Self {
        Self { acting, ..self }
    }

    /// The key that makes the change, if it is to be checked.
    pub fn acting(&self) -> Option<&ActingKey> {
        self.acting.as_ref()
    }

    /// The claim that is to be completed.
    pub fn claim(&self) -> Option<&Claim> {
        self.answer.as_ref().map(|(claim, _)| claim)
    }

    /// The same completion for a store whose outcome is only a part of what the answer is made
    /// from.
    #[must_use]
    pub fn over<U>(self, whole: impl Fn(&U) -> T + Send + Clone + 'static) -> Completion<U>
    where
        T: 'static,
    {
        let Self { answer, record, acting } = self;
        let answer = answer.map(|(claim, render)| {
            let whole = whole.clone();
            let render: Render<U> = Box::new(move |outcome| render(&whole(outcome)));
            (claim, render)
        });
        let record = record.map(|record| {
            let record: MakeRecord<U> = Box::new(move |outcome| record(&whole(outcome)));
            record
        });
        Completion { answer, record, acting }
    }

    /// The claim with the answer to keep for `outcome`. A store asks again if it repeats a
    /// transaction.
    pub fn answer(&self, outcome: &T) -> Option<(&Claim, KeptAnswer)> {
        self.answer.as_ref().map(|(claim, render)| (claim, render(outcome)))
    }

    /// The audit record of the change, with the objects of `outcome`; `None` if the change is not audited.
    pub fn record(&self, outcome: &T) -> Option<AuditRecord> {
        self.record.as_ref().map(|record| record(outcome))
    }
}

impl<T> fmt::Debug for Completion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").field("claim", &self.claim()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Audience, IdempotencyKey};
    use crate::{Id, Scope, SystemEntropy, limits};

    #[test]
    fn a_key_is_1_to_255_visible_characters() {
        let longest = "~".repeat(limits::IDEMPOTENCY_KEY_CHARS);
        for key in ["!", &longest] {
            assert_eq!(IdempotencyKey::parse(key).unwrap().as_str(), key);
        }
        for key in ["", " ", "a b", "a\t", "é", &format!("{longest}~")] {
            assert!(IdempotencyKey::parse(key).is_err(), "{key:?}");
        }
    }

    #[test]
    fn an_answer_goes_to_those_who_see_what_it_names_and_a_refusal_to_those_who_see_the_same() {
        let account = Id::random(&SystemEntropy);
        let [a, b] = [Id::random(&SystemEntropy), Id::random(&SystemEntropy)];
        let within = |agents: &[_]| Scope {
            account,
            agents: Some(agents.into()),
            ..Scope::account(account)
        };
        let (all, one, other, both) =
            (Scope::account(account), within(&[a]), within(&[b]), within(&[b, a]));
        let admitted = |maker: &Scope, agents: Option<&[_]>, is_refusal| {
            let agents = agents.map(<[_]>::to_vec);
            let audience = Audience { maker: maker.clone(), agents, is_refusal };
            [&all, &both, &one, &other].map(|caller| audience.admits(caller))
        };
        for maker in [&all, &both, &one] {
            assert_eq!(admitted(maker, Some(&[a]), false), [true, true, true, false]);
        }
        assert_eq!(admitted(&all, Some(&[a, b]), false), [true, true, false, false]);
        assert_eq!(admitted(&all, None, false), [true, false, false, false]);
        assert_eq!(admitted(&one, None, false), [true, true, true, false]);
        assert_eq!(admitted(&all, None, true), [true, false, false, false]);
        assert_eq!(admitted(&within(&[a, b]), None, true), [false, true, false, false]);
        assert_eq!(admitted(&one, None, true), [false, false, true, false]);
    }
}
