//! Turns on the processor for searches and replies, for which a person is waiting.

use std::future::poll_fn;
use std::num::NonZero;
use std::task::Poll;

use crate::fairness::{FairPermit, FairPool, Urgency};
use crate::id::{Id, kind};

/// Searches and local replies at once for each processor, and as many in reserve for accounts that have fewer than
/// their share. One would suffice if no task waited during its turn; but a task waits in the queue of its thread,
/// behind all other work of the thread for connections. Each further place delays later tasks.
const TURNS_A_PROCESSOR: usize = 8;

/// Shares the processor between accounts for work that takes milliseconds. A runtime polls its tasks in the order in
/// which they became ready, so a thousand tasks of one account would precede one of another.
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
    /// Waits for the account's turn, which lasts until the permit is dropped.
    pub(super) async fn turn(&self, account: Id<kind::Account>) -> FairPermit<Id<kind::Account>> {
        let turn = self.0.acquire(account, 1, Urgency::Question).await;
        if self.0.in_use() > 1 {
            // Work that never waits would finish before the next task could even join the queue. This lets ready tasks
            // join it.
            yield_once().await;
        }
        turn
    }
}

/// Lets the tasks that are ready come first.
async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::sync::Mutex;
    use std::task::{Context, Waker};

    use super::Thinking;
    use crate::clock::SystemEntropy;
    use crate::id::Id;

    #[test]
    fn a_thousand_that_are_ready_do_not_come_before_one_of_another_account() {
        let (thinking, done) = (Thinking::default(), Mutex::new(Vec::new()));
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let mut context = Context::from_waker(Waker::noop());
        // A turn is taken, as during a flood.
        let first = pin!(thinking.turn(flood)).poll(&mut context);
        assert!(first.is_ready());
        let task = |account, name: char| {
            let (thinking, done) = (&thinking, &done);
            async move {
                let _turn = thinking.turn(account).await;
                done.lock().unwrap().push(name);
            }
        };
        let mut tasks: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = Vec::new();
        for _ in 0..1_000 {
            tasks.push(Box::pin(task(flood, 'a')));
        }
        tasks.push(Box::pin(task(other, 'b')));
        // As a runtime does: in the order in which they became ready, again and again.
        while !done.lock().unwrap().contains(&'b') {
            tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
        }
        let count = done.lock().unwrap().len();
        assert!(count < 500, "{count} were done when it was");
    }
}
