//! Why a page of a crawl was skipped or failed: a type in the program, a code and a detail in the database, a sentence
//! for people.

use std::fmt;

/// Why a page was skipped or failed. Its [`Display`](fmt::Display) is the sentence that the owner of the source reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageReason {
    /// It shows its text only by running scripts.
    NeedsJavascript,
    /// It asks not to be indexed.
    Noindex,
    /// Its server asks not to index it, in a header.
    NoindexHeader,
    /// It has no text.
    Empty,
    /// `robots.txt` disallows it.
    Disallowed,
    /// Another page has the same content.
    SameContent {
        /// The address of that page.
        of: String,
    },
    /// It declares itself a copy of another page.
    CanonicalCopy {
        /// The address of that page.
        of: String,
    },
    /// It redirects to another page of the site.
    Redirects {
        /// The address of that page.
        to: String,
    },
    /// It redirects to another host.
    RedirectsElsewhere {
        /// The address on that host.
        to: String,
    },
    /// It redirects to its own address.
    RedirectsToItself,
    /// Its address is not a URL.
    NoUrl,
    /// There was no response.
    NotFetched {
        /// What went wrong, as a sentence.
        message: String,
    },
    /// The server responded that there is no such page.
    Gone {
        /// 404 or 410.
        status: u16,
    },
    /// The server responded, but not with a page.
    Refused {
        /// The HTTP status: any but those of success, redirection and [`Gone`](Self::Gone).
        status: u16,
    },
    /// The response has an unsupported type.
    OtherType {
        /// The `Content-Type` without its parameters, if there was one.
        essence: Option<String>,
    },
    /// The response was not read because of a bug in the program.
    NotRead,
    /// The response cannot be read.
    Unreadable {
        /// Why, as a sentence.
        message: String,
    },
    /// Its address names a file that is not a page.
    NamesFile(FileKind),
    /// Its path has too many segments, as on sites with endless paths.
    LongPath {
        /// The limit that it exceeds.
        parts: u32,
    },
    /// A segment of its path repeats, as on sites with endless paths.
    RepeatingPath {
        /// The segment that repeats.
        part: String,
    },
    /// It is too many links away from the start page.
    TooFar {
        /// The limit that it exceeds.
        links: u32,
    },
    /// The crawl had reached its limit of pages.
    PageLimit {
        /// The limit of the source, in pages.
        pages: u64,
    },
    /// The crawl had reached its time limit.
    TimeLimit {
        /// The limit in minutes.
        minutes: u64,
    },
    /// The site had stopped responding.
    SiteDown,
}

impl PageReason {
    /// Whether the page redirects to another one.
    pub const fn is_redirect(&self) -> bool {
        matches!(self, Self::Redirects { .. } | Self::RedirectsElsewhere { .. })
    }

