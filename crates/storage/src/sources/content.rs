//! The extracted content of a source: documents and their passages.
//!
//! Invariant: a document without a version, and its passages, belong to a running job or are left over from one that has
//! ended. Queries for callers and for the index exclude them.

use cicerone_domain::content::{
    CutDocument, Document, Passage, StoredDocument, StoredPassage, Warnings,
};
use cicerone_domain::id::kind;
use cicerone_domain::{Id, Page, PageRequest, Source};
use diesel::prelude::*;

use crate::columns::{from_json, id, narrow_option, to_json, wide};
use crate::connection::{AnyConnection, note_value};
use crate::dialect::{self, ROWS};
use crate::error::TransactionError;
use crate::pages::{Size, fitting, numbered_after, octet_length};
use crate::schema::{document_texts, documents, passages};

/// The approximate number of bytes of text that are converted to rows at a time.
pub(super) const BATCH_BYTES: usize = 1_024 * 1_024;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = documents, treat_none_as_default_value = false)]
pub(crate) struct DocumentRow {
    source_id: String,
    position: i64,
    account_id: String,
    version: Option<i64>,
    url: Option<String>,
    title: Option<String>,
    page_count: Option<i64>,
    character_count: i64,
    is_pair: bool,
    table_count: Option<i64>,
    warnings: Option<String>,
    id: String,
}

/// The text of a document, in a separate table: a document's row is rewritten when it becomes visible.
#[derive(Insertable)]
#[diesel(table_name = document_texts)]
pub(crate) struct TextRow<'a> {
    source_id: &'a str,
    position: i64,
    account_id: &'a str,
    text: &'a str,
}

impl<'a> TextRow<'a> {
    pub(crate) const fn source_id(&self) -> &'a str {
        self.source_id
    }

    pub(crate) const fn position(&self) -> i64 {
        self.position
    }

    pub(crate) const fn account_id(&self) -> &'a str {
        self.account_id
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = passages, treat_none_as_default_value = false)]
pub(crate) struct PassageRow {
    pub(crate) source_id: String,
    position: i64,
    account_id: String,
    pub(crate) document: i64,
    title: Option<String>,
    heading: Option<String>,
    url: Option<String>,
    page: Option<i64>,
    text: String,
    is_pair: bool,
    language: Option<String>,
}

impl DocumentRow {
    /// The row as a document with its text, of a source of this agent.
    pub(super) fn with(
        self,
        text: String,
        agent_id: Id<kind::Agent>,
    ) -> Result<StoredDocument, TransactionError> {
        Ok(StoredDocument {
            id: id("documents.id", &self.id)?,
            source_id: id("documents.source_id", &self.source_id)?,
            agent_id,
            document: Document {
                position: self.position,
                url: self.url,
                title: self.title,
                page_count: narrow_option("documents.page_count", self.page_count)?,
                table_count: narrow_option("documents.table_count", self.table_count)?,
                warnings: read_warnings(self.warnings.as_deref())?,
                text,
                is_pair: self.is_pair,
            },
        })
    }
}

/// Reads a document's warnings from its column.
pub(crate) fn read_warnings(json: Option<&str>) -> Result<Warnings, TransactionError> {
    json.map_or_else(|| Ok(Warnings::default()), from_json)
}

fn write_warnings(warnings: &Warnings) -> Result<Option<String>, TransactionError> {
    if warnings.is_empty() { Ok(None) } else { to_json(warnings).map(Some) }
}

impl PassageRow {
    /// The row as a passage of the document with that id.
    pub(crate) fn of(self, document: &str) -> Result<StoredPassage, TransactionError> {
        let document_id = id("documents.id", document)?;
        Ok(StoredPassage { document_id, passage: self.try_into()? })
    }

    /// Its number within the source.
    pub(crate) const fn position(&self) -> i64 {
        self.position
    }

    /// Bytes of its longer texts.
    pub(crate) fn size(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.text.len() + of(&self.title) + of(&self.heading) + of(&self.url)
    }
}

impl TryFrom<PassageRow> for Passage {
    type Error = TransactionError;

