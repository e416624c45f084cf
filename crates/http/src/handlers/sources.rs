//! `/v1/agents/{agent_id}/sources`, `/v1/sources` and search.

use actix_web::http::StatusCode;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::ports::SourceFilter;
use cicerone_domain::services::NewSource;
use cicerone_domain::{
    Error, Id, MessageText, Source, SourceContent, SourceStatus, SourceType, kind, limits,
};

use crate::auth::Authorized;
use crate::auth::permission::{SourcesRead, SourcesWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::fields::Fields;
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::{DocumentView, HitView, PageView, PassageView, SearchView, SourceView};

/// `POST /v1/agents/{agent_id}/sources`
pub(crate) async fn create(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let content = content(body.fields)?;
    let agent_id = incoming.path_id();
    let request_id = Some(caller.request_id());
    let change = Change::new(&app, &caller, incoming.keyed(&[&body.bytes])?);
    change
        .answer(created, move |app, caller, completion| async move {
            let new = NewSource { content: content?, agent_id: agent_id?, request_id };
            app.sources.create(&caller.scope, new, completion).await
        })
        .await
}

/// `GET /v1/agents/{agent_id}/sources`
pub(crate) async fn list(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let account = caller.scope().account;
    let list = ListName { name: "sources", account, parent: incoming.path_text() };
    let page = app.page(&caller, list, &query).await?;
    let statuses = "pending, processing, trained, failed";
    let filter = SourceFilter {
        status: query.one_of("status", SourceStatus::from_name, statuses)?,
        source_type: query.one_of("type", SourceType::from_name, "website, text, file, qa")?,
    };
    let agent_id: Id<kind::Agent> = incoming.path_id()?;
    let sources = app.sources.list(caller.scope(), agent_id, filter, page).await?;
    Ok(app.envelope(list, &sources, SourceView::from))
}

/// `GET /v1/sources/{source_id}`
pub(crate) async fn find(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let id = incoming.path_id()?;
    caller.context().expect_answer(&app).await?;
    let source = app.sources.find(caller.scope(), id).await?;
    Ok(ok(&SourceView::from(&source)))
}

/// `DELETE /v1/sources/{source_id}`
pub(crate) async fn delete(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::SourceDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.sources.delete(&caller.scope, id?, completion).await
        })
        .await
}

/// `POST /v1/sources/{source_id}/refresh`
pub(crate) async fn refresh(
    caller: Authorized<SourcesWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let request_id = Some(caller.request_id());
    let change = Change::of_path(&app, &caller, &mut incoming).await?;
    change
        .answer(refreshed, move |app, caller, completion| async move {
            app.sources.refresh(&caller.scope, id?, request_id, completion).await
        })
        .await
}

/// `GET /v1/sources/{source_id}/documents`
pub(crate) async fn documents(
    caller: Authorized<SourcesRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let list = ListName {
        name: "documents",
        account: caller.scope().account,
        parent: incoming.path_text(),
    };
    let page = app.page(&caller, list, &query).await?;
    let id: Id<kind::Source> = incoming.path_id()?;
    let documents = app.sources.documents(caller.scope(), id, page).await?;
    Ok(app.envelope(list, &documents, DocumentView::from))
}

/// `GET /v1/sources/{source_id}/passages`
pub(crate) async fn passages(
    caller: Authorized<SourcesRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let list = ListName {
        name: "passages",
        account: caller.scope().account,
        parent: incoming.path_text(),
    };
    let page = app.page(&caller, list, &query).await?;
    let id: Id<kind::Source> = incoming.path_id()?;
    let passages = app.sources.passages(caller.scope(), id, page).await?;
    Ok(app.envelope(list, &passages, PassageView::from))
}

/// `GET /v1/sources/{source_id}/pages`
pub(crate) async fn pages(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list =
        ListName { name: "pages", account: caller.scope().account, parent: incoming.path_text() };
    let page = app.page(&caller, list, &query).await?;
    let id: Id<kind::Source> = incoming.path_id()?;
    let pages = app.sources.pages(caller.scope(), id, page).await?;
    Ok(app.envelope(list, &pages, PageView::from))
}

