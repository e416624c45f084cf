//! The middleware around every request: its id, its line in the log, its metrics, and the body of
//! every error.

mod lines;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody as _};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, VARY,
};
use actix_web::http::{ConnectionType, Method, StatusCode, Version};
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpResponse};
use cicerone_domain::{Error, Id};
use futures_util::FutureExt as _;
use metrics::{Counter, Histogram};
use tracing::{Instrument as _, Span, field};

use crate::asset::SharedByAll;
use crate::client_address::client_address;
use crate::compression::{Effort, WORTHWHILE_BYTES, gzip, prefers_gzip};
use crate::connection::Link;
use crate::context::{App, RequestContext, RequestId};
use crate::error::{Problem, RequestError};
use crate::response::{HTML, JSON};
use crate::room::{Kept, Room, Tenant};
use crate::routes;
use crate::sent::{Sent, put_aside};
use crate::unread::Body;
use lines::{Line, Lines};

/// Answers with more bytes are compressed on a blocking thread, since other connections share this one.
const LONG_BYTES: usize = 64 * 1_024;
/// The longest `tracestate` that is taken up: what the standard asks every program to pass on.
const TRACE_STATE_BYTES: usize = 512;
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The headers that show the state of the caller's rate limit.
pub(crate) const RATE_LIMIT: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];

/// The outermost middleware. A panic in a handler is caught here and answered like any other
/// internal error.
pub(crate) async fn observe(
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let started = Instant::now();
    let context = Rc::new(RequestContext::new(&request));
    let (method, version) = (request.method().clone(), request.version());
    let span = tracing::info_span!(
        "request",
        request_id = %context.id,
        method = %method,
        route = field::Empty,
        status = field::Empty,
    );
    join_trace(&request, &span);
    request.extensions_mut().insert(Rc::clone(&context));
    let link = request.conn_data::<Rc<Link>>().map(Rc::clone);
    let in_progress = link.as_ref().map(Link::begin);
    let app = request.app_data::<App>().cloned();
    let accepts_gzip = *request.method() == Method::GET && prefers_gzip(request.request());
    let body = Body::of(&mut request, link.clone());
    let served = AssertUnwindSafe(next.call(request).instrument(span.clone())).catch_unwind().await;

    let mut route = "";
    let result = match served {
        Ok(Ok(response)) => {
            route = routes::pattern(response.request());
            Ok(span.in_scope(|| complete(response, &context)))
        }
        Ok(Err(error)) => Err(span.in_scope(|| problem(&error, context.id))),
        Err(_) => {
            // The panic hook has logged it.
            let failure = RequestError::from(Error::internal("a handler panicked"));
            Err(span.in_scope(|| failure.report(context.id)))
        }
    };
    let (request, mut response) = match result {
        Ok(response) => {
            let (request, response) = response.into_parts();
            (Some(request), response)
        }
        Err(problem) => {
            let mut response = problem.to_response(context.id);
            context.write_headers(&mut response);
            (None, response)
        }
    };
    if accepts_gzip {
        response = compressed(response, app.as_ref()).await;
    }
    let may_be_refused = matches!(method, Method::GET | Method::HEAD);
    if let Some(app) = &app {
        response = match kept(app, &context, response, may_be_refused).await {
            Ok(response) => response,
            Err(error) => {
                let problem = span.in_scope(|| RequestError::from(error).report(context.id));
                let mut response = problem.to_response(context.id);
                context.write_headers(&mut response);
                response
            }
        };
    }
    end_by_closing(&mut response, version);
    record(&span, &method, route, context.tenant.get(), response.status(), started.elapsed());
    if let Some(link) = link
        && response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
    {
        link.unpaced();
    }
    let room = context.room.take();
    let body = body.filter(|body| !body.is_over());
    // The request lasts until the rest of its body was read or dropped.
    let (in_answer, in_rest) =
        if body.is_none() { (in_progress, None) } else { (None, in_progress) };
    let response = response.map_body(|_, answer| {
        BoxBody::new(match answer.try_into_bytes() {
            Ok(bytes) => Sent::whole(bytes, room, in_answer),
            Err(answer) => Sent::stream(answer, room, in_answer),
        })
    });
    let response = match body {
        Some(body) => body.follow(response, in_rest),
        None => response,
    };
    match request {
        Some(request) => Ok(ServiceResponse::new(request, response)),
        None => Err(InternalError::from_response("refused", response).into()),
    }
}

