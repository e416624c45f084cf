//! Storing the extracted content of a source in parts.
//!
//! SQLite has one writer: a source of 10 MiB in one transaction would delay all others. Each part is a separate
//! transaction, whose documents have no version yet; the last part sets it.

use std::sync::Arc;

use cicerone_domain::content::{CutDocument, Extracted};
use cicerone_domain::id::kind;
use cicerone_domain::{Id, Source, SourceType};
use diesel::dsl::max;
use diesel::prelude::*;

use super::content::{
    BATCH_BYTES, Owner, insert_documents, insert_passages, remove_unseen, unseen,
};
use super::document_ids::{DocumentIds, DocumentKey};
use crate::columns::wide;
use crate::connection::{AnyConnection, note_value};
use crate::error::TransactionError;
use crate::schema::{crawls, document_texts, documents, passages};

/// Most rows of a part.
const PART_ROWS: usize = 2_000;

/// Extracted content, and how much of it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Intake {
    extracted: Arc<Extracted>,
    /// The ids of the documents, in their order. They are set before anything is stored.
    ids: Arc<[Id<kind::Document>]>,
    /// Documents that are stored completely.
    documents: usize,
    /// Stored passages of the next document, if that document is stored.
    passages: Option<usize>,
    /// The position of the next passage in the source.
    position: i64,
    /// Whether it continues the content that the source shows, which then stays.
    continues: bool,
}

impl Intake {
    /// Extracted content of which nothing is stored.
    pub(crate) fn new(extracted: Extracted) -> Self {
        Self {
            extracted: Arc::new(extracted),
            ids: Arc::new([]),
            documents: 0,
            passages: None,
            position: 0,
            continues: false,
        }
    }

    /// The intake with the ids of its documents. Those that the source shows keep theirs.
    pub(crate) fn named(
        &self,
        c: &mut AnyConnection,
        key: &DocumentKey,
        source: &Source,
    ) -> Result<Self, TransactionError> {
        let mut ids = DocumentIds::keeping(c, key, source)?;
        let ids = self.extracted.documents.iter().map(|cut| ids.next_of(&cut.document)).collect();
        Ok(Self { ids, ..self.clone() })
    }

    /// The intake of the pairs that were added to the source, whose other documents stay. New documents that an earlier
    /// attempt left are removed.
    pub(crate) fn continued(
        &self,
        c: &mut AnyConnection,
        source: &Source,
    ) -> Result<Option<Self>, TransactionError> {
        if !source.answers() || source.content.source_type() != SourceType::Qa {
            return Ok(None);
        }
        remove_unseen(c, &source.id.to_string())?;
        let Some(documents) = self.shown(c, source)? else { return Ok(None) };
        let last: Option<i64> = passages::table
            .filter(passages::source_id.eq(source.id.to_string()))
            .select(max(passages::position))
            .get_result(c)?;
        let position = last.map_or(0, |last| last + 1);
        Ok(Some(Self { documents, position, continues: true, ..self.clone() }))
    }

    /// How many documents the source shows, if what was extracted begins with them.
    fn shown(
        &self,
        c: &mut AnyConnection,
        source: &Source,
    ) -> Result<Option<usize>, TransactionError> {
        let is_text_of = document_texts::source_id
            .eq(documents::source_id)
            .and(document_texts::position.eq(documents::position));
        let shown: Vec<(i64, Option<String>, String)> = documents::table
            .inner_join(document_texts::table.on(is_text_of))
            .filter(documents::source_id.eq(source.id.to_string()))
            .order(documents::position)
            .select((documents::position, documents::title, document_texts::text))
            .load(c)?;
        for (_, _, text) in &shown {
            note_value(text);
        }
        let new = &self.extracted.documents;
        let are_same = shown.len() <= new.len()
            && shown.iter().zip(new).all(|((position, title, text), cut)| {
                let document = &cut.document;
                (*position, title, text) == (document.position, &document.title, &document.text)
            });
        Ok((are_same && !shown.is_empty()).then_some(shown.len()))
    }

    /// Characters that are not stored yet, not counting those of a document that is partly stored.
    pub(crate) fn missing_characters(&self) -> u64 {
        let missing = self.extracted.documents.iter().skip(self.documents);
        missing.map(|cut| cut.document.character_count()).sum()
    }

    /// Whether parts can be stored one by one: none of them is searchable before the last one is stored.
    pub(crate) fn can_be_parted(&self, source: &Source) -> bool {
        self.continues || !source.answers()
    }

    /// What was extracted.
    pub(crate) fn extracted(&self) -> &Extracted {
        &self.extracted
    }

