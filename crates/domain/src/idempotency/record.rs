//! The record of the first request with a key, and what later requests with that key find.

use super::{Audience, Claim, Claimed, Fingerprint, KeptAnswer};
use crate::access::Scope;
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;

/// The record of the first request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Distinguishes the request from others.
    pub fingerprint: Fingerprint,
    /// The state of the request.
    pub state: RecordState,
    /// What the caller who made the request could see.
    pub maker: Scope,
    /// When the record expires.
    pub expires_at: Timestamp,
}

/// The state of the first request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordState {
    /// It is being carried out.
    Claimed {
        /// Names the claim.
        token: String,
        /// When the claim counts as abandoned.
        lease_until: Timestamp,
    },
    /// It was carried out, with this answer.
    Completed(KeptAnswer),
    /// It was carried out, and its answer was erased since: see [`Subject`](super::Subject).
    Erased {
        /// The agents that the answer named; `None` if it was about the account as a whole.
        agents: Option<Vec<Id<kind::Agent>>>,
    },
}

impl Record {
    /// The record of a request that is about to be carried out.
    pub fn claimed(fingerprint: Fingerprint, maker: Scope, token: String, now: Timestamp) -> Self {
        let lease_until = now.plus_millis(limits::IDEMPOTENCY_LEASE_MILLIS);
        Self {
            fingerprint,
            state: RecordState::Claimed { token, lease_until },
            maker,
            expires_at: now.plus_millis(limits::IDEMPOTENCY_LIFE_MILLIS),
        }
    }

    /// What a request with this fingerprint finds; `None` if the key is free. A key is free if its record has expired,
    /// or if a request that claimed it was not completed within its lease.
    pub fn meet(self, fingerprint: Fingerprint, now: Timestamp) -> Option<Claimed> {
        let is_abandoned = matches!(
            self.state,
            RecordState::Claimed { lease_until, .. } if lease_until <= now
        );
        if self.expires_at <= now || is_abandoned {
            return None;
        }
        if self.fingerprint != fingerprint {
            return Some(Claimed::Reused);
        }
        Some(match self.state {
            RecordState::Claimed { .. } => Claimed::InProgress,
            RecordState::Completed(answer) => {
                let audience = Audience::of(self.maker, &answer);
                Claimed::Replay(answer, audience)
            }
            // Only answers with a subject are erased, and refusals have none.
            RecordState::Erased { agents } => {
                Claimed::Erased(Audience { maker: self.maker, agents, is_refusal: false })
            }
        })
    }

    /// Whether `claim` may still be completed: no other request has taken over the key.
    pub fn is_held_by(&self, claim: &Claim) -> bool {
        matches!(&self.state, RecordState::Claimed { token, .. } if *token == claim.token)
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, RecordState};
    use crate::access::Scope;
    use crate::clock::SystemEntropy;
    use crate::idempotency::{Claim, Claimed, Fingerprint, IdempotencyKey, KeptAnswer, Subject};
    use crate::{Id, Timestamp, limits};

    const FIRST: Fingerprint = Fingerprint([1; 32]);
    const OTHER: Fingerprint = Fingerprint([2; 32]);
    const START: Timestamp = Timestamp::from_millis(1_000);

    fn claimed() -> Record {
        let maker = Scope::account(Id::random(&SystemEntropy));
        Record::claimed(FIRST, maker, "token".to_owned(), START)
    }

    fn completed(is_refusal: bool, subject: Option<Subject>) -> Record {
        let answer = KeptAnswer { content: Vec::new(), is_refusal, subject };
        Record { state: RecordState::Completed(answer), ..claimed() }
    }

    #[test]
    fn a_key_is_free_again_when_its_claim_was_abandoned_or_its_record_is_over() {
        let lease_end = START.plus_millis(limits::IDEMPOTENCY_LEASE_MILLIS);
        let before = lease_end.plus_millis(-1);
        assert_eq!(claimed().meet(FIRST, before), Some(Claimed::InProgress));
        assert_eq!(claimed().meet(OTHER, before), Some(Claimed::Reused));
        assert_eq!(claimed().meet(FIRST, lease_end), None);
        let end = START.plus_millis(limits::IDEMPOTENCY_LIFE_MILLIS);
        assert!(completed(false, None).meet(FIRST, end.plus_millis(-1)).is_some());
        assert_eq!(completed(false, None).meet(FIRST, end), None);
        assert_eq!(completed(false, None).meet(OTHER, end), None);
    }

    #[test]
    fn an_answer_is_for_the_agents_that_it_names_and_a_refusal_says_so() {
        let agent = Id::random(&SystemEntropy);
        let audience = |record: Record| match record.meet(FIRST, START) {
            Some(Claimed::Replay(_, audience) | Claimed::Erased(audience)) => audience,
            other => panic!("{other:?}"),
        };
        let success = completed(false, Some(Subject::of_agent("src_1", agent)));
        let success = audience(success);
        assert_eq!((success.agents, success.is_refusal), (Some(vec![agent]), false));
        assert!(audience(completed(true, None)).is_refusal);
        assert!(!audience(completed(false, None)).is_refusal);
        let erased = RecordState::Erased { agents: Some(vec![agent]) };
        let erased = audience(Record { state: erased, ..claimed() });
        assert_eq!((erased.agents, erased.is_refusal), (Some(vec![agent]), false));
    }

    #[test]
    fn only_the_claim_that_took_the_key_last_completes_it() {
        let record = claimed();
        let key = IdempotencyKey::parse("key").unwrap();
        let claim = Claim { account: record.maker.account, key, token: "token".to_owned() };
        assert!(record.is_held_by(&claim));
        assert!(!record.is_held_by(&Claim { token: "other".to_owned(), ..claim.clone() }));
        assert!(!completed(false, None).is_held_by(&claim));
    }
}
