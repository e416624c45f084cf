//! Replies as server-sent events: any number of `token`, then always `done` or `error`.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, Responder as _};
use actix_web_lab::sse;
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::change::{Executed, joined, mark_replayed};
use crate::context::RequestId;
use crate::error::RequestError;
use crate::events::{DoneEvent, KeptReply, TokenEvent};
use crate::response::{Answer, send};

/// The task of a change whose reply is streamed.
pub(crate) type ReplyTask = JoinHandle<Result<Executed, RequestError>>;

/// Answers with the events of a reply in progress, or with a plain error if it fails before the
/// first token. If neither comes within `heartbeat`, the stream begins anyway. Once `ending` is
/// true, the stream ends with an `error` event, and the reply is completed without it.
pub(crate) async fn stream_reply(
    request: &HttpRequest,
    request_id: RequestId,
    mut tokens: UnboundedReceiver<String>,
    task: ReplyTask,
    heartbeat: Duration,
    ending: watch::Receiver<bool>,
) -> Answer {
    let reply = match tokio::time::timeout(heartbeat, tokens.recv()).await {
        Ok(Some(token)) => Reply { first: Some(token), tokens, end: End::Awaited(task) },
        // No token will come: the request was refused, the reply is a stored one, or it is empty.
        Ok(None) => {
            let executed = joined(task).await?;
            if executed.response.status != StatusCode::OK {
                // A stored error, which is not streamed.
                let mut response = send(executed.response)?;
                mark_replayed(&mut response);
                return Ok(response);
            }
            let first = if executed.is_replay { Some(kept(&executed)?.reply) } else { None };
            let first = first.filter(|text| !text.is_empty());
            Reply { first, tokens, end: End::Known(executed) }
        }
        Err(_) => Reply { first: None, tokens, end: End::Awaited(task) },
    };
    let is_replay = matches!(&reply.end, End::Known(executed) if executed.is_replay);
    let mut response = respond(request, reply.events(request_id, ending), heartbeat);
    if is_replay {
        mark_replayed(&mut response);
    }
    Ok(response)
}

/// The headers keep intermediaries from buffering events. The stream itself sets `Content-Encoding: identity`,
/// which turns off the compression of this server.
fn respond(
    request: &HttpRequest,
    events: impl Stream<Item = sse::Event> + 'static,
    heartbeat: Duration,
) -> HttpResponse {
    let stream = sse::Sse::from_infallible_stream(with_heartbeats(events, heartbeat));
    let mut response = stream.respond_to(request).map_into_boxed_body();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    let buffering = HeaderName::from_static("x-accel-buffering");
    headers.insert(buffering, HeaderValue::from_static("no"));
    response
}

/// The events, with a comment after each silence of that length.
fn with_heartbeats(
    events: impl Stream<Item = sse::Event> + 'static,
    every: Duration,
) -> impl Stream<Item = sse::Event> + 'static {
    stream::unfold(Box::pin(events), move |mut events| async move {
        match tokio::time::timeout(every, events.next()).await {
            Ok(event) => event.map(|event| (event, events)),
            Err(_) => Some((sse::Event::Comment("keep-alive".into()), events)),
        }
    })
}

/// A reply that may be incomplete.
struct Reply {
    first: Option<String>,
    tokens: UnboundedReceiver<String>,
    end: End,
}

/// How a reply ends.
enum End {
    /// Not known until the task ends.
    Awaited(ReplyTask),
    Known(Executed),
}

impl Reply {
    /// The events. Invariant: an error is sent as an event before the stream ends, never as an `Err` of the
    /// stream, which would cut the connection.
    fn events(
        self,
        request_id: RequestId,
        ending: watch::Receiver<bool>,
    ) -> impl Stream<Item = sse::Event> + 'static {
        stream::unfold(Some(self), move |reply| {
            let mut ending = ending.clone();
            async move {
                let reply = reply?;
                tokio::select! {
                    biased;
                    step = reply.step(request_id) => Some(step),
                    () = ended(&mut ending) => {
                        Some((error_event(&RequestError::Stopping, request_id), None))
                    }
                }
            }
        })
    }

    /// The next event, and the rest of the reply if there is more.
    async fn step(mut self, request_id: RequestId) -> (sse::Event, Option<Self>) {
        let token = match self.first.take() {
            Some(token) => Some(token),
            None => self.tokens.recv().await,
        };
        if let Some(content) = token {
            return (event("token", &TokenEvent { content: &content }), Some(self));
        }
        let end = match self.end {
            End::Awaited(task) => joined(task).await,
            End::Known(executed) => Ok(executed),
        };
        let last = end.and_then(|executed| kept(&executed)).map_or_else(
            |failure| error_event(&failure, request_id),
            |reply| event("done", &DoneEvent::from(&reply)),
        );
        (last, None)
    }
}

/// Waits until streams must end.
async fn ended(ending: &mut watch::Receiver<bool>) {
    if ending.wait_for(|is_ending| *is_ending).await.is_err() {
        // The sender is gone, so the value stays false.
        std::future::pending().await
    }
}

fn error_event(failure: &RequestError, request_id: RequestId) -> sse::Event {
    event("error", &failure.report(request_id).to_event(request_id))
}

/// The stored reply of a change.
fn kept(executed: &Executed) -> Result<KeptReply, RequestError> {
    serde_json::from_slice(&executed.response.body)
        .map_err(|cause| cicerone_domain::Error::internal(cause).into())
}

