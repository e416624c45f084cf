//! Random ids that are stored close to each other.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::{Id, Kind, LENGTH, alphanumeric};
use crate::clock::Entropy;

/// The number of characters that the ids of a run share.
const SHARED: usize = 3;
/// Ids of a run.
const RUN: u32 = 128;

/// Generates random ids. 128 in a row begin with the same three characters.
///
/// A database keeps the entries of an index in the order of their keys. Entries with entirely random ids are spread
/// over as many pages as there are entries, and each of these pages is written for one of them; those of a run are on
/// one or two pages.
///
/// The other seven characters are drawn for each id, 62^7 = 3.5 × 10^12 values: an id does not reveal which others
/// exist.
#[derive(Debug, Default)]
pub struct IdRuns(Mutex<Run>);

#[derive(Debug, Default)]
struct Run {
    start: [u8; SHARED],
    left: u32,
}

impl IdRuns {
    /// A new random id of the current run.
    pub fn next<K: Kind>(&self, entropy: &dyn Entropy) -> Id<K> {
        let mut chars = [0; LENGTH];
        let (start, rest) = chars.split_at_mut(SHARED);
        start.copy_from_slice(&self.start(entropy));
        alphanumeric(entropy, rest);
        Id { chars, kind: PhantomData }
    }

    fn start(&self, entropy: &dyn Entropy) -> [u8; SHARED] {
        let mut run = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if run.left == 0 {
            alphanumeric(entropy, &mut run.start);
            run.left = RUN;
        }
        run.left -= 1;
        run.start
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::clock::SystemEntropy;
    use crate::id::kind::Conversation;

    #[test]
    fn ids_of_a_run_share_their_first_characters_and_nothing_else() {
        let runs = IdRuns::default();
        let of_run =
            || -> Vec<Id<Conversation>> { (0..RUN).map(|_| runs.next(&SystemEntropy)).collect() };
        let (one, other) = (of_run(), of_run());
        for ids in [&one, &other] {
            let starts: BTreeSet<_> = ids.iter().map(|id| &id.suffix()[..SHARED]).collect();
            assert_eq!(starts.len(), 1, "{starts:?}");
        }
        assert_ne!(one[0].suffix()[..SHARED], other[0].suffix()[..SHARED]);
        for position in SHARED..LENGTH {
            let found: BTreeSet<_> =
                one.iter().map(|id| id.suffix().as_bytes()[position]).collect();
            // 128 draws of 62 characters give 54 different ones; fewer than 35 in one case of 10^12.
            assert!(found.len() >= 35, "{} at {position}", found.len());
        }
        assert_eq!(one.iter().chain(&other).collect::<BTreeSet<_>>().len(), 256);
    }
}
