//! Turns on the processor for what a person waits for.

use std::num::NonZero;

use crate::fairness::{FairPermit, FairPool, Urgency};
use crate::id::{Id, kind};

/// Searches and local replies at once for each processor, and as many in reserve for accounts that have
/// fewer than their share. More would not be done sooner, and each one more stands before whoever comes
/// next.
const TURNS_A_PROCESSOR: usize = 2;

/// What takes milliseconds of a processor, account by account. A runtime polls its tasks in the order in
/// which they became ready, so that a thousand of one account would come before one of another.
#[derive(Debug, Clone)]
pub(super) struct Thinking(FairPool<Id<kind::Account>>);

impl Default for Thinking {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, NonZero::get);
        let turns = u64::try_from(processors * TURNS_A_PROCESSOR).unwrap_or(u64::MAX);
        Self(FairPool::new(turns, turns))
    }
}

impl Thinking {
    /// Waits for the account's turn, which lasts until the permit goes.
    pub(super) async fn turn(&self, account: Id<kind::Account>) -> FairPermit<Id<kind::Account>> {
        let turn = self.0.acquire(account, 1, Urgency::Question).await;
        if self.0.in_use() > 1 {
            // Work that never waits would be done before the next task can even take its place in the
            // queue. Now those that are ready do so.
            tokio::task::yield_now().await;
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Mutex;

    use super::Thinking;
    use crate::clock::SystemEntropy;
    use crate::id::Id;

    #[tokio::test]
    async fn a_thousand_that_are_ready_do_not_come_before_one_of_another_account() {
        let (thinking, done) = (Thinking::default(), Arc::new(Mutex::new(Vec::new())));
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        // Somebody is at it, as in a flood that lasts.
        let first = thinking.turn(flood).await;
        let task = |account, name: char| {
            let (thinking, done) = (thinking.clone(), Arc::clone(&done));
            async move {
                let _turn = thinking.turn(account).await;
                done.lock().unwrap().push(name);
            }
        };
        let mut tasks: Vec<_> = (0..1_000).map(|_| tokio::spawn(task(flood, 'a'))).collect();
        tasks.push(tokio::spawn(task(other, 'b')));
        for task in tasks {
            task.await.unwrap();
        }
        drop(first);
        let before = done.lock().unwrap().iter().position(|name| *name == 'b').unwrap();
        assert!(before < 500, "{before} of the others came first");
    }
}
