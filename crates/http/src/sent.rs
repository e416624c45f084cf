//! The body of an answer while it is sent, in slices. It keeps its room until it is sent or
//! abandoned.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;

use crate::connection::InProgress;
use crate::room::Room;

/// The most bytes that are passed to a connection at once. The connection copies them and keeps
/// them while the client does not read.
const SLICE: usize = 8 * 1_024;

/// A body that the connection copies one slice at a time.
pub(crate) struct Sent {
    content: Content,
    _room: Room,
    _in_progress: Option<InProgress>,
}

enum Content {
    Whole(Bytes),
    Stream(BoxBody),
}

impl Sent {
    /// A complete body, in the memory that `room` reserves.
    pub(crate) fn whole(bytes: Bytes, room: Room, in_progress: Option<InProgress>) -> Self {
        Self { content: Content::Whole(bytes), _room: room, _in_progress: in_progress }
    }

    /// A body that is generated while it is sent.
    pub(crate) fn stream(body: BoxBody, in_progress: Option<InProgress>) -> Self {
        let content = Content::Stream(body);
        Self { content, _room: Room::default(), _in_progress: in_progress }
    }
}

impl MessageBody for Sent {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        match &self.content {
            Content::Whole(bytes) => bytes.size(),
            Content::Stream(body) => body.size(),
        }
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(SLICE))))),
            Content::Stream(body) => Pin::new(body).poll_next(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::{BodySize, MessageBody as _, to_bytes};
    use bytes::Bytes;

    use super::{SLICE, Sent};
    use crate::room::Room;

    #[tokio::test]
    async fn a_body_is_sent_completely_and_in_slices() {
        let bytes = Bytes::from((0..3 * SLICE + 7).map(|n| n as u8).collect::<Vec<_>>());
        let body = Sent::whole(bytes.clone(), Room::default(), None);
        assert_eq!(body.size(), BodySize::Sized(bytes.len() as u64));
        assert_eq!(to_bytes(body).await.ok(), Some(bytes));
    }
}
