//! Webhook endpoints, and their deliveries as shown to their owners.

use async_trait::async_trait;
use cicerone_domain::event::Event;
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::managed::SetName;
use cicerone_domain::ports::WebhookStore;
use cicerone_domain::webhook::{
    DeliveryStatus, EndpointDescription, EndpointPatch, EndpointSecrets, EndpointUrl, EventName,
    IssuedEndpoint, PayloadStyle, RetiredSecret, Subscription, WebhookSecret, may_add, may_test,
};
use cicerone_domain::{Delivery, Error, Id, Page, PageRequest, Timestamp, WebhookEndpoint};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::columns::{from_json, id, named, narrow, time, to_json};
use crate::connection::AnyConnection;
use crate::deliveries::{self, DeliveryChange, DeliveryRow};
use crate::dialect;
use crate::error::TransactionError;
use crate::events;
use crate::idempotency::{erase_of, erase_secrets_of};
use crate::managed;
use crate::pages::{Size, created_before, fitting, octet_length};
use crate::schema::{deliveries as rows, webhook_endpoints};
use crate::storage::Storage;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = webhook_endpoints, treat_none_as_default_value = false)]
struct EndpointRow {
    id: String,
    account_id: String,
    url: String,
    events: String,
    description: Option<String>,
    payload: String,
    disabled_reason: Option<String>,
    secret: String,
    retired_secrets: String,
    failures: i64,
    failing_since: Option<i64>,
    succeeded_at: Option<i64>,
    created_at: i64,
    updated_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
}

/// What an owner can change.
#[derive(AsChangeset)]
#[diesel(table_name = webhook_endpoints, treat_none_as_null = true)]
struct ChangeRow {
    url: String,
    events: String,
    description: Option<String>,
    payload: String,
    disabled_reason: Option<String>,
    updated_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
}

/// A retired secret as it is stored.
#[derive(Serialize, Deserialize)]
struct Retired {
    secret: String,
    until: Timestamp,
}

impl EndpointRow {
    fn new(endpoint: &WebhookEndpoint, secret: &WebhookSecret) -> Result<Self, TransactionError> {
        let (managed_set, managed_key, managed_hash) = managed::columns(endpoint.managed.as_ref());
        Ok(Self {
            id: endpoint.id.to_string(),
            account_id: endpoint.account_id.to_string(),
            url: endpoint.url.to_string(),
            events: to_json(&endpoint.events.names())?,
            description: endpoint.description.as_ref().map(ToString::to_string),
            payload: endpoint.payload.name().to_owned(),
            disabled_reason: endpoint.disabled.clone(),
            secret: secret.reveal().to_owned(),
            retired_secrets: "[]".to_owned(),
            failures: 0,
            failing_since: None,
            succeeded_at: None,
            created_at: endpoint.created_at.as_millis(),
            updated_at: endpoint.updated_at.as_millis(),
            managed_set,
            managed_key,
            managed_hash,
        })
    }
}

impl TryFrom<EndpointRow> for WebhookEndpoint {
    type Error = TransactionError;

    fn try_from(row: EndpointRow) -> Result<Self, TransactionError> {
        Ok(Self {
            id: id("webhook_endpoints.id", &row.id)?,
            account_id: id("webhook_endpoints.account_id", &row.account_id)?,
            url: EndpointUrl::from_stored(row.url),
            events: subscription(&row.events)?,
            description: row.description.map(EndpointDescription::from_stored),
            payload: named("webhook_endpoints.payload", &row.payload, PayloadStyle::from_name)?,
            disabled: row.disabled_reason,
            managed: managed::from_columns((row.managed_set, row.managed_key, row.managed_hash)),
            created_at: time(row.created_at),
            updated_at: time(row.updated_at),
        })
    }
}

/// Reads the events of an endpoint from their column.
pub(crate) fn subscription(column: &str) -> Result<Subscription, TransactionError> {
    let names: Vec<String> = from_json(column)?;
    let event = |name: &String| named("webhook_endpoints.events", name, EventName::from_name);
    Ok(Subscription::from_stored(names.iter().map(event).collect::<Result<_, _>>()?))
}

