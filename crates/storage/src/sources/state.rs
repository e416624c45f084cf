//! Conversion of a source's state to columns and back, in one place.

use cicerone_domain::source::{Progress, Trained};
use cicerone_domain::{Source, SourceState, SourceStatus};
use diesel::prelude::*;

use crate::columns::{from_json, named, narrow, narrow_option, to_json, wide};
use crate::error::TransactionError;
use crate::schema::sources;

/// The columns that change while a source is processed. `version` is set if there is searchable
/// content; `character_count`, `title` and `partially_read` belong to it.
#[derive(PartialEq, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = sources, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct StateRow {
    pub(crate) status: String,
    pub(crate) error_message: Option<String>,
    pub(crate) character_count: Option<i64>,
    pub(crate) title: Option<String>,
    pub(crate) version: Option<i64>,
    pub(crate) progress: Option<String>,
    pub(crate) partially_read: Option<String>,
}

impl StateRow {
    /// The columns of a source.
    pub(crate) fn of(source: &Source) -> Result<Self, TransactionError> {
        let trained = source.state.searchable();
        Ok(Self {
            status: source.state.status().name().to_owned(),
            error_message: source.state.error_message().map(str::to_owned),
            character_count: trained.map(|trained| wide(trained.character_count)),
            title: trained.and_then(|trained| trained.title.clone()),
            version: trained.map(|trained| wide(trained.version)),
            progress: source.progress.as_ref().map(to_json).transpose()?,
            partially_read: trained
                .and_then(|trained| trained.partial.as_ref())
                .map(to_json)
                .transpose()?,
        })
    }

    /// The state and the progress in the columns.
    pub(crate) fn into_state(self) -> Result<(SourceState, Option<Progress>), TransactionError> {
        let version = narrow_option("sources.version", self.version)?;
        let last = match version {
            None => None,
            Some(version) => {
                let count = self.character_count.unwrap_or_default();
                let character_count = narrow("sources.character_count", count)?;
                let partial = self.partially_read.as_deref().map(from_json).transpose()?;
                Some(Trained { character_count, title: self.title, version, partial })
            }
        };
        let state = match named("sources.status", &self.status, SourceStatus::from_name)? {
            SourceStatus::Pending => SourceState::Pending,
            SourceStatus::Processing => SourceState::Processing { last },
            SourceStatus::Trained => match last {
                Some(trained) => SourceState::Trained(trained),
                None => return Err(TransactionError::internal("a trained source has no version")),
            },
            SourceStatus::Failed => {
                SourceState::Failed { message: self.error_message.unwrap_or_default(), last }
            }
        };
        let progress = self.progress.as_deref().map(from_json).transpose()?;
        Ok((state, progress))
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::content::WarningReason;
    use cicerone_domain::source::{PartialReading, Progress, SourceText, Trained};
    use cicerone_domain::{Id, Source, SourceContent, SourceState, SystemEntropy, Timestamp};

    use super::StateRow;

    #[test]
    fn every_state_reads_back_as_it_was_written() {
        let partial = PartialReading {
            documents: 1,
            pages: vec![2],
            reasons: vec![WarningReason::Damaged, WarningReason::attachment("a.pdf", "why")],
        };
        let title = Some("A".to_owned());
        let trained = Trained { character_count: 7, title, version: 3, partial: Some(partial) };
        let untitled = Trained { title: None, partial: None, ..trained.clone() };
        for state in [
            SourceState::Pending,
            SourceState::Processing { last: None },
            SourceState::Processing { last: Some(trained.clone()) },
            SourceState::Trained(untitled),
            SourceState::Failed { message: "why".to_owned(), last: None },
            SourceState::Failed { message: "why".to_owned(), last: Some(trained) },
        ] {
            let source = Source {
                id: Id::random(&SystemEntropy),
                account_id: Id::random(&SystemEntropy),
                agent_id: Id::random(&SystemEntropy),
                content: SourceContent::Text(SourceText::parse("x").unwrap()),
                state,
                progress: Some(Progress { pages_done: 1, pages_found: 2, pages_failed: 0 }),
                guarded: false,
                managed: None,
                created_at: Timestamp::from_millis(0),
            };
            let (state, progress) = StateRow::of(&source).unwrap().into_state().unwrap();
            assert_eq!((state, progress), (source.state, source.progress));
        }
    }
}
