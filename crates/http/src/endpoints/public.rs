//! `GET /s/{document_id}`: the text of a document, for everybody, if its agent publishes its sources.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use cicerone_domain::content::PublicText;
use cicerone_domain::id::Kind as _;
use cicerone_domain::{Error, kind};

use crate::context::{App, Incoming, RequestContext};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Public, Method::GET, "/s/{document_id}", handle)
        .named("publicText", "Show a document as a web page")
        .details(
            "The text of a document of an agent with `public_sources`, up to 1 MiB. Replies cite documents that have \
             no URL of their own by this address. It exists only if the server has a public address.",
        )
        .gives_text(&["text/html"])
        .refuses(404, "There is no such document, or it is not public.")
        .refuses(429, "Too many requests from one address.")
        .refuses(503, "The database cannot be reached, or the server is overloaded.")
}

/// The style of the page. It is in the page, so that the page needs no other request.
const STYLE: &str = "body{margin:2rem auto;max-width:45rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}\
                     pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}";
/// Allows only this style, by its hash.
const POLICY: &str = "default-src 'none'; style-src 'sha256-/G6ypoYuk0OfgcuPeZbvM6DD1oHfASphwUvrEyHcuLU='; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

async fn handle(app: App, incoming: Incoming) -> Answer {
    let context = RequestContext::of(&incoming.request)?;
    app.gate.admit_stranger(&context)?;
    if app.public_url.is_none() {
        return Err(Error::not_found(kind::Document::NAME, incoming.path_text()).into());
    }
    let id = incoming.path_id()?;
    context.expect_answer(&app).await?;
    let text = app.sources.public_text(id).await?;
    Ok(HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((ROBOTS, "noindex"))
        .insert_header((CACHE_CONTROL, "no-cache"))
        .body(page(&text)))
}

/// The page. It takes no more memory than its length, which is at most five times that of the text.
fn page(text: &PublicText) -> String {
    let title = text.title.as_deref().unwrap_or("Untitled");
    let end =
        if text.is_cut { "<p>The text is longer. This page shows its beginning.</p>" } else { "" };
    let parts = [
        Part::Markup(
            "<!doctype html><html><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>",
        ),
        Part::Text(title),
        Part::Markup("</title><style>"),
        Part::Markup(STYLE),
        Part::Markup("</style></head><body><h1>"),
        Part::Text(title),
        Part::Markup("</h1>\n<pre>\n"),
        Part::Text(&text.text),
        Part::Markup("</pre>"),
        Part::Markup(end),
        Part::Markup("</body></html>\n"),
    ];
    let mut page = String::with_capacity(parts.iter().map(Part::len).sum());
    parts.iter().for_each(|part| part.write(&mut page));
    page
}

/// A part of the page.
enum Part<'a> {
    /// HTML.
    Markup(&'a str),
    /// What is shown as it is.
    Text(&'a str),
}

impl Part<'_> {
    /// Its length in the page, in bytes.
    fn len(&self) -> usize {
        match self {
            Self::Markup(html) => html.len(),
            Self::Text(text) => {
                let longer = |byte| entity(char::from(byte)).map_or(0, |entity| entity.len() - 1);
                text.len() + text.bytes().map(longer).sum::<usize>()
            }
        }
    }

    fn write(&self, page: &mut String) {
        match self {
            Self::Markup(html) => page.push_str(html),
            Self::Text(text) => {
                for character in text.chars() {
                    match entity(character) {
                        Some(entity) => page.push_str(entity),
                        None => page.push(character),
                    }
                }
            }
        }
    }
}

/// How HTML writes a character that it would otherwise interpret.
const fn entity(character: char) -> Option<&'static str> {
    match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use cicerone_domain::content::PublicText;
    use sha2::{Digest as _, Sha256};

    use super::{POLICY, STYLE, page};

    #[test]
    fn the_policy_names_the_style_of_the_page() {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("style-src 'sha256-{hash}'")), "{hash}");
    }

    #[test]
    fn markup_in_a_document_is_shown_and_not_interpreted() {
        let markup = "</pre><script>alert(1)</script>&amp;\"'";
        let title = Some(markup.to_owned());
        let page = page(&PublicText { title, text: markup.to_owned(), is_cut: true });
        let shown = "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;\"'";
        assert_eq!(page.matches(shown).count(), 3, "{page}");
        assert!(!page.contains("<script") && page.contains("The text is longer."));
    }

    #[test]
    fn a_page_takes_no_more_memory_than_its_length() {
        let text = "<&>é🦀".repeat(10_000);
        let page = page(&PublicText { title: None, text, is_cut: false });
        assert_eq!(page.capacity(), page.len());
    }
}
