//! `GET /chat/{token}`: the hosted page of a widget, which uses the same script as the pages of other sites.

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse};
use cicerone_domain::Error;

use super::visit::{Visit, token};
use super::{Visitors, refusal};
use crate::body::shown;
use crate::context::App;
use crate::response::{Answer, HTML};

pub(super) const PATH: &str = "/chat/{token}";
/// Allows only this server's script and API, and no script, style or markup within the page. The sites that may frame
/// the page are appended.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors";
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

pub(super) async fn show(app: App, request: HttpRequest) -> Answer {
    match found(&app, &request).await {
        Err(error) => refusal::answer(&request, error),
        shown => shown,
    }
}

async fn found(app: &App, request: &HttpRequest) -> Answer {
    let visit = Visit::of_page(app, request).await?;
    let widget = visit.widget();
    // The page uses the token that it was opened with, so that someone with an old token does not learn the new one.
    let token = token(request);
    if !widget.hosted_page {
        return Err(Error::not_found("widget", shown(token)).into());
    }
    let version = Visitors::of(app)?.script.version();
    let page = page(&visit.open().title, widget.look.language(), token, version);
    let policy = format!("{POLICY} {}", widget.origins.frame_ancestors());
    Ok(HttpResponse::Ok()
        .content_type(HTML)
        .insert_header((CONTENT_SECURITY_POLICY, policy))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((OPENER_POLICY, "same-origin"))
        .insert_header((
            PERMISSIONS,
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ))
        .insert_header((ROBOTS, "noindex"))
        .insert_header((CACHE_CONTROL, "no-cache"))
        .body(page))
}

/// The page. Its addresses are relative, so that a proxy can serve it below a path.
fn page(title: &str, language: &str, token: &str, version: &str) -> String {
    let (title, language, token) = (escaped(title), escaped(language), escaped(token));
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"../widget/{version}/icon.svg\">\n\
         <script src=\"../widget/{version}/widget.js\" data-token=\"{token}\" data-page defer></script>\n\
         </head>\n<body><noscript>{title}: this page needs JavaScript.</noscript></body>\n</html>\n"
    )
}

/// Escapes text for HTML, including attribute values.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn texts_of_the_owner_are_shown_and_not_interpreted() {
        let hostile = "\"'><script>alert(1)</script>&amp;";
        let page = page(hostile, hostile, "pub_x", "0123");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(page.contains("<title>&quot;&#39;&gt;&lt;script&gt;alert(1)"), "{page}");
        assert!(!page.contains("\"'>"), "{page}");
    }
}
