//! Documents by their ids.

use cicerone_domain::content::{PublicText, StoredDocument};
use cicerone_domain::id::kind;
use cicerone_domain::{Id, limits};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

use super::content::DocumentRow;
use crate::columns::id;
use crate::connection::{AnyConnection, note_value};
use crate::error::TransactionError;
use crate::removal::AGENT_IS_THERE;
use crate::schema::{agents, document_texts, documents, sources};
use crate::scope::Visible;

/// The document, if its source is in the scope. If two pages of a source have the same address, the first one.
pub(super) fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    document: Id<kind::Document>,
) -> Result<Option<StoredDocument>, TransactionError> {
    let is_text_of = document_texts::source_id
        .eq(documents::source_id)
        .and(document_texts::position.eq(documents::position));
    let mut query = documents::table
        .inner_join(sources::table.on(sources::id.eq(documents::source_id)))
        .inner_join(document_texts::table.on(is_text_of))
        .filter(documents::id.eq(document.to_string()))
        .filter(documents::account_id.eq(&visible.account))
        .filter(documents::version.is_not_null())
        .filter(sources::removed_at.is_null())
        .filter(sql::<Bool>(AGENT_IS_THERE))
        .order((documents::source_id, documents::position))
        .limit(1)
        .select((DocumentRow::as_select(), document_texts::text, sources::agent_id))
        .into_boxed();
    if let Some(ids) = &visible.agents {
        query = query.filter(sources::agent_id.eq_any(ids));
    }
    let found: Option<(DocumentRow, String, String)> = query.get_result(c).optional()?;
    let document = found.map(|(row, text, agent)| {
        note_value(&text);
        row.with(text, id("sources.agent_id", &agent)?)
    });
    document.transpose()
}

/// The beginning of a document, if its agent publishes its sources.
pub(super) fn find_public(
    c: &mut AnyConnection,
    document: Id<kind::Document>,
) -> Result<Option<PublicText>, TransactionError> {
    // One character more than can be shown, each of at least one byte: enough to know whether the text continues.
    let beginning = format!("substr(document_texts.text, 1, {})", limits::PUBLIC_TEXT_BYTES + 1);
    let is_text_of = document_texts::source_id
        .eq(documents::source_id)
        .and(document_texts::position.eq(documents::position));
    let found: Option<(Option<String>, String)> = documents::table
        .inner_join(sources::table.on(sources::id.eq(documents::source_id)))
        .inner_join(agents::table.on(agents::id.eq(sources::agent_id)))
        .inner_join(document_texts::table.on(is_text_of))
        .filter(documents::id.eq(document.to_string()))
        .filter(documents::version.is_not_null())
        .filter(sources::removed_at.is_null())
        .filter(agents::removed_at.is_null())
        .filter(agents::public_sources.eq(true))
        .order((documents::source_id, documents::position))
        .limit(1)
        .select((documents::title, sql::<Text>(&beginning)))
        .get_result(c)
        .optional()?;
    Ok(found.map(|(title, mut text)| {
        note_value(&text);
        let is_cut = text.len() > limits::PUBLIC_TEXT_BYTES;
        text.truncate(text.floor_char_boundary(limits::PUBLIC_TEXT_BYTES));
        // Each character may have had four bytes.
        text.shrink_to_fit();
        PublicText { title, text, is_cut }
    }))
}
