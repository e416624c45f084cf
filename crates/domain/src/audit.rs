//! The audit log: who did what, when and from where.

use std::net::IpAddr;

use crate::access::KeyName;
use crate::id::{Id, kind};
use crate::timestamp::Timestamp;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuditAction {
    /// An API key was created.
    ApiKeyCreated,
    /// An API key was changed.
    ApiKeyUpdated,
    /// An API key was deleted or revoked.
    ApiKeyDeleted,
    /// A webhook endpoint was created.
    WebhookEndpointCreated,
    /// A webhook endpoint was changed.
    WebhookEndpointUpdated,
    /// A webhook endpoint was deleted.
    WebhookEndpointDeleted,
    /// The secret of a webhook endpoint was replaced.
    WebhookSecretRotated,
    /// A widget was created.
    WidgetCreated,
    /// A widget was changed.
    WidgetUpdated,
    /// A widget was deleted.
    WidgetDeleted,
    /// The token of a widget was replaced.
    WidgetTokenRotated,
    /// The identity secret of a widget was replaced.
    WidgetSecretRotated,
    /// An agent was deleted with everything that belonged to it.
    AgentDeleted,
    /// A source was deleted.
    SourceDeleted,
    /// A conversation was deleted.
    ConversationDeleted,
    /// The conversations of an agent were exported.
    ConversationsExported,
    /// A file was deleted.
    FileDeleted,
    /// A request carried a key of the account that is mistyped, expired or deleted.
    AuthenticationFailed,
}

impl AuditAction {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::ApiKeyCreated,
        Self::ApiKeyUpdated,
        Self::ApiKeyDeleted,
        Self::WebhookEndpointCreated,
        Self::WebhookEndpointUpdated,
        Self::WebhookEndpointDeleted,
        Self::WebhookSecretRotated,
        Self::WidgetCreated,
        Self::WidgetUpdated,
        Self::WidgetDeleted,
        Self::WidgetTokenRotated,
        Self::WidgetSecretRotated,
        Self::AgentDeleted,
        Self::SourceDeleted,
        Self::ConversationDeleted,
        Self::ConversationsExported,
        Self::FileDeleted,
        Self::AuthenticationFailed,
    ];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKeyCreated => "api_key.created",
            Self::ApiKeyUpdated => "api_key.updated",
            Self::ApiKeyDeleted => "api_key.deleted",
            Self::WebhookEndpointCreated => "webhook_endpoint.created",
            Self::WebhookEndpointUpdated => "webhook_endpoint.updated",
            Self::WebhookEndpointDeleted => "webhook_endpoint.deleted",
            Self::WebhookSecretRotated => "webhook_endpoint.secret_rotated",
            Self::WidgetCreated => "widget.created",
            Self::WidgetUpdated => "widget.updated",
            Self::WidgetDeleted => "widget.deleted",
            Self::WidgetTokenRotated => "widget.token_rotated",
            Self::WidgetSecretRotated => "widget.secret_rotated",
            Self::AgentDeleted => "agent.deleted",
            Self::SourceDeleted => "source.deleted",
            Self::ConversationDeleted => "conversation.deleted",
            Self::ConversationsExported => "conversations.exported",
            Self::FileDeleted => "file.deleted",
            Self::AuthenticationFailed => "authentication.failed",
        }
    }

    /// The action of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// Who performed the action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// The holder of an API key.
    ApiKey {
        /// The key, which may have been deleted since.
        id: Id<kind::ApiKey>,
        /// Its name when it was used.
        name: KeyName,
    },
    /// The operator, on the command line.
    CommandLine,
    /// An unknown person.
    Unknown,
}

impl Actor {
    /// The name of the kind, on the wire and in the database.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ApiKey { .. } => "api_key",
            Self::CommandLine => "command_line",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    /// The address that the request came from; `None` if it is not known.
    pub address: Option<IpAddr>,
    /// The request; `None` on the command line.
    pub request_id: Option<Id<kind::Request>>,
}

/// One entry of the log. It is written in the same transaction as the change that it records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// `aud_` and 10 characters.
    pub id: Id<kind::AuditRecord>,
    /// The account whose log it belongs to.
    pub account_id: Id<kind::Account>,
    /// When it happened.
    pub at: Timestamp,
    /// Who performed the action.
    pub actor: Actor,
    /// What was done.
    pub action: AuditAction,
    /// The id of the resource that was changed.
    pub target_id: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// How often it happened: several events of one kind within seconds are one record.
    pub count: u32,
}

/// Which records a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Only those of this action.
    pub action: Option<AuditAction>,
    /// Only those after this moment.
    pub after: Option<Timestamp>,
    /// Only those before this moment.
    pub before: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::AuditAction;

    #[test]
    fn every_action_is_read_by_its_name() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::from_name(action.name()), Some(action));
        }
        assert_eq!(AuditAction::from_name("agent.created"), None);
    }
}
