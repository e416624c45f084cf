//! The units that wait for the writer, taken from each party in turn.

use std::collections::VecDeque;

use super::super::Party;
use super::Unit;

/// Waiting units. They leave round robin: one of each party, then the next of each; those of one
/// party in the order in which they came. So a unit of another party waits for only one unit of a
/// flood, however many are queued.
#[derive(Default)]
pub(super) struct Line {
    /// The parties with waiting units, starting with the one whose turn it is. No list is empty.
    parties: VecDeque<(Party, VecDeque<Unit>)>,
}

impl Line {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.parties.is_empty()
    }

    /// Adds a unit after the others of its party.
    pub(super) fn push(&mut self, unit: Unit) {
        let party = unit.party;
        match self.parties.iter_mut().find(|(other, _)| *other == party) {
            Some((_, units)) => units.push_back(unit),
            None => self.parties.push_back((party, VecDeque::from([unit]))),
        }
    }

    /// Puts units back before all others, in their order.
    pub(super) fn put_back(&mut self, units: Vec<Unit>) {
        for unit in units.into_iter().rev() {
            let party = unit.party;
            let at = self.parties.iter().position(|(other, _)| *other == party);
            let (_, mut waiting) =
                at.and_then(|at| self.parties.remove(at)).unwrap_or((party, VecDeque::new()));
            waiting.push_front(unit);
            self.parties.push_front((party, waiting));
        }
    }

    /// Takes the first unit of the party whose turn it is.
    pub(super) fn take(&mut self) -> Option<Unit> {
        let (party, mut units) = self.parties.pop_front()?;
        let unit = units.pop_front();
        if !units.is_empty() {
            self.parties.push_back((party, units));
        }
        unit
    }
}
