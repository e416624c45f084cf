//! Widgets, and what their visitors do.

mod row;
mod visitors;

use async_trait::async_trait;
use cicerone_domain::conversation::PlacedMessage;
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::managed::SetName;
use cicerone_domain::ports::{NewIdentitySecret, NewToken, WidgetStore};
use cicerone_domain::usage::Day;
use cicerone_domain::widget::{
    HandoffMessage, IdentitySecret, IdentitySecrets, IssuedWidget, Lead, OpenWidget, RetiredToken,
    VisitorConversation, WidgetPatch, WidgetToken, may_add,
};
use cicerone_domain::{
    Conversation, Error, Id, Page, PageRequest, Scope, Timestamp, VisitorScope, Widget,
};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as DieselError};
use diesel::sql_types::Bool;

use crate::agents;
use crate::columns::{narrow, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::idempotency::{erase_of, erase_secrets_of};
use crate::managed;
use crate::pages::{Size, created_before, fitting, octet_length};
use crate::removal::AGENT_IS_THERE;
use crate::schema::{agents as agent_rows, widget_days, widgets};
use crate::scope::Visible;
use crate::storage::Storage;
use row::{ChangeRow, WidgetRow, stored_secrets};

#[async_trait]
impl WidgetStore for Storage {
    async fn insert_widget(
        &self,
        scope: &Scope,
        widget: Widget,
        secret: IdentitySecret,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error> {
        let visible = Visible::from(scope);
        let insert = move |c: &mut AnyConnection| {
            insert(c, &visible, &widget, &secret)?;
            Ok(IssuedWidget { widget: widget.clone(), secret: secret.clone() })
        };
        self.db.of(scope.account).write_completing(completion, insert).await
    }

    async fn find_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
    ) -> Result<Option<Widget>, Error> {
        let visible = Visible::from(scope);
        let find =
            move |c: &mut AnyConnection| Ok(find(c, &visible, id)?.map(|(widget, _)| widget));
        self.db.of(scope.account).lookup(find).await
    }

    async fn list_widgets(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<Widget>, Error> {
        self.snapshot(scope, move |c, visible| list(c, visible, agent, set.as_ref(), &page)).await
    }

    async fn update_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        patch: WidgetPatch,
        now: Timestamp,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error> {
        let visible = Visible::from(scope);
        let update = move |c: &mut AnyConnection| {
            let (mut widget, _) = require(c, &visible, id)?;
            widget.apply(patch.clone(), now)?;
            let row = ChangeRow::try_from(&widget)?;
            let outcome = diesel::update(widgets::table.find(id.to_string())).set(row).execute(c);
            managed::written(outcome, widget.managed.as_ref(), "another widget of the agent")?;
            Ok(widget)
        };
        self.db.of(scope.account).write_completing(completion, update).await
    }

    async fn rotate_token(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        new: NewToken,
        now: Timestamp,
        completion: Option<Completion<Widget>>,
    ) -> Result<Widget, Error> {
        let visible = Visible::from(scope);
        let rotate = move |c: &mut AnyConnection| {
            let (widget, _) = require(c, &visible, id)?;
            let (widget, retired) = widget.rotate_token(new.token, new.old_until, now);
            diesel::update(widgets::table.find(id.to_string()))
                .set((
                    widgets::token.eq(widget.token.to_string()),
                    widgets::old_token.eq(retired.map(|retired| retired.token.to_string())),
                    widgets::old_token_until.eq(retired.map(|retired| retired.until.as_millis())),
                    widgets::updated_at.eq(widget.updated_at.as_millis()),
                ))
                .execute(c)?;
            Ok(widget)
        };
        self.db.of(scope.account).write_completing(completion, rotate).await
    }

    async fn rotate_identity_secret(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        new: NewIdentitySecret,
        now: Timestamp,
        completion: Option<Completion<IssuedWidget>>,
    ) -> Result<IssuedWidget, Error> {
        let visible = Visible::from(scope);
        let rotate = move |c: &mut AnyConnection| {
            let (mut widget, mut secrets) = require(c, &visible, id)?;
            let NewIdentitySecret { secret, old_until } = new.clone();
            secrets.rotate(secret.clone(), old_until, now)?;
            widget.updated_at = now;
            diesel::update(widgets::table.find(id.to_string()))
                .set((
                    widgets::secret.eq(secrets.current.reveal()),
                    widgets::retired_secrets.eq(stored_secrets(&secrets)?),
                    widgets::updated_at.eq(now.as_millis()),
                ))
                .execute(c)?;
            erase_secrets_of(c, &id.to_string())?;
            Ok(IssuedWidget { widget, secret })
        };
        self.db.of(scope.account).write_completing(completion, rotate).await
    }

    async fn delete_widget(
        &self,
        scope: &Scope,
        id: Id<kind::Widget>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        let delete = move |c: &mut AnyConnection| {
            require(c, &visible, id)?;
            diesel::delete(widgets::table.find(id.to_string())).execute(c)?;
            erase_of(c, &id.to_string())
        };
        self.db.of(scope.account).free_completing(completion, delete).await
    }

    async fn open_widget(
        &self,
        token: &WidgetToken,
        now: Timestamp,
    ) -> Result<Option<OpenWidget>, Error> {
        let token = *token;
        self.db.lookup(move |c| open(c, token, now)).await
    }

    async fn count_widget_message(
        &self,
        account: Id<kind::Account>,
        widget: Id<kind::Widget>,
        day: Day,
        most: u64,
    ) -> Result<bool, Error> {
        let count = move |c: &mut AnyConnection| match dialect::count_widget_message(
            c,
            &widget.to_string(),
            day.number(),
            wide(most),
        ) {
            Err(DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
                Err(Error::not_found("widget", widget).into())
            }
            counted => Ok(counted?),
        };
        self.db.of(account).write(count).await
    }

    async fn visitor_conversations(
        &self,
        scope: &VisitorScope,
        most: usize,
    ) -> Result<Vec<VisitorConversation>, Error> {
        let visible = Visible::from(&Scope::of_visitor(scope.clone()));
        let list = move |c: &mut AnyConnection| visitors::conversations(c, &visible, most);
        self.db.of(scope.account_id).read(list).await
    }

    async fn visitor_conversation(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        most_messages: usize,
        most_bytes: usize,
    ) -> Result<(Conversation, Vec<PlacedMessage>), Error> {
        let scope = Scope::of_visitor(scope.clone());
        let most = (most_messages, most_bytes);
        self.snapshot(&scope, move |c, visible| visitors::conversation(c, visible, id, most)).await
    }

    async fn request_handoff(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        message: Option<HandoffMessage>,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let visible = Visible::from(&Scope::of_visitor(scope.clone()));
        let request = move |c: &mut AnyConnection| {
            visitors::request_handoff(c, &visible, id, message.as_ref(), event, now)
        };
        self.db.of(scope.account_id).write(request).await
    }

    async fn put_lead(
        &self,
        scope: &VisitorScope,
        id: Id<kind::Conversation>,
        lead: Lead,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let visible = Visible::from(&Scope::of_visitor(scope.clone()));
        let put =
            move |c: &mut AnyConnection| visitors::put_lead(c, &visible, id, &lead, event, now);
        self.db.of(scope.account_id).write(put).await
    }
}

/// Locks the agent's row, so that concurrent additions are counted one after the other.
fn insert(
    c: &mut AnyConnection,
    visible: &Visible,
    widget: &Widget,
    secret: &IdentitySecret,
) -> Result<(), TransactionError> {
    agents::require_locked(c, visible, widget.agent_id)?;
    let count: i64 = widgets::table
        .filter(widgets::agent_id.eq(widget.agent_id.to_string()))
        .count()
        .get_result(c)?;
    may_add(narrow("count", count)?)?;
    let row = WidgetRow::new(widget, secret)?;
    let outcome = diesel::insert_into(widgets::table).values(row).execute(c);
    managed::written(outcome, widget.managed.as_ref(), "another widget of the agent")
}

/// The widget with its secrets, if its agent is in the scope.
fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Widget>,
) -> Result<Option<(Widget, IdentitySecrets)>, TransactionError> {
    let mut query = widgets::table
        .filter(widgets::id.eq(id.to_string()))
        .filter(widgets::account_id.eq(&visible.account))
        .filter(sql::<Bool>(AGENT_IS_THERE))
        .select(WidgetRow::as_select())
        .into_boxed();
    if let Some(ids) = &visible.agents {
        query = query.filter(widgets::agent_id.eq_any(ids));
    }
    query.get_result(c).optional()?.map(WidgetRow::read).transpose()
}

/// The same, locked; an error if there is none.
fn require(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Widget>,
) -> Result<(Widget, IdentitySecrets), TransactionError> {
    dialect::lock_widget(c, &id.to_string())?;
    find(c, visible, id)?.ok_or_else(|| Error::not_found("widget", id).into())
}

fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    set: Option<&SetName>,
    page: &PageRequest,
) -> Result<Page<Widget>, TransactionError> {
    agents::require(c, visible, agent)?;
    let (agent, begin) = (agent.to_string(), created_before(page)?);
    let query = || {
        let mut query = widgets::table
            .filter(widgets::account_id.eq(&visible.account))
            .filter(widgets::agent_id.eq(&agent))
            .order((widgets::created_at.desc(), widgets::id.desc()))
            .into_boxed();
        if let Some(set) = set {
            query = query.filter(widgets::managed_set.eq(set.as_str()));
        }
        if let Some((at, id)) = begin {
            query = query
                .filter(widgets::created_at.le(at))
                .filter(widgets::created_at.lt(at).or(widgets::id.lt(id)));
        }
        query
    };
    let sizes: Vec<Size> = query()
        .limit(page.lookahead())
        .select(octet_length(widgets::settings.nullable()))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(|size| [size]).collect();
    let fit = fitting(page, &sizes);
    let rows = query().limit(fit.count).select(WidgetRow::as_select()).load(c)?;
    let items = rows.into_iter().map(|row| Ok(row.read()?.0));
    Ok(Page::of(items.collect::<Result<Vec<_>, TransactionError>>()?, fit.more))
}

