//! What a reader makes of a file or a web page: text with its structure, in one form for all formats.

use serde::{Deserialize, Serialize};

/// A file or page, read. It crosses from the child process to the server as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The title that the content itself states.
    pub title: Option<String>,
    /// The text as Markdown: headings begin with `#`, lists with `- ` or `1. `, rows of tables stand
    /// between `|`, code in fences, blocks apart by an empty line. Text of formats without structure
    /// is text as it is.
    pub text: String,
    /// Where each page begins, in bytes of `text`, first page first; empty where the format has no
    /// pages. A page without text begins where the next one does.
    pub pages: Vec<usize>,
}

impl Reading {
    /// A text without structure or pages.
    pub fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// A web page, read: its text and what it says to a crawler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReading {
    /// Its text.
    pub reading: Reading,
    /// Where it links to (`a` and `area`), resolved against its base, in order and without repeats; without those
    /// marked `rel=nofollow`. Only http and https, without fragments.
    pub links: Vec<String>,
    /// Where it says that it really lives (`link rel=canonical`), resolved.
    pub canonical: Option<String>,
    /// Whether its robots meta element, in general or for `Cicerone`, asks not to be found.
    pub is_noindex: bool,
    /// Whether it asks that its links are not followed.
    pub is_nofollow: bool,
    /// Whether it is the shell of an application that shows its text by running scripts.
    pub needs_javascript: bool,
}
