//! Work that continues after its caller has disconnected.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

/// Work that runs on the thread of the caller that awaits it, and continues in its own task if the
/// caller is dropped. A panic is returned as an outcome.
///
/// Spawning a task at once would do the same, but each change would then pass from the thread of
/// its connection to another one and back, which costs more than a small change itself.
pub(crate) struct Lasting<T: Send + 'static> {
    /// The runtime on which it continues; everything that it spawns runs there from the start.
    runtime: Handle,
    work: Option<BoxFuture<'static, Result<T, Panic>>>,
}

/// The payload of a panic.
pub(crate) type Panic = Box<dyn Any + Send>;

impl<T: Send + 'static> Lasting<T> {
    /// The work begins when this is first polled.
    pub(crate) fn new(runtime: Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        // Only `work` can be left in a broken state by a panic, and it is not polled again.
        Self { runtime, work: Some(AssertUnwindSafe(work).catch_unwind().boxed()) }
    }
}

impl<T: Send + 'static> Future for Lasting<T> {
    type Output = Result<T, Panic>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // Like any future, this must not be polled after it has returned its outcome.
        let Some(work) = &mut this.work else { return Poll::Pending };
        let entered = this.runtime.enter();
        let outcome = work.as_mut().poll(context);
        drop(entered);
        if outcome.is_ready() {
            this.work = None;
        }
        outcome
    }
}

impl<T: Send + 'static> Drop for Lasting<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;
    use tokio::sync::oneshot;

    use super::Lasting;

    #[tokio::test]
    async fn it_continues_when_its_waiter_is_gone() {
        let (go, wait) = oneshot::channel::<()>();
        let (done, outcome) = oneshot::channel();
        let mut work = Lasting::new(Handle::current(), async move {
            wait.await.unwrap();
            done.send(7).unwrap();
        });
        assert!(futures_util::poll!(&mut work).is_pending());
        drop(work);
        go.send(()).unwrap();
        assert_eq!(outcome.await, Ok(7));
    }

    #[tokio::test]
    async fn it_runs_on_the_thread_of_its_waiter() {
        let waiter = std::thread::current().id();
        let work = Lasting::new(Handle::current(), async move { std::thread::current().id() });
        assert_eq!(work.await.unwrap(), waiter);
    }

    #[test]
    fn tasks_that_it_starts_belong_to_the_lasting_runtime() {
        let lasting =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let passing = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (go, wait) = oneshot::channel::<()>();
        let (done, outcome) = oneshot::channel();
        let work = async move {
            tokio::spawn(async move {
                wait.await.unwrap();
                done.send(7).unwrap();
            });
        };
        passing.block_on(Lasting::new(lasting.handle().clone(), work)).unwrap();
        drop(passing);
        go.send(()).unwrap();
        assert_eq!(lasting.block_on(outcome), Ok(7));
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        let work = Lasting::new(Handle::current(), async { assert_eq!(1, 2, "on purpose") });
        assert!(work.await.is_err());
    }
}
