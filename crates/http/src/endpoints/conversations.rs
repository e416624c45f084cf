//! Conversations: what their endpoints share.

pub(super) mod delete;
pub(super) mod export;
pub(super) mod get;
pub(super) mod list;
pub(super) mod messages;
pub(super) mod rate;
pub(super) mod receipt;
pub(super) mod send;
pub(super) mod unrate;

use std::collections::BTreeMap;

use actix_web::HttpRequest;
use cicerone_domain::conversation::{CitedPassage, ListedConversation, PlacedMessage, Rating};
use cicerone_domain::widget::{Lead, Visitor};
use cicerone_domain::{Citation, Conversation, Error, Id, Role, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::context::Incoming;
use crate::routes;

pub(crate) use rate::Rate as RateBody;

/// An ordered exchange between an end user and an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversation)]
pub(super) struct ConversationView<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    metadata: &'a BTreeMap<String, String>,
    /// The interface through which it began. More may be added.
    #[schema(examples("api", "openai", "mcp", "widget"))]
    channel: &'static str,
    /// The widget through which it began; null if there was none or it has been deleted.
    #[schema(value_type = Option<String>, required = true, pattern = "^wgt_[0-9A-Za-z]{10}$")]
    widget_id: Option<Id<kind::Widget>>,
    /// The visitor, if it began through a widget.
    #[schema(value_type = Option<VisitorView<'_>>, required = true)]
    visitor: Option<VisitorView<'a>>,
    /// When the visitor first asked for a person.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    handoff_requested_at: Option<Timestamp>,
    /// The contact details that the visitor left, if any.
    #[schema(value_type = Option<LeadView<'_>>, required = true)]
    lead: Option<LeadView<'a>>,
    /// The number of its messages.
    message_count: u64,
    /// The number of replies that are based on no source.
    unanswered_count: u64,
    ratings: RatingCountsView,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The time of the last message.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// Where the first word of `text` was found; absent unless the request has `text`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    found: Option<MatchView<'a>>,
    /// Oldest first; absent from lists of conversations. At most 4 MiB of JSON: if the conversation
    /// is longer, the newest messages that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<Vec<MessageView<'a>>>,
    /// The `cursor` of the older messages, null if `messages` contains all of them; absent from
    /// lists of conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    messages_cursor: Option<Option<String>>,
}

impl<'a> ConversationView<'a> {
    /// A conversation with these of its messages, newest first, and the cursor of the older ones.
    fn with_messages(
        conversation: &'a Conversation,
        messages: &'a [PlacedMessage],
        cursor: Option<String>,
    ) -> Self {
        let messages = messages.iter().rev().map(MessageView::from).collect();
        let messages_cursor = Some(cursor);
        Self { messages: Some(messages), messages_cursor, ..Self::from(conversation) }
    }
}

impl<'a> From<&'a Conversation> for ConversationView<'a> {
    fn from(conversation: &'a Conversation) -> Self {
        Self {
            id: conversation.id,
            agent_id: conversation.agent_id,
            metadata: conversation.metadata.pairs(),
            channel: conversation.channel.name(),
            widget_id: conversation.widget_id,
            visitor: conversation.visitor.as_ref().map(VisitorView::from),
            handoff_requested_at: conversation.handoff_requested_at,
            lead: conversation.lead.as_ref().map(LeadView::from),
            message_count: conversation.counts.messages,
            unanswered_count: conversation.counts.unanswered,
            ratings: RatingCountsView {
                up: conversation.counts.rated_up,
                down: conversation.counts.rated_down,
            },
            created_at: conversation.created_at,
            updated_at: conversation.updated_at,
            found: None,
            messages: None,
            messages_cursor: None,
        }
    }
}

impl<'a> From<&'a ListedConversation> for ConversationView<'a> {
    fn from(listed: &'a ListedConversation) -> Self {
        let found = listed.found.as_ref();
        let found = found.map(|found| MatchView { n: found.number, text: &found.text });
        Self { found, ..Self::from(&listed.conversation) }
    }
}

/// A visitor of a widget.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Visitor)]
struct VisitorView<'a> {
    #[schema(value_type = String, pattern = "^vis_[0-9A-Za-z]{10}$")]
    id: Id<kind::Visitor>,
    /// The user's id on the owner's site; null for an anonymous visitor.
    #[schema(required = true, max_length = 200)]
    subject: Option<&'a str>,
    #[schema(required = true, max_length = 100)]
    name: Option<&'a str>,
    #[schema(required = true, max_length = 254)]
    email: Option<&'a str>,
}

impl<'a> From<&'a Visitor> for VisitorView<'a> {
    fn from(visitor: &'a Visitor) -> Self {
        Self {
            id: visitor.id,
            subject: visitor.subject(),
            name: visitor.name(),
            email: visitor.email(),
        }
    }
}

/// A visitor's contact details.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lead)]
struct LeadView<'a> {
    #[schema(required = true, max_length = 100)]
    name: Option<&'a str>,
    #[schema(max_length = 254)]
    email: &'a str,
    #[schema(required = true, max_length = 40)]
    phone: Option<&'a str>,
    #[schema(required = true, max_length = 1000)]
    message: Option<&'a str>,
}

