//! The body of an answer while it is sent, in slices. It keeps its room until it is sent or abandoned.

use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody, SizedStream};
use bytes::Bytes;
use cicerone_domain::Error;
use futures_util::stream::try_unfold;

use crate::connection::InProgress;
use crate::context::Shared;
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
    pub(crate) fn stream(body: BoxBody, room: Room, in_progress: Option<InProgress>) -> Self {
        Self { content: Content::Stream(body), _room: room, _in_progress: in_progress }
    }
}

/// Moves a complete body out of memory. The connection reads it again slice by slice, as its client does.
pub(crate) async fn put_aside(app: &Shared, response: HttpResponse) -> Result<HttpResponse, Error> {
    let (response, body) = response.into_parts();
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return Ok(response.set_body(body)),
    };
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let aside = app.spool.put_aside(bytes).await?;
    let slices = try_unfold(aside, |mut aside| async move {
        let slice = aside.next(SLICE).await.inspect_err(|error| {
            tracing::error!(
                error = error as &dyn std::error::Error,
                "an answer cannot be read again"
            );
        })?;
        Ok::<_, Error>((!slice.is_empty()).then_some((slice, aside)))
    });
    Ok(response.set_body(BoxBody::new(SizedStream::new(length, slices))))
}

impl MessageBody for Sent {
    type Error = Box<dyn std::error::Error>;

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
