//! The OpenAPI document, the reference page made from it, and the book. They load nothing from other
//! servers.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use actix_web::http::header::{CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use cicerone_domain::Error;
use cicerone_domain::widget::WidgetToken;
use flate2::read::DeflateDecoder;

use crate::asset::Asset;
use crate::book;
use crate::error::RequestError;
use crate::openapi::document;
use crate::response::{Answer, JSON};

/// Only this server's own files; the page's styles are set by its own script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// The names of the reference page among the assets. The second is the older one.
const REFERENCE: &str = "api";
const OLD_REFERENCE: &str = "index.html";
/// The start of the book.
const START: &str = "";
const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files that are the same for every caller. Each is in memory once, however many connections
/// it is sent to, and is compressed once.
pub(crate) struct Assets {
    /// The OpenAPI document, once it was requested.
    openapi: OnceLock<Arc<Asset>>,
    /// The names of models in addition to the built-in ones.
    extra_models: Vec<String>,
    /// The widget on the pages of the book.
    widget: Option<WidgetToken>,
    /// The pages and files that have been requested.
    parts: Mutex<HashMap<String, Part>>,
}

/// A page or a file, with the policy that browsers apply to it.
#[derive(Clone)]
struct Part {
    asset: Arc<Asset>,
    policy: &'static str,
}

impl Assets {
    /// The assets; the OpenAPI document names these models too, and the pages of the book have this widget.
    pub(crate) fn new(extra_models: Vec<String>, widget: Option<WidgetToken>) -> Self {
        Self { openapi: OnceLock::new(), extra_models, widget, parts: Mutex::new(HashMap::new()) }
    }

    /// Whether the OpenAPI document has been created.
    pub(crate) fn has_document(&self) -> bool {
        self.openapi.get().is_some()
    }

    /// Creates the OpenAPI document, which takes tens of milliseconds. This happens at the first request for it,
    /// because its parts take more memory than everything else at startup.
    pub(crate) fn make_document(&self) -> &Asset {
        self.openapi.get_or_init(|| Asset::new(JSON, document(&self.extra_models)))
    }

    /// Answers with the OpenAPI document.
    pub(crate) fn document(&self, request: &HttpRequest) -> HttpResponse {
        self.make_document().answer(request, &[])
    }

    /// The first page of the book.
    pub(crate) fn page(&self, request: &HttpRequest) -> Answer {
        self.part(START, request)
    }

    /// A page of the book, the reference page, or a file of one of them.
    pub(crate) fn part(&self, name: &str, request: &HttpRequest) -> Answer {
        let part = self.find(name)?;
        let headers = [(CONTENT_SECURITY_POLICY, part.policy), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
        Ok(part.asset.answer(request, &headers))
    }

    fn find(&self, name: &str) -> Result<Part, RequestError> {
        let parts = || self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts().get(name) {
            return Ok(part.clone());
        }
        let part = read(name, self.widget)?;
        // Only names that exist are stored, so there are at most as many as the page has files.
        parts().insert(name.to_owned(), part.clone());
        Ok(part)
    }
}

/// The style of the book, after the colours and tokens that it shares with the console.
const BOOK_STYLE: &str = concat!(
    include_str!("../console/colors.css"),
    include_str!("../console/tokens.css"),
    include_str!("book/book.css"),
);

/// Files of Swagger UI, the first two compressed by DEFLATE. The build script takes them out of its release.
const BUNDLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js"));
const SHEET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css"));
const ICON: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/favicon-32x32.png"));

/// A page, a script, a style, or a file of Swagger UI.
fn read(name: &str, widget: Option<WidgetToken>) -> Result<Part, RequestError> {
    let fixed = |bytes: &'static [u8]| Bytes::from_static(bytes);
    let (content_type, policy, bytes) = match name {
        REFERENCE | OLD_REFERENCE => (HTML, POLICY, fixed(include_bytes!("docs/index.html"))),
        "start.js" => (SCRIPT, POLICY, fixed(include_bytes!("docs/start.js"))),
        "swagger-ui-bundle.js" => (SCRIPT, POLICY, unpacked(BUNDLE)?),
        "swagger-ui.css" => (STYLE, POLICY, unpacked(SHEET)?),
        "favicon-32x32.png" => ("image/png", POLICY, fixed(ICON)),
        "book.css" => (STYLE, book::POLICY, fixed(BOOK_STYLE.as_bytes())),
        "book.js" => (SCRIPT, book::POLICY, fixed(include_bytes!("book/book.js"))),
        "icon.svg" => ("image/svg+xml", book::POLICY, fixed(include_bytes!("book/icon.svg"))),
        // Described as text in the contract, as all of these are.
        book::INDEX => (PLAIN, book::POLICY, book::index().into()),
        _ => (HTML, book::POLICY, book::page(name, widget).ok_or(RequestError::NoRoute)?.into()),
    };
    Ok(Part { asset: Asset::new(content_type.to_owned(), bytes), policy })
}

/// A file of Swagger UI, unpacked.
fn unpacked(compressed: &[u8]) -> Result<Bytes, Error> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(compressed).read_to_end(&mut bytes).map_err(Error::internal)?;
    Ok(bytes.into())
}
