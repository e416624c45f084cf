//! `POST /v1/agents/{agent_id}/search`

use actix_web::http::Method;
use cicerone_domain::retrieval::{Hit, SearchLimit};
use cicerone_domain::{Error, Id, MessageText, every, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::body::{Body, Current};
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::POST, "/v1/agents/{agent_id}/search", handle)
        .named("search", "Search an agent's sources")
        .details(
            "Returns the best passages first, from the same index and with the same ranking that \
             replies use. A message with this text is answered from the sources if `confidence` \
             reaches `floor`. The operation changes nothing and takes no idempotency key.",
        )
        .body::<Search>()
        .gives::<SearchView<'_>>(200)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"query": "opening hours", "limit": 5})))]
struct Search {
    /// The text to search for.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    query: String,
    /// The maximum number of hits; null for the default, 10.
    #[schema(minimum = 1, maximum = 50)]
    limit: Option<i64>,
}

impl Body for Search {
    /// The query, and the maximum number of hits.
    type Checked = (MessageText, SearchLimit);

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let (query, limit) = every((
            MessageText::parse_field("query", self.query),
            self.limit.map(SearchLimit::parse).transpose(),
        ))?;
        Ok((query, limit.unwrap_or_default()))
    }
}

/// The passages that a search found, best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResult)]
struct SearchView<'a> {
    #[schema(max_items = 50)]
    data: Vec<HitView<'a>>,
    /// How certain it is that the hits answer the query.
    #[schema(minimum = 0, maximum = 1)]
    confidence: f32,
    /// The lowest confidence at which a message is answered from the sources, according to the agent's `answer_floor`.
    #[schema(minimum = 0, maximum = 1)]
    floor: f32,
}

/// A passage that was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hit)]
struct HitView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Id<kind::Source>,
    /// The document that the passage is a part of.
    #[schema(value_type = String, pattern = "^doc_[0-9A-Za-z]{10}$")]
    document_id: Id<kind::Document>,
    /// The position of the passage in the source, from 0.
    position: i64,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    #[schema(required)]
    page: Option<u32>,
    /// The headings above the passage, outermost first, joined by ` › `.
    #[schema(required)]
    heading: Option<&'a str>,
    text: &'a str,
    /// How well the passage matches the query. Scores are comparable only within one search.
    score: f32,
}

impl<'a> From<&'a Hit> for HitView<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            source_id: hit.source_id,
            document_id: hit.document_id,
            position: hit.position,
            title: hit.title.as_deref(),
            url: hit.url.as_deref(),
            page: hit.page,
            heading: hit.heading.as_deref(),
            text: &hit.text,
            score: hit.score,
        }
    }
}

/// The most bytes that making the answer takes: 50 passages of 2,000 characters with their headings, and their JSON.
const FOUND_BYTES: usize = 2 * 1_024 * 1_024;

async fn handle(caller: Authorized<SourcesRead>, app: App, mut incoming: Incoming) -> Answer {
    let (query, limit) = incoming.body::<Search>(&app).await?;
    caller.context().expect_bytes(&app, FOUND_BYTES).await?;
    let found = app.sources.search(caller.scope(), incoming.path_id()?, query, limit).await?;
    Ok(ok(&SearchView {
        data: found.hits.iter().map(HitView::from).collect(),
        confidence: found.confidence,
        floor: found.floor,
    }))
}