/// The active widget with this token, current or retired.
fn open(
    c: &mut AnyConnection,
    token: WidgetToken,
    now: Timestamp,
) -> Result<Option<OpenWidget>, TransactionError> {
    type Found = (WidgetRow, String, Option<i64>);
    let name = token.to_string();
    let query = || {
        widgets::table
            .inner_join(agent_rows::table.on(agent_rows::id.eq(widgets::agent_id)))
            .filter(agent_rows::removed_at.is_null())
            .filter(widgets::is_active.eq(true))
            .select((WidgetRow::as_select(), agent_rows::name, widgets::old_token_until))
    };
    let mut found: Option<Found> =
        query().filter(widgets::token.eq(&name)).get_result(c).optional()?;
    if found.is_none() {
        let retired: Option<Found> =
            query().filter(widgets::old_token.eq(&name)).get_result(c).optional()?;
        found = retired.filter(|(_, _, until)| {
            let until = until.map(Timestamp::from_millis);
            until.is_some_and(|until| RetiredToken { token, until }.is_live(now))
        });
    }
    let Some((row, agent, _)) = found else { return Ok(None) };
    let (widget, secrets) = row.read()?;
    Ok(Some(OpenWidget::new(widget, agent, secrets.live(now))))
}

/// Removes the numbers of days before `before`, at most `limit`. Returns how many were removed.
pub(crate) fn expire_days(
    c: &mut AnyConnection,
    before: Day,
    limit: i64,
) -> Result<usize, TransactionError> {
    let old: Vec<(String, i64)> = widget_days::table
        .filter(widget_days::day.lt(before.number()))
        .order(widget_days::day)
        .limit(limit)
        .select((widget_days::widget_id, widget_days::day))
        .load(c)?;
    for (widget, day) in &old {
        diesel::delete(widget_days::table.find((widget, day))).execute(c)?;
    }
    Ok(old.len())
}
