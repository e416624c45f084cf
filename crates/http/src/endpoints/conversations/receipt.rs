//! `GET /v1/conversations/{conversation_id}/messages/{n}/receipt`

use actix_web::http::Method;
use cicerone_domain::conversation::{FoundReceipt, ReceiptHit, ReceiptStage, ReceiptTerm};
use cicerone_domain::{Id, Passage, Permission, kind};
use serde::Serialize;
use utoipa::ToSchema;

use super::number;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/conversations/{conversation_id}/messages/{n}/receipt";
    Endpoint::new(Tag::Conversations, Method::GET, path, handle)
        .named("getReceipt", "Explain a reply")
        .details(
            "Shows how a reply was produced: what was searched for, what was found and how well it matched, what the \
             model received, what the reply cites, and how long each stage took. Receipts are kept as long as their \
             conversation. Replies of agents without `receipts` have no receipts. Passages that have changed since \
             then are shown without their texts.",
        )
        .gives::<ReceiptView<'_>>(200)
        .refuses(400, "The message is the user's.")
        .refuses(404, "The conversation or the message does not exist, or the reply has no receipt.")
}

/// How a reply was produced.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Receipt)]
struct ReceiptView<'a> {
    /// The number of the reply in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    /// The id of the request that contained the question, as in its `X-Request-Id`; null if it did not arrive over
    /// HTTP.
    #[schema(value_type = Option<String>, required = true, pattern = "^req_[0-9A-Za-z]{10}$")]
    request_id: Option<Id<kind::Request>>,
    /// The model requested from the upstream; null for the embedded answerer.
    #[schema(required)]
    model: Option<&'a str>,
    /// The earlier messages that the model received, as many as fit into its prompt.
    history_messages: u32,
    tokens: TokensView,
    search: SearchView<'a>,
    /// What was found, best first, including passages that did not match well enough.
    #[schema(max_items = 8)]
    hits: Vec<HitView<'a>>,
    /// The stages of the reply, in order, without storing it.
    stages: Vec<StageView<'a>>,
}

/// The tokens that a reply used, as the model counts them; 0 for the embedded answerer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReceiptTokens)]
struct TokensView {
    prompt: u64,
    completion: u64,
}

/// What was searched for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReceiptSearch)]
struct SearchView<'a> {
    /// The user's message.
    query: &'a str,
    /// The question that was searched for instead, if a model rewrote it to be understood without the conversation.
    #[schema(required)]
    rewritten: Option<&'a str>,
    /// Earlier messages that were used to understand the question.
    context_messages: u32,
    /// Whether the search also used meaning (embeddings).
    by_meaning: bool,
    /// How certain it is that the hits answer the question.
    #[schema(minimum = 0, maximum = 1)]
    confidence: f32,
    /// The lowest confidence at which the question was answered from the sources.
    #[schema(minimum = 0, maximum = 1)]
    floor: f32,
    /// The words of the question, in the form in which they were compared.
    #[schema(max_items = 16)]
    terms: Vec<TermView<'a>>,
}

/// A word of a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReceiptTerm)]
struct TermView<'a> {
    /// Its stem.
    text: &'a str,
    /// How well it distinguishes passages. Rare words weigh more.
    weight: f32,
    /// Whether it occurs only in earlier messages, not in the question.
    is_context: bool,
}

/// A passage that was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReceiptHit)]
struct HitView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Id<kind::Source>,
    #[schema(value_type = String, pattern = "^doc_[0-9A-Za-z]{10}$")]
    document_id: Id<kind::Document>,
    /// The position of the passage in the source, from 0.
    position: i64,
    /// How well it matched. Scores are comparable only within one receipt.
    score: f32,
    /// The share of the question's words that the passage contains, by their weights.
    #[schema(minimum = 0, maximum = 1)]
    coverage: f32,
    /// Whether it matched well enough for a reply to be based on it.
    is_relevant: bool,
    /// Whether the model received it.
    is_sent: bool,
    /// Whether the reply cites it.
    is_cited: bool,
    /// Whether the passage is still the one that was found. If not, the following fields are null.
    is_current: bool,
    #[schema(required)]
    title: Option<&'a str>,
    /// The headings above it, outermost first, joined by ` › `.
    #[schema(required)]
    heading: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    /// The page that it is on, from 1, if the format has pages.
    #[schema(required)]
    page: Option<u32>,
    /// Its text; null if the key lacks `sources:read`.
    #[schema(required)]
    text: Option<&'a str>,
}

