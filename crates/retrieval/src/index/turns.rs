//! Allows one change of an agent's index at a time. Others wait for it, and then find it done.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use cicerone_domain::{Id, kind};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

type Turn = tokio::sync::Mutex<()>;

/// The turns of agents. Agents without waiting callers are removed.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<Id<kind::Agent>, Weak<Turn>>>);

impl Turns {
    /// Waits for the turn of an agent, which lasts until the guard is dropped.
    pub(crate) async fn take(&self, agent: Id<kind::Agent>) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock();
            if let Some(turn) = turns.get(&agent).and_then(Weak::upgrade) {
                turn
            } else {
                turns.retain(|_, turn| turn.strong_count() > 0);
                let turn = Arc::new(Turn::default());
                turns.insert(agent, Arc::downgrade(&turn));
                turn
            }
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_agent_waits_for_itself_only() {
        let turns = Turns::default();
        let one: Id<kind::Agent> = "agent_aaaaaaaaaa".parse().unwrap();
        let other: Id<kind::Agent> = "agent_bbbbbbbbbb".parse().unwrap();
        let first = turns.take(one).await;
        let _other = turns.take(other).await;
        let mut second = Box::pin(turns.take(one));
        assert!(futures_poll(&mut second).await.is_none());
        drop(first);
        assert!(futures_poll(&mut second).await.is_some());
    }

    #[tokio::test]
    async fn agents_that_nobody_waits_for_are_forgotten() {
        let turns = Turns::default();
        for number in 0..100 {
            drop(turns.take(format!("agent_{number:010}").parse().unwrap()).await);
        }
        assert!(turns.0.lock().len() <= 1);
    }

    /// Polls once.
    async fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}
