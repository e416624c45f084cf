//! The state that a connection and its requests share. Both are on one thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::places::Slot;

/// Most bytes that are read ahead from a connection: the head of a request, and the part of a body that no handler has
/// requested yet.
const AHEAD_BYTES: usize = 32 * 1_024;
/// Most bytes of a request's body that are not content, beside [`FRAMING_PER_BYTE`]: sizes and extensions of chunks, which
/// the framework drops, and what was read of the next request.
const FRAMING_BYTES: u64 = 128 * 1_024;
/// A byte in a chunk of its own has five bytes of framing. What extensions and leading zeros add counts as padding.
const FRAMING_PER_BYTE: u64 = 5;

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
    /// Bytes that have arrived since the request began.
    arrived: Cell<u64>,
    /// Bytes of its body's content that the handler has read.
    content: Cell<u64>,
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
            arrived: Cell::new(0),
            content: Cell::new(0),
            reader: RefCell::new(None),
        }
    }

    /// Begins a request, which is in progress until the result is dropped.
    pub(crate) fn begin(self: &Rc<Self>) -> InProgress {
        self.requests.set(self.requests.get() + 1);
        self.is_in_progress.set(true);
        self.is_paced.set(true);
        self.arrived.set(0);
        self.content.set(0);
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
        let bytes_read = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.content.set(self.content.get().saturating_add(bytes_read));
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
        let bytes_arrived = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.arrived.set(self.arrived.get().saturating_add(bytes_arrived));
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

    /// Whether far more has arrived of a body than its content needs. No limit of a body counts such bytes.
    pub(super) fn is_padded(&self) -> bool {
        let ahead = u64::try_from(self.ahead.get()).unwrap_or(u64::MAX);
        let content = self.content.get();
        let framing = self.arrived.get().saturating_sub(content).saturating_sub(ahead);
        framing > content.saturating_mul(FRAMING_PER_BYTE).saturating_add(FRAMING_BYTES)
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
