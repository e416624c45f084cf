//! Use cases of widgets and their visitors.

use std::sync::Arc;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::conversation::{Conversation, PlacedMessage};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::limits;
use crate::managed::SetName;
use crate::page::{Page, PageRequest};
use crate::ports::{NewIdentitySecret, NewToken, WidgetStore, WorkSignal};
use crate::usage::Day;
use crate::widget::{
    HandoffMessage, IdentitySecret, IssuedWidget, Lead, OpenWidget, SecretKept, TokenKept,
    VisitorConversation, VisitorScope, Widget, WidgetName, WidgetPatch, WidgetToken,
};

/// A widget to create, already parsed.
#[derive(Debug, Clone)]
pub struct NewWidget {
    /// The agent that its visitors ask.
    pub agent_id: Id<kind::Agent>,
    /// A name for its owner.
    pub name: WidgetName,
    /// The settings that differ from the defaults.
    pub patch: WidgetPatch,
}

/// Manages widgets, and serves the requests of their visitors.
#[derive(Clone)]
pub struct Widgets {
    store: Arc<dyn WidgetStore>,
    signal: WorkSignal,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Widgets {
    /// The use cases over these ports; `signal` wakes the deliveries of this process.
    pub fn new(
        store: Arc<dyn WidgetStore>,
        signal: WorkSignal,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, signal, clock, entropy }
    }

    /// Adds a widget.
    ///
    /// # Errors
    ///
    /// Those of [`Widget::apply`] and [`WidgetStore::insert_widget`].
    pub async fn create(
        &self,
        scope: &Scope,
        new: NewWidget,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error> {
        let (entropy, now) = (self.entropy.as_ref(), self.clock.now());
        let owner = (scope.account, new.agent_id);
        let token = WidgetToken::generate(entropy);
        let mut widget = Widget::new(Id::random(entropy), owner, new.name, token, now);
        widget.apply(new.patch, now)?;
        let secret = IdentitySecret::generate(entropy);
        self.store.insert_widget(scope, widget, secret, completion).await
    }

    /// The widget with this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none in the scope.
    pub async fn find(&self, scope: &Scope, id: Id<kind::Widget>) -> Result<Widget, Error> {
        let found = self.store.find_widget(scope, id).await?;
        found.ok_or_else(|| Error::not_found("widget", id))
    }

    /// The widgets of an agent, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn list(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<Widget>, Error> {
        self.store.list_widgets(scope, agent, set, page).await
    }

    /// Changes a widget.
    ///
    /// # Errors
    ///
    /// Those of [`WidgetStore::update_widget`].
    pub async fn update(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        patch: WidgetPatch,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error> {
        self.store.update_widget(scope, id, patch, self.clock.now(), completion).await
    }

    /// Gives a widget a new token; the old one works as long as it is `kept`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn rotate_token(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        kept: TokenKept,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error> {
        let now = self.clock.now();
        let token = WidgetToken::generate(self.entropy.as_ref());
        let new = NewToken { token, old_until: kept.until(now) };
        self.store.rotate_token(scope, id, new, now, completion).await
    }

    /// Gives a widget a new secret; earlier ones are accepted as long as they are `kept`, at most.
    ///
    /// # Errors
    ///
    /// Those of [`WidgetStore::rotate_identity_secret`].
    pub async fn rotate_secret(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        kept: SecretKept,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error> {
        let now = self.clock.now();
        let secret = IdentitySecret::generate(self.entropy.as_ref());
        let new = NewIdentitySecret { secret, old_until: kept.until(now) };
        self.store.rotate_identity_secret(scope, id, new, now, completion).await
    }

    /// Deletes a widget. Its conversations stay.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.delete_widget(scope, id, completion).await
    }

    /// The widget of a token, if it works.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn open(&self, token: &WidgetToken) -> Result<Option<OpenWidget>, Error> {
        self.store.open_widget(token, self.clock.now()).await
    }

    /// Counts a message of a widget today. Returns false, and counts nothing, if it has reached its daily limit.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn count_message(&self, widget: &Widget) -> Result<bool, Error> {
        let day = Day::of(self.clock.now());
        let most = widget.limits.messages_per_day();
        self.store.count_widget_message(widget.account_id, widget.id, day, most).await
    }

    /// The visitor's latest conversations, at most [`limits::VISITOR_CONVERSATIONS`].
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn conversations(
        &self,
        scope: &VisitorScope,
    ) -> Result<Vec<VisitorConversation>, Error> {
        self.store.visitor_conversations(scope, limits::VISITOR_CONVERSATIONS).await
    }

    /// A conversation of the visitor with its newest messages, at most [`limits::VISITOR_MESSAGES`] of
    /// [`limits::VISITOR_MESSAGES_BYTES`]: see [`WidgetStore::visitor_conversation`].
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn conversation(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
    ) -> Result<(Conversation, Vec<PlacedMessage>), Error> {
        let (messages, bytes) = (limits::VISITOR_MESSAGES, limits::VISITOR_MESSAGES_BYTES);
        self.store.visitor_conversation(scope, id, messages, bytes).await
    }

    /// Notes that the visitor of this widget asks for a person.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and those of [`Widget::check_offers_handoff`].
    pub async fn request_handoff(
        &self,
        widget: &Widget,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        message: Option<HandoffMessage>,
    ) -> Result<(), Error> {
        widget.check_offers_handoff()?;
        let event = Id::random(self.entropy.as_ref());
        self.store.request_handoff(scope, id, message, event, self.clock.now()).await?;
        self.signal.notify();
        Ok(())
    }

    /// Stores how the visitor of this widget can be reached.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and those of [`Widget::check_offers_lead`].
    pub async fn put_lead(
        &self,
        widget: &Widget,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        lead: Lead,
    ) -> Result<(), Error> {
        widget.check_offers_lead()?;
        let event = Id::random(self.entropy.as_ref());
        self.store.put_lead(scope, id, lead, event, self.clock.now()).await?;
        self.signal.notify();
        Ok(())
    }
}