/// `POST /v1/agents/{agent_id}/search`. Changes nothing, so it takes no idempotency key.
pub(crate) async fn search(
    caller: Authorized<SourcesRead>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let mut fields = incoming.json(&app).await?.fields;
    fields.require(&["query"])?;
    let text = fields.required_text("query")?;
    let limit = fields.integer("limit")?.value();
    let text = MessageText::parse_field("query", text)?;
    let limit = search_limit(limit)?;
    caller.context().expect_answer(&app).await?;
    let hits = app.sources.search(caller.scope(), incoming.path_id()?, text, limit).await?;
    Ok(ok(&SearchView { data: hits.iter().map(HitView::from).collect() }))
}

fn created(source: &Source) -> StoredResponse {
    keep(StatusCode::CREATED, &SourceView::from(source), Some(subject(source)))
}

fn refreshed(source: &Source) -> StoredResponse {
    keep(StatusCode::OK, &SourceView::from(source), Some(subject(source)))
}

fn subject(source: &Source) -> Subject {
    Subject::of_agent(source.id, source.agent_id)
}

/// The content of a new source. A content that breaks its limits comes as the inner error: such a
/// refusal belongs to the request's idempotency key, unlike that of a malformed request.
fn content(mut fields: Fields) -> Result<Result<SourceContent, Error>, Error> {
    fields.require(&["type", "content"])?;
    let kind = fields.required_text("type")?;
    let content = fields.required_text("content")?;
    let crawl_subpages = fields.flag("crawl_subpages")?.value().unwrap_or_default();
    match SourceContent::parse(&kind, content, crawl_subpages) {
        Err(error @ Error::Validation { .. }) => Ok(Err(error)),
        Err(error) => Err(error),
        Ok(content) => Ok(Ok(content)),
    }
}

fn search_limit(given: Option<i64>) -> Result<usize, Error> {
    let (low, high) = limits::SEARCH_LIMIT_RANGE;
    let limit = given.unwrap_or_else(|| limits::SEARCH_LIMIT_DEFAULT.into());
    let in_range = (i64::from(low)..=i64::from(high)).contains(&limit);
    usize::try_from(limit).ok().filter(|_| in_range).ok_or_else(|| {
        Error::invalid("limit", format!("must be an integer between {low} and {high}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{content, search_limit};
    use crate::fields::Fields;
    use cicerone_domain::Error;

    fn read(json: &str) -> Result<Result<(), Error>, Error> {
        content(Fields::parse(json.as_bytes()).unwrap()).map(|inner| inner.map(|_| ()))
    }

    #[test]
    fn only_a_fault_of_the_content_itself_belongs_to_the_key() {
        assert!(matches!(read(r#"{"type": "text", "content": ""}"#), Ok(Err(_))));
        assert!(matches!(read(r#"{"type": "qa", "content": "[]"}"#), Ok(Err(_))));
        assert!(matches!(read(r#"{"type": "book", "content": "x"}"#), Err(Error::Invalid(_))));
        assert!(matches!(read(r#"{"type": "book"}"#), Err(Error::Missing { .. })));
        let crawled_text = r#"{"type": "text", "content": "x", "crawl_subpages": true}"#;
        assert!(matches!(read(crawled_text), Err(Error::Invalid(_))));
        assert!(matches!(read(r#"{"type": "text", "content": "x"}"#), Ok(Ok(()))));
    }

    #[test]
    fn a_search_gives_1_to_50_hits_and_10_by_default() {
        assert_eq!(search_limit(None).unwrap(), 10);
        assert_eq!(search_limit(Some(1)).unwrap(), 1);
        assert_eq!(search_limit(Some(50)).unwrap(), 50);
        for limit in [0, 51, -1, i64::MAX] {
            assert!(search_limit(Some(limit)).is_err(), "{limit}");
        }
    }
}
