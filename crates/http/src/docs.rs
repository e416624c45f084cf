//! The OpenAPI document and the reference page made from it, which loads nothing from other
//! servers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use cicerone_domain::Error;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

use crate::asset::Asset;
use crate::error::RequestError;
use crate::response::{Answer, JSON};

/// Only this server's own files; the page's styles are set by its own script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// The name of the page among the assets.
const PAGE: &str = "index.html";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files that are the same for every caller. Each is in memory once, however many connections
/// it is sent to, and is compressed once.
pub(crate) struct Assets {
    openapi: Arc<Asset>,
    /// The files of the reference page that have been requested.
    parts: Mutex<HashMap<String, Arc<Asset>>>,
}

impl Assets {
    /// The assets, with this OpenAPI document.
    pub(crate) fn new(openapi: Bytes) -> Self {
        let openapi = Asset::new(JSON.to_owned(), openapi);
        Self { openapi, parts: Mutex::new(HashMap::new()) }
    }

    /// The OpenAPI document.
    pub(crate) fn document(&self, request: &HttpRequest) -> HttpResponse {
        self.openapi.answer(request, &[])
    }

    /// The reference page.
    pub(crate) fn page(&self, request: &HttpRequest) -> Answer {
        self.part(PAGE, request)
    }

    /// A file of the reference page.
    pub(crate) fn part(&self, name: &str, request: &HttpRequest) -> Answer {
        let headers = [(CONTENT_SECURITY_POLICY, POLICY), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
        Ok(self.find(name)?.answer(request, &headers))
    }

    fn find(&self, name: &str) -> Result<Arc<Asset>, RequestError> {
        let parts = || self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts().get(name) {
            return Ok(Arc::clone(part));
        }
        let part = read(name)?;
        // Only names that exist are stored, so there are at most as many as the page has files.
        parts().insert(name.to_owned(), Arc::clone(&part));
        Ok(part)
    }
}

/// Our page and its script, or a file of Swagger UI.
fn read(name: &str) -> Result<Arc<Asset>, RequestError> {
    let (content_type, bytes) = match name {
        PAGE => ("text/html; charset=utf-8", Bytes::from_static(include_bytes!("docs/index.html"))),
        "start.js" => (SCRIPT, Bytes::from_static(include_bytes!("docs/start.js"))),
        "swagger-ui-bundle.js" => (SCRIPT, packed(name)?),
        "swagger-ui.css" => ("text/css; charset=utf-8", packed(name)?),
        "favicon-32x32.png" => ("image/png", packed(name)?),
        _ => return Err(RequestError::NoRoute),
    };
    Ok(Asset::new(content_type.to_owned(), bytes))
}

/// A file of Swagger UI, unpacked.
fn packed(name: &str) -> Result<Bytes, Error> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED)).map_err(Error::internal)?;
    let end = format!("/dist/{name}");
    let is_it = |path: &str| path.ends_with(&end) && path.matches('/').count() == 2;
    let path = archive.file_names().flatten().find(|path| is_it(path)).map(Cow::into_owned);
    let path = path.ok_or_else(|| Error::internal(format!("Swagger UI has no `{name}`")))?;
    let mut bytes = Vec::new();
    let mut file = archive.by_name(&path).map_err(Error::internal)?;
    file.read_to_end(&mut bytes).map_err(Error::internal)?;
    Ok(bytes.into())
}
