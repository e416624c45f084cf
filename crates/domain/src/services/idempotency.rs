//! Use cases of idempotency: whether a request is carried out or gets the stored answer.

use std::sync::Arc;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id;
use crate::idempotency::{Claim, Claimed, Fingerprint, IdempotencyKey, KeptAnswer};
use crate::ports::IdempotencyStore;

/// How a request with an idempotency key is handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Carry it out, and complete the claim.
    Proceed(Claim),
    /// Return this stored answer.
    Replay(KeptAnswer),
    /// The same request is being carried out.
    InProgress,
    /// The key was used for another request, or its answer is not for this caller.
    Reused,
    /// The stored answer was erased, because the resource in it was deleted or its secret replaced.
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

    /// Claims `key` for a request with this fingerprint, or returns the stored answer if `scope` may be given it: see
    /// [`Audience::admits`](crate::idempotency::Audience::admits). If the request `deletes`, it is admitted on a full disk
    /// too.
    ///
    /// Invariant: the caller has the permission for the operation. Method and path are part of the fingerprint, so a
    /// stored answer is one of the same operation.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn admit(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
        deletes: bool,
    ) -> Result<Admission, Error> {
        let mut token = [0; 10];
        id::alphanumeric(self.entropy.as_ref(), &mut token);
        let token = token.iter().map(|byte| char::from(*byte)).collect();
        let now = self.clock.now();
        let claimed = self.store.claim(scope, key, fingerprint, token, deletes, now).await?;
        Ok(match claimed {
            Claimed::Granted(claim) => Admission::Proceed(claim),
            Claimed::InProgress => Admission::InProgress,
            Claimed::Replay(answer, audience) if audience.admits(scope) => {
                Admission::Replay(answer)
            }
            Claimed::Erased(audience) if audience.admits(scope) => Admission::Gone,
            Claimed::Reused | Claimed::Replay(..) | Claimed::Erased(_) => Admission::Reused,
        })
    }

    /// Stores the answer to a request that was carried out and had no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn complete(&self, claim: &Claim, answer: KeptAnswer) -> Result<(), Error> {
        self.store.complete(claim, answer).await
    }

    /// Releases the key.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn release(&self, claim: &Claim) -> Result<(), Error> {
        self.store.release(claim).await
    }
}
