//! The content of a source, by type.

use std::borrow::Cow;
use std::sync::Arc;

use url::Url;

use super::SourceType;
use super::pairs::{QaPair, count_items, qa_pairs};
use crate::error::{Error, FieldError};
use crate::id::{Id, kind};
use crate::limits;
use crate::text::{Text, TextRule, check_length, check_not_blank};

/// The parsed content of a source. [`SourceContent::as_text`] returns what the caller sent.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceContent {
    /// A page, or with `crawl_subpages` the site that it starts.
    Website {
        /// The address of the page.
        url: WebsiteUrl,
        /// Whether links within the host are followed.
        crawl_subpages: bool,
    },
    /// The text itself.
    Text(SourceText),
    /// The uploaded file.
    File(Id<kind::Upload>),
    /// Question/answer pairs.
    Qa(PairsText),
    /// A text or pairs that were not loaded, because they may have megabytes and only other fields change.
    Unread {
        /// The type of the source.
        source_type: SourceType,
        /// The bytes of the content.
        bytes: usize,
    },
}

impl SourceContent {
    /// Whether links within the host of a website are followed; `None` for other types.
    pub const fn crawl_subpages(&self) -> Option<bool> {
        match self {
            Self::Website { crawl_subpages, .. } => Some(*crawl_subpages),
            Self::Text(_) | Self::File(_) | Self::Qa(_) | Self::Unread { .. } => None,
        }
    }

    /// The type of a source that has this content.
    pub const fn source_type(&self) -> SourceType {
        match self {
            Self::Website { .. } => SourceType::Website,
            Self::Text(_) => SourceType::Text,
            Self::File(_) => SourceType::File,
            Self::Qa(_) => SourceType::Qa,
            Self::Unread { source_type, .. } => *source_type,
        }
    }

    /// The `content` field as the caller sent it; empty if it was not read.
    pub fn as_text(&self) -> Cow<'_, str> {
        match self {
            Self::Website { url, .. } => url.as_str().into(),
            Self::Text(text) => text.as_str().into(),
            Self::File(id) => id.to_string().into(),
            Self::Qa(pairs) => pairs.as_str().into(),
            Self::Unread { .. } => "".into(),
        }
    }

    /// The bytes of the `content` field, also if it was not read.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Unread { bytes, .. } => *bytes,
            read => read.as_text().len(),
        }
    }

    /// The content at the time when it had `bytes` bytes; `None` if there was no such time. Only pairs ever grow, by
    /// [additions](PairsText::with).
    pub fn as_of(self, bytes: usize) -> Option<Self> {
        if self.bytes() == bytes {
            return Some(self);
        }
        match self {
            Self::Qa(pairs) => pairs.as_of(bytes).map(Self::Qa),
            Self::Website { .. } | Self::Text(_) | Self::File(_) | Self::Unread { .. } => None,
        }
    }

    /// Checks that a source with this content may have that value of [`Source::guarded`](super::Source::guarded).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is true and the content is not a website.
    pub fn check_may_be_guarded(&self, guarded: bool) -> Result<(), Error> {
        if guarded && self.source_type() != SourceType::Website {
            return Err(Error::invalid("guarded", "is allowed only for the type website"));
        }
        Ok(())
    }

    /// Reads and checks the fields of a new source.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] on a bad type, address, file id or `crawl_subpages`; [`Error::Validation`] on
    /// a text or pairs beyond their limits or format.
    pub fn parse(kind: &str, content: String, crawl_subpages: bool) -> Result<Self, Error> {
        let Some(kind) = SourceType::from_name(kind) else {
            return Err(Error::invalid("type", "must be one of website, text, file, qa"));
        };
        if crawl_subpages && kind != SourceType::Website {
            return Err(Error::invalid("crawl_subpages", "is allowed only for the type website"));
        }
        match kind {
            SourceType::Website => {
                Ok(Self::Website { url: WebsiteUrl::parse(content)?, crawl_subpages })
            }
            SourceType::Text => match SourceText::parse(content) {
                Ok(text) => Ok(Self::Text(text)),
                Err(finding) => Err(Error::from(vec![finding])),
            },
            SourceType::File => content.parse().map(Self::File).map_err(|_| unknown_file()),
            SourceType::Qa => PairsText::parse(content).map(Self::Qa),
        }
    }
}