impl<'a> From<&'a Lead> for LeadView<'a> {
    fn from(lead: &'a Lead) -> Self {
        Self {
            name: lead.name(),
            email: lead.email(),
            phone: lead.phone(),
            message: lead.message(),
        }
    }
}

/// Where a search found its first word.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Match)]
struct MatchView<'a> {
    /// The number of the message in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    /// The text of the message around the word.
    #[schema(max_length = 200)]
    text: &'a str,
}

/// The number of replies of a conversation that are rated up and down.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RatingCounts)]
struct RatingCountsView {
    up: u64,
    down: u64,
}

/// A rating of a reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Rating)]
pub(crate) struct RatingView<'a> {
    #[schema(pattern = "^(up|down)$")]
    value: &'static str,
    /// A comment of the user, if there is one.
    #[schema(required, max_length = 1000)]
    comment: Option<&'a str>,
    /// When the rating was given or last changed.
    #[schema(value_type = String, format = DateTime)]
    rated_at: Timestamp,
}

impl<'a> From<&'a Rating> for RatingView<'a> {
    fn from(rating: &'a Rating) -> Self {
        Self {
            value: rating.value.name(),
            comment: rating.comment.as_ref().map(|comment| comment.as_str()),
            rated_at: rating.rated_at,
        }
    }
}

/// The number of a message in the path. Text that is not such a number gets the same error as that of a message that does
/// not exist.
fn number(incoming: &Incoming) -> Result<u64, Error> {
    message_number(&incoming.request)
}

/// The number of a message in the path of this request.
pub(crate) fn message_number(request: &HttpRequest) -> Result<u64, Error> {
    let text = routes::value(request, "n");
    // Each message has one address: `02` is not a valid number.
    let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain);
    number.ok_or_else(|| Error::not_found("message", text))
}

/// A question of the user, or a reply of the agent with what it is based on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(super) struct MessageView<'a> {
    /// The number of the message in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    #[schema(value_type = String, pattern = "^(user|assistant)$")]
    role: Role,
    content: &'a str,
    /// The sources that the message is based on, best first; absent from user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sources_used: Option<Vec<CitationView<'a>>>,
    /// Whether the message is based on a source; absent from user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    answered: Option<bool>,
    /// The user's rating of the message; null if it is not rated, absent from user messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RatingView<'_>>, required = false)]
    rating: Option<Option<RatingView<'a>>>,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
}

impl<'a> From<&'a PlacedMessage> for MessageView<'a> {
    fn from(placed: &'a PlacedMessage) -> Self {
        let message = &placed.message;
        let is_reply = message.role == Role::Assistant;
        Self {
            n: placed.number(),
            role: message.role,
            content: &message.content,
            sources_used: is_reply.then(|| citations(&message.sources_used)),
            answered: is_reply.then_some(!message.sources_used.is_empty()),
            rating: is_reply.then(|| placed.rating.as_ref().map(RatingView::from)),
            timestamp: message.timestamp,
        }
    }
}

/// A source that a reply is based on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Citation)]
pub(crate) struct CitationView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    id: Id<kind::Source>,
    title: &'a str,
    /// The address of the first of the passages: that of its page, or of its public text on this server. Null if there
    /// is none.
    #[schema(required)]
    url: Option<&'a str>,
    /// The document of the first of the passages; null if an earlier version of the server stored the reply.
    #[schema(value_type = Option<String>, required = true, pattern = "^doc_[0-9A-Za-z]{10}$")]
    document_id: Option<Id<kind::Document>>,
    /// The passages of the source that the reply is based on, best first, as they were at that time. All citations of
    /// a reply together have at most 8. Empty if an earlier version of the server stored the reply.
    passages: Vec<CitedPassageView<'a>>,
}

/// A passage that a reply is based on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CitedPassage)]
pub(crate) struct CitedPassageView<'a> {
    #[schema(value_type = String, pattern = "^doc_[0-9A-Za-z]{10}$")]
    document_id: Id<kind::Document>,
    /// The position of the passage in the source, from 0.
    position: i64,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    /// The page that it is on, from 1, if the format has pages.
    #[schema(required)]
    page: Option<u32>,
    /// The headings above it, outermost first, joined by ` › `.
    #[schema(required)]
    heading: Option<&'a str>,
    /// The beginning of its text.
    #[schema(max_length = 300)]
    text: &'a str,
}

impl<'a> From<&'a CitedPassage> for CitedPassageView<'a> {
    fn from(passage: &'a CitedPassage) -> Self {
        Self {
            document_id: passage.document_id,
            position: passage.position,
            title: passage.title.as_deref(),
            url: passage.url.as_deref(),
            page: passage.page,
            heading: passage.heading.as_deref(),
            text: &passage.text,
        }
    }
}

impl<'a> From<&'a Citation> for CitationView<'a> {
    fn from(citation: &'a Citation) -> Self {
        Self {
            id: citation.id,
            title: &citation.title,
            url: citation.url.as_deref(),
            document_id: citation.document_id,
            passages: citation.passages.iter().map(CitedPassageView::from).collect(),
        }
    }
}

pub(crate) fn citations(citations: &[Citation]) -> Vec<CitationView<'_>> {
    citations.iter().map(CitationView::from).collect()
}
