//! `GET /v1/agents/{agent_id}/sources`

use cicerone_domain::ports::SourceFilter;
use cicerone_domain::{Error, Page, PageRequest, Source, SourceStatus, SourceType, every};

use super::SourceView;
use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::managed;
use crate::openapi::parameters::one_of;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    let statuses = SourceStatus::ALL.map(SourceStatus::name);
    let types = SourceType::ALL.map(SourceType::name);
    Endpoint::list::<Sources>(Tag::Sources, "/v1/agents/{agent_id}/sources")
        .named("listSources", "List sources")
        .details("Newest first.")
        .query([
            one_of("status", &statuses, "Return only sources with this status."),
            one_of("type", &types, "Return only sources of this type."),
            managed::parameter(),
        ])
}

struct Sources;

impl List for Sources {
    type Permission = SourcesRead;
    type Item = Source;
    type View<'a> = SourceView<'a>;
    type Filter = SourceFilter;
    const NAME: &'static str = "sources";

    fn filter(query: &Query) -> Result<SourceFilter, Error> {
        let statuses = "pending, processing, trained, failed";
        let (status, source_type, set) = every((
            query.one_of("status", SourceStatus::from_name, statuses),
            query.one_of("type", SourceType::from_name, "website, text, file, qa"),
            managed::filter(query),
        ))?;
        Ok(SourceFilter { status, source_type, set })
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<SourcesRead>,
        incoming: &Incoming,
        filter: SourceFilter,
        page: PageRequest,
    ) -> Result<Page<Source>, Error> {
        app.sources.list(caller.scope(), incoming.path_id()?, filter, page).await
    }
}