/// The error for a `content` that is not an uploaded file which the caller may use.
pub fn unknown_file() -> Error {
    Error::invalid("content", "must be the id of an uploaded file")
}

/// The text of a `text` source: 1 to 100,000 characters, not only white space.
pub type SourceText = Text<SourceTextRule>;

/// The rule of [`SourceText`].
#[derive(Debug)]
pub enum SourceTextRule {}

impl TextRule for SourceTextRule {
    const PARAM: &'static str = "content";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::TEXT_SOURCE_CHARS)
    }
}

/// The address of a website as it was given: an absolute http or https URL with a host and without
/// credentials, of at most 2,048 characters.
pub type WebsiteUrl = Text<WebsiteUrlRule>;

/// The rule of [`WebsiteUrl`].
#[derive(Debug)]
pub enum WebsiteUrlRule {}

impl TextRule for WebsiteUrlRule {
    const PARAM: &'static str = "content";

    fn check(text: &str) -> Result<(), String> {
        check_length(text, limits::WEBSITE_URL_CHARS)?;
        web_address(text).map(|_| ())
    }
}

impl WebsiteUrl {
    /// The address, read.
    ///
    /// # Errors
    ///
    /// Returns the requirement if the address was stored by a version of the program that parsed addresses differently.
    pub fn to_url(&self) -> Result<Url, FieldError> {
        stored_address(self).map_err(|message| FieldError::new(WebsiteUrlRule::PARAM, message))
    }
}

/// Parses an absolute http or https address with a host and without credentials. The error is the requirement. What the
/// parser leaves out without an error is refused too: white space, control characters and empty credentials.
pub(crate) fn web_address(text: &str) -> Result<Url, String> {
    if text.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err("must not contain white space or control characters".to_owned());
    }
    let url = stored_address(text)?;
    let (_, after_scheme) = text.split_once("://").unwrap_or_default();
    let authority = after_scheme.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("must not contain credentials".to_owned());
    }
    // A name may end with a dot, which says that it is complete.
    let is_incomplete =
        |name: &str| name.strip_suffix('.').unwrap_or(name).split('.').any(str::is_empty);
    if url.domain().is_some_and(is_incomplete) {
        return Err("must not name a host that lacks a part between two dots".to_owned());
    }
    Ok(url)
}

/// Parses an address that was [checked](web_address) when it was stored, perhaps by a program that accepted more.
pub(crate) fn stored_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|cause| {
        format!("must be a full URL such as https://example.com/docs ({cause})")
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("must be an http or https URL, not `{}`", url.scheme()));
    }
    // The parser would read `https:///docs` and `https:docs` as the host `docs`.
    let after_scheme = text.trim().get(url.scheme().len()..).unwrap_or_default();
    let named = after_scheme.strip_prefix("://").is_some_and(|rest| !rest.starts_with(['/', '\\']));
    if !named || url.host_str().is_none_or(str::is_empty) {
        return Err("must name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain credentials".to_owned());
    }
    Ok(url)
}

/// The JSON array of a `qa` source as it was given. See [`qa_pairs`] for its requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairsText(Arc<str>);

impl PairsText {
    /// Checks the pairs.
    ///
    /// # Errors
    ///
    /// As [`qa_pairs`].
    pub fn parse(text: String) -> Result<Self, Error> {
        qa_pairs(&text)?;
        Ok(Self(text.into()))
    }

