//! Bounds on connections: how long they may stay idle, how long the head of a request may take to arrive, how
//! much is read ahead, and how slowly a client may read its answer.
//!
//! The framework limits none of these for an accepted connection. Its socket is therefore wrapped; when the wrapper
//! ends a connection, the framework sees the end of its input.

mod link;
mod patience;
mod places;
mod refusal;

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::http::StatusCode;
use bytes::{Buf as _, Bytes};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

pub(crate) use link::{InProgress, Link};
pub(crate) use places::{ConnectionPlace, Places};
pub(crate) use refusal::Refuse;

use patience::Patience;

/// Most bytes of unsent answers that the operating system buffers for a connection.
const SEND_BUFFER_BYTES: usize = 128 * 1_024;
/// How long a connection stays open after a refusal, so that the client can read it.
const FAREWELL: Duration = Duration::from_secs(2);

/// The time limits of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// How long the head of a request may take to arrive, counted from the start of the connection or from the
    /// first byte of the head.
    pub(crate) head: Duration,
    /// How long a connection may be idle between two requests.
    pub(crate) idle: Duration,
    /// How long a client may go without reading any of its answer.
    pub(crate) stall: Duration,
}

/// A client's connection.
pub(crate) struct Connection {
    io: TcpStream,
    link: Rc<Link>,
    refuse: Arc<Refuse>,
    times: Times,
    patience: Patience,
    /// When the client must have read something.
    stalled: Option<Pin<Box<Sleep>>>,
    /// What the connection is waiting for while no request is in progress, and its deadline.
    waiting: Option<(Waiting, Pin<Box<Sleep>>)>,
    /// The unwritten part of a refusal that replaces the framework's.
    refusal: Option<Bytes>,
    /// Whether a refusal was sent. Nothing more is read afterwards.
    is_refused: bool,
    /// When a refused connection is closed.
    farewell: Option<Pin<Box<Sleep>>>,
    /// Whether the read-ahead buffer is full without the beginning of a request in it.
    is_full_of_head: bool,
    /// Whether a read was postponed until the client reads what was written.
    is_read_put_off: bool,
    _place: ConnectionPlace,
}

/// What a connection without a request in progress waits for: the head of a request, or its first
/// byte. Each holds the number of requests so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Head(u64),
    Idle(u64),
}

impl Connection {
    /// Wraps the socket of a connection that was just accepted and has a place.
    pub(crate) fn new(
        io: TcpStream,
        place: ConnectionPlace,
        refuse: Arc<Refuse>,
        times: Times,
    ) -> Self {
        // If these fail, the socket still works, with the limits of the operating system.
        let _ = io.set_nodelay(true);
        let socket = SockRef::from(&io);
        let _ = socket.set_send_buffer_size(SEND_BUFFER_BYTES);
        // Limits what the operating system still buffers when the connection is closed.
        #[cfg(target_os = "linux")]
        let _ = socket.set_tcp_user_timeout(Some(times.stall));
        Self {
            io,
            link: Rc::new(Link::new(place.slot())),
            refuse,
            times,
            patience: Patience::new(times.stall),
            stalled: None,
            waiting: None,
            refusal: None,
            is_refused: false,
            farewell: None,
            is_full_of_head: false,
            is_read_put_off: false,
            _place: place,
        }
    }

    /// The state that the connection and its requests share.
    pub(crate) fn link(&self) -> Rc<Link> {
        Rc::clone(&self.link)
    }