    /// The name in the database.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NeedsJavascript => "needs_javascript",
            Self::Noindex => "noindex",
            Self::NoindexHeader => "noindex_header",
            Self::Empty => "empty",
            Self::Disallowed => "disallowed",
            Self::SameContent { .. } => "same_content",
            Self::CanonicalCopy { .. } => "canonical_copy",
            Self::Redirects { .. } => "redirects",
            Self::RedirectsElsewhere { .. } => "redirects_elsewhere",
            Self::RedirectsToItself => "redirects_to_itself",
            Self::NoUrl => "no_url",
            Self::NotFetched { .. } => "not_fetched",
            Self::Gone { .. } => "gone",
            Self::Refused { .. } => "refused",
            Self::OtherType { .. } => "other_type",
            Self::NotRead => "not_read",
            Self::Unreadable { .. } => "unreadable",
            Self::NamesFile(_) => "names_file",
            Self::LongPath { .. } => "long_path",
            Self::RepeatingPath { .. } => "repeating_path",
            Self::TooFar { .. } => "too_far",
            Self::PageLimit { .. } => "page_limit",
            Self::TimeLimit { .. } => "time_limit",
            Self::SiteDown => "site_down",
        }
    }

    /// The detail that the database stores with the code.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::SameContent { of } | Self::CanonicalCopy { of } => Some(of.clone()),
            Self::Redirects { to } | Self::RedirectsElsewhere { to } => Some(to.clone()),
            Self::NotFetched { message } | Self::Unreadable { message } => Some(message.clone()),
            Self::Gone { status } | Self::Refused { status } => Some(status.to_string()),
            Self::OtherType { essence } => essence.clone(),
            Self::NamesFile(kind) => Some(kind.name().to_owned()),
            Self::LongPath { parts: number } | Self::TooFar { links: number } => {
                Some(number.to_string())
            }
            Self::RepeatingPath { part } => Some(part.clone()),
            Self::PageLimit { pages: number } | Self::TimeLimit { minutes: number } => {
                Some(number.to_string())
            }
            Self::NeedsJavascript
            | Self::Noindex
            | Self::NoindexHeader
            | Self::Empty
            | Self::Disallowed
            | Self::RedirectsToItself
            | Self::NoUrl
            | Self::NotRead
            | Self::SiteDown => None,
        }
    }

    /// The reason of a code and a detail. `None` if there is no such code, or if the detail does not belong to it.
    pub fn from_parts(code: &str, detail: Option<String>) -> Option<Self> {
        let number = |detail: Option<String>| detail?.parse().ok();
        let large = |detail: Option<String>| detail?.parse().ok();
        let status = |detail: Option<String>| detail?.parse().ok();
        Some(match code {
            "needs_javascript" => Self::NeedsJavascript,
            "noindex" => Self::Noindex,
            "noindex_header" => Self::NoindexHeader,
            "empty" => Self::Empty,
            "disallowed" => Self::Disallowed,
            "same_content" => Self::SameContent { of: detail? },
            "canonical_copy" => Self::CanonicalCopy { of: detail? },
            "redirects" => Self::Redirects { to: detail? },
            "redirects_elsewhere" => Self::RedirectsElsewhere { to: detail? },
            "redirects_to_itself" => Self::RedirectsToItself,
            "no_url" => Self::NoUrl,
            "not_fetched" => Self::NotFetched { message: detail? },
            "gone" => Self::Gone { status: status(detail)? },
            "refused" => Self::Refused { status: status(detail)? },
            "other_type" => Self::OtherType { essence: detail },
            "not_read" => Self::NotRead,
            "unreadable" => Self::Unreadable { message: detail? },
            "names_file" => Self::NamesFile(FileKind::from_name(&detail?)?),
            "long_path" => Self::LongPath { parts: number(detail)? },
            "repeating_path" => Self::RepeatingPath { part: detail? },
            "too_far" => Self::TooFar { links: number(detail)? },
            "page_limit" => Self::PageLimit { pages: large(detail)? },
            "time_limit" => Self::TimeLimit { minutes: large(detail)? },
            "site_down" => Self::SiteDown,
            _ => return None,
        })
    }

    /// Whether the page was skipped in favour of another page, whose text may change or disappear.
    pub const fn is_copy(&self) -> bool {
        matches!(self, Self::SameContent { .. } | Self::CanonicalCopy { .. })
    }

    /// Whether a page that was skipped for this reason is skipped again as long as its bytes stay the same. This does
    /// not apply to a reason from a header, which may change independently.
    pub const fn lasts(&self) -> bool {
        !matches!(self, Self::NoindexHeader)
    }
}

