//! The port of widgets and of what their visitors do.

use async_trait::async_trait;

use crate::access::Scope;
use crate::conversation::{Conversation, PlacedMessage};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::managed::SetName;
use crate::page::{Page, PageRequest};
use crate::timestamp::Timestamp;
use crate::usage::Day;
use crate::widget::{
    HandoffMessage, IdentitySecret, IssuedWidget, Lead, OpenWidget, VisitorConversation,
    VisitorScope, Widget, WidgetPatch, WidgetToken,
};

/// A token that replaces another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewToken {
    /// The token that pages use from now on.
    pub token: WidgetToken,
    /// Until when the old one works.
    pub old_until: Timestamp,
}

/// An identity secret that replaces another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdentitySecret {
    /// The secret that signs identities from now on.
    pub secret: IdentitySecret,
    /// The latest time until which earlier ones are accepted.
    pub old_until: Timestamp,
}

/// Widgets, their tokens and secrets, and what their visitors may see.
#[async_trait]
pub trait WidgetStore: Send + Sync {
    /// Adds a widget with its secret. Fails with [`Error::NotFound`] if the agent is not in `scope`, with
    /// [`Error::Validation`] if the agent has [`AGENT_WIDGETS`](crate::limits::AGENT_WIDGETS), and with
    /// [`Error::Conflict`] if another widget of the agent has the same managed identity.
    async fn insert_widget(
        &self,
        scope: &Scope,
        widget: Widget,
        secret: IdentitySecret,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error>;
    /// `None` if the account's agent has no such widget.
    async fn find_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
    ) -> Result<Option<Widget>, Error>;
    /// The widgets of an agent, newest first; only those that are managed in `set`, if it is given. Fails with
    /// [`Error::NotFound`] for the agent.
    async fn list_widgets(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<Widget>, Error>;
    /// Applies a change. Fails with [`Error::NotFound`], as [`Widget::apply`] does, and with [`Error::Conflict`] as
    /// [`WidgetStore::insert_widget`] does.
    async fn update_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        patch: WidgetPatch,
        now: Timestamp,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error>;
    /// Replaces the token. Fails with [`Error::NotFound`].
    async fn rotate_token(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        new: NewToken,
        now: Timestamp,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error>;
    /// Replaces the secret; earlier ones are accepted as long as `new` specifies. Fails with [`Error::NotFound`], and
    /// with [`Error::Conflict`] as [`IdentitySecrets::rotate`](crate::widget::IdentitySecrets::rotate) does.
    async fn rotate_identity_secret(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        new: NewIdentitySecret,
        now: Timestamp,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error>;
    /// Removes a widget and the stored answers that contain it; its conversations stay. Fails with
    /// [`Error::NotFound`].
    async fn delete_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;

    /// The widget of a token that works at `now`: it is active, and its agent exists.
    async fn open_widget(
        &self,
        token: &WidgetToken,
        now: Timestamp,
    ) -> Result<Option<OpenWidget>, Error>;
    /// Counts a message of an account's widget on a day. Returns false, and counts nothing, if there are `most` already.
    /// Fails with [`Error::NotFound`] if the widget does not exist.
    async fn count_widget_message(
        &self,
        account: Id<kind::Account>,
        widget: Id<kind::Widget>,
        day: Day,
        most: u64,
    ) -> Result<bool, Error>;
    /// The visitor's conversations, the one with the latest message first, at most `most`.
    async fn visitor_conversations(
        &self,
        scope: &VisitorScope,
        most: usize,
    ) -> Result<Vec<VisitorConversation>, Error>;
    /// A conversation of the visitor with its newest messages, oldest first: at most `most_messages`, and as many as
    /// have texts and citations of `most_bytes` together, but at least one. Fails with [`Error::NotFound`].
    async fn visitor_conversation(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        most_messages: usize,
        most_bytes: usize,
    ) -> Result<(Conversation, Vec<PlacedMessage>), Error>;
    /// Notes that the visitor asks for a person, and writes the event with the id `event`. Does nothing if it is noted
    /// already. Fails with [`Error::NotFound`].
    async fn request_handoff(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        message: Option<HandoffMessage>,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Stores how the visitor can be reached, replacing what was stored, and writes the event with the id `event` if
    /// that is a change. Fails with [`Error::NotFound`].
    async fn put_lead(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        lead: Lead,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<(), Error>;
}
