//! The tool `ask`: a question to the agent.

use cicerone_domain::conversation::{Channel, Citation, Metadata, Turn};
use cicerone_domain::services::{Handling, NewMessage};
use cicerone_domain::{Error, Id, MessageText, kind};
use serde::{Deserialize, Serialize};
use tracing::Instrument as _;
use utoipa::ToSchema;

use super::Tools;
use crate::body::shown;
use crate::stages::StageTimes;
use crate::turn;

/// The arguments.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Arguments {
    /// What the agent is asked, in any language.
    #[schema(min_length = 1, max_length = 4000)]
    question: String,
    /// The conversation that the question continues, from an earlier answer. Without it, a new one begins.
    #[schema(nullable = false)]
    conversation_id: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Reply {
    /// The agent's answer.
    answer: String,
    /// The conversation, for follow-up questions.
    #[schema(value_type = String)]
    conversation_id: Id<kind::Conversation>,
    /// The number of the answer in the conversation, from 1.
    n: u64,
    /// The sources that the answer is based on, best first.
    #[schema(inline)]
    sources: Vec<Source>,
}

/// A source that the answer is based on.
#[derive(Debug, Serialize, ToSchema)]
struct Source {
    #[schema(value_type = String)]
    id: Id<kind::Source>,
    title: String,
    /// The address of its first document that the answer is based on; empty if it has none.
    url: String,
    /// The id of that document, for `fetch`.
    document_id: String,
}

/// Answers a question. The reply is completed and stored even if the caller disconnects.
pub(super) async fn call(tools: &Tools, arguments: Arguments) -> Result<Reply, Error> {
    let text = MessageText::parse_field("question", arguments.question)?;
    let named =
        |text: String| text.parse().map_err(|_| Error::not_found("conversation", shown(&text)));
    let message = NewMessage {
        agent_id: tools.agent.id,
        conversation_id: arguments.conversation_id.map(named).transpose()?,
        text,
        metadata: Metadata::default(),
        channel: Channel::Mcp,
        request_id: tools.request_id,
        handling: Handling::default(),
    };
    let Tools { conversations, scope, times, .. } = tools.clone();
    let answered = async move {
        let stages = times.as_ref().map(StageTimes::stages).unwrap_or_default();
        let accepted = conversations.accept(&scope, message, stages).await?;
        let turn = conversations.answer(accepted, None, None).await?;
        times.as_ref().map(StageTimes::record);
        Ok::<_, Error>(turn)
    };
    let task = tools.runtime.spawn(answered.instrument(tracing::Span::current()));
    // The panic hook has logged a panic.
    let answered = task.await.map_err(Error::internal)?;
    if matches!(answered, Err(Error::Overloaded)) {
        turn::hold_refusal(&tools.conversations, tools.scope.account).await;
    }
    let turn = answered?;
    Ok(Reply::from(turn))
}

impl From<Turn> for Reply {
    fn from(turn: Turn) -> Self {
        Self {
            n: turn.number(),
            answer: turn.reply.content,
            conversation_id: turn.conversation.id,
            sources: turn.reply.sources_used.into_iter().map(Source::from).collect(),
        }
    }
}

impl From<Citation> for Source {
    fn from(citation: Citation) -> Self {
        let Citation { id, title, url, document_id, passages: _ } = citation;
        let document_id = document_id.map(|id| id.to_string()).unwrap_or_default();
        Self { id, title, url: url.unwrap_or_default(), document_id }
    }
}