impl fmt::Display for PageReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsJavascript => f.write_str("needs_javascript"),
            Self::Noindex => f.write_str("the page asks not to be indexed (`noindex`)"),
            Self::NoindexHeader => f.write_str(
                "the server asks that the page is not indexed (`X-Robots-Tag: noindex`)",
            ),
            Self::Empty => f.write_str("the page has no text"),
            Self::Disallowed => f.write_str("`robots.txt` does not allow it"),
            Self::SameContent { of } => write!(f, "the same content as `{of}`"),
            Self::CanonicalCopy { of } => write!(f, "a copy of `{of}`, its canonical address"),
            Self::Redirects { to } => write!(f, "it redirects to `{to}`"),
            Self::RedirectsElsewhere { to } => write!(f, "it redirects to another host: `{to}`"),
            Self::RedirectsToItself => f.write_str("it redirects to itself"),
            Self::NoUrl => f.write_str("its address is no URL"),
            Self::NotFetched { message } | Self::Unreadable { message } => f.write_str(message),
            Self::Gone { status } => {
                write!(f, "there is no such page (the server answered {status})")
            }
            Self::Refused { status: status @ (401 | 403) } => {
                write!(f, "the server answered {status}: it does not let the crawler in")
            }
            Self::Refused { status: 429 } => {
                f.write_str("the server answered 429: it wants fewer requests")
            }
            Self::Refused { status } => write!(f, "the server answered {status}"),
            Self::OtherType { essence: Some(essence) } => {
                write!(f, "not a page, text or PDF, but `{essence}`")
            }
            Self::OtherType { essence: None } => f.write_str("not a page, text or PDF"),
            Self::NotRead => f.write_str("it could not be read"),
            Self::NamesFile(kind) => write!(f, "not a page: its address names {kind}"),
            Self::LongPath { parts } => {
                write!(f, "its path has more than {parts} parts, which looks endless")
            }
            Self::RepeatingPath { part } => {
                write!(f, "`{part}` repeats in its path, which looks endless")
            }
            Self::TooFar { links } => {
                write!(f, "more than {links} links away from the start page")
            }
            Self::PageLimit { pages } => {
                write!(f, "not visited: the crawl reached its limit of {pages} pages")
            }
            Self::TimeLimit { minutes } => {
                write!(f, "not visited: the crawl reached its limit of {minutes} minutes")
            }
            Self::SiteDown => f.write_str("not visited: the site had stopped answering"),
        }
    }
}

/// The kind of a file that is not a page, by the extension of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FileKind {
    Image,
    Media,
    Archive,
    Program,
    StyleSheet,
    Script,
    Font,
    Office,
    Data,
    Signature,
}

impl FileKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Image,
        Self::Media,
        Self::Archive,
        Self::Program,
        Self::StyleSheet,
        Self::Script,
        Self::Font,
        Self::Office,
        Self::Data,
        Self::Signature,
    ];

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Media => "media",
            Self::Archive => "archive",
            Self::Program => "program",
            Self::StyleSheet => "style_sheet",
            Self::Script => "script",
            Self::Font => "font",
            Self::Office => "office",
            Self::Data => "data",
            Self::Signature => "signature",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "an image",
            Self::Media => "a video or sound",
            Self::Archive => "an archive",
            Self::Program => "a program",
            Self::StyleSheet => "a style sheet",
            Self::Script => "a script",
            Self::Font => "a font",
            Self::Office => "an office document",
            Self::Data => "data",
            Self::Signature => "a signature",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FileKind, PageReason};

    #[test]
    fn a_reason_comes_back_from_its_code_and_detail() {
        let text = |text: &str| text.to_owned();
        let mut reasons = vec![
            PageReason::NeedsJavascript,
            PageReason::Noindex,
            PageReason::NoindexHeader,
            PageReason::Empty,
            PageReason::Disallowed,
            PageReason::SameContent { of: text("https://a.example/`b`") },
            PageReason::CanonicalCopy { of: text("https://a.example/") },
            PageReason::Redirects { to: text("https://a.example/") },
            PageReason::RedirectsElsewhere { to: text("https://b.example/") },
            PageReason::RedirectsToItself,
            PageReason::NoUrl,
            PageReason::NotFetched { message: text("the name has no address") },
            PageReason::Gone { status: 410 },
            PageReason::Refused { status: 403 },
            PageReason::OtherType { essence: None },
            PageReason::OtherType { essence: Some(text("image/png")) },
            PageReason::NotRead,
            PageReason::Unreadable { message: text("it is nested too deeply") },
            PageReason::LongPath { parts: 24 },
            PageReason::RepeatingPath { part: text("again") },
            PageReason::TooFar { links: 1_000 },
            PageReason::PageLimit { pages: 1_000 },
            PageReason::TimeLimit { minutes: 10 },
            PageReason::SiteDown,
        ];
        reasons.extend(FileKind::ALL.map(PageReason::NamesFile));
        for reason in reasons {
            let back = PageReason::from_parts(reason.code(), reason.detail());
            assert_eq!(back.as_ref(), Some(&reason));
        }
    }

    #[test]
    fn a_detail_that_does_not_belong_to_its_code_is_refused() {
        for (code, detail) in [
            ("unheard_of", None),
            ("same_content", None),
            ("gone", Some("soon")),
            ("page_limit", None),
            ("names_file", Some("an image")),
        ] {
            assert_eq!(PageReason::from_parts(code, detail.map(str::to_owned)), None, "{code}");
        }
    }
}
