//! Around every request: its id, its line in the log, its metrics, and the shape of every refusal.

#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{HttpMessage as _, HttpResponse};
use cicerone_domain::{Error, Id};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, Span, field};

use crate::client_address::client_address;
use crate::context::{App, RequestContext, RequestId, RoutePattern};
use crate::failure::{Failure, Problem};
use crate::unread::Body;

/// The header of a request's id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The headers of a caller's limit.
pub(crate) const RATE_LIMIT: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];

/// The outermost middleware. A panic in a handler is caught here and answered like any other fault.
pub(crate) async fn observe(
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let started = Instant::now();
    let context = Rc::new(RequestContext::new(&request));
    let method = request.method().clone();
    let span = tracing::info_span!(
        "request",
        request_id = %context.id,
        method = %method,
        route = field::Empty,
        status = field::Empty,
    );
    request.extensions_mut().insert(Rc::clone(&context));
    let body = Body::of(&mut request);
    let served = AssertUnwindSafe(next.call(request).instrument(span.clone())).catch_unwind().await;

    let mut route = "";
    let result = match served {
        Ok(Ok(response)) => {
            route = response.request().app_data::<RoutePattern>().map_or("", |pattern| pattern.0);
            Ok(span.in_scope(|| settle(response, &context)))
        }
        Ok(Err(error)) => Err(span.in_scope(|| problem(&error, context.id))),
        Err(_) => {
            // The panic hook has written what it was.
            let failure = Failure::from(Error::internal("a handler panicked"));
            Err(span.in_scope(|| failure.report(context.id)))
        }
    };
    let result = result.map_err(|problem| {
        let mut response = problem.to_response(context.id);
        context.write_headers(&mut response);
        (problem.status, response)
    });
    let status = match &result {
        Ok(response) => response.status(),
        Err((status, _)) => *status,
    };
    record(&span, &method, route, status, started.elapsed());
    let follow = |response| match body {
        Some(body) => body.follow(response),
        None => response,
    };
    match result {
        Ok(response) => {
            let (request, response) = response.into_parts();
            Ok(ServiceResponse::new(request, follow(response)))
        }
        Err((_, response)) => Err(InternalError::from_response("refused", follow(response)).into()),
    }
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
        Self { id, peer, rate: None.into() }
    }

    fn write_headers(&self, response: &mut HttpResponse) {
        let headers = response.headers_mut();
        // An id is letters, digits and an underscore.
        if let Ok(id) = HeaderValue::try_from(self.id.to_string()) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(state) = self.rate.get() {
            let [limit, remaining, reset] = RATE_LIMIT;
            headers.insert(limit, state.limit.into());
            headers.insert(remaining, state.remaining.into());
            headers.insert(reset, state.reset.into());
        }
    }
}

/// Gives a refusal its body, and every answer its headers.
fn settle(response: ServiceResponse, context: &RequestContext) -> ServiceResponse {
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

/// What an error is answered with. Those that are not ours come from the framework, which knows
/// better than we which status fits.
fn problem(error: &actix_web::Error, request_id: RequestId) -> Problem {
    let Some(failure) = error.as_error::<Failure>() else {
        let status = error.as_response_error().status_code();
        if status.is_server_error() {
            tracing::error!(%request_id, error = %error, "internal error");
        }
        return Problem::of_status(status);
    };
    failure.report(request_id)
}

/// The refusal for an answer of the framework itself, which has no body in our shape.
fn stray(response: &HttpResponse) -> Option<Problem> {
    let status = response.status();
    let is_refusal = status.is_client_error() || status.is_server_error();
    let is_shaped =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    (is_refusal && !is_shaped).then(|| Problem::of_status(status))
}

/// Writes the request's line and counts it. Invariant: labels hold nothing that a caller chose.
fn record(
    span: &Span,
    method: &Method,
    route: &'static str,
    status: StatusCode,
    latency: Duration,
) {
    let route = if route.is_empty() { "unmatched" } else { route };
    span.record("route", route);
    span.record("status", status.as_u16());
    let milliseconds = latency.as_secs_f64() * 1_000.0;
    tracing::info!(target: "cicerone::access", parent: span, latency_ms = milliseconds, "served");

    let method = method_label(method);
    let status = status_label(status);
    metrics::counter!("http_requests_total", "method" => method, "route" => route, "status" => status.clone())
        .increment(1);
    metrics::histogram!("http_request_duration_seconds", "method" => method, "route" => route, "status" => status)
        .record(latency.as_secs_f64());
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

/// Statuses are few; the frequent ones need no allocation.
fn status_label(status: StatusCode) -> std::borrow::Cow<'static, str> {
    match status.as_u16() {
        200 => "200".into(),
        201 => "201".into(),
        204 => "204".into(),
        404 => "404".into(),
        other => other.to_string().into(),
    }
}
