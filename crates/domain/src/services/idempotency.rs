//! Use cases of idempotency: who carries a request out, and who gets the answer of before.

use std::sync::Arc;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id;
use crate::id::{Kind as _, kind};
use crate::idempotency::{Claim, Claimed, Fingerprint, IdempotencyKey, StoredResponse, Subject};
use crate::ports::IdempotencyStore;

/// What becomes of a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Carry it out, and complete the claim.
    Proceed(Claim),
    /// Give this answer of before.
    Replay(StoredResponse),
    /// The same request is being carried out: 409, try again in a second.
    InProgress,
    /// The key was used for another request: 422.
    Reused,
    /// The answer of before contained what was deleted since, or what this caller may not see: 404.
    Gone,
}

/// Admits requests with an idempotency key.
#[derive(Clone)]
pub struct Idempotency {
    store: Arc<dyn IdempotencyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Idempotency {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn IdempotencyStore>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, clock, entropy }
    }

    /// Claims `key` for a request with this fingerprint.
    pub async fn admit(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
    ) -> Result<Admission, Error> {
        let mut token = [0; 10];
        id::alphanumeric(self.entropy.as_ref(), &mut token);
        let token = token.iter().map(|byte| char::from(*byte)).collect();
        let claimed =
            self.store.claim(scope.account, key, fingerprint, token, self.clock.now()).await?;
        Ok(match claimed {
            Claimed::Granted(claim) => Admission::Proceed(claim),
            Claimed::InProgress => Admission::InProgress,
            Claimed::Reused => Admission::Reused,
            Claimed::Erased => Admission::Gone,
            Claimed::Replay(response) => match &response.subject {
                Some(subject) if !is_seen(subject, scope) => Admission::Gone,
                Some(_) | None => Admission::Replay(response),
            },
        })
    }

    /// Keeps the answer of a request that was carried out and had no effect.
    pub async fn complete(&self, claim: &Claim, response: StoredResponse) -> Result<(), Error> {
        self.store.complete(claim, response).await
    }

    /// Gives the key back.
    pub async fn release(&self, claim: &Claim) -> Result<(), Error> {
        self.store.release(claim).await
    }
}

/// Whether what an answer contains exists for a caller. One that is restricted to agents sees what
/// belongs to these, and files; what belongs to the account as a whole does not exist for it.
fn is_seen(subject: &Subject, scope: &Scope) -> bool {
    match subject.agent_id {
        Some(agent) => scope.sees(agent),
        None => scope.agents.is_none() || subject.id.starts_with(kind::Upload::PREFIX),
    }
}
