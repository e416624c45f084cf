//! `GET /v1/conversations/{conversation_id}/messages`

use cicerone_domain::conversation::PlacedMessage;
use cicerone_domain::{Error, Page, PageRequest};

use super::MessageView;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/conversations/{conversation_id}/messages";
    Endpoint::list::<Messages>(Tag::Conversations, path)
        .named("listMessages", "List messages")
        .details(
            "Newest first. If the cursor is the `messages_cursor` of a conversation, the list continues with the \
             older messages that were not included there.",
        )
}

/// The messages of a conversation. Retrieving a conversation returns a cursor of this list.
pub(super) struct Messages;

impl List for Messages {
    type Permission = ConversationsRead;
    type Item = PlacedMessage;
    type View<'a> = MessageView<'a>;
    type Filter = ();
    const NAME: &'static str = "messages";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<ConversationsRead>,
        incoming: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<PlacedMessage>, Error> {
        app.conversations.messages(caller.scope(), incoming.path_id()?, page).await
    }
}