    /// Whether a connection without a request in progress ends, and how.
    fn poll_end_of_waiting(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let requests = self.link.requests();
        let (waiting, time) = if requests == 0 || self.link.has_arrived() {
            (Waiting::Head(requests), self.times.head)
        } else {
            (Waiting::Idle(requests), self.times.idle)
        };
        if !self.link.has_arrived() && self.link.is_to_close(cx) {
            return Poll::Ready(Ok(()));
        }
        match &mut self.waiting {
            Some((was, _)) if *was == waiting => {}
            Some((was, timer)) => {
                *was = waiting;
                timer.as_mut().reset(Instant::now() + time);
            }
            None => self.waiting = Some((waiting, Box::pin(tokio::time::sleep(time)))),
        }
        let Some((_, timer)) = &mut self.waiting else { return Poll::Pending };
        ready!(timer.as_mut().poll(cx));
        match waiting {
            // A client that has sent nothing gets no answer.
            Waiting::Head(_) if self.link.has_arrived() => {
                self.begin_refusal(StatusCode::REQUEST_TIMEOUT, cx)
            }
            Waiting::Head(_) | Waiting::Idle(_) => Poll::Ready(Ok(())),
        }
    }

    /// Refuses input that is not a request. Nothing more is read.
    fn begin_refusal(&mut self, status: StatusCode, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_refused = true;
        self.refusal = Some(self.refuse.answer(status));
        self.poll_refusal(cx)
    }

    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(left) = self.refusal.as_mut().filter(|left| left.has_remaining()) {
            let written = ready!(Pin::new(&mut self.io).poll_write(cx, left))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            left.advance(written);
        }
        self.refusal = None;
        Poll::Ready(Ok(()))
    }

    /// Writes, unless the client has read too slowly.
    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.io).poll_write(cx, bytes) {
            Poll::Ready(result) => {
                if self.patience.is_tried()
                    && let Ok(written) = result
                {
                    self.patience.progress(written, self.link.is_paced(), Instant::now());
                    self.stalled = None;
                }
                if std::mem::take(&mut self.is_read_put_off) {
                    cx.waker().wake_by_ref();
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                let end = self.patience.try_until(Instant::now());
                let stalled =
                    self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
                ready!(stalled.as_mut().poll(cx));
                metrics::counter!("cicerone_http_connections_cut_total").increment(1);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_refused {
            return this.poll_refusal(cx);
        }
        if this.link.is_in_progress() {
            // Nothing more is read from a client that does not read its answers.
            if this.patience.is_tried() {
                this.is_read_put_off = true;
                return Poll::Pending;
            }
            if this.link.is_full() {
                this.link.wait_for_room(cx);
                return Poll::Pending;
            }
            // The end of the input ends the request too.
            if this.link.is_padded() {
                return Poll::Ready(Ok(()));
            }
        } else if this.link.is_full() {
            // The input may be a head and the beginning of its body. The framework parses it when no more input
            // arrives; if it contains no complete request, it reads again.
            if std::mem::replace(&mut this.is_full_of_head, true) {
                return this.begin_refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, cx);
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        } else if let Poll::Ready(end) = this.poll_end_of_waiting(cx) {
            return Poll::Ready(end);
        }
        this.is_full_of_head = false;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.io).poll_read(cx, buffer);
        this.link.arrived(buffer.filled().len() - before);
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.refusal.is_none() {
            match refusal::of_framework(bytes) {
                None => return this.poll_send(cx, bytes),
                Some((0, status)) => this.refusal = Some(this.refuse.answer(status)),
                Some((before, _)) => {
                    let answers = bytes.get(..before).unwrap_or(bytes);
                    return this.poll_send(cx, answers);
                }
            }
        }
        ready!(this.poll_refusal(cx))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    /// Keeps the connection open for a moment after a refusal. If it were closed while the client still sends,
    /// the operating system would discard the refusal.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
        if !this.is_refused {
            return Poll::Ready(Ok(()));
        }
        let farewell = this.farewell.get_or_insert_with(|| Box::pin(tokio::time::sleep(FAREWELL)));
        if farewell.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut scrap = [0_u8; 4_096];
        loop {
            let mut rest = ReadBuf::new(&mut scrap);
            ready!(Pin::new(&mut this.io).poll_read(cx, &mut rest))?;
            if rest.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
