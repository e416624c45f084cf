//! Fair shares of bounded resources: places, bytes, threads.
//!
//! A [`FairPool`] has a fixed number of units, which parties (usually accounts) take and return. A single party may
//! take all of them. If there are several, each is entitled to an equal share:
//!
//! - A unit that becomes free goes to the waiting party that holds the fewest units; among equals the
//!   order is that of start-time fair queueing (Goyal, Vin and Cheng, 1997), so that a party with a
//!   thousand waiting requests does not come before one with a single request.
//! - A party that holds less than its share is served even if others hold everything, out of a *reserve* beyond the
//!   capacity. So a newcomer does not wait until another party is done. A party's only request is served even if it is
//!   larger than a share, out of half of the reserve: otherwise no reserve would help large requests if there are many
//!   parties.
//!
//! Parties that keep what they hold leave a share to each of the next ones for as long as the reserve lasts: the first
//! has everything, the second half as much, the third a third. A reserve as large as the capacity suffices for three
//! parties, one of twice the capacity for ten. Beyond that, newcomers wait until somebody returns something, so a pool
//! is for what is held briefly.
//!
//! Invariant: the units in use never exceed capacity and reserve together, and they exceed the capacity only by units
//! granted to parties that then held no more than their share, or a single request.

mod permit;
mod state;

use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

pub use permit::FairPermit;
use state::State;

/// The priority of a request that waits in a pool, independent of its party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A person is waiting for it.
    Question,
    /// Work in advance or in the background, served only if no question waits.
    Learning,
}

/// The parties to which a [`FairPool`] would give a unit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacancy {
    /// To any party: units within the capacity are free.
    Anybody,
    /// To a party that holds nothing, from the reserve.
    Newcomer,
    /// To no party.
    Nobody,
}

/// A value that identifies a party of a [`FairPool`].
pub trait Party: Copy + Eq + Hash + Send + Sync + 'static {}

impl<K: Copy + Eq + Hash + Send + Sync + 'static> Party for K {}

/// A bounded number of units that parties of type `K` share. Cloning it gives another handle on the
/// same pool.
pub struct FairPool<K: Party> {
    shared: Arc<Shared<K>>,
}

struct Shared<K: Party> {
    state: Mutex<State<K>>,
    /// Notified whenever the last unit is returned.
    idle: Notify,
}

impl<K: Party> Shared<K> {
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        // No foreign code runs while the lock is held, so the state is consistent even if the lock is poisoned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Party> FairPool<K> {
    /// A pool of `capacity` units, at least one, and `reserve` units beyond them for parties that hold
    /// less than their share.
    pub fn new(capacity: u64, reserve: u64) -> Self {
        let state = Mutex::new(State::new(capacity.max(1), reserve));
        Self { shared: Arc::new(Shared { state, idle: Notify::new() }) }
    }

    /// Takes `units` if they are free and nobody waits, or if the reserve has them for `party`. `None` otherwise.
    ///
    /// More units than the capacity count as the capacity.
    pub fn try_acquire(&self, party: K, units: u64) -> Option<FairPermit<K>> {
        let mut state = self.shared.lock();
        let units = state.clamped(units);
        state.admits(party, units, 0).then(|| {
            state.grant(party, units);
            FairPermit::new(Arc::clone(&self.shared), party, units)
        })
    }

    /// The parties to which a unit would be given now. It is for callers that choose among parties that wait elsewhere,
    /// and then count their choice with [`FairPool::hold`].
    pub fn vacancy(&self) -> Vacancy {
        self.shared.lock().vacancy()
    }

    /// Counts `units` as taken by `party`, unconditionally. The caller has decided this after
    /// [`FairPool::vacancy`].
    pub fn hold(&self, party: K, units: u64) -> FairPermit<K> {
        self.shared.lock().grant(party, units);
        FairPermit::new(Arc::clone(&self.shared), party, units)
    }

    /// Takes `units` for `party`, and waits for them if necessary. More units than the capacity
    /// count as the capacity.
    ///
    /// Dropping the future gives up the place in the queue. The wait has no time limit of its own.
    pub async fn acquire(&self, party: K, units: u64, urgency: Urgency) -> FairPermit<K> {
        self.acquire_more(party, units, 0, urgency).await
    }

    /// The same for a request that grows: it holds `own` units of the pool already. As long as it is the only one of its
    /// party, it may grow beyond a share as if it had asked for everything at once.
    pub async fn acquire_more(
        &self,
        party: K,
        units: u64,
        own: u64,
        urgency: Urgency,
    ) -> FairPermit<K> {
        loop {
            let (_place, granted) = match self.enter(party, (units, own), urgency) {
                Ok(permit) => return permit,
                Err(waiting) => waiting,
            };
            if let Ok(permit) = granted.await {
                return permit;
            }
            // The pool never drops a waiting request; if it did, a new request would replace it.
        }
    }

    /// A permit immediately, or a place in the queue.
    fn enter(
        &self,
        party: K,
        (units, own): (u64, u64),
        urgency: Urgency,
    ) -> Result<FairPermit<K>, Waiting<K>> {
        let mut state = self.shared.lock();
        let units = state.clamped(units);
        if state.admits(party, units, own) {
            state.grant(party, units);
            return Ok(FairPermit::new(Arc::clone(&self.shared), party, units));
        }
        let (grant, granted) = oneshot::channel();
        let ticket = state.wait(party, (units, own), urgency, grant);
        Err((QueuePlace { shared: Arc::clone(&self.shared), party, ticket }, granted))
    }

    /// Units in use, by all parties.
    pub fn in_use(&self) -> u64 {
        self.shared.lock().used()
    }

    /// Units that `party` holds.
    pub fn held_by(&self, party: K) -> u64 {
        self.shared.lock().held_by(party)
    }

    /// Waits until no unit is in use.
    pub async fn idle(&self) {
        loop {
            let notified = self.shared.idle.notified();
            tokio::pin!(notified);
            // Registered before the check, so that no notification in between is lost.
            notified.as_mut().enable();
            if self.in_use() == 0 {
                return;
            }
            notified.await;
        }
    }
}

impl<K: Party> Clone for FairPool<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K: Party> fmt::Debug for FairPool<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairPool").field("in_use", &self.in_use()).finish_non_exhaustive()
    }
}

/// A place in the queue, and the channel through which the permit arrives.
type Waiting<K> = (QueuePlace<K>, oneshot::Receiver<FairPermit<K>>);

/// A place in the queue, given up when this is dropped.
struct QueuePlace<K: Party> {
    shared: Arc<Shared<K>>,
    party: K,
    ticket: u64,
}

impl<K: Party> Drop for QueuePlace<K> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.leave(self.party, self.ticket) {
            // A smaller request behind it may now fit.
            state.serve(&self.shared);
        }
    }
}

#[cfg(test)]
mod tests;
