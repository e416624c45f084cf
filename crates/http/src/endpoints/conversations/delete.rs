//! `DELETE /v1/conversations/{conversation_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use crate::auth::Caller;
use crate::auth::permission::ConversationsWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/conversations/{conversation_id}";
    Endpoint::deletion::<DeleteConversation>(Tag::Conversations, path)
        .named("deleteConversation", "Delete a conversation")
}

struct DeleteConversation;

impl Deletion for DeleteConversation {
    type Permission = ConversationsWrite;
    type Kind = kind::Conversation;
    const ACTION: AuditAction = AuditAction::ConversationDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::Conversation>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.conversations.delete(&caller.scope, id, completion).await
    }
}
