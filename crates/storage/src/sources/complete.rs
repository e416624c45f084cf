//! Ids for documents that were stored without one: before documents had ids, and by a server of an earlier version that
//! still runs next to newer ones.

use cicerone_domain::Id;
use cicerone_domain::id::kind;
use diesel::dsl::min;
use diesel::prelude::*;

use super::document_ids::{DocumentIds, DocumentKey};
use crate::columns::{id, wide};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::schema::documents;

/// Documents of a part.
const ROWS: i64 = 500;

/// A source with documents that have no id, and the progress of completing it.
#[derive(Debug, Clone)]
pub(crate) struct Incomplete {
    pub(crate) account: Id<kind::Account>,
    ids: Option<DocumentIds>,
    source: Id<kind::Source>,
    /// The position of the first document of the next part.
    next: i64,
}

/// One source of each account that has documents without an id.
pub(crate) fn incomplete(c: &mut AnyConnection) -> Result<Vec<Incomplete>, TransactionError> {
    let rows: Vec<(String, Option<String>)> = documents::table
        .filter(documents::id.eq(""))
        .group_by(documents::account_id)
        .select((documents::account_id, min(documents::source_id)))
        .load(c)?;
    let sources = rows.into_iter().filter_map(|(account, source)| Some((account, source?)));
    let incomplete = sources.map(|(account, source)| {
        let account = id("documents.account_id", &account)?;
        Ok(Incomplete { account, ids: None, source: id("documents.source_id", &source)?, next: 0 })
    });
    incomplete.collect()
}

/// Gives ids to the next documents of a source. Returns what is left; `None` after the last.
pub(crate) fn complete_part(
    c: &mut AnyConnection,
    incomplete: &Incomplete,
) -> Result<Option<Incomplete>, TransactionError> {
    type Row = (i64, Option<String>, Option<String>, bool, String);
    let mut left = incomplete.clone();
    let mut ids = match left.ids.take() {
        Some(ids) => ids,
        None => DocumentIds::new(&DocumentKey::read(c)?, left.source),
    };
    let source = left.source.to_string();
    let rows: Vec<Row> = documents::table
        .filter(documents::source_id.eq(&source))
        .filter(documents::position.ge(left.next))
        .order(documents::position)
        .limit(ROWS)
        .select((
            documents::position,
            documents::url,
            documents::title,
            documents::is_pair,
            documents::id,
        ))
        .load(c)?;
    let are_all = wide(rows.len()) < ROWS;
    for (position, url, title, is_pair, stored) in rows {
        // Documents that have ids count too: equal questions are numbered.
        let question = is_pair.then(|| title.as_deref().unwrap_or_default());
        let document = ids.next(url.as_deref(), question);
        if stored.is_empty() {
            diesel::update(documents::table.find((&source, position)))
                .set(documents::id.eq(document.to_string()))
                .execute(c)?;
        }
        left.next = position + 1;
    }
    left.ids = Some(ids);
    Ok((!are_all).then_some(left))
}

/// Gives ids to all documents that have none, in one transaction.
pub(crate) fn complete_all(c: &mut AnyConnection) -> Result<(), TransactionError> {
    loop {
        let sources = incomplete(c)?;
        if sources.is_empty() {
            return Ok(());
        }
        for source in sources {
            let mut left = Some(source);
            while let Some(part) = left {
                left = complete_part(c, &part)?;
            }
        }
    }
}
