//! The ids of documents, derived from their names.
//!
//! The name of a page is its address, that of a pair its question and the number of pairs before it with the same
//! question, and the one document of a text or file has none. So a page keeps its id when a refresh stores it again,
//! and gets its old id if it disappears and returns.
//!
//! Tenants choose the names, and a public page is requested by its id alone. The ids are therefore derived with the
//! secret of the installation: without it, nobody can search for a name that results in the id of another document.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cicerone_domain::content::Document;
use cicerone_domain::id::kind;
use cicerone_domain::{Id, Source};
use diesel::prelude::*;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::columns::id;
use crate::connection::AnyConnection;
use crate::dialect::ROWS;
use crate::error::TransactionError;
use crate::keys;
use crate::schema::documents;

/// The purpose for which the key is derived. Cursors are signed with the same secret; no name of a list begins with
/// these words.
const PURPOSE: &[u8] = b"ids of documents";

/// The key with which ids of documents are derived.
#[derive(Clone)]
pub(crate) struct DocumentKey(Hmac<Sha256>);

impl fmt::Debug for DocumentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DocumentKey(…)")
    }
}

impl DocumentKey {
    /// The key of this installation.
    pub(crate) fn read(c: &mut AnyConnection) -> Result<Self, TransactionError> {
        Ok(Self::new(&keys::secret(c)?))
    }

    fn new(secret: &[u8]) -> Self {
        let key = mac(secret).chain_update(PURPOSE).finalize().into_bytes();
        Self(mac(&key))
    }

    fn id(&self, source: Id<kind::Source>, name: &Name) -> Id<kind::Document> {
        // Each part is preceded by its length, so two lists of parts never have the same bytes.
        let part = |mac: Hmac<Sha256>, part: &str| {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            mac.chain_update(length.to_be_bytes()).chain_update(part)
        };
        let mac = part(self.0.clone(), source.suffix());
        let mac = match name {
            Name::Text => mac.chain_update(b"t"),
            Name::Page(url) => part(mac.chain_update(b"p"), url),
            Name::Pair(question, number) => {
                part(mac.chain_update(b"q"), question).chain_update(number.to_be_bytes())
            }
        };
        Id::of_hash(&mac.finalize().into_bytes())
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of any length")
}

/// The name of a document within its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Text,
    Page(String),
    /// A question, and the number of pairs before it that have the same.
    Pair(String, u64),
}

/// Gives the documents of a source their ids, in the order of the documents.
#[derive(Debug, Clone)]
pub(crate) struct DocumentIds {
    key: DocumentKey,
    source: Id<kind::Source>,
    /// The questions so far, with the number of pairs that have them.
    questions: HashMap<String, u64>,
    /// Ids that documents of these names have and keep: those of an earlier version were derived differently.
    stored: Arc<HashMap<Name, Id<kind::Document>>>,
}

impl DocumentIds {
    /// The ids of a source's documents, whatever is stored.
    pub(crate) fn new(key: &DocumentKey, source: Id<kind::Source>) -> Self {
        Self {
            key: key.clone(),
            source,
            questions: HashMap::new(),
            stored: Arc::new(HashMap::new()),
        }
    }

    /// The ids of a source's documents; those that it shows keep theirs.
    pub(crate) fn keeping(
        c: &mut AnyConnection,
        key: &DocumentKey,
        source: &Source,
    ) -> Result<Self, TransactionError> {
        let mut ids = Self::new(key, source.id);
        if !source.answers() {
            return Ok(ids);
        }
        let rows = shown(source).order(documents::position).select(COLUMNS).load(c)?;
        let mut names = ids.clone();
        ids.stored = Arc::new(by_name(rows, &mut names)?);
        Ok(ids)
    }

    /// The ids of pages of a website with these addresses; those that it shows keep theirs.
    pub(crate) fn keeping_pages(
        c: &mut AnyConnection,
        key: &DocumentKey,
        source: &Source,
        urls: &[&str],
    ) -> Result<Self, TransactionError> {
        let mut ids = Self::new(key, source.id);
        if !source.answers() {
            return Ok(ids);
        }
        let mut stored = HashMap::new();
        for urls in urls.chunks(ROWS) {
            let pages = shown(source).filter(documents::url.eq_any(urls));
            let rows = pages.order(documents::position).select(COLUMNS).load(c)?;
            stored.extend(by_name(rows, &mut ids)?);
        }
        ids.stored = Arc::new(stored);
        Ok(ids)
    }