/// Reads secrets from their columns.
pub(crate) fn secrets(current: &str, retired: &str) -> Result<EndpointSecrets, TransactionError> {
    let read = |text: &str| text.parse::<WebhookSecret>().map_err(TransactionError::internal);
    let retired: Vec<Retired> = from_json(retired)?;
    let retired = retired
        .into_iter()
        .map(|one| Ok(RetiredSecret { secret: read(&one.secret)?, until: one.until }));
    Ok(EndpointSecrets {
        current: read(current)?,
        retired: retired.collect::<Result<_, TransactionError>>()?,
    })
}

#[async_trait]
impl WebhookStore for Storage {
    async fn insert_endpoint(
        &self,
        endpoint: WebhookEndpoint,
        secret: WebhookSecret,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error> {
        self.db
            .of(endpoint.account_id)
            .write_completing(completion, move |c| {
                insert(c, &endpoint, &secret)?;
                Ok(IssuedEndpoint { endpoint: endpoint.clone(), secret: secret.clone() })
            })
            .await
    }

    async fn find_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
    ) -> Result<Option<WebhookEndpoint>, Error> {
        self.db
            .of(account)
            .lookup(move |c| Ok(find(c, account, id)?.map(|(endpoint, _)| endpoint)))
            .await
    }

    async fn list_endpoints(
        &self,
        account: Id<kind::Account>,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<WebhookEndpoint>, Error> {
        self.db.of(account).read(move |c| list(c, account, set.as_ref(), &page)).await
    }

    async fn update_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        patch: EndpointPatch,
        now: Timestamp,
        completion: Option<Completion<WebhookEndpoint>>,
    ) -> Result<WebhookEndpoint, Error> {
        self.db
            .of(account)
            .write_completing(completion, move |c| update(c, account, id, patch.clone(), now))
            .await
    }

    async fn rotate_secret(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        secret: WebhookSecret,
        now: Timestamp,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error> {
        self.db
            .of(account)
            .write_completing(completion, move |c| rotate(c, account, id, secret.clone(), now))
            .await
    }

    async fn delete_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        // There may be hundreds of thousands of deliveries. If this is interrupted, the endpoint has only the latest ones.
        let part = move |c: &mut AnyConnection| {
            let endpoint = id.to_string();
            // If it does not exist, the transaction with the completion reports that.
            let is_there = find(c, account, id)?.is_some() && deliveries::hold(c, &endpoint)?;
            if is_there { deliveries::delete_part(c, &endpoint) } else { Ok(true) }
        };
        while !self.db.of(account).free(part).await? {}
        self.db
            .of(account)
            .free_completing(completion, move |c| {
                require(c, account, id)?;
                diesel::delete(webhook_endpoints::table.find(id.to_string())).execute(c)?;
                erase_of(c, &id.to_string())
            })
            .await
    }