    fn try_from(row: PassageRow) -> Result<Self, TransactionError> {
        Ok(Self {
            position: row.position,
            title: row.title,
            heading: row.heading,
            url: row.url,
            page: narrow_option("passages.page", row.page)?,
            text: row.text,
            is_pair: row.is_pair,
            language: row.language,
        })
    }
}

/// A document to be stored, and its place in the source.
pub(crate) struct Placed<'a> {
    /// The position of the document.
    pub(crate) document: i64,
    pub(crate) id: Id<kind::Document>,
    /// The position of its first passage.
    pub(crate) first_passage: i64,
    /// The document; its own position is ignored.
    pub(crate) cut: &'a CutDocument,
}

/// Adds documents with their passages, without a version.
pub(crate) fn insert(
    c: &mut AnyConnection,
    source: &Source,
    documents: &[Placed<'_>],
) -> Result<(), TransactionError> {
    let owner = Owner::of(source);
    let placed = documents.iter().map(|placed| (&owner, placed.document, placed.id, placed.cut));
    insert_documents(c, placed)?;
    let passages = documents.iter().flat_map(|placed| {
        let passages = placed.cut.passages(placed.first_passage);
        passages.map(|passage| (&owner, placed.document, passage))
    });
    insert_passages(c, passages)
}

/// The source of rows, as columns.
pub(super) struct Owner {
    source_id: String,
    account_id: String,
}

impl Owner {
    pub(super) fn of(source: &Source) -> Self {
        Self { source_id: source.id.to_string(), account_id: source.account_id.to_string() }
    }
}

/// Adds documents of these sources at these positions and with these ids, without a version and without passages.
///
/// Rows are created for one statement at a time, so that little of the text is in memory twice.
pub(super) fn insert_documents<'a>(
    c: &mut AnyConnection,
    documents: impl Iterator<Item = (&'a Owner, i64, Id<kind::Document>, &'a CutDocument)> + Clone,
) -> Result<(), TransactionError> {
    let rows = documents.clone().map(|(owner, position, id, CutDocument { document, .. })| {
        Ok(DocumentRow {
            source_id: owner.source_id.clone(),
            position,
            account_id: owner.account_id.clone(),
            version: None,
            url: document.url.clone(),
            title: document.title.clone(),
            page_count: document.page_count.map(i64::from),
            character_count: wide(document.character_count()),
            is_pair: document.is_pair,
            table_count: document.table_count.map(i64::from),
            warnings: write_warnings(&document.warnings)?,
            id: id.to_string(),
        })
    });
    let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let size = |row: &DocumentRow| of(&row.title) + of(&row.warnings);
    in_batches(rows, size, |rows| dialect::insert_documents(c, rows))?;
    let rows = documents.map(|(owner, position, _, cut)| {
        let (source_id, account_id) = (owner.source_id.as_str(), owner.account_id.as_str());
        Ok(TextRow { source_id, position, account_id, text: &cut.document.text })
    });
    in_batches(rows, |row| row.text.len(), |rows| dialect::insert_texts(c, rows))
}

/// Adds passages of these sources, each with the position of its document, which exists.
pub(super) fn insert_passages<'a>(
    c: &mut AnyConnection,
    passages: impl Iterator<Item = (&'a Owner, i64, Passage)>,
) -> Result<(), TransactionError> {
    let rows = passages.map(|(owner, document, passage)| {
        Ok(PassageRow {
            source_id: owner.source_id.clone(),
            position: passage.position,
            account_id: owner.account_id.clone(),
            document,
            title: passage.title,
            heading: passage.heading,
            url: passage.url,
            page: passage.page.map(i64::from),
            text: passage.text,
            is_pair: passage.is_pair,
            language: passage.language,
        })
    });
    in_batches(rows, PassageRow::size, |rows| dialect::insert_passages(c, rows))
}

/// Passes rows on in batches: at most [`ROWS`], of about [`BATCH_BYTES`] unless a single row is
/// larger.
fn in_batches<R>(
    rows: impl Iterator<Item = Result<R, TransactionError>>,
    size: impl Fn(&R) -> usize,
    mut add: impl FnMut(&[R]) -> QueryResult<()>,
) -> Result<(), TransactionError> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for row in rows {
        let row = row?;
        bytes += size(&row);
        batch.push(row);
        if batch.len() >= ROWS || bytes >= BATCH_BYTES {
            add(&batch)?;
            batch.clear();
            bytes = 0;
        }
    }
    if batch.is_empty() { Ok(()) } else { Ok(add(&batch)?) }
}

