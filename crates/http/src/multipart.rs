//! Reads one file from a multipart body as it arrives, within limits on size and time.

use std::time::Duration;

use actix_multipart::{Field, Multipart};
use actix_web::HttpMessage as _;
use actix_web::dev::Payload;
use cicerone_domain::Error;
use cicerone_domain::services::IncomingFile;
use futures_util::{Stream, StreamExt as _};
use tokio::time::Instant;

use crate::body::{broken_off, declared_length, is_encoded, too_slow};
use crate::change::IDEMPOTENCY_KEY;
use crate::context::{Incoming, Shared};
use crate::error::RequestError;

const MULTIPART: &str = "multipart/form-data";
/// Most bytes of the parts other than the file.
const OTHER_PARTS_BYTES: usize = 1_024 * 1_024;

/// The minimum rate at which a file must arrive, in bytes per second, after a first pause. A slower
/// upload would occupy a place for too long.
const LEAST_BYTES_PER_SECOND: u64 = 16 * 1_024;

/// A file that has arrived.
#[derive(Debug)]
pub(crate) struct ReceivedFile {
    /// The name that the caller gave it.
    pub(crate) filename: String,
    /// Its bytes, hashed if the request has an idempotency key.
    pub(crate) file: IncomingFile,
}

impl Incoming {
    /// Reads the part `file` of a multipart body.
    ///
    /// # Errors
    ///
    /// 422 as soon as the file exceeds its limit; the rest is not read then.
    pub(crate) async fn file(&mut self, app: &Shared) -> Result<ReceivedFile, RequestError> {
        if !self.request.content_type().trim().eq_ignore_ascii_case(MULTIPART) {
            return Err(match declared_length(&self.request) {
                Some(0) => Error::missing("file").into(),
                None if self.request.content_type().is_empty() => Error::missing("file").into(),
                Some(_) | None => RequestError::MediaType { expected: MULTIPART },
            });
        }
        if is_encoded(&self.request) {
            return Err(RequestError::MediaType { expected: MULTIPART });
        }
        let is_keyed = self.request.headers().contains_key(IDEMPOTENCY_KEY);
        let payload = std::mem::replace(&mut self.payload, Payload::None);
        let parts = Multipart::new(self.request.headers(), payload);
        let read = read_parts(parts, app.settings.body_deadline, || {
            let file = app.uploads.receive();
            if is_keyed { file.hashed() } else { file }
        });
        tokio::time::timeout(app.settings.upload_deadline, read)
            .await
            .unwrap_or_else(|_| Err(too_slow().into()))
    }
}

async fn read_parts(
    mut parts: Multipart,
    pause: Duration,
    receive: impl Fn() -> IncomingFile,
) -> Result<ReceivedFile, RequestError> {
    let mut file = None;
    let mut other_bytes = 0;
    while let Some(mut part) = next(&mut parts, pause).await? {
        if part.name() == Some("file") {
            if file.is_some() {
                return Err(Error::invalid("file", "must be given only once").into());
            }
            file = Some(read_file(&mut part, pause, receive()).await?);
            continue;
        }
        while let Some(chunk) = next(&mut part, pause).await? {
            other_bytes += chunk.len();
            if other_bytes > OTHER_PARTS_BYTES {
                return Err(RequestError::BodyTooLarge);
            }
        }
    }
    file.ok_or_else(|| Error::missing("file").into())
}

async fn read_file(
    part: &mut Field,
    pause: Duration,
    mut file: IncomingFile,
) -> Result<ReceivedFile, RequestError> {
    let name = part.content_disposition().and_then(|disposition| disposition.get_filename());
    let filename = decoded(name.unwrap_or_default());
    let pace = Pace::new(pause);
    let mut bytes = 0_u64;
    while let Some(piece) = next(part, pace.left(bytes)).await? {
        bytes = bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        file.append(piece).await?;
    }
    Ok(ReceivedFile { filename, file })
}

/// The name as the sender has it. Browsers, and clients that follow the HTML standard, send a quotation mark and line ends
/// as `%22`, `%0D` and `%0A`, and every other character, `%` too, as it is.
fn decoded(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

/// How long the arrival of a file may pause.
struct Pace {
    began: Instant,
    pause: Duration,
}

impl Pace {
    fn new(pause: Duration) -> Self {
        Self { began: Instant::now(), pause }
    }

    /// How long the next piece may take after `bytes` have arrived: at most one pause, and no longer than the
    /// minimum rate allows.
    fn left(&self, bytes: u64) -> Duration {
        let earned = Duration::from_millis(bytes.saturating_mul(1_000) / LEAST_BYTES_PER_SECOND);
        let allowed = self.pause.saturating_add(earned);
        allowed.saturating_sub(self.began.elapsed()).min(self.pause)
    }
}

/// The next piece, which must arrive within `pause`.
async fn next<T, E>(
    stream: &mut (impl Stream<Item = Result<T, E>> + Unpin),
    pause: Duration,
) -> Result<Option<T>, RequestError> {
    match tokio::time::timeout(pause, stream.next()).await {
        Ok(Some(Ok(piece))) => Ok(Some(piece)),
        Ok(None) => Ok(None),
        Ok(Some(Err(_))) => Err(broken_off().into()),
        Err(_) => Err(too_slow().into()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LEAST_BYTES_PER_SECOND, Pace, decoded};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn only_what_the_html_standard_encodes_is_decoded() {
        assert_eq!(decoded("50%25 of%20%22all%22%0D%0A.txt"), "50%25 of%20\"all\"\r\n.txt");
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_arrives_too_slowly_is_refused_after_the_pause() {
        let pace = Pace::new(30 * SECOND);
        assert_eq!(pace.left(0), 30 * SECOND);
        tokio::time::advance(29 * SECOND).await;
        assert_eq!(pace.left(100), SECOND + Duration::from_millis(100 * 1_000 / (16 * 1_024)));
        tokio::time::advance(2 * SECOND).await;
        assert_eq!(pace.left(100), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_at_the_minimum_rate_is_never_refused() {
        let pace = Pace::new(30 * SECOND);
        for second in 1..600 {
            tokio::time::advance(SECOND).await;
            assert_eq!(pace.left(second * LEAST_BYTES_PER_SECOND), 30 * SECOND);
        }
    }
}