    /// Whether nothing is stored.
    pub(crate) fn is_at_start(&self) -> bool {
        self.documents == 0 && self.passages.is_none()
    }

    /// Whether everything is stored.
    pub(crate) fn is_complete(&self) -> bool {
        self.documents >= self.extracted.documents.len()
    }

    /// Stores the next part, of about [`BATCH_BYTES`] and [`PART_ROWS`], and returns the new
    /// progress. The text of a document is never split.
    pub(crate) fn store_part(
        &self,
        c: &mut AnyConnection,
        source: &Source,
    ) -> Result<Self, TransactionError> {
        let mut next = self.clone();
        let (mut new, mut passages, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (documents, ids) = (&self.extracted.documents, &self.ids);
        'part: while let Some((cut, id)) =
            documents.get(next.documents).zip(ids.get(next.documents))
        {
            let document = cut.document.position;
            let mut stored = match next.passages {
                Some(stored) => stored,
                None => {
                    new.push((document, *id, cut));
                    bytes += cut.document.text.len();
                    0
                }
            };
            let mut left = cut.passages_after(stored, next.position);
            while stored < cut.stretches.len() {
                if bytes >= BATCH_BYTES || new.len() + passages.len() >= PART_ROWS {
                    next.passages = Some(stored);
                    break 'part;
                }
                let Some(passage) = left.next() else { break };
                bytes += passage.text.len();
                passages.push((document, passage));
                stored += 1;
                next.position += 1;
            }
            next.documents += 1;
            next.passages = None;
        }
        let owner = Owner::of(source);
        let new = new.into_iter().map(|(position, id, cut)| (&owner, position, id, cut));
        insert_documents(c, new)?;
        let passages = passages.into_iter();
        insert_passages(c, passages.map(|(document, passage)| (&owner, document, passage)))?;
        Ok(next)
    }

    /// The documents and their positions, in order.
    fn placed(&self) -> impl Iterator<Item = (i64, Id<kind::Document>, &CutDocument)> + Clone {
        let named = self.extracted.documents.iter().zip(self.ids.iter());
        named.map(|(cut, id)| (cut.document.position, *id, cut))
    }
}

/// Stores all of several sources that show nothing yet: everything of a table by one statement, or a few.
pub(crate) fn store_whole(
    c: &mut AnyConnection,
    sources: &[(&Source, &Intake)],
) -> Result<(), TransactionError> {
    let owned: Vec<_> =
        sources.iter().map(|(source, intake)| (Owner::of(source), *intake)).collect();
    let documents = owned.iter().flat_map(|(owner, intake)| {
        intake.placed().map(move |(position, id, cut)| (owner, position, id, cut))
    });
    insert_documents(c, documents)?;
    let passages = owned.iter().flat_map(|(owner, intake)| {
        let mut first = 0;
        intake.placed().flat_map(move |(document, _, cut)| {
            let passages = cut.passages(first);
            first += wide(cut.stretches.len());
            passages.map(move |passage| (owner, document, passage))
        })
    });
    insert_passages(c, passages)
}

/// Removes all content of several sources, as [`clear`] does.
pub(crate) fn clear_all(c: &mut AnyConnection, sources: &[String]) -> Result<(), TransactionError> {
    diesel::delete(documents::table.filter(documents::source_id.eq_any(sources))).execute(c)?;
    diesel::delete(crawls::table.filter(crawls::source_id.eq_any(sources))).execute(c)?;
    Ok(())
}

/// Sets the version of everything of these sources that was stored without one.
pub(crate) fn show_all(
    c: &mut AnyConnection,
    sources: &[String],
    version: i64,
) -> Result<(), TransactionError> {
    let unseen = documents::table
        .filter(documents::source_id.eq_any(sources))
        .filter(documents::version.is_null());
    diesel::update(unseen).set(documents::version.eq(version)).execute(c)?;
    Ok(())
}

/// Removes all content of a source: before an attempt, what an earlier one left.
pub(crate) fn clear(c: &mut AnyConnection, source: &Source) -> Result<(), TransactionError> {
    let source = source.id.to_string();
    diesel::delete(documents::table.filter(documents::source_id.eq(&source))).execute(c)?;
    // The crawls found the content that is being removed.
    diesel::delete(crawls::table.filter(crawls::source_id.eq(&source))).execute(c)?;
    Ok(())
}

/// Sets the version of everything that was stored without one.
pub(crate) fn show(
    c: &mut AnyConnection,
    source: &Source,
    version: i64,
) -> Result<(), TransactionError> {
    diesel::update(unseen(&source.id.to_string()))
        .set(documents::version.eq(version))
        .execute(c)?;
    Ok(())
}
