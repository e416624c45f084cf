//! `/healthz`, `/readyz` and `/metrics`: for whoever runs the server, without a key.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;

use crate::context::App;
use crate::failure::Failure;
use crate::response::{Answer, JSON};

/// The media type of Prometheus' text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `GET /healthz`: the process is up.
pub(crate) async fn alive() -> Answer {
    Ok(status("ok"))
}

/// `GET /readyz`: the database is migrated and reachable, takes writes, and workers run.
pub(crate) async fn ready(app: App) -> Answer {
    app.health.check().await?;
    if let Err(error) = app.health.check_writes().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "writes to the database fail");
        return Err(Failure::NotReady(
            "writes to the database fail: its disk is full, or it is read-only",
        ));
    }
    if !(app.workers_running)() {
        return Err(Failure::NotReady("the workers do not run"));
    }
    Ok(status("ready"))
}

/// `GET /metrics`: Prometheus text.
pub(crate) async fn metrics(app: App) -> Answer {
    let render = app.metrics.as_ref().ok_or(Failure::NoRoute)?;
    Ok(HttpResponse::Ok().content_type(PROMETHEUS).body(render()))
}

fn status(text: &str) -> HttpResponse {
    let body = format!("{{\"status\":\"{text}\"}}");
    HttpResponse::Ok().content_type(JSON).insert_header((CACHE_CONTROL, "no-store")).body(body)
}
