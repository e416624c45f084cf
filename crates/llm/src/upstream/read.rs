//! Reading the response of an upstream, with limits on size and time.

use reqwest::Response;
use tokio::time::{Duration, Instant, timeout_at};

use super::draft::Draft;
use super::events::{Decoder, Event};
use super::failure::{Remedy, UpstreamFailure, quote};
use super::wire::{Completion, Usage, error_text};

/// The largest answer that is read: 4,096 tokens with the frames of a stream, and reasoning.
const ANSWER_BYTES: usize = 16 * 1_024 * 1_024;
/// The longest reply in one piece. It is parsed at once, which takes up to a tenth of a second for this much.
const WHOLE_BYTES: usize = 2 * 1_024 * 1_024;
/// The most bytes of JSON for a byte of a reply: a control character has six.
const ESCAPED_BYTES: usize = 6;
/// What a reply in one piece may have besides its text: usage, fingerprints and the like.
const FRAME_BYTES: usize = 64 * 1_024;
/// Largest part of an error's body that is read.
const ERROR_BYTES: usize = 16 * 1_024;
/// The longest wait for the end of the stream after the last token. The end frees the connection for the
/// next request, but the reply is complete without it.
const END: Duration = Duration::from_millis(500);

/// How a reply ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// The tokens that it used, if the upstream counts them.
    pub(super) usage: Option<Usage>,
    /// Whether the token limit ended it.
    pub(super) is_cut: bool,
}

impl End {
    fn new(reason: Option<&str>, usage: Option<Usage>) -> Self {
        Self { usage, is_cut: reason == Some(LENGTH) }
    }
}

/// The reason why a reply ended that has as many tokens as it may.
const LENGTH: &str = "length";

/// How long a stream may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The time by which the first token must have arrived.
    pub(super) first: Instant,
    /// The longest wait for each following one.
    pub(super) between: Duration,
}

/// Reads a stream of chunks into `draft`.
pub(super) async fn stream(
    response: Response,
    pace: Pace,
    draft: &mut Draft,
    key: Option<&str>,
) -> Result<End, UpstreamFailure> {
    let mut events =
        Events { response, left: ANSWER_BYTES, decoder: Decoder::default(), fault: None };
    let mut state = StreamState { deadline: pace.first, finish: None, usage: None };
    loop {
        let event = match timeout_at(state.deadline, events.next()).await {
            Ok(Ok(Some(event))) => event,
            // Anything after the end of the reply is ignored.
            Ok(_) | Err(_) if state.finish.is_some() => break,
            Ok(Ok(None)) => return Err(broken("closed the stream before the reply was complete")),
            Ok(Err(failure)) => return Err(failure),
            Err(_) if draft.is_started() => {
                return Err(UpstreamFailure::new(Remedy::Elsewhere, "stalled during the reply"));
            }
            Err(_) => return Err(UpstreamFailure::new(Remedy::Elsewhere, "sent no token in time")),
        };
        if event.data.trim() == "[DONE]" {
            state.finish.get_or_insert_default();
            break;
        }
        if event.is_error {
            return Err(sent_error(&event.data, key));
        }
        let chunk: Completion = serde_json::from_str(&event.data).map_err(|error| {
            // The error quotes what it found.
            let error = quote(&error.to_string(), key);
            UpstreamFailure::because(Remedy::Elsewhere, "sent a broken chunk", error)
        })?;
        if let Some(error) = chunk.error {
            return Err(sent_error(&error_text(&error), key));
        }
        state.take(chunk, pace.between, draft);
        if draft.is_full() {
            // The model ignores its limit of tokens, so ours applies.
            state.finish = Some(LENGTH.to_owned());
            break;
        }
    }
    finish(state.finish.as_deref(), draft)?;
    Ok(End::new(state.finish.as_deref(), state.usage))
}

