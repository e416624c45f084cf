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
/// The characters of a question that take one turn. The time for a question grows with its length: one of 4,000 characters
/// takes as long as a dozen short ones, and eight turns.
const CHARS_A_TURN: usize = 500;

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
        self.turns(account, 1).await
    }

    /// The same for the search for a question, and the reply to it: a long one takes several turns.
    pub(super) async fn turn_for(
        &self,
        account: Id<kind::Account>,
        question: &str,
    ) -> FairPermit<Id<kind::Account>> {
        let turns = question.chars().count().div_ceil(CHARS_A_TURN).max(1);
        self.turns(account, u64::try_from(turns).unwrap_or(u64::MAX)).await
    }

    async fn turns(&self, account: Id<kind::Account>, count: u64) -> FairPermit<Id<kind::Account>> {
        let turn = self.0.acquire(account, count, Urgency::Question).await;
        if self.0.in_use() > turn.units() {
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
    fn long_questions_take_the_turns_of_several_short_ones() {
        let thinking = Thinking::default();
        let capacity = thinking.0.clone();
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let mut context = Context::from_waker(Waker::noop());
        let (short, long) = ("When?".repeat(100), "Ä".repeat(4_000));
        let mut asked: Vec<_> =
            (0..100).map(|_| Box::pin(thinking.turn_for(flood, &long))).collect();
        // The first is served at once, the others of the processors are when they are polled again.
        let mut turns = Vec::new();
        for _ in 0..2 {
            asked.retain_mut(|question| match question.as_mut().poll(&mut context) {
                std::task::Poll::Ready(turn) => {
                    turns.push(turn);
                    false
                }
                std::task::Poll::Pending => true,
            });
        }
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(turns.len(), processors, "one for each processor");
        assert_eq!(capacity.held_by(flood), 8 * processors as u64);
        let mut question = pin!(thinking.turn_for(other, &short));
        assert!(question.as_mut().poll(&mut context).is_pending());
        assert!(question.as_mut().poll(&mut context).is_ready());
    }

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
