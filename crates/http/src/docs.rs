//! The OpenAPI document and the reference page made from it, which loads nothing from elsewhere.

use std::sync::Arc;

use actix_web::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpResponse, HttpResponseBuilder};
use cicerone_domain::Error;
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::context::{App, Incoming};
use crate::failure::Failure;
use crate::response::{Answer, JSON};

/// Only this server's own files; the page's styles are set by its own script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// `GET /v1/openapi.json`
pub(crate) async fn document(app: App) -> Answer {
    Ok(HttpResponse::Ok().content_type(JSON).body(app.openapi.clone()))
}

/// `GET /docs`
pub(crate) async fn page() -> Answer {
    let page = file("index.html")?;
    let text = String::from_utf8(page.bytes.into_owned()).map_err(Error::internal)?;
    // The page stands at `/docs`, its parts below it.
    let text = text.replace("\"./", "\"/docs/").replace("\"index.css\"", "\"/docs/index.css\"");
    Ok(guarded(HttpResponse::Ok(), &page.content_type).body(text))
}

/// `GET /docs/{asset}`
pub(crate) async fn asset(incoming: Incoming) -> Answer {
    let name = incoming.request.match_info().get("asset").unwrap_or_default();
    let part = file(name)?;
    Ok(guarded(HttpResponse::Ok(), &part.content_type).body(part.bytes.into_owned()))
}

fn file(name: &str) -> Result<SwaggerFile<'static>, Failure> {
    let config = Arc::new(Config::from("/v1/openapi.json").use_base_layout());
    let found = utoipa_swagger_ui::serve(name, config)
        .map_err(|cause| Error::internal(cause.to_string()))?;
    found.filter(|file| !file.gzpipped).ok_or(Failure::NoRoute)
}

fn guarded(mut response: HttpResponseBuilder, content_type: &str) -> HttpResponseBuilder {
    response
        .insert_header((CONTENT_TYPE, content_type))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response
}
