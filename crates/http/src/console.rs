//! The console: a page, its modules and styles, served from the folder `console` without comments and indentation.
//!
//! Everything that the page shows and does goes through the public API. Its files are under a path with a hash of all
//! of them, so browsers cache them until another version of the server serves others.

mod files;
#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use actix_web::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::Bytes;
use cicerone_domain::Error;
use sha2::{Digest as _, Sha256};

use self::files::{FILES, PAGE};
use crate::asset::Asset;
use crate::context::App;
use crate::error::RequestError;
use crate::response::Answer;
use crate::routes::{self, Resource};
use crate::slim::{slim, slim_style};

/// Only this server's own files and API, and no script or style within the page. Markup enters the page through the
/// one policy of the template library, which gets constant texts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types lit-html";
/// Of a file whose path changes with its content.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// The version in the paths of files that are read from a folder.
const UNVERSIONED: &str = "folder";
/// Bytes of the hash in the paths.
const VERSION_BYTES: usize = 8;
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// Whether and from where the console is served.
#[derive(Debug, Clone)]
pub struct ConsoleSettings {
    /// Whether `/console` is served.
    pub is_enabled: bool,
    /// The folder that the files are read from at every request, for work on the console. `None`: the files in the
    /// program are served.
    pub folder: Option<PathBuf>,
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self { is_enabled: true, folder: None }
    }
}

/// The files of the console.
pub(crate) struct Console {
    version: String,
    page: OnceLock<Arc<Asset>>,
    /// In the order of [`FILES`]: a file is compressed when it is first requested.
    parts: Vec<OnceLock<Arc<Asset>>>,
    folder: Option<PathBuf>,
}

impl Console {
    /// The console, if it is turned on.
    pub(crate) fn new(settings: &ConsoleSettings) -> Option<Self> {
        settings.is_enabled.then(|| Self {
            version: if settings.folder.is_some() { UNVERSIONED.to_owned() } else { version() },
            page: OnceLock::new(),
            parts: FILES.iter().map(|_| OnceLock::new()).collect(),
            folder: settings.folder.clone(),
        })
    }

    async fn page(&self, app: &App) -> Result<Arc<Asset>, RequestError> {
        if self.folder.is_some() {
            return Ok(self.render(&self.read(app, "index.html").await?));
        }
        Ok(Arc::clone(self.page.get_or_init(|| self.render(PAGE.as_bytes()))))
    }

    /// The page, with the version in its paths and its modules as links, which the browser requests at once.
    fn render(&self, template: &[u8]) -> Arc<Asset> {
        let modules = FILES.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".js"));
        let link =
            |name| format!("<link rel=\"modulepreload\" href=\"console/{{version}}/{name}\">");
        let links: Vec<_> = modules.map(link).collect();
        let page = String::from_utf8_lossy(template)
            .replace("<!-- modules -->", &links.join("\n"))
            .replace("{version}", &self.version);
        Asset::new("text/html; charset=utf-8", page.into())
    }

    async fn part(&self, app: &App, version: &str, name: &str) -> Result<Arc<Asset>, RequestError> {
        if version != self.version {
            return Err(RequestError::NoRoute);
        }
        if self.folder.is_some() {
            let bytes = self.read(app, name).await?;
            return Ok(Asset::new(content_type(name), bytes));
        }
        let mut files = FILES.iter().zip(&self.parts);
        let found = files.find(|((known, _), _)| *known == name);
        let ((name, bytes), part) = found.ok_or(RequestError::NoRoute)?;
        let make = || Asset::new(content_type(name), served(name, bytes));
        Ok(Arc::clone(part.get_or_init(make)))
    }

    /// A file of the folder, as it is now.
    async fn read(&self, app: &App, name: &str) -> Result<Bytes, RequestError> {
        let is_plain =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let folder = self.folder.as_ref().filter(|_| is_plain).ok_or(RequestError::NoRoute)?;
        let path = folder.join(name);
        let read = app.runtime.spawn_blocking(move || std::fs::read(path)).await;
        match read.map_err(Error::internal)? {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => Err(RequestError::NoRoute),
        }
    }

    fn caching(&self) -> &'static str {
        if self.folder.is_some() { "no-store" } else { FOREVER }
    }
}

/// A file as browsers get it: our own without comments and indentation, those of others unchanged.
fn served(name: &str, bytes: &'static [u8]) -> Bytes {
    let is_ours = !name.starts_with("vendor/");
    match std::str::from_utf8(bytes) {
        Ok(text) if is_ours && name.ends_with(".js") => slim(text).into(),
        Ok(text) if is_ours && name.ends_with(".css") => slim_style(text).into(),
        _ => Bytes::from_static(bytes),
    }
}

/// A hash of all files, as browsers get them, and their names.
fn version() -> String {
    let mut hash = Sha256::new();
    for (name, bytes) in FILES {
        hash.update(name);
        hash.update([0]);
        hash.update(served(name, bytes));
        hash.update([0]);
    }
    hash.update(PAGE);
    hash.finalize().iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

fn content_type(name: &str) -> &'static str {
    match Path::new(name).extension().and_then(std::ffi::OsStr::to_str) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

/// The routes of the console. They are not part of the contract: the console is a client of it.
pub(crate) fn resources() -> impl Iterator<Item = Resource> {
    let routes = [
        ("/", web::get().to(from_root), web::head().to(from_root)),
        ("/console", web::get().to(page), web::head().to(page)),
        ("/console/", web::get().to(to_page), web::head().to(to_page)),
        ("/console/{version}/{*file}", web::get().to(part), web::head().to(part)),
    ];
    routes.into_iter().map(|(path, get, head)| Resource::of_page(path, get, head))
}

/// Sends people who open the bare address of the server to the console. Programs get a 404, as for every path that does
/// not exist: only browsers name HTML in `Accept`.
async fn from_root(app: App, request: HttpRequest) -> Answer {
    let accepted = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    if app.console.is_none() || !accepted.into_iter().any(|value| value.contains("text/html")) {
        return Err(RequestError::NoRoute);
    }
    let headers = [(LOCATION, "console"), (CACHE_CONTROL, "no-store"), (VARY, "Accept")];
    let mut answer = HttpResponse::Found();
    for header in headers {
        answer.insert_header(header);
    }
    Ok(answer.finish())
}

async fn page(app: App, request: HttpRequest) -> Answer {
    let console = app.console.as_ref().ok_or(RequestError::NoRoute)?;
    let headers = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
        (PERMISSIONS, "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        (CACHE_CONTROL, "no-cache"),
    ];
    Ok(console.page(&app).await?.answer(&request, &headers))
}

/// The page's addresses are relative to `/console`, so that a proxy can serve it below a path.
async fn to_page(app: App) -> Answer {
    app.console.as_ref().ok_or(RequestError::NoRoute)?;
    Ok(HttpResponse::PermanentRedirect().insert_header((LOCATION, "../console")).finish())
}

async fn part(app: App, request: HttpRequest) -> Answer {
    let console = app.console.as_ref().ok_or(RequestError::NoRoute)?;
    let path = |name| routes::value(&request, name);
    let asset = console.part(&app, path("version"), path("file")).await?;
    let headers = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (RESOURCE_POLICY, "same-origin"),
        (CACHE_CONTROL, console.caching()),
    ];
    Ok(asset.answer(&request, &headers))
}
