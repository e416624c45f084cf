//! The state that a connection and its requests share. Both are on one thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::places::Slot;

/// Most bytes that are read ahead from a connection: the head of a request, and the part of a body that no handler has
/// requested yet.
const AHEAD_BYTES: usize = 32 * 1_024;

/// The state of a connection that its requests need.
#[derive(Debug)]
pub(crate) struct Link {
    slot: Arc<Slot>,
    requests: Cell<u64>,
    is_in_progress: Cell<bool>,
    is_paced: Cell<bool>,
    /// Bytes that have arrived and do not belong to a request yet, or belong to the unread part of
    /// a body.
    ahead: Cell<usize>,
    /// The reader, while it waits for some of the bytes ahead to be read.
    reader: RefCell<Option<Waker>>,
}

impl Link {
    /// The state of a connection without a request.
    pub(super) fn new(slot: Arc<Slot>) -> Self {
        Self {
            slot,
            requests: Cell::new(0),
            is_in_progress: Cell::new(false),
            is_paced: Cell::new(true),
            ahead: Cell::new(0),
            reader: RefCell::new(None),
        }
    }

    /// Begins a request, which is in progress until the result is dropped.
    pub(crate) fn begin(self: &Rc<Self>) -> InProgress {
        self.requests.set(self.requests.get() + 1);
        self.is_in_progress.set(true);
        self.is_paced.set(true);
        self.slot.set_busy();
        self.make_room(usize::MAX);
        InProgress(Rc::clone(self))
    }

    /// Lifts the minimum rate for reading the answer of this request, which is an event stream. The
    /// client must still read now and then.
    pub(crate) fn unpaced(&self) {
        self.is_paced.set(false);
    }

    /// Records that the handler has read a part of a body.
    pub(crate) fn read(&self, bytes: usize) {
        self.make_room(bytes);
    }

    /// Records that the handler has read everything that has arrived of a body.
    pub(crate) fn read_all(&self) {
        self.make_room(usize::MAX);
    }

    pub(super) fn is_paced(&self) -> bool {
        self.is_paced.get()
    }

    pub(super) fn is_in_progress(&self) -> bool {
        self.is_in_progress.get()
    }

    /// The number of requests that have begun.
    pub(super) fn requests(&self) -> u64 {
        self.requests.get()
    }

    pub(super) fn arrived(&self, bytes: usize) {
        self.ahead.set(self.ahead.get() + bytes);
        if bytes > 0 && !self.is_in_progress.get() {
            self.slot.set_busy();
        }
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.ahead.get() > 0
    }

    /// Whether no more bytes may be read ahead.
    pub(super) fn is_full(&self) -> bool {
        self.ahead.get() >= AHEAD_BYTES
    }

    /// Wakes the reader when there are fewer bytes ahead.
    pub(super) fn wait_for_room(&self, cx: &Context<'_>) {
        self.reader.replace(Some(cx.waker().clone()));
    }

    /// Whether another connection needs the place of this idle one. If not, the reader is woken as
    /// soon as one does.
    pub(super) fn is_to_close(&self, cx: &Context<'_>) -> bool {
        self.slot.is_to_close(cx)
    }

    fn make_room(&self, bytes: usize) {
        self.ahead.set(self.ahead.get().saturating_sub(bytes));
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// A request in progress, until its answer is sent or abandoned.
#[derive(Debug)]
pub(crate) struct InProgress(Rc<Link>);

impl Drop for InProgress {
    fn drop(&mut self) {
        let link = &self.0;
        link.is_in_progress.set(false);
        link.slot.set_idle();
        link.make_room(usize::MAX);
    }
}
