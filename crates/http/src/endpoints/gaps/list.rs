//! `GET /v1/agents/{agent_id}/gaps`

use actix_web::http::Method;
use cicerone_domain::gap::{AskedQuestion, Gap, GapFilter, GapLimit, GapStatus};
use cicerone_domain::{Id, Timestamp, every, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::ConversationsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::openapi::parameters::{limit, one_of};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::GET, "/v1/agents/{agent_id}/gaps", handle)
        .named("listGaps", "List an agent's gaps")
        .details(
            "Groups of similar questions that were not answered, or whose reply was rated down, most frequent first; \
             ties are ordered by the latest question. The newest 10,000 questions of an agent are kept, except those \
             of the OpenAI interface. A request groups up to 500 new questions; `ungrouped` counts the rest. An open \
             gap becomes `answered` as soon as the sources answer its first question. A later similar question opens \
             it again. There are no pages, since the order changes with each question.",
        )
        .query([
            one_of(
                "status",
                &GapStatus::ALL.map(GapStatus::name),
                "Return only gaps with this status; `open` if it is not given.",
            ),
            limit("The maximum number of gaps."),
        ])
        .gives::<GapsView<'_>>(200)
        .refuses(400, "A parameter is out of range or given twice.")
}

/// The gaps of an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GapList)]
struct GapsView<'a> {
    #[schema(max_items = 100)]
    data: Vec<GapView<'a>>,
    /// The number of questions that are not in a group yet. The next request groups up to 500 of them.
    ungrouped: u64,
}

/// A group of similar questions without a good answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Gap)]
struct GapView<'a> {
    #[schema(value_type = String, pattern = "^gap_[0-9A-Za-z]{10}$")]
    id: Id<kind::Gap>,
    #[schema(pattern = "^(open|answered|dismissed)$")]
    status: &'static str,
    /// The first question.
    question: &'a str,
    /// The number of questions.
    count: u64,
    /// Questions whose reply is based on no source.
    unanswered: u64,
    /// Answered questions whose reply is rated down.
    rated_down: u64,
    #[schema(value_type = String, format = DateTime)]
    first_asked_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    last_asked_at: Timestamp,
    /// The source that received the pair that answers it; null if there is none or it has been deleted.
    #[schema(required, value_type = Option<String>, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Option<Id<kind::Source>>,
    /// The latest questions, newest first.
    #[schema(max_items = 5)]
    examples: Vec<ExampleView<'a>>,
}

/// A question of a gap.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GapExample)]
struct ExampleView<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    /// The number of the message in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    /// The question, cut at 300 characters.
    text: &'a str,
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
}

impl<'a> From<&'a Gap> for GapView<'a> {
    fn from(gap: &'a Gap) -> Self {
        Self {
            id: gap.id,
            status: gap.status.name(),
            question: &gap.question,
            count: gap.unanswered + gap.rated_down,
            unanswered: gap.unanswered,
            rated_down: gap.rated_down,
            first_asked_at: gap.first_asked_at,
            last_asked_at: gap.last_asked_at,
            source_id: gap.source_id,
            examples: gap.examples.iter().map(ExampleView::from).collect(),
        }
    }
}

impl<'a> From<&'a AskedQuestion> for ExampleView<'a> {
    fn from(question: &'a AskedQuestion) -> Self {
        Self {
            conversation_id: question.at.conversation_id,
            n: question.at.number(),
            text: &question.text,
            asked_at: question.asked_at,
        }
    }
}

/// The most bytes that making the list takes: 100 gaps with 5 examples of 300 characters each, and their JSON.
const LIST_BYTES: usize = 2 * 1_024 * 1_024;

async fn handle(caller: Authorized<ConversationsRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let (status, limit) =
        every((query.parsed("status", GapStatus::parse), query.parsed("limit", GapLimit::parse)))?;
    caller.context().expect_bytes(&app, LIST_BYTES).await?;
    let filter = GapFilter { status: status.unwrap_or_default(), limit: limit.unwrap_or_default() };
    let list = app.gaps.list(caller.scope(), incoming.path_id()?, filter).await?;
    let data = list.gaps.iter().map(GapView::from).collect();
    Ok(ok(&GapsView { data, ungrouped: list.ungrouped }))
}
