//! `GET /v1/conversations/{conversation_id}`

use actix_web::http::Method;
use cicerone_domain::conversation::PlacedMessage;
use cicerone_domain::limits;

use super::messages::Messages;
use super::{ConversationView, MessageView};
use crate::auth::Authorized;
use crate::auth::permission::ConversationsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::list::{after, list_name};
use crate::response::{Answer, json_length, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        Tag::Conversations,
        Method::GET,
        "/v1/conversations/{conversation_id}",
        handle,
    )
    .named("getConversation", "Retrieve a conversation")
    .details(
        "Includes the messages, oldest first, up to 4 MiB of JSON. If the conversation is longer, \
         the newest messages that fit are included, and `messages_cursor` is the cursor of the \
         older ones.",
    )
    .gives::<ConversationView<'_>>(200)
}

async fn handle(caller: Authorized<ConversationsRead>, app: App, incoming: Incoming) -> Answer {
    let id = incoming.path_id()?;
    caller.context().expect_answer(&app).await?;
    let (conversation, page) = app.conversations.find(caller.scope(), id).await?;
    let shown = fitting(&page.items);
    let list = list_name::<Messages>(&caller, &incoming);
    let older = after(&page, shown.len()).map(|position| app.cursors.write(list, &position));
    Ok(ok(&ConversationView::with_messages(&conversation, shown, older)))
}

/// As many of the messages as fit into an answer, and at least one.
fn fitting(messages: &[PlacedMessage]) -> &[PlacedMessage] {
    let mut left = limits::LIST_BYTES;
    let fits = |message: &&PlacedMessage| {
        // The comma after it counts too.
        let taken = json_length(&MessageView::from(*message)) + 1;
        left.checked_sub(taken).map(|rest| left = rest).is_some()
    };
    let count = messages.iter().take_while(fits).count().max(1);
    messages.get(..count).unwrap_or(messages)
}