/// A stage of a reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReceiptStage)]
struct StageView<'a> {
    /// Its name in metrics. More may be added.
    #[schema(examples("read", "embed", "wait", "search", "prompt", "model", "tokens"))]
    name: &'a str,
    /// Its duration in milliseconds.
    ms: f32,
}

impl<'a> From<&'a ReceiptTerm> for TermView<'a> {
    fn from(term: &'a ReceiptTerm) -> Self {
        Self { text: &term.text, weight: term.weight, is_context: term.is_context }
    }
}

impl<'a> From<&'a ReceiptStage> for StageView<'a> {
    fn from(stage: &'a ReceiptStage) -> Self {
        Self { name: &stage.name, ms: stage.millis }
    }
}

impl<'a> HitView<'a> {
    fn new(hit: &'a ReceiptHit, passage: Option<&'a Passage>, shows_text: bool) -> Self {
        Self {
            source_id: hit.source_id,
            document_id: hit.document_id,
            position: hit.position,
            score: hit.score,
            coverage: hit.coverage,
            is_relevant: hit.is_relevant,
            is_sent: hit.is_sent,
            is_cited: hit.is_cited,
            is_current: passage.is_some(),
            title: passage.and_then(|passage| passage.title.as_deref()),
            heading: passage.and_then(|passage| passage.heading.as_deref()),
            url: passage.and_then(|passage| passage.url.as_deref()),
            page: passage.and_then(|passage| passage.page),
            text: passage.filter(|_| shows_text).map(|passage| passage.text.as_str()),
        }
    }
}

impl<'a> ReceiptView<'a> {
    fn new(found: &'a FoundReceipt, shows_text: bool) -> Self {
        let FoundReceipt { number, query, receipt, passages } = found;
        let hits = receipt.hits.iter().zip(passages);
        Self {
            n: *number,
            request_id: receipt.request_id,
            model: receipt.model.as_deref(),
            history_messages: receipt.history_messages,
            tokens: TokensView {
                prompt: receipt.prompt_tokens,
                completion: receipt.completion_tokens,
            },
            search: SearchView {
                query,
                rewritten: receipt.rewritten.as_deref(),
                context_messages: receipt.context_messages,
                by_meaning: receipt.by_meaning,
                confidence: receipt.confidence,
                floor: receipt.floor,
                terms: receipt.terms.iter().map(TermView::from).collect(),
            },
            hits: hits
                .map(|(hit, passage)| HitView::new(hit, passage.as_ref(), shows_text))
                .collect(),
            stages: receipt.stages.iter().map(StageView::from).collect(),
        }
    }
}

/// The most bytes that making the answer takes: 64 passages of 2,000 characters, a message, and their JSON.
const RECEIPT_BYTES: usize = 2 * 1_024 * 1_024;

async fn handle(caller: Authorized<ConversationsRead>, app: App, incoming: Incoming) -> Answer {
    let (id, number) = (incoming.path_id()?, number(&incoming)?);
    caller.context().expect_bytes(&app, RECEIPT_BYTES).await?;
    let found = app.conversations.receipt(caller.scope(), id, number).await?;
    // A passage below the floor is content that no reply has quoted.
    let shows_text = caller.key().permissions.allows(Permission::SourcesRead);
    Ok(ok(&ReceiptView::new(&found, shows_text)))
}
