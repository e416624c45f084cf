//! The rest of a request's body that was not read when the request is answered.
//!
//! A caller that is still sending must be able to read its response. If the connection were closed at once, the
//! operating system would discard the part of the answer that the caller has not read yet. So the rest of the body is
//! read for a moment after the response, limited in bytes and time, and then the connection is closed. The framework
//! would read the rest of a chunked body without any limit.

use std::cell::RefCell;
use std::error::Error;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpResponse};
use futures_util::Stream;
use tokio::time::Sleep;

use crate::connection::{InProgress, Link};

/// Most bytes of a body that are read after the answer.
const BYTES: usize = 4 * 1_024 * 1_024;
/// How long a connection is held open after the answer.
const TIME: Duration = Duration::from_secs(2);

/// The body of a request, shared between its handler and the answer, which handles the rest.
#[derive(Clone)]
pub(crate) struct Body(Rc<RefCell<State>>);

struct State {
    payload: Payload,
    /// The connection, which reads ahead of the handler, within limits.
    link: Option<Rc<Link>>,
    is_over: bool,
}

impl Body {
    /// Shares the body of a request. Returns `None` if it has none.
    pub(crate) fn of(request: &mut ServiceRequest, link: Option<Rc<Link>>) -> Option<Self> {
        let payload = request.take_payload();
        if matches!(payload, Payload::None) {
            return None;
        }
        let body = Self(Rc::new(RefCell::new(State { payload, link, is_over: false })));
        request.set_payload(Payload::Stream { payload: Box::pin(body.clone()) });
        Some(body)
    }

    /// Whether the whole body was read.
    pub(crate) fn is_over(&self) -> bool {
        self.0.borrow().is_over
    }

    /// Attaches the unread rest to `response`. The request is in progress until the rest was read
    /// or dropped.
    pub(crate) fn follow(
        self,
        response: HttpResponse,
        in_progress: Option<InProgress>,
    ) -> HttpResponse {
        response.map_body(|_, answer| {
            BoxBody::new(Followed {
                answer: Some(answer),
                rest: self,
                bytes: BYTES,
                end: None,
                _in_progress: in_progress,
            })
        })
    }
}

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.borrow_mut();
        let piece = Pin::new(&mut state.payload).poll_next(cx);
        if let Some(link) = &state.link {
            match &piece {
                Poll::Ready(Some(Ok(bytes))) => link.read(bytes.len()),
                // Everything that has arrived was read, including the framing of chunks.
                Poll::Ready(_) | Poll::Pending => link.read_all(),
            }
        }
        let piece = ready!(piece);
        state.is_over = !matches!(piece, Some(Ok(_)));
        Poll::Ready(piece)
    }
}

/// The body of an answer, after which the rest of the request is read.
struct Followed {
    answer: Option<BoxBody>,
    rest: Body,
    /// How many bytes of the rest are still read.
    bytes: usize,
    /// When the connection is closed at the latest; `None` before the answer is sent.
    end: Option<Pin<Box<Sleep>>>,
    _in_progress: Option<InProgress>,
}

impl Followed {
    /// Reads the rest, until it ends or a limit is reached.
    fn take(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.bytes > 0 {
            match ready!(Pin::new(&mut self.rest).poll_next(cx)) {
                Some(Ok(piece)) => self.bytes = self.bytes.saturating_sub(piece.len()),
                Some(Err(_)) | None => return Poll::Ready(()),
            }
        }
        // Nothing more is read; the caller has until the deadline to read its answer.
        Poll::Pending
    }
}

impl MessageBody for Followed {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.answer.as_ref().map_or(BodySize::None, MessageBody::size)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        if let Some(answer) = &mut self.answer {
            let piece = ready!(Pin::new(answer).poll_next(cx));
            if piece.is_some() {
                return Poll::Ready(piece);
            }
            self.answer = None;
        }
        if self.take(cx).is_ready() {
            return Poll::Ready(None);
        }
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(TIME)));
        end.as_mut().poll(cx).map(|()| None)
    }
}