    /// The id of the next document, which has this address or is a pair with this question.
    pub(crate) fn next(&mut self, url: Option<&str>, question: Option<&str>) -> Id<kind::Document> {
        let name = self.name(url, question);
        let stored = self.stored.get(&name).copied();
        stored.unwrap_or_else(|| self.key.id(self.source, &name))
    }

    /// The id of this document, if it is the next one.
    pub(crate) fn next_of(&mut self, document: &Document) -> Id<kind::Document> {
        let question = document.is_pair.then(|| document.title.as_deref().unwrap_or_default());
        self.next(document.url.as_deref(), question)
    }

    fn name(&mut self, url: Option<&str>, question: Option<&str>) -> Name {
        match (question, url) {
            (Some(question), _) => {
                let count = self.questions.entry(question.to_owned()).or_default();
                let number = *count;
                *count += 1;
                Name::Pair(question.to_owned(), number)
            }
            (None, Some(url)) => Name::Page(url.to_owned()),
            (None, None) => Name::Text,
        }
    }
}

type Row = (Option<String>, Option<String>, bool, String);
const COLUMNS: (documents::url, documents::title, documents::is_pair, documents::id) =
    (documents::url, documents::title, documents::is_pair, documents::id);

/// The documents of a source that searches use and that have ids.
#[diesel::dsl::auto_type(no_type_alias)]
fn shown<'a>(source: &'a Source) -> _ {
    let source: String = source.id.to_string();
    documents::table
        .filter(documents::source_id.eq(source))
        .filter(documents::version.is_not_null())
        .filter(documents::id.ne(""))
}

/// The ids of rows by their names. If pages have the same address, that of the first.
fn by_name(
    rows: Vec<Row>,
    names: &mut DocumentIds,
) -> Result<HashMap<Name, Id<kind::Document>>, TransactionError> {
    let mut stored = HashMap::new();
    for (url, title, is_pair, document) in rows {
        let question = is_pair.then(|| title.as_deref().unwrap_or_default());
        let name = names.name(url.as_deref(), question);
        stored.entry(name).or_insert(id("documents.id", &document)?);
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::{DocumentIds, DocumentKey, mac};
    use hmac::Mac as _;

    fn key() -> DocumentKey {
        DocumentKey::new(&[7; 32])
    }

    #[test]
    fn a_document_of_the_same_name_has_the_same_id_in_its_source_only() {
        let source = Id::random(&SystemEntropy);
        let page = |source, url| DocumentIds::new(&key(), source).next(Some(url), None);
        assert_eq!(page(source, "https://a.example/"), page(source, "https://a.example/"));
        assert_ne!(page(source, "https://a.example/"), page(source, "https://a.example/b"));
        let other = Id::random(&SystemEntropy);
        assert_ne!(page(source, "https://a.example/"), page(other, "https://a.example/"));
        // A text, a page without an address and a question without words differ.
        let next = |url, question| DocumentIds::new(&key(), source).next(url, question);
        let all = [next(None, None), next(Some(""), None), next(None, Some(""))];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
    }

    #[test]
    fn equal_questions_are_told_apart_by_their_order() {
        let source = Id::random(&SystemEntropy);
        let ids = |questions: &[&str]| {
            let mut ids = DocumentIds::new(&key(), source);
            questions.iter().map(|question| ids.next(None, Some(question))).collect::<Vec<_>>()
        };
        let all = ids(&["a", "b", "a", "a"]);
        assert!((0..4).all(|one| (0..one).all(|other| all[one] != all[other])), "{all:?}");
        // Other questions between them change nothing.
        assert_eq!(ids(&["a", "a"]), [all[0], all[2]]);
        assert_eq!(ids(&["b"]), [all[1]]);
    }

    #[test]
    fn ids_depend_on_the_secret_which_is_not_used_as_it_is() {
        let source: Id<_> = Id::random(&SystemEntropy);
        let of = |secret: u8| {
            DocumentIds::new(&DocumentKey::new(&[secret; 32]), source).next(Some("a"), None)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        // What anyone can compute from public data.
        assert_ne!(of(1), Id::derived(&[&source.to_string(), "a"]));
        // A tag that is made with the secret itself, for example of a cursor, is not an id.
        let DocumentKey(derived) = DocumentKey::new(&[1; 32]);
        let tags = [derived, mac(&[1; 32])].map(|mac| mac.chain_update("a").finalize());
        assert!(tags[0] != tags[1]);
        assert_eq!(format!("{:?}", key()), "DocumentKey(…)");
    }
}