pub(crate) type Unseen<'a> = diesel::dsl::Filter<
    diesel::dsl::Filter<documents::table, diesel::dsl::Eq<documents::source_id, &'a str>>,
    diesel::dsl::IsNull<documents::version>,
>;

/// The documents that the source's running job has stored.
pub(crate) fn unseen(source_id: &str) -> Unseen<'_> {
    documents::table.filter(documents::source_id.eq(source_id)).filter(documents::version.is_null())
}

/// Removes what the source's running job has stored.
pub(crate) fn remove_unseen(
    c: &mut AnyConnection,
    source_id: &str,
) -> Result<(), TransactionError> {
    diesel::delete(unseen(source_id)).execute(c)?;
    Ok(())
}

/// A page of a source's documents. The caller has checked that the source is in the scope.
pub(super) fn documents(
    c: &mut AnyConnection,
    source: &Source,
    page: &PageRequest,
) -> Result<Page<StoredDocument>, TransactionError> {
    let (agent, source, begin) = (source.agent_id, source.id.to_string(), numbered_after(page)?);
    let query = || {
        let is_text_of = document_texts::source_id
            .eq(documents::source_id)
            .and(document_texts::position.eq(documents::position));
        documents::table
            .inner_join(document_texts::table.on(is_text_of))
            .filter(documents::source_id.eq(&source))
            .filter(documents::version.is_not_null())
            .filter(documents::position.gt(begin))
            .order(documents::position)
    };
    let sizes: Vec<(Size, Size, Size, Size)> = query()
        .limit(page.lookahead())
        .select((
            octet_length(document_texts::text.nullable()),
            octet_length(documents::title),
            octet_length(documents::url),
            octet_length(documents::warnings),
        ))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(<[Size; 4]>::from).collect();
    let fit = fitting(page, &sizes);
    let items: Result<Vec<StoredDocument>, _> = query()
        .limit(fit.count)
        .select((DocumentRow::as_select(), document_texts::text))
        .load::<(DocumentRow, String)>(c)?
        .into_iter()
        .map(|(row, text)| {
            note_value(&text);
            row.with(text, agent)
        })
        .collect();
    Ok(Page::of(items?, fit.more))
}

/// A page of a source's passages, or of those of one document. The caller has checked that the source is in the scope.
pub(super) fn passages(
    c: &mut AnyConnection,
    source: Id<kind::Source>,
    document: Option<Id<kind::Document>>,
    page: &PageRequest,
) -> Result<Page<StoredPassage>, TransactionError> {
    let (source, begin) = (source.to_string(), numbered_after(page)?);
    let document = document.map(|id| id.to_string());
    let query = || {
        let is_passage_of = documents::source_id
            .eq(passages::source_id)
            .and(documents::position.eq(passages::document));
        let query = passages::table
            .inner_join(documents::table.on(is_passage_of))
            .filter(passages::source_id.eq(&source))
            .filter(documents::version.is_not_null())
            .filter(passages::position.gt(begin))
            .order(passages::position)
            .into_boxed();
        match &document {
            Some(id) => query.filter(documents::id.eq(id)),
            None => query,
        }
    };
    let sizes: Vec<(Size, Size, Size, Size)> = query()
        .limit(page.lookahead())
        .select((
            octet_length(passages::text.nullable()),
            octet_length(passages::title),
            octet_length(passages::heading),
            octet_length(passages::url),
        ))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(<[Size; 4]>::from).collect();
    let fit = fitting(page, &sizes);
    let rows: Vec<(PassageRow, String)> =
        query().limit(fit.count).select((PassageRow::as_select(), documents::id)).load(c)?;
    let items: Result<Vec<StoredPassage>, _> =
        rows.into_iter().map(|(row, document)| row.of(&document)).collect();
    Ok(Page::of(items?, fit.more))
}