    async fn send_event(
        &self,
        endpoint: Id<kind::WebhookEndpoint>,
        event: Event,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error> {
        self.db
            .write_completing(completion, move |c| {
                require_enabled(c, event.account_id, endpoint)?;
                check_backlog(c, endpoint)?;
                events::insert(c, &event)?;
                deliveries::queue(c, endpoint, &event)
            })
            .await
    }

    async fn redeliver(
        &self,
        account: Id<kind::Account>,
        endpoint: Id<kind::WebhookEndpoint>,
        id: Id<kind::Delivery>,
        now: Timestamp,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error> {
        self.db
            .of(account)
            .write_completing(completion, move |c| redeliver(c, account, endpoint, id, now))
            .await
    }

    async fn list_deliveries(
        &self,
        account: Id<kind::Account>,
        endpoint: Id<kind::WebhookEndpoint>,
        status: Option<DeliveryStatus>,
        page: PageRequest,
    ) -> Result<Page<Delivery>, Error> {
        self.db
            .of(account)
            .read(move |c| list_deliveries(c, account, endpoint, status, &page))
            .await
    }
}

/// Locks the account's row, so that concurrent additions are counted one after the other.
fn insert(
    c: &mut AnyConnection,
    endpoint: &WebhookEndpoint,
    secret: &WebhookSecret,
) -> Result<(), TransactionError> {
    let account = endpoint.account_id.to_string();
    dialect::lock_account_row(c, &account)?;
    let count: i64 = webhook_endpoints::table
        .filter(webhook_endpoints::account_id.eq(&account))
        .count()
        .get_result(c)?;
    may_add(narrow("count", count)?)?;
    let row = EndpointRow::new(endpoint, secret)?;
    let outcome = diesel::insert_into(webhook_endpoints::table).values(row).execute(c);
    managed::written(outcome, endpoint.managed.as_ref(), "another webhook endpoint")
}

/// The endpoint with its secrets.
fn find(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    id: Id<kind::WebhookEndpoint>,
) -> Result<Option<(WebhookEndpoint, EndpointSecrets)>, TransactionError> {
    let row: Option<EndpointRow> = webhook_endpoints::table
        .find(id.to_string())
        .filter(webhook_endpoints::account_id.eq(account.to_string()))
        .select(EndpointRow::as_select())
        .get_result(c)
        .optional()?;
    let Some(row) = row else { return Ok(None) };
    let secrets = secrets(&row.secret, &row.retired_secrets)?;
    Ok(Some((row.try_into()?, secrets)))
}

/// Returns the endpoint with its secrets. Locks its row.
fn require(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    id: Id<kind::WebhookEndpoint>,
) -> Result<(WebhookEndpoint, EndpointSecrets), TransactionError> {
    deliveries::hold(c, &id.to_string())?;
    find(c, account, id)?.ok_or_else(|| Error::not_found("webhook endpoint", id).into())
}

/// Checks that the endpoint can receive deliveries. Locks its row.
fn require_enabled(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    id: Id<kind::WebhookEndpoint>,
) -> Result<(), TransactionError> {
    let (endpoint, _) = require(c, account, id)?;
    Ok(endpoint.check_enabled()?)
}

/// Refuses another test if too many deliveries to the endpoint are pending.
fn check_backlog(
    c: &mut AnyConnection,
    endpoint: Id<kind::WebhookEndpoint>,
) -> Result<(), TransactionError> {
    let pending: i64 = rows::table
        .filter(rows::endpoint_id.eq(endpoint.to_string()))
        .filter(rows::next_attempt_at.is_not_null())
        .count()
        .get_result(c)?;
    Ok(may_test(narrow("count", pending)?)?)
}

fn list(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    set: Option<&SetName>,
    page: &PageRequest,
) -> Result<Page<WebhookEndpoint>, TransactionError> {
    let mut query = webhook_endpoints::table
        .filter(webhook_endpoints::account_id.eq(account.to_string()))
        .order((webhook_endpoints::created_at.desc(), webhook_endpoints::id.desc()))
        .limit(page.lookahead())
        .select(EndpointRow::as_select())
        .into_boxed();
    if let Some(set) = set {
        query = query.filter(webhook_endpoints::managed_set.eq(set.as_str()));
    }
    if let Some((at, id)) = created_before(page)? {
        query = query
            .filter(webhook_endpoints::created_at.le(at))
            .filter(webhook_endpoints::created_at.lt(at).or(webhook_endpoints::id.lt(id)));
    }
    let items: Result<Vec<_>, _> =
        query.load(c)?.into_iter().map(WebhookEndpoint::try_from).collect();
    Ok(Page::from_lookahead(items?, page.size))
}

fn update(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    id: Id<kind::WebhookEndpoint>,
    patch: EndpointPatch,
    now: Timestamp,
) -> Result<WebhookEndpoint, TransactionError> {
    let (mut endpoint, _) = require(c, account, id)?;
    let starts_anew = endpoint.apply(patch, now);
    let (managed_set, managed_key, managed_hash) = managed::columns(endpoint.managed.as_ref());
    let row = ChangeRow {
        url: endpoint.url.to_string(),
        events: to_json(&endpoint.events.names())?,
        description: endpoint.description.as_ref().map(ToString::to_string),
        payload: endpoint.payload.name().to_owned(),
        disabled_reason: endpoint.disabled.clone(),
        updated_at: endpoint.updated_at.as_millis(),
        managed_set,
        managed_key,
        managed_hash,
    };
    let target = || webhook_endpoints::table.find(id.to_string());
    let outcome = diesel::update(target()).set(row).execute(c);
    managed::written(outcome, endpoint.managed.as_ref(), "another webhook endpoint")?;
    if starts_anew {
        diesel::update(target())
            .set((
                webhook_endpoints::failures.eq(0),
                webhook_endpoints::failing_since.eq(None::<i64>),
                webhook_endpoints::succeeded_at.eq(None::<i64>),
            ))
            .execute(c)?;
    }
    Ok(endpoint)
}

fn rotate(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    id: Id<kind::WebhookEndpoint>,
    secret: WebhookSecret,
    now: Timestamp,
) -> Result<IssuedEndpoint, TransactionError> {
    let (mut endpoint, mut secrets) = require(c, account, id)?;
    secrets.rotate(secret.clone(), now)?;
    endpoint.updated_at = now;
    let retired: Vec<Retired> = secrets
        .retired
        .iter()
        .map(|one| Retired { secret: one.secret.reveal().to_owned(), until: one.until })
        .collect();
    diesel::update(webhook_endpoints::table.find(id.to_string()))
        .set((
            webhook_endpoints::secret.eq(secrets.current.reveal()),
            webhook_endpoints::retired_secrets.eq(to_json(&retired)?),
            webhook_endpoints::updated_at.eq(now.as_millis()),
        ))
        .execute(c)?;
    erase_secrets_of(c, &id.to_string())?;
    Ok(IssuedEndpoint { endpoint, secret })
}

fn redeliver(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    endpoint: Id<kind::WebhookEndpoint>,
    id: Id<kind::Delivery>,
    now: Timestamp,
) -> Result<Delivery, TransactionError> {
    require_enabled(c, account, endpoint)?;
    let found: Option<DeliveryRow> = rows::table
        .find(id.to_string())
        .filter(rows::endpoint_id.eq(endpoint.to_string()))
        .select(DeliveryRow::as_select())
        .get_result(c)
        .optional()?;
    let row = found.ok_or_else(|| Error::not_found("delivery", id))?;
    let delivery = Delivery::try_from(row)?.again(now);
    // An attempt in progress loses its lease, and this one is made in addition.
    let changed = diesel::update(rows::table.find(id.to_string()))
        .set((DeliveryChange::of(&delivery)?, rows::tries.eq(0)))
        .execute(c)?;
    // Another server may have removed an old delivery since.
    if changed == 0 { Err(Error::not_found("delivery", id).into()) } else { Ok(delivery) }
}

fn list_deliveries(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    endpoint: Id<kind::WebhookEndpoint>,
    status: Option<DeliveryStatus>,
    page: &PageRequest,
) -> Result<Page<Delivery>, TransactionError> {
    let found = find(c, account, endpoint)?;
    let (of, _) = found.ok_or_else(|| Error::not_found("webhook endpoint", endpoint))?;
    let endpoint = endpoint.to_string();
    let begin = created_before(page)?;
    let query = || {
        let mut query = rows::table
            .filter(rows::endpoint_id.eq(&endpoint))
            .order((rows::created_at.desc(), rows::id.desc()))
            .into_boxed();
        if let Some(status) = status {
            query = query.filter(rows::status.eq(status.name()));
        }
        if let Some((at, id)) = begin {
            query = query
                .filter(rows::created_at.le(at))
                .filter(rows::created_at.lt(at).or(rows::id.lt(id)));
        }
        query
    };
    let sizes: Vec<Size> =
        query().limit(page.lookahead()).select(octet_length(rows::attempts.nullable())).load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(|size| [size]).collect();
    let fit = fitting(page, &sizes);
    let read = |row: DeliveryRow| Ok(Delivery::try_from(row)?.shown_for(&of));
    let found = query().limit(fit.count).select(DeliveryRow::as_select()).load(c)?;
    let items: Result<Vec<_>, TransactionError> = found.into_iter().map(read).collect();
    Ok(Page::of(items?, fit.more))
}
