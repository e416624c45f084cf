//! Tests of the middleware around every request.

use actix_web::body::to_bytes;
use actix_web::middleware::from_fn;
use actix_web::test::{TestRequest, init_service, try_call_service};
use actix_web::{App, HttpResponse, web};
use cicerone_domain::Error;
use serde_json::Value;

use super::observe;
use crate::error::RequestError;
use crate::response::Answer;

/// The answer of `handler` to a request: status, request id and body.
async fn answer<F, Fut>(handler: F) -> (u16, String, Value)
where
    F: Fn() -> Fut + Clone + 'static,
    Fut: Future<Output = Answer> + 'static,
{
    let app = App::new().wrap(from_fn(observe)).route("/", web::get().to(handler));
    let service = init_service(app).await;
    let request = TestRequest::get().uri("/").to_request();
    let response: HttpResponse = match try_call_service(&service, request).await {
        Ok(response) => response.into_parts().1,
        Err(error) => error.error_response(),
    };
    let status = response.status().as_u16();
    let id = response.headers().get("x-request-id").unwrap().to_str().unwrap().to_owned();
    let body = to_bytes(response.into_body()).await.unwrap();
    (status, id, serde_json::from_slice(&body).unwrap_or_default())
}

async fn panics() -> Answer {
    panic!("a fault in a handler")
}

#[actix_web::test]
async fn a_panic_is_answered_with_the_constant_body() {
    let (status, id, body) = answer(panics).await;
    assert_eq!((status, &body["error"]["code"]), (500, &"internal_error".into()));
    assert_eq!(body["error"]["request_id"], id.as_str());
    assert!(!body.to_string().contains("a fault in a handler"));
}

#[actix_web::test]
async fn a_refusal_carries_the_id_of_its_request() {
    let refuse = || async { Err(RequestError::from(Error::not_found("agent", "x"))) };
    let (status, id, body) = answer(refuse).await;
    assert_eq!((status, &body["error"]["code"]), (404, &"resource_not_found".into()));
    assert_eq!(body["error"]["request_id"], id.as_str());
    assert!(id.starts_with("req_") && id.len() == 14, "{id}");
}

#[actix_web::test]
async fn an_answer_of_the_framework_gets_the_body_of_a_refusal() {
    let (status, _, body) =
        answer(|| async { Ok(HttpResponse::NotAcceptable().body("plain")) }).await;
    assert_eq!((status, &body["error"]["code"]), (400, &"invalid_parameter".into()));
}

#[actix_web::test]
async fn a_stored_refusal_is_sent_unchanged() {
    let kept = || async {
        let body = r#"{"error":{"request_id":"req_0123456789"}}"#;
        Ok(HttpResponse::NotFound().content_type("application/json").body(body))
    };
    let (status, id, body) = answer(kept).await;
    assert_eq!((status, &body["error"]["request_id"]), (404, &"req_0123456789".into()));
    assert_ne!(id, "req_0123456789");
}
