//! Work that goes on where nobody waits for it any more.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

/// Work that is done by whoever waits for it, on the waiter's thread, and goes on in a task of its own
/// once the waiter is gone. Its panic is an outcome.
///
/// A task from the start would do the same; but then each change passes from the thread of its
/// connection to another one and back, which costs more than a small change itself.
pub(super) struct Lasting<T: Send + 'static> {
    /// Where it goes on, and where everything that it starts belongs from the beginning.
    runtime: Handle,
    work: Option<BoxFuture<'static, Result<T, Panic>>>,
}

/// What a panic was raised with.
pub(super) type Panic = Box<dyn Any + Send>;

impl<T: Send + 'static> Lasting<T> {
    /// Begins when it is first polled.
    pub(super) fn new(runtime: Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        // Whatever a panic leaves half done is in `work`, which is not polled again.
        Self { runtime, work: Some(AssertUnwindSafe(work).catch_unwind().boxed()) }
    }
}

impl<T: Send + 'static> Future for Lasting<T> {
    type Output = Result<T, Panic>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // Like any future, it is not asked again for what it has given.
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
    async fn it_goes_on_where_its_waiter_is_gone() {
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
    async fn it_is_done_by_its_waiter_and_only_once() {
        let waiter = std::thread::current().id();
        let work = Lasting::new(Handle::current(), async move { std::thread::current().id() });
        assert_eq!(work.await.unwrap(), waiter);
    }

    #[test]
    fn what_it_starts_belongs_to_the_runtime_that_lasts() {
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
