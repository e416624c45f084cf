//! Citations as annotations of a text, in the two notations of OpenAI's API.

use cicerone_domain::{Citation, Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// A citation in a chat completion. Only a source with an address can be cited there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatAnnotation)]
pub(super) struct ChatAnnotation<'a> {
    #[serde(rename = "type")]
    #[schema(pattern = "^url_citation$")]
    kind: &'static str,
    url_citation: UrlCitation<'a>,
}

/// A cited address. The whole text cites it: both indices are the length of the text.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct UrlCitation<'a> {
    start_index: usize,
    end_index: usize,
    title: &'a str,
    url: &'a str,
}

/// The citations of a chat completion with this text.
pub(super) fn in_chat<'a>(citations: &'a [Citation], text: &str) -> Vec<ChatAnnotation<'a>> {
    let end = text.chars().count();
    let with_address =
        citations.iter().filter_map(|citation| Some((citation, citation.url.as_deref()?)));
    with_address
        .map(|(citation, url)| ChatAnnotation {
            kind: "url_citation",
            url_citation: UrlCitation {
                start_index: end,
                end_index: end,
                title: &citation.title,
                url,
            },
        })
        .collect()
}

/// A citation in a response.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum ResponseAnnotation<'a> {
    Url(AddressCitation<'a>),
    File(FileCitation<'a>),
}

/// A cited source with an address.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct AddressCitation<'a> {
    #[schema(pattern = "^url_citation$")]
    r#type: &'static str,
    /// The length of the text.
    start_index: usize,
    /// The length of the text.
    end_index: usize,
    title: &'a str,
    url: &'a str,
}

/// A cited source without an address.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct FileCitation<'a> {
    #[schema(pattern = "^file_citation$")]
    r#type: &'static str,
    /// The id of the source.
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    file_id: Id<kind::Source>,
    /// Its title.
    filename: &'a str,
    /// The length of the text.
    index: usize,
}

/// The citations of a response with this text.
pub(super) fn in_response<'a>(
    citations: &'a [Citation],
    text: &str,
) -> Vec<ResponseAnnotation<'a>> {
    let end = text.chars().count();
    let annotation = |citation: &'a Citation| match citation.url.as_deref() {
        Some(url) => ResponseAnnotation::Url(AddressCitation {
            r#type: "url_citation",
            start_index: end,
            end_index: end,
            title: &citation.title,
            url,
        }),
        None => ResponseAnnotation::File(FileCitation {
            r#type: "file_citation",
            file_id: citation.id,
            filename: &citation.title,
            index: end,
        }),
    };
    citations.iter().map(annotation).collect()
}
