//! Where a reply is generated.

use std::panic::resume_unwind;

use cicerone_domain::Error;
use cicerone_domain::conversation::Turn;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::Accepted;
use tracing::Instrument as _;

use crate::context::App;

/// Accepted messages are usually answered on the thread of their connection, which saves two hand-overs. While messages
/// are refused, that thread reads and refuses thousands per second, and each step of a reply would wait for all ready
/// tasks. Then replies are generated on the other runtime, whose threads do not refuse requests.
pub(crate) async fn answer(
    app: &App,
    accepted: Accepted,
    tokens: Option<TokenSink>,
    completion: Option<Completion<Turn>>,
) -> Result<Turn, Error> {
    if !app.conversations.is_refusing() {
        return app.conversations.answer(accepted, tokens, completion).await;
    }
    let conversations = app.conversations.clone();
    let answered = async move { conversations.answer(accepted, tokens, completion).await };
    match app.runtime.spawn(answered.in_current_span()).await {
        Ok(turn) => turn,
        Err(failure) => match failure.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(cancelled) => Err(Error::internal(cancelled)),
        },
    }
}
