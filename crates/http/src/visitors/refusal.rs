//! What people see if the hosted page of a widget cannot be shown: a page instead of JSON.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse};

use crate::context::RequestContext;
use crate::error::RequestError;
use crate::response::{Answer, HTML};

/// The style of the page. It is in the page, because a refused page loads nothing.
const STYLE: &str = "body{margin:25vh auto;max-width:30rem;padding:0 1.5rem;font:1.125rem/1.6 system-ui,sans-serif;text-align:center}\
                     h1{font-size:1.5rem;line-height:1.3}";
/// Allows only this style, by its hash.
const POLICY: &str = "default-src 'none'; style-src 'sha256-k58SVQ6bWIibBLbe4pwZx01ACRoYiX0BQ72Xw2ikKWU='; base-uri 'none'; \
                      form-action 'none'";

/// The answer to a request for the hosted page that was refused: the same status and headers for all, and a page for
/// browsers.
pub(super) fn answer(request: &HttpRequest, error: RequestError) -> Answer {
    if !takes_html(request.headers()) {
        return Err(error);
    }
    let id = RequestContext::of(request)?.id;
    let problem = error.report(id);
    let mut response = problem.to_response(id);
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, HTML),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(HttpResponse::set_body(response, page(problem.status)).map_into_boxed_body())
}

/// Whether the client accepts HTML, as browsers do for pages.
fn takes_html(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.to_ascii_lowercase().contains("text/html"))
}

fn page(status: StatusCode) -> String {
    let (title, text) = match status {
        StatusCode::NOT_FOUND => (
            "This chat is not available",
            "It may have been closed or moved. Ask the person who gave you this address for a new one.",
        ),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            ("This chat is busy", "Please open it again in a minute.")
        }
        _ => ("This chat cannot be shown", "Please open it again later."),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body><main><h1>{title}</h1><p>{text}</p></main></body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::{POLICY, STYLE, page};

    #[test]
    fn the_policy_names_the_style_of_the_page() {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("style-src 'sha256-{hash}'")), "{hash}");
        assert!(page(StatusCode::NOT_FOUND).contains(&format!("<style>{STYLE}</style>")));
    }
}
