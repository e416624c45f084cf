//! The position of an item in the list of its type.

use super::{Listed, Position};
use crate::access::ApiKey;
use crate::agent::Agent;
use crate::audit::AuditRecord;
use crate::check::CheckRun;
use crate::content::{StoredDocument, StoredPassage};
use crate::conversation::{Conversation, ListedConversation, PlacedMessage};
use crate::source::{CrawledPage, Source};
use crate::statistics::DayStatistics;
use crate::usage::DayUsage;
use crate::webhook::{Delivery, WebhookEndpoint};
use crate::widget::Widget;

impl Listed for Agent {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for Source {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for Conversation {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for ListedConversation {
    fn position(&self) -> Position {
        self.conversation.position()
    }
}

impl Listed for WebhookEndpoint {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for Widget {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for Delivery {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for ApiKey {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}

impl Listed for AuditRecord {
    fn position(&self) -> Position {
        Position::created(self.at, self.id)
    }
}

impl Listed for DayUsage {
    /// The beginning of its day, and its agent.
    fn position(&self) -> Position {
        Position::created(self.day.start(), self.agent_id)
    }
}

impl Listed for DayStatistics {
    fn position(&self) -> Position {
        Position::Numbered(self.day.number())
    }
}

impl Listed for StoredDocument {
    fn position(&self) -> Position {
        Position::Numbered(self.document.position)
    }
}

impl Listed for StoredPassage {
    fn position(&self) -> Position {
        Position::Numbered(self.passage.position)
    }
}

impl Listed for CrawledPage {
    fn position(&self) -> Position {
        Position::Numbered(self.position)
    }
}

impl Listed for PlacedMessage {
    fn position(&self) -> Position {
        Position::Numbered(self.position)
    }
}

impl Listed for CheckRun {
    fn position(&self) -> Position {
        Position::created(self.created_at, self.id)
    }
}