#[expect(clippy::expect_used, reason = "events hold text, numbers and booleans, which serialise")]
fn event(name: &'static str, data: &impl Serialize) -> sse::Event {
    sse::Data::new_json(data).expect("an event serialises").event(name).into()
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::test::TestRequest;
    use cicerone_domain::{Error, Id, SystemEntropy};
    use std::time::Duration;
    use tokio::sync::{mpsc, watch};

    use super::stream_reply;
    use crate::change::Executed;
    use crate::error::RequestError;
    use crate::response::{Answer, StoredResponse};

    const BODY: &str = r#"{"reply":"Two words","conversation_id":"conv_0123456789","sources_used":[{"id":"src_0123456789","title":"T"}]}"#;

    async fn run(tokens: &[&str], end: Result<bool, Error>) -> Answer {
        let (sender, receiver) = mpsc::unbounded_channel();
        for token in tokens {
            sender.send((*token).to_owned()).unwrap();
        }
        drop(sender);
        let task = tokio::spawn(async move {
            let response = StoredResponse {
                status: 200,
                content_type: None,
                body: BODY.as_bytes().to_vec(),
                subject: None,
            };
            end.map(|is_replay| Executed { response, is_replay }).map_err(RequestError::from)
        });
        let request = TestRequest::default().to_http_request();
        let id = Id::random(&SystemEntropy);
        stream_reply(&request, id, receiver, task, Duration::from_secs(10), never()).await
    }

    fn never() -> watch::Receiver<bool> {
        watch::channel(false).1
    }

    async fn text(answer: Answer) -> String {
        let bytes = to_bytes(answer.unwrap().into_body()).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    const DONE: &str = "event: done\ndata: {\"conversation_id\":\"conv_0123456789\",\"sources_used\":[{\"id\":\"src_0123456789\",\"title\":\"T\",\"url\":null,\"document_id\":null,\"passages\":[]}]}\n\n";

    #[tokio::test]
    async fn tokens_come_in_order_and_then_done() {
        let text = text(run(&["Two ", "words"], Ok(false)).await).await;
        let expected = format!(
            "event: token\ndata: {{\"content\":\"Two \"}}\n\n\
             event: token\ndata: {{\"content\":\"words\"}}\n\n{DONE}"
        );
        assert_eq!(text, expected);
    }

    #[tokio::test]
    async fn a_failure_after_a_token_is_an_error_event_and_no_done() {
        let end = Err(Error::ModelUnavailable("upstream said no".into()));
        let text = text(run(&["Two "], end).await).await;
        let (token, error) = text.split_once("\n\n").unwrap();
        assert_eq!(token, "event: token\ndata: {\"content\":\"Two \"}");
        assert!(error.starts_with("event: error\ndata: {\"message\":"), "{error}");
        assert!(error.contains("\"code\":\"model_unavailable\",\"type\":\"api_error\""));
        assert!(error.contains("\"retryable\":true,\"request_id\":\"req_"));
        assert!(!text.contains("done") && !text.contains("upstream"));
    }

    #[tokio::test]
    async fn a_failure_before_the_first_token_is_a_plain_refusal() {
        let answer = run(&[], Err(Error::not_found("agent", "x"))).await;
        assert_eq!(answer.unwrap_err().problem().status.as_u16(), 404);
    }

    #[tokio::test]
    async fn a_replay_gives_the_same_text_and_the_same_done() {
        let answer = run(&[], Ok(true)).await.unwrap();
        assert_eq!(answer.headers().get("idempotent-replayed").unwrap(), "true");
        assert_eq!(answer.headers().get("cache-control").unwrap(), "no-cache, no-transform");
        assert_eq!(answer.headers().get("x-accel-buffering").unwrap(), "no");
        let text = text(Ok(answer)).await;
        assert_eq!(text, format!("event: token\ndata: {{\"content\":\"Two words\"}}\n\n{DONE}"));
    }

    #[tokio::test]
    async fn a_stream_that_must_end_sends_an_error_and_its_reply_is_completed() {
        let (tokens, receiver) = mpsc::unbounded_channel();
        tokens.send("Two ".to_owned()).unwrap();
        let (done, finished) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            tokens.send("words".to_owned()).unwrap_err();
            done.send(()).unwrap();
            Err(RequestError::from(Error::Overloaded))
        });
        let request = TestRequest::default().to_http_request();
        let id = Id::random(&SystemEntropy);
        let (end, ending) = watch::channel(false);
        let answer = stream_reply(&request, id, receiver, task, Duration::from_secs(10), ending);
        let answer = answer.await;
        end.send(true).unwrap();
        let text = text(answer).await;
        let (token, error) = text.split_once("\n\n").unwrap();
        assert_eq!(token, "event: token\ndata: {\"content\":\"Two \"}");
        assert!(error.starts_with("event: error\ndata: {\"message\":"), "{error}");
        assert!(error.contains("\"code\":\"service_unavailable\",\"type\":\"api_error\""));
        assert!(error.contains("\"retryable\":true"), "{error}");
        finished.await.unwrap();
    }

    #[tokio::test]
    async fn after_a_silence_the_stream_begins_and_a_failure_is_an_event() {
        let (tokens, receiver) = mpsc::unbounded_channel();
        let (fail, failed) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let _ = failed.await;
            drop(tokens);
            Err(RequestError::from(Error::Overloaded))
        });
        let request = TestRequest::default().to_http_request();
        let id = Id::random(&SystemEntropy);
        let answer =
            stream_reply(&request, id, receiver, task, Duration::from_millis(10), never()).await;
        fail.send(()).unwrap();
        let text = text(answer).await;
        assert!(text.starts_with("event: error\ndata: {\"message\":"), "{text}");
        assert!(text.contains("\"code\":\"service_unavailable\""), "{text}");
    }
}
