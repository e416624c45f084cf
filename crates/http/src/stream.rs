//! Replies as server-sent events: fragments of the text, and an end that is always there.

pub(crate) mod script;

use std::collections::VecDeque;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, Responder as _};
use actix_web_lab::sse;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::change::{Executed, joined, mark_replayed};
use crate::context::RequestId;
use crate::error::RequestError;
use crate::response::{Answer, send};
use script::Script;

/// The task of a change whose reply is streamed.
pub(crate) type ReplyTask = JoinHandle<Result<Executed, RequestError>>;

/// Answers with the events of a reply in progress, as `script` writes them, or with a plain error if it fails
/// before the first token. If neither comes within `heartbeat`, the stream begins anyway. Once `ending` is
/// true, the stream ends with an error, and the reply is completed without it.
pub(crate) async fn stream_reply<S: Script>(
    request: &HttpRequest,
    request_id: RequestId,
    script: S,
    mut tokens: UnboundedReceiver<String>,
    task: ReplyTask,
    heartbeat: Duration,
    ending: watch::Receiver<bool>,
) -> Answer {
    let (first, end) = match tokio::time::timeout(heartbeat, tokens.recv()).await {
        Ok(Some(token)) => (Some(token), End::Awaited(task)),
        // No token will come: the request was refused, the reply is a stored one, or it is empty.
        Ok(None) => {
            let executed = joined(task).await?;
            if executed.response.status != StatusCode::OK {
                // A stored error, which is not streamed.
                let mut response = send(executed.response)?;
                mark_replayed(&mut response);
                return Ok(response);
            }
            (None, End::Known(executed))
        }
        Err(_) => (None, End::Awaited(task)),
    };
    let is_replay = matches!(&end, End::Known(executed) if executed.is_replay);
    let reply = Reply { script, queue: VecDeque::new(), first, tokens, end: Some(end) };
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
struct Reply<S> {
    script: S,
    /// Events that are ready to be sent.
    queue: VecDeque<sse::Event>,
    first: Option<String>,
    tokens: UnboundedReceiver<String>,
    /// `None` once the end is in the queue.
    end: Option<End>,
}

/// How a reply ends.
enum End {
    /// Not known until the task ends.
    Awaited(ReplyTask),
    Known(Executed),
}

impl<S: Script> Reply<S> {
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
                let mut reply = reply?;
                tokio::select! {
                    biased;
                    event = reply.next(request_id) => event.map(|event| (event, Some(reply))),
                    () = ended(&mut ending) => {
                        let problem = RequestError::Stopping.report(request_id);
                        Some((reply.script.fail(&problem, request_id), None))
                    }
                }
            }
        })
    }

    /// The next event; `None` after the last one. If this is dropped before it returns, no event is lost,
    /// except for the end.
    async fn next(&mut self, request_id: RequestId) -> Option<sse::Event> {
        while self.queue.is_empty() {
            let token = match self.first.take() {
                Some(token) => Some(token),
                None => self.tokens.recv().await,
            };
            let events = match token {
                Some(token) => self.script.token(&token),
                None => self.last(request_id).await?,
            };
            self.queue.extend(events);
        }
        self.queue.pop_front()
    }

    /// The events after the last token; `None` if they were returned already.
    async fn last(&mut self, request_id: RequestId) -> Option<Vec<sse::Event>> {
        let executed = match self.end.take()? {
            End::Awaited(task) => joined(task).await,
            End::Known(executed) => Ok(executed),
        };
        let stored = executed.and_then(|executed| {
            let is_replay = executed.is_replay;
            script::stored::<S>(&executed).map(|stored| (stored, is_replay))
        });
        Some(match stored {
            Ok((stored, true)) => self.script.replay(&stored),
            Ok((stored, false)) => self.script.end(&stored),
            Err(failure) => vec![self.script.fail(&failure.report(request_id), request_id)],
        })
    }
}

/// Waits until streams must end.
pub(crate) async fn ended(ending: &mut watch::Receiver<bool>) {
    if ending.wait_for(|is_ending| *is_ending).await.is_err() {
        // The sender was dropped, so the value stays false.
        std::future::pending().await
    }
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
    use crate::events::Tokens;
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
                quote: None,
            };
            end.map(|is_replay| Executed { response, is_replay }).map_err(RequestError::from)
        });
        let request = TestRequest::default().to_http_request();
        let id = Id::random(&SystemEntropy);
        stream_reply(&request, id, Tokens, receiver, task, Duration::from_secs(10), never()).await
    }

    fn never() -> watch::Receiver<bool> {
        watch::channel(false).1
    }

    async fn text(answer: Answer) -> String {
        let bytes = to_bytes(answer.unwrap().into_body()).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    const DONE: &str = "event: done\ndata: {\"conversation_id\":\"conv_0123456789\",\"sources_used\":[{\"id\":\"src_0123456789\",\"title\":\"T\",\"url\":null,\"document_id\":null,\"passages\":[]}],\"n\":null}\n\n";

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
            tokens.closed().await;
            tokens.send("words".to_owned()).unwrap_err();
            done.send(()).unwrap();
            Err(RequestError::from(Error::Overloaded))
        });
        let request = TestRequest::default().to_http_request();
        let id = Id::random(&SystemEntropy);
        let (end, ending) = watch::channel(false);
        let answer =
            stream_reply(&request, id, Tokens, receiver, task, Duration::from_secs(10), ending);
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
            stream_reply(&request, id, Tokens, receiver, task, Duration::from_millis(10), never())
                .await;
        fail.send(()).unwrap();
        let text = text(answer).await;
        assert!(text.starts_with("event: error\ndata: {\"message\":"), "{text}");
        assert!(text.contains("\"code\":\"service_unavailable\""), "{text}");
    }
}