    /// The array of these pairs, which were checked.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if they cannot be written as JSON.
    pub fn of(pairs: &[QaPair]) -> Result<Self, Error> {
        let text = serde_json::to_string(pairs).map_err(Error::internal)?;
        Ok(Self(text.into()))
    }

    /// A stored array. It was checked when it was written and is not checked again, so that it
    /// stays readable if a limit is lowered.
    pub fn from_stored(text: String) -> Self {
        Self(text.into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The array with these pairs appended. Its existing items and the space after the array are unchanged, so that the
    /// earlier array can be recovered from the new one.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] on `pairs` if it would have more than [`limits::QA_PAIRS`] pairs or take more than
    /// [`limits::PAIRS_BYTES`].
    pub fn with(&self, pairs: &[QaPair]) -> Result<Self, Error> {
        self.joined(pairs)?.map_err(|full| Error::from(vec![full]))
    }

    /// Whether these pairs can be added: see [`Self::with`].
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the stored text is not an array.
    pub fn has_room_for(&self, pairs: &[QaPair]) -> Result<bool, Error> {
        Ok(self.joined(pairs)?.is_ok())
    }

    /// The array with these pairs at its end, or why it has no room for them.
    fn joined(&self, pairs: &[QaPair]) -> Result<Result<Self, FieldError>, Error> {
        let unreadable = || Error::internal("the stored pairs are not a JSON array");
        let stored = count_items(&self.0).ok_or_else(unreadable)?;
        let count = stored + pairs.len();
        if count > limits::QA_PAIRS {
            let message = format!(
                "must be at most {} more: the source has {stored} of {} pairs",
                limits::QA_PAIRS.saturating_sub(stored),
                limits::QA_PAIRS
            );
            return Ok(Err(FieldError::new("pairs", message)));
        }
        let added = serde_json::to_string(pairs).map_err(Error::internal)?;
        let (before, space) = self.parts().ok_or_else(unreadable)?;
        let added = added.strip_prefix('[').ok_or_else(unreadable)?;
        let bytes = before.len() + 1 + added.len() + space.len();
        if bytes > limits::PAIRS_BYTES {
            let message = format!(
                "must be shorter: the content of the source would have {bytes} bytes; at most {} are allowed",
                limits::PAIRS_BYTES
            );
            return Ok(Err(FieldError::new("pairs", message)));
        }
        let comma = if stored > 0 && !pairs.is_empty() { "," } else { "" };
        Ok(Ok(Self([before, comma, added, space].concat().into())))
    }

    /// The array without its closing bracket, and the space after the bracket.
    fn parts(&self) -> Option<(&str, &str)> {
        let (array, space) = self.0.split_at_checked(self.0.trim_end().len())?;
        Some((array.strip_suffix(']')?, space))
    }

    /// The array as it was when its text had that many bytes, before pairs were added; `None` if it never had.
    fn as_of(&self, bytes: usize) -> Option<Self> {
        let (items, space) = self.parts()?;
        let (before, after) = items.split_at_checked(bytes.checked_sub(1 + space.len())?)?;
        let earlier = after.starts_with(',').then(|| Self([before, "]", space].concat().into()))?;
        // The comma may be within a pair.
        count_items(&earlier.0).map(|_| earlier)
    }

    /// The pairs, read.
    ///
    /// # Errors
    ///
    /// As [`qa_pairs`], if they were stored when other limits held.
    pub fn pairs(&self) -> Result<Vec<QaPair>, Error> {
        qa_pairs(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{QaPair, SourceContent};
    use crate::error::Error;
    use crate::limits;

    fn read(kind: &str, content: &str) -> Result<SourceContent, Error> {
        SourceContent::parse(kind, content.to_owned(), false)
    }

    #[test]
    fn a_content_reads_back_as_it_was_sent() {
        for (kind, content) in [
            ("website", "https://EXAMPLE.com/docs"),
            ("text", "It opens at nine.\n"),
            ("file", "file_0123456789"),
            ("qa", r#" [{"question": "Q", "answer": "A", "note": 1}]"#),
        ] {
            let parsed = read(kind, content).unwrap();
            assert_eq!(parsed.as_text(), content);
            assert_eq!(parsed.source_type().name(), kind);
        }
    }

    #[test]
    fn a_bad_text_is_a_finding_and_a_bad_address_is_an_invalid_field() {
        let long = "x".repeat(100_001);
        for (kind, content) in [("text", " "), ("text", &long), ("qa", "[]")] {
            assert!(matches!(read(kind, content), Err(Error::Validation { .. })), "{kind}");
        }
        for (kind, content) in [
            ("book", "x"),
            ("file", "agent_0123456789"),
            ("website", "example.com"),
            ("website", "ftp://example.com"),
            ("website", "https:///docs"),
            ("website", "https:docs"),
            ("website", "https://a:b@example.com"),
            ("website", "https://:@example.com"),
            ("website", "https://@example.com"),
            ("website", "https://exa\nmple.com"),
            ("website", "https://ex\tample.com"),
            ("website", " https://example.com"),
            ("website", "https://example.com/a page"),
            ("website", "https://a..b/"),
            ("website", "https://.example.com/"),
            ("website", "https://./"),
            ("website", "https://example.com/\0"),
        ] {
            assert!(matches!(read(kind, content), Err(Error::Invalid(_))), "{kind} {content}");
        }
        for content in ["https://example.com./a@b", "https://[::1]:80?a@b", "https://Ünï.example"]
        {
            assert!(read("website", content).is_ok(), "{content}");
        }
        let crawled = SourceContent::parse("text", "x".to_owned(), true).unwrap_err();
        assert!(matches!(crawled, Error::Invalid(bad) if bad.first().param == "crawl_subpages"));
    }

    #[test]
    fn what_pairs_were_before_others_were_added_is_found_by_its_length() {
        let pair = |text: &str| QaPair::parse(text.to_owned(), "A, [A]".to_owned()).unwrap();
        for first in [
            r#"[{"question": "Q", "answer": "A"}]"#,
            " [{\"question\":\"Q\",\"answer\":\"é\"} ] \n",
        ] {
            let mut all = vec![read("qa", first).unwrap()];
            for text in ["R", "é"] {
                let Some(SourceContent::Qa(last)) = all.last() else { panic!() };
                all.push(SourceContent::Qa(last.with(&[pair(text), pair(text)]).unwrap()));
            }
            let last = all.last().unwrap().clone();
            for content in all {
                assert_eq!(last.clone().as_of(content.bytes()), Some(content));
            }
            for bytes in [0, 1, 2, last.bytes() - 1, last.bytes() + 1, usize::MAX] {
                assert_eq!(last.clone().as_of(bytes), None);
            }
            // A comma within a pair ends no array.
            for (comma, _) in last.as_text().match_indices(',') {
                let cut = last.clone().as_of(comma + 1);
                assert!(cut.is_none_or(|cut| read("qa", &cut.as_text()).is_ok()));
            }
        }
        let text = read("text", "It opens at nine.").unwrap();
        assert_eq!(text.clone().as_of(17), Some(text.clone()));
        assert_eq!(text.as_of(16), None);
    }

    #[test]
    fn a_source_has_room_for_pairs_up_to_its_maximum() {
        let pair = QaPair::parse("Q".to_owned(), "A".to_owned()).unwrap();
        let room = |stored: usize| {
            let content = serde_json::to_string(&vec![&pair; stored]).unwrap();
            let SourceContent::Qa(pairs) = read("qa", &content).unwrap() else { panic!() };
            let added = std::slice::from_ref(&pair);
            assert_eq!(pairs.with(added).is_ok(), pairs.has_room_for(added).unwrap());
            pairs.has_room_for(added).unwrap()
        };
        assert!(room(limits::QA_PAIRS - 1));
        assert!(!room(limits::QA_PAIRS));
    }
}
