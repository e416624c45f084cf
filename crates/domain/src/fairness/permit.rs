//! Units that a party holds.

use std::fmt;
use std::sync::Arc;

use super::{Party, Shared};

/// Units of a [`FairPool`](super::FairPool), given back when this is dropped.
pub struct FairPermit<K: Party> {
    shared: Arc<Shared<K>>,
    party: K,
    units: u64,
}

impl<K: Party> FairPermit<K> {
    pub(super) fn new(shared: Arc<Shared<K>>, party: K, units: u64) -> Self {
        Self { shared, party, units }
    }

    /// How many units it holds.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Takes `more` units under the conditions of
    /// [`FairPool::try_acquire`](super::FairPool::try_acquire). If it returns false, the units that
    /// it has remain.
    #[must_use]
    pub fn try_grow(&mut self, more: u64) -> bool {
        let mut state = self.shared.lock();
        let is_admitted = state.admits(self.party, more, self.units);
        if is_admitted {
            state.grant(self.party, more);
            self.units += more;
        }
        is_admitted
    }

    /// Gives back what it holds beyond `units`.
    pub fn shrink_to(&mut self, units: u64) {
        let surplus = self.units.saturating_sub(units);
        self.units -= surplus;
        self.give_back(surplus);
    }

    /// Drops its units without returning them: another owner accounts for them.
    pub(super) fn disarm(mut self) {
        self.units = 0;
    }

    fn give_back(&self, units: u64) {
        if units == 0 {
            return;
        }
        let mut state = self.shared.lock();
        state.release(self.party, units);
        state.serve(&self.shared);
        let is_idle = state.used() == 0;
        drop(state);
        if is_idle {
            self.shared.idle.notify_waiters();
        }
    }
}

impl<K: Party> Drop for FairPermit<K> {
    fn drop(&mut self) {
        self.give_back(self.units);
    }
}

impl<K: Party> fmt::Debug for FairPermit<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairPermit").field("units", &self.units).finish_non_exhaustive()
    }
}
