//! Where a reply is generated, and when a refusal is answered.

use std::panic::resume_unwind;

use cicerone_domain::Error;
use cicerone_domain::conversation::Turn;
use cicerone_domain::id::{Id, kind};
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::{Accepted, Conversations};
use tokio::time::sleep;
use tracing::Instrument as _;

use crate::auth::Authorized;
use crate::auth::permission::Required;
use crate::context::App;
use crate::error::RequestError;
use crate::response::Answer;

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

/// Returns the outcome of a message. If the account sends more than the server can answer, a refusal is returned later, see
/// [`hold_refusal`]. The wait is on the connection and ends if the caller disconnects. Everything that the message
/// occupied is free by then.
pub(crate) async fn at_its_time<P: Required>(
    app: &App,
    caller: &Authorized<P>,
    outcome: Answer,
) -> Answer {
    if outcome.as_ref().is_err_and(RequestError::is_overload) {
        drop(caller.context().room.take());
        hold_refusal(&app.conversations, caller.scope().account).await;
    }
    outcome
}

/// Waits until a refusal should be answered, at most a second. Callers who ignore `Retry-After` would otherwise send
/// messages as fast as they are refused, and accepted ones would wait until thousands of those have been read.
pub(crate) async fn hold_refusal(conversations: &Conversations, account: Id<kind::Account>) {
    if let Some(held) = conversations.hold_refusal(account) {
        sleep(held.wait()).await;
    }
}