/// Makes the span part of the caller's trace if the request names one. Must be called before the span is entered.
fn join_trace(request: &ServiceRequest, span: &Span) {
    let Some(join) = request.app_data::<App>().and_then(|app| app.join_trace) else { return };
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(parent) = header("traceparent") else { return };
    // It is kept with the span until it is sent.
    let state = header("tracestate").filter(|state| state.len() <= TRACE_STATE_BYTES);
    join(span, parent, state.unwrap_or_default());
}

/// Keeps an answer until it is sent, in memory or on the disk, and releases what its creation reserved.
async fn kept(
    app: &App,
    context: &RequestContext,
    response: HttpResponse,
    may_be_refused: bool,
) -> Result<HttpResponse, Error> {
    let bytes = match response.body().size() {
        BodySize::Sized(_) if response.extensions().get::<SharedByAll>().is_some() => 0,
        BodySize::Sized(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
        // The size of a stream is not known.
        BodySize::None | BodySize::Stream => 0,
    };
    let kept = app.rooms.keep_answer(context.tenant.get(), bytes, may_be_refused).await;
    let (response, room) = match kept {
        Ok(Kept::InMemory(room)) => (Ok(response), room),
        Ok(Kept::OnDisk(room)) => (put_aside(app, response).await, room),
        Err(error) => (Err(error), Room::default()),
    };
    // The memory for the creation is free from here on.
    context.room.replace(room);
    response
}

/// Lets the end of the connection be the end of a stream if the client does not know chunks: HTTP/1.0 has none (RFC 9112,
/// section 6.1).
fn end_by_closing(response: &mut HttpResponse, version: Version) {
    if version < Version::HTTP_11 && response.body().size() == BodySize::Stream {
        let head = response.head_mut();
        head.no_chunking(true);
        head.set_connection_type(ConnectionType::Close);
    }
}

/// Compresses an answer if that is worth it. Large ones are compressed on a blocking thread.
async fn compressed(response: HttpResponse, app: Option<&App>) -> HttpResponse {
    let is_worthwhile = match response.body().size() {
        BodySize::Sized(bytes) => bytes >= WORTHWHILE_BYTES as u64,
        BodySize::None | BodySize::Stream => false,
    };
    if !is_worthwhile || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (response, body) = response.into_parts();
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return response.set_body(body),
    };
    let small = match app {
        Some(app) if bytes.len() > LONG_BYTES => {
            let bytes = bytes.clone();
            let work = move || gzip(&bytes, Effort::Once);
            app.runtime.spawn_blocking(work).await.ok().flatten()
        }
        _ => gzip(&bytes, Effort::Once),
    };
    let is_small = small.is_some();
    let mut response = response.set_body(BoxBody::new(small.unwrap_or(bytes)));
    let headers = response.headers_mut();
    if is_small {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    response
}

impl RequestContext {
    fn new(request: &ServiceRequest) -> Self {
        let app = request.app_data::<App>();
        let id = app.map_or_else(
            || Id::random(&cicerone_domain::SystemEntropy),
            |app| Id::random(app.entropy.as_ref()),
        );
        let trusted = app.map_or(&[][..], |app| &app.settings.trusted_proxies);
        let peer = request.peer_addr().map(|peer| peer.ip());
        let peer = client_address(peer, request.headers(), trusted);
        Self {
            id,
            peer,
            rate: None.into(),
            tenant: Cell::default(),
            shared_with: RefCell::default(),
            authenticated_in: Cell::default(),
            room: RefCell::default(),
        }
    }

    fn write_headers(&self, response: &mut HttpResponse) {
        let is_success = response.status().is_success();
        let headers = response.headers_mut();
        // An id consists of letters, digits and an underscore.
        if let Ok(id) = HeaderValue::try_from(self.id.to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(state) = self.rate.get() {
            let [limit, remaining, reset] = RATE_LIMIT;
            headers.insert(limit, state.limit.into());
            headers.insert(remaining, state.remaining.into());
            headers.insert(reset, state.reset.into());
        }
        self.shared_with.borrow().write(headers);
        // Neither answers to a key or a visitor nor errors may be cached.
        let is_private = self.tenant.get() != Tenant::Strangers || !is_success;
        if is_private && !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
}

/// Gives an error its body, and every answer its headers.
fn complete(response: ServiceResponse, context: &RequestContext) -> ServiceResponse {
    let refusal = match response.response().error() {
        Some(error) => Some(problem(error, context.id)),
        None => stray(response.response()),
    };
    let mut response = match refusal {
        Some(problem) => {
            let answer = problem.to_response(context.id);
            let (request, _) = response.into_parts();
            ServiceResponse::new(request, answer)
        }
        None => response,
    };
    context.write_headers(response.response_mut());
    response
}

/// The response to an error. An error that is not ours is from the framework, and keeps its status.
fn problem(error: &actix_web::Error, request_id: RequestId) -> Problem {
    let Some(failure) = error.as_error::<RequestError>() else {
        let status = error.as_response_error().status_code();
        if status.is_server_error() {
            tracing::error!(%request_id, error = %error, "internal error");
        }
        return Problem::of_status(status);
    };
    failure.report(request_id)
}

/// The answer that replaces an error of the framework itself, whose body is not in our form.
fn stray(response: &HttpResponse) -> Option<Problem> {
    let status = response.status();
    let is_refusal = status.is_client_error() || status.is_server_error();
    // The framework's own errors are plain text.
    let is_shaped =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == JSON || kind == HTML);
    (is_refusal && !is_shaped).then(|| Problem::of_status(status))
}

/// Logs and counts the request. Invariant: labels contain nothing that a caller chose.
fn record(
    span: &Span,
    method: &Method,
    route: &'static str,
    tenant: Tenant,
    status: StatusCode,
    latency: Duration,
) {
    let route = if route.is_empty() { "unmatched" } else { route };
    // Both at once: the fields of a span are one JSON text, which each call reads and writes again.
    tracing::record_all!(span, route = route, status = status.as_u16());
    let milliseconds = latency.as_secs_f64() * 1_000.0;
    let line = match tenant {
        Tenant::Strangers if is_probe(route) && status.is_success() => Line::LeftOut,
        Tenant::Strangers => STRANGERS.next(Instant::now()),
        Tenant::Keys(_) | Tenant::Visitors(_) => Line::Written,
    };
    if let Line::AfterGap(left_out) = line {
        tracing::warn!(target: "cicerone::access", left_out, "requests without a key were not logged");
    }
    if line != Line::LeftOut {
        tracing::info!(target: "cicerone::access", parent: span, latency_ms = milliseconds, "served");
    }

    let is_refused_stranger = tenant == Tenant::Strangers && status.is_client_error();
    let route = if is_refused_stranger { UNAUTHENTICATED } else { route };
    MEASURES.with_borrow_mut(|known| {
        let labels = (method_label(method), route, status.as_u16());
        let (requests, durations) = known.entry(labels).or_insert_with(|| measures(labels));
        requests.increment(1);
        if let Some(durations) = durations {
            durations.record(latency.as_secs_f64());
        }
    });
}

/// The log lines of requests without a key.
static STRANGERS: Lines = Lines::new();

/// Whether a route is asked every few seconds by programs, so that lines for its successes would hide the others.
fn is_probe(route: &str) -> bool {
    matches!(route, "/healthz" | "/readyz" | "/metrics")
}

/// Stands for all routes in the metrics of requests that were refused before their caller was known. Anyone can be refused
/// at each route with each method, and each such label would stay in the metrics.
const UNAUTHENTICATED: &str = "unauthenticated";

thread_local! {
    /// The counters and histograms that this thread has used. Finding them in the registry allocates memory several times.
    static MEASURES: RefCell<HashMap<Labels, (Counter, Option<Histogram>)>> = RefCell::default();
}

/// A method, a route and a status.
type Labels = (&'static str, &'static str, u16);

/// The number of requests, and how long they take, unless they were refused before their caller was known. A histogram is
/// as large as twenty counters, so it has no status.
fn measures((method, route, status): Labels) -> (Counter, Option<Histogram>) {
    let requests = metrics::counter!(
        "http_requests_total",
        "method" => method, "route" => route, "status" => status.to_string()
    );
    let durations = (route != UNAUTHENTICATED).then(
        || metrics::histogram!("http_request_duration_seconds", "method" => method, "route" => route),
    );
    (requests, durations)
}

fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::PUT => "PUT",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
