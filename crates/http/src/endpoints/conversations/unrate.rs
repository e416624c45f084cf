//! `DELETE /v1/conversations/{conversation_id}/messages/{n}/rating`

use actix_web::http::Method;

use super::number;
use super::rate::PATH;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, keep_nothing};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Conversations, Method::DELETE, PATH, handle)
        .named("unrateMessage", "Remove the rating of a reply")
        .keyed()
        .gives_nothing()
        .refuses(400, "The message is the user's, or the idempotency key is malformed.")
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let (id, number) = (incoming.path_id(), number(&incoming));
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.conversations.unrate(&caller.scope, id?, number?, completion).await
        })
        .await
}