/// The progress of a stream.
struct StreamState {
    deadline: Instant,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl StreamState {
    fn take(&mut self, chunk: Completion, between: Duration, draft: &mut Draft) {
        self.usage = chunk.usage.or(self.usage);
        for mut choice in chunk.choices.unwrap_or_default().0 {
            if self.finish.is_some() {
                return;
            }
            // Some servers send an empty reason with each piece.
            let reason = choice.finish_reason.take().filter(|reason| !reason.is_empty());
            let delta = choice.into_delta();
            let is_reasoning = delta.is_reasoning();
            let text = delta.text();
            if is_reasoning || !text.is_empty() {
                self.deadline = Instant::now() + between;
            }
            draft.push(&text);
            if reason.is_some() {
                self.finish = reason;
                self.deadline = Instant::now() + END;
            }
        }
    }
}

/// Reads a completion in one piece into `draft`.
pub(super) async fn whole(
    response: Response,
    draft: &mut Draft,
    key: Option<&str>,
) -> Result<End, UpstreamFailure> {
    let body = bytes(response, whole_bytes(draft.room())).await?;
    let completion: Completion = serde_json::from_slice(&body).map_err(|error| {
        let error = quote(&error.to_string(), key);
        UpstreamFailure::because(Remedy::Elsewhere, "sent an invalid completion", error)
    })?;
    if let Some(error) = completion.error {
        return Err(sent_error(&error_text(&error), key));
    }
    let Some(mut choice) = completion.choices.and_then(|choices| choices.0.into_iter().next())
    else {
        return Err(UpstreamFailure::new(Remedy::Elsewhere, "sent a completion without a choice"));
    };
    let mut reason = choice.finish_reason.take();
    draft.push(&choice.into_delta().text());
    if draft.is_full() {
        reason = Some(LENGTH.to_owned());
    }
    finish(reason.as_deref(), draft)?;
    Ok(End::new(reason.as_deref(), completion.usage))
}

/// The most bytes of a reply in one piece whose text may have `room` bytes. Hundreds of them may arrive at once.
fn whole_bytes(room: usize) -> usize {
    room.saturating_mul(ESCAPED_BYTES).saturating_add(FRAME_BYTES).min(WHOLE_BYTES)
}

/// The message in the body of an error, if it can be read.
pub(crate) async fn error(mut response: Response, key: Option<&str>) -> String {
    let deadline = Instant::now() + END;
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > ERROR_BYTES {
            break;
        }
    }
    let text = match serde_json::from_slice::<serde_json::Value>(&body) {
        Ok(value) => error_text(value.get("error").unwrap_or(&value)),
        Err(_) => String::from_utf8_lossy(&body).into_owned(),
    };
    quote(&text, key)
}

/// Whether a reply that ended for `reason` is valid.
fn finish(reason: Option<&str>, draft: &Draft) -> Result<(), UpstreamFailure> {
    match reason {
        Some("error") => Err(UpstreamFailure::new(Remedy::Elsewhere, "broke off the reply")),
        Some("content_filter") if !draft.has_text() => {
            Err(UpstreamFailure::new(Remedy::None, "withheld the reply: content filter"))
        }
        // The model used all of its tokens to think, or was told to say nothing. Asked again, it would do the same.
        Some(reason) if !draft.has_text() && !reason.is_empty() => {
            let message = format!("sent an empty reply ({})", quote(reason, None));
            Err(UpstreamFailure::new(Remedy::Other, message))
        }
        _ if !draft.has_text() => Err(broken("sent an empty reply")),
        _ => Ok(()),
    }
}

/// The body of an answer, of at most `limit` bytes.
pub(crate) async fn bytes(
    mut response: Response,
    limit: usize,
) -> Result<Vec<u8>, UpstreamFailure> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > limit => return Err(too_long(limit)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(cut(error.without_url())),
        }
    }
}

/// The events of an answer.
struct Events {
    response: Response,
    left: usize,
    decoder: Decoder,
    /// The error after the decoded events.
    fault: Option<UpstreamFailure>,
}

impl Events {
    /// The next event; `None` at the end. Cancel-safe.
    async fn next(&mut self) -> Result<Option<Event>, UpstreamFailure> {
        loop {
            if let Some(event) = self.decoder.next() {
                return Ok(Some(event));
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let chunk = self.response.chunk().await.map_err(|error| cut(error.without_url()))?;
            let Some(chunk) = chunk else { return Ok(None) };
            self.left = self.left.checked_sub(chunk.len()).ok_or_else(|| too_long(ANSWER_BYTES))?;
            let decoded = self.decoder.push(&chunk);
            self.fault = decoded.err().map(|error| {
                UpstreamFailure::because(
                    Remedy::Elsewhere,
                    "sent a stream that is malformed",
                    error,
                )
            });
        }
    }
}

fn sent_error(text: &str, key: Option<&str>) -> UpstreamFailure {
    UpstreamFailure::new(Remedy::Elsewhere, format!("sent an error: {}", quote(text, key)))
}

fn cut(error: reqwest::Error) -> UpstreamFailure {
    UpstreamFailure::because(
        Remedy::Retry(None),
        "closed the connection before its answer was complete",
        error,
    )
}

fn broken(message: &str) -> UpstreamFailure {
    UpstreamFailure::new(Remedy::Retry(None), message)
}

fn too_long(limit: usize) -> UpstreamFailure {
    UpstreamFailure::new(Remedy::Elsewhere, format!("sent more than {limit} bytes"))
}

#[cfg(test)]
mod tests {
    use super::{WHOLE_BYTES, whole_bytes};

    #[test]
    fn a_reply_in_one_piece_has_the_bytes_that_its_tokens_may_take() {
        assert_eq!(whole_bytes(32), 64 * 1_024 + 192);
        assert_eq!(whole_bytes(32 * 1_024), 256 * 1_024);
        assert_eq!(whole_bytes(usize::MAX), WHOLE_BYTES);
    }
}
