//! Widgets as they are stored.

use cicerone_domain::widget::{
    IdentityRule, IdentitySecret, IdentitySecrets, Look, Origins, RetiredIdentitySecret,
    WidgetLimits, WidgetName,
};
use cicerone_domain::{Timestamp, Widget};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::columns::{from_json, id, named, time, to_json};
use crate::error::TransactionError;
use crate::managed;
use crate::schema::widgets;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = widgets, treat_none_as_default_value = false)]
pub(super) struct WidgetRow {
    id: String,
    account_id: String,
    agent_id: String,
    name: String,
    token: String,
    is_active: bool,
    settings: String,
    secret: String,
    retired_secrets: String,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
    created_at: i64,
    updated_at: i64,
}

/// What an owner can change.
#[derive(AsChangeset)]
#[diesel(table_name = widgets, treat_none_as_null = true)]
pub(super) struct ChangeRow {
    name: String,
    is_active: bool,
    settings: String,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
    updated_at: i64,
}

/// The column `settings`.
#[derive(Serialize, Deserialize)]
struct Settings {
    origins: Origins,
    hosted_page: bool,
    identity: IdentityRule,
    look: Look,
    limits: WidgetLimits,
}

impl Settings {
    fn of(widget: &Widget) -> Result<String, TransactionError> {
        to_json(&Self {
            origins: widget.origins.clone(),
            hosted_page: widget.hosted_page,
            identity: widget.identity,
            look: widget.look.clone(),
            limits: widget.limits,
        })
    }
}

/// A retired secret as it is stored.
#[derive(Serialize, Deserialize)]
struct Retired {
    secret: String,
    until: Timestamp,
}

/// The column `retired_secrets`.
pub(super) fn stored_secrets(secrets: &IdentitySecrets) -> Result<String, TransactionError> {
    let retired = secrets.retired.iter().map(|retired| Retired {
        secret: retired.secret.reveal().to_owned(),
        until: retired.until,
    });
    to_json(&retired.collect::<Vec<_>>())
}

fn read_secrets(current: &str, retired: &str) -> Result<IdentitySecrets, TransactionError> {
    let read = |text: &str| text.parse::<IdentitySecret>().map_err(TransactionError::internal);
    let retired: Vec<Retired> = from_json(retired)?;
    let retired = retired
        .into_iter()
        .map(|one| Ok(RetiredIdentitySecret { secret: read(&one.secret)?, until: one.until }));
    Ok(IdentitySecrets {
        current: read(current)?,
        retired: retired.collect::<Result<_, TransactionError>>()?,
    })
}

impl WidgetRow {
    pub(super) fn new(widget: &Widget, secret: &IdentitySecret) -> Result<Self, TransactionError> {
        let (managed_set, managed_key, managed_hash) = managed::columns(widget.managed.as_ref());
        Ok(Self {
            id: widget.id.to_string(),
            account_id: widget.account_id.to_string(),
            agent_id: widget.agent_id.to_string(),
            name: widget.name.to_string(),
            token: widget.token.to_string(),
            is_active: widget.is_active,
            settings: Settings::of(widget)?,
            secret: secret.reveal().to_owned(),
            retired_secrets: "[]".to_owned(),
            managed_set,
            managed_key,
            managed_hash,
            created_at: widget.created_at.as_millis(),
            updated_at: widget.updated_at.as_millis(),
        })
    }

    pub(super) fn read(self) -> Result<(Widget, IdentitySecrets), TransactionError> {
        let settings: Settings = from_json(&self.settings)?;
        let secrets = read_secrets(&self.secret, &self.retired_secrets)?;
        let widget = Widget {
            id: id("widgets.id", &self.id)?,
            account_id: id("widgets.account_id", &self.account_id)?,
            agent_id: id("widgets.agent_id", &self.agent_id)?,
            name: WidgetName::from_stored(self.name),
            token: named("widgets.token", &self.token, |text| text.parse().ok())?,
            is_active: self.is_active,
            origins: settings.origins,
            hosted_page: settings.hosted_page,
            identity: settings.identity,
            look: settings.look,
            limits: settings.limits,
            managed: managed::from_columns((self.managed_set, self.managed_key, self.managed_hash)),
            created_at: time(self.created_at),
            updated_at: time(self.updated_at),
        };
        Ok((widget, secrets))
    }
}

impl TryFrom<&Widget> for ChangeRow {
    type Error = TransactionError;

    fn try_from(widget: &Widget) -> Result<Self, TransactionError> {
        let (managed_set, managed_key, managed_hash) = managed::columns(widget.managed.as_ref());
        Ok(Self {
            name: widget.name.to_string(),
            is_active: widget.is_active,
            settings: Settings::of(widget)?,
            managed_set,
            managed_key,
            managed_hash,
            updated_at: widget.updated_at.as_millis(),
        })
    }
}
