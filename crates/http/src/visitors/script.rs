//! The script of the widget: at an address that always serves the newest version, and at one whose content never
//! changes, for pages that name its hash. The icon of the hosted page is next to the latter.

use std::sync::{Arc, OnceLock};

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, ETAG, EntityTag, Header as _, HeaderName,
    IfNoneMatch, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::Visitors;
use crate::asset::Asset;
use crate::context::App;
use crate::error::RequestError;
use crate::response::Answer;
use crate::routes;

/// The path of the newest script.
pub(super) const LATEST: &str = "/widget.js";
/// The path of the script of this server's version.
pub(super) const FIXED: &str = "/widget/{version}/widget.js";
/// The path of the icon of this server's version.
pub(super) const ICON: &str = "/widget/{version}/icon.svg";
const FOREVER: &str = "public, max-age=31536000, immutable";
const CONTENT_TYPE: &str = "text/javascript; charset=utf-8";
const ICON_TYPE: &str = "image/svg+xml";
const ICON_TEXT: &[u8] = include_bytes!("../../console/mark.svg");
/// Bytes of the hash in the path.
const VERSION_BYTES: usize = 8;
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The script, prepared at the first request.
#[derive(Default)]
pub(super) struct Script(OnceLock<Made>);

struct Made {
    version: String,
    asset: Arc<Asset>,
    icon: Arc<Asset>,
}

impl Script {
    fn made(&self) -> &Made {
        self.0.get_or_init(|| {
            let text = Bytes::from(crate::widget::script());
            let hash = Sha256::new().chain_update(&text).chain_update(ICON_TEXT).finalize();
            let version =
                hash.iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect();
            let icon = Asset::new(ICON_TYPE, Bytes::from_static(ICON_TEXT));
            Made { version, asset: Asset::new(CONTENT_TYPE, text), icon }
        })
    }

    /// The version in the paths of the script and the icon.
    pub(super) fn version(&self) -> &str {
        &self.made().version
    }
}

/// The headers that let pages of any origin use the script, with this policy of caching.
fn headers(caching: &'static str) -> [(HeaderName, &'static str); 4] {
    [
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (RESOURCE_POLICY, "cross-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, caching),
    ]
}

/// `GET /widget.js`
pub(super) async fn latest(app: App, request: HttpRequest) -> Answer {
    let made = Visitors::of(&app)?.script.made();
    // Weak, because the compressed script has the same tag.
    let tag = EntityTag::new_weak(made.version.clone());
    let is_known = match IfNoneMatch::parse(&request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(&tag)),
        Err(_) => false,
    };
    let mut response = if is_known {
        let mut response = HttpResponse::NotModified();
        for header in headers("no-cache") {
            response.insert_header(header);
        }
        response.finish()
    } else {
        made.asset.answer(&request, &headers("no-cache"))
    };
    let tag = tag.to_string().parse().map_err(cicerone_domain::Error::internal)?;
    response.headers_mut().insert(ETAG, tag);
    Ok(response)
}

/// `GET /widget/{version}/widget.js`
pub(super) async fn fixed(app: App, request: HttpRequest) -> Answer {
    let made = of_version(&app, &request)?;
    Ok(made.asset.answer(&request, &headers(FOREVER)))
}

/// `GET /widget/{version}/icon.svg`
pub(super) async fn icon(app: App, request: HttpRequest) -> Answer {
    let made = of_version(&app, &request)?;
    Ok(made.icon.answer(&request, &headers(FOREVER)))
}

/// The content, if the version in the path is this server's.
fn of_version<'a>(app: &'a App, request: &HttpRequest) -> Result<&'a Made, RequestError> {
    let made = Visitors::of(app)?.script.made();
    let is_ours = routes::value(request, "version") == made.version;
    is_ours.then_some(made).ok_or(RequestError::NoRoute)
}
