//! The public address of a server.

use url::Url;

use crate::id::{Id, kind};
use crate::limits;
use crate::text::check_length;

/// An absolute http or https address of at most 2,048 characters, without query, fragment, credentials and final slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Checks the text of an address. A final slash is dropped.
    ///
    /// # Errors
    /// Returns the requirement if it is not valid.
    pub fn parse(text: &str) -> Result<Self, String> {
        check_length(text, limits::PUBLIC_URL_CHARS)?;
        let malformed = || "must be an absolute http or https address".to_owned();
        let url = Url::parse(text).map_err(|_| malformed())?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(malformed());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or password".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("must not contain a query or fragment".to_owned());
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    /// The address, without a final slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address of a document's public page.
    pub fn page_of(&self, document: Id<kind::Document>) -> String {
        format!("{}/s/{document}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::PublicUrl;
    use crate::{Id, SystemEntropy};

    #[test]
    fn an_address_is_absolute_and_ends_without_a_slash() {
        for (text, address) in [
            ("https://docs.example", "https://docs.example"),
            ("https://docs.example/", "https://docs.example"),
            ("http://127.0.0.1:8080/cicerone/", "http://127.0.0.1:8080/cicerone"),
            ("https://Ünicode.example/a//", "https://xn--nicode-2ya.example/a"),
        ] {
            assert_eq!(PublicUrl::parse(text).unwrap().as_str(), address);
        }
        let document = Id::random(&SystemEntropy);
        let page = PublicUrl::parse("https://a.example/b/").unwrap().page_of(document);
        assert_eq!(page, format!("https://a.example/b/s/{document}"));
    }

    #[test]
    fn anything_else_is_refused() {
        let long = format!("https://a.example/{}", "x".repeat(2_048));
        for text in [
            "",
            "docs.example",
            "/s",
            "ftp://docs.example",
            "https://",
            "data:text/plain,x",
            "https://ann@docs.example",
            "https://:secret@docs.example",
            "https://docs.example?a=b",
            "https://docs.example/#top",
            &long,
        ] {
            assert!(PublicUrl::parse(text).is_err(), "{text}");
        }
    }
}
