//! The rows of sources.

use std::borrow::Cow;

use cicerone_domain::source::{PairsText, SourceText, WebsiteUrl};
use cicerone_domain::{Source, SourceContent, SourceType};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::StateRow;
use crate::bytes;
use crate::columns::{id, named, narrow, time};
use crate::connection::note_value;
use crate::error::TransactionError;
use crate::managed;
use crate::pages::{Size, octet_length};
use crate::schema::sources;

#[derive(Queryable, Selectable)]
#[diesel(table_name = sources)]
pub(crate) struct SourceRow {
    id: String,
    account_id: String,
    agent_id: String,
    source_type: String,
    content: String,
    crawl_subpages: bool,
    #[diesel(embed)]
    state: StateRow,
    created_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
    guarded: bool,
}

/// A source whose text is not read: see [`SourceContent::Unread`]. For changes of other columns, which keep the only writer of
/// a SQLite file busy, and of which a large source makes one for each part that is stored.
#[derive(Queryable, Selectable)]
#[diesel(table_name = sources)]
pub(crate) struct HeldSourceRow {
    id: String,
    account_id: String,
    agent_id: String,
    source_type: String,
    #[diesel(select_expression = content_unless_text(), select_expression_type = SqlLiteral<Text>)]
    content: String,
    #[diesel(select_expression = octet_length(sources::content.nullable()), select_expression_type = ContentLength)]
    bytes: Size,
    crawl_subpages: bool,
    #[diesel(embed)]
    state: StateRow,
    created_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
    guarded: bool,
}

type ContentLength = octet_length<diesel::dsl::Nullable<sources::content>>;

fn content_unless_text() -> SqlLiteral<Text> {
    sql("CASE WHEN sources.source_type IN ('text', 'qa') THEN '' ELSE sources.content END")
}

impl TryFrom<HeldSourceRow> for Source {
    type Error = TransactionError;

    fn try_from(row: HeldSourceRow) -> Result<Self, TransactionError> {
        let bytes = narrow("sources.content", row.bytes.unwrap_or_default().into())?;
        let source = Self::try_from(SourceRow {
            id: row.id,
            account_id: row.account_id,
            agent_id: row.agent_id,
            source_type: row.source_type,
            content: row.content,
            crawl_subpages: row.crawl_subpages,
            state: row.state,
            created_at: row.created_at,
            managed_set: row.managed_set,
            managed_key: row.managed_key,
            managed_hash: row.managed_hash,
            guarded: row.guarded,
        })?;
        let content = match source.content {
            read @ (SourceContent::Website { .. } | SourceContent::File(_)) => read,
            other => SourceContent::Unread { source_type: other.source_type(), bytes },
        };
        Ok(Self { content, ..source })
    }
}

/// A source to insert, whose content is not copied.
#[derive(Insertable)]
#[diesel(table_name = sources, treat_none_as_default_value = false)]
pub(crate) struct NewSourceRow<'a> {
    id: String,
    account_id: String,
    agent_id: String,
    source_type: &'a str,
    pub(super) content: Cow<'a, str>,
    crawl_subpages: bool,
    upload_id: Option<String>,
    #[diesel(embed)]
    state: StateRow,
    created_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
    guarded: bool,
    stored_bytes: i64,
}

impl<'a> NewSourceRow<'a> {
    pub(super) fn of(source: &'a Source) -> Result<Self, TransactionError> {
        let (crawl_subpages, upload_id) = match &source.content {
            SourceContent::Website { crawl_subpages, .. } => (*crawl_subpages, None),
            SourceContent::File(upload) => (false, Some(upload.to_string())),
            SourceContent::Text(_) | SourceContent::Qa(_) => (false, None),
            SourceContent::Unread { .. } => {
                return Err(TransactionError::internal("a source without its text is not stored"));
            }
        };
        let (managed_set, managed_key, managed_hash) = managed::columns(source.managed.as_ref());
        Ok(Self {
            id: source.id.to_string(),
            account_id: source.account_id.to_string(),
            agent_id: source.agent_id.to_string(),
            source_type: source.content.source_type().name(),
            content: source.content.as_text(),
            crawl_subpages,
            upload_id,
            state: StateRow::of(source)?,
            created_at: source.created_at.as_millis(),
            managed_set,
            managed_key,
            managed_hash,
            guarded: source.guarded,
            stored_bytes: bytes::of_content(source),
        })
    }
}

impl TryFrom<SourceRow> for Source {
    type Error = TransactionError;

    fn try_from(row: SourceRow) -> Result<Self, TransactionError> {
        note_value(&row.content);
        let content = match named("sources.source_type", &row.source_type, SourceType::from_name)? {
            SourceType::Website => {
                let url = WebsiteUrl::from_stored(row.content);
                SourceContent::Website { url, crawl_subpages: row.crawl_subpages }
            }
            SourceType::Text => SourceContent::Text(SourceText::from_stored(row.content)),
            SourceType::File => SourceContent::File(id("sources.content", &row.content)?),
            SourceType::Qa => SourceContent::Qa(PairsText::from_stored(row.content)),
        };
        let (state, progress) = row.state.into_state()?;
        Ok(Self {
            id: id("sources.id", &row.id)?,
            account_id: id("sources.account_id", &row.account_id)?,
            agent_id: id("sources.agent_id", &row.agent_id)?,
            content,
            state,
            progress,
            guarded: row.guarded,
            managed: managed::from_columns((row.managed_set, row.managed_key, row.managed_hash)),
            created_at: time(row.created_at),
        })
    }
}
