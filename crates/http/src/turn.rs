//! Where messages are accepted and refused.

use cicerone_domain::Error;
use cicerone_domain::access::Scope;
use cicerone_domain::ports::Stages;
use cicerone_domain::services::{Accepted, Conversations, NewMessage};
use tokio::time::sleep;

/// Checks a message. A caller whose account sends more than the server can answer receives its refusal a little later, by
/// at most a second: callers who ignore `Retry-After` would otherwise send messages as fast as they are refused, and
/// accepted ones would wait until thousands of those have been read. The message is not kept meanwhile.
///
/// # Errors
///
/// As [`Conversations::accept`].
pub(crate) async fn accept(
    conversations: &Conversations,
    scope: &Scope,
    message: NewMessage,
    stages: Stages,
) -> Result<Accepted, Error> {
    let accepted = conversations.accept(scope, message, stages).await;
    if matches!(accepted, Err(Error::Overloaded))
        && let Some(held) = conversations.hold_refusal(scope.account)
    {
        sleep(held.wait()).await;
    }
    accepted
}
