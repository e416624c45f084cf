//! Asking, and printing the reply with its sources.

use cicerone_domain::conversation::Turn;
use cicerone_domain::ports::{Stages, TokenSink};
use cicerone_domain::services::NewMessage;
use cicerone_domain::{Message, Scope};
use serde_json::json;

use crate::failure::Failure;
use crate::output;
use crate::wiring::Parts;

/// Prints the reply as it arrives, followed by its numbered sources, or as one JSON object.
pub(super) async fn give(
    parts: &Parts,
    scope: &Scope,
    message: NewMessage,
    json: bool,
) -> Result<(), Failure> {
    let accepted = parts.conversations.accept(scope, message, Stages::default()).await?;
    if json {
        let turn = parts.conversations.answer(accepted, None, None).await?;
        return output::line(&as_json(&turn.reply));
    }
    let (sink, mut tokens) = TokenSink::channel();
    let printing = async {
        while let Some(token) = tokens.recv().await {
            output::print(&token)?;
        }
        output::line(&"")
    };
    let answer = parts.conversations.answer(accepted, Some(sink), None);
    let (turn, printed) = tokio::join!(answer, printing);
    let Turn { reply, .. } = turn?;
    printed?;
    output::print(&sources(&reply))
}

/// The numbered sources below an empty line; nothing if there are none.
fn sources(reply: &Message) -> String {
    let lines = reply.sources_used.iter().zip(1..);
    let list: String =
        lines.map(|(source, number)| format!("[{number}] {}\n", source.title)).collect();
    if list.is_empty() { list } else { format!("\nSources:\n{list}") }
}

fn as_json(reply: &Message) -> serde_json::Value {
    let sources: Vec<_> = reply
        .sources_used
        .iter()
        .zip(1..)
        .map(|(source, number)| json!({"number": number, "id": source.id, "title": source.title}))
        .collect();
    json!({"reply": reply.content, "sources": sources})
}
