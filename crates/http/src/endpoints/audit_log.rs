//! `GET /v1/audit_log`

use std::net::IpAddr;

use cicerone_domain::audit::{Actor, AuditAction, AuditFilter, AuditRecord};
use cicerone_domain::{Error, Id, Page, PageRequest, Timestamp, every, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::KeysRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::{moment, one_of};
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    let actions = AuditAction::ALL.map(AuditAction::name);
    Endpoint::list::<AuditLog>(Tag::Account, "/v1/audit_log")
        .named("listAuditLog", "List the audit log")
        .details(
            "Records of changes to API keys and webhook endpoints, of deletions and of failed \
             authentications, newest first. A key that is restricted to agents sees no records.",
        )
        .query([
            one_of("action", &actions, "Return only records of this action."),
            moment("created_after", "Return only records made after this time."),
            moment("created_before", "Return only records made before this time."),
        ])
}

/// Who did what, when and from where.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditRecord)]
struct AuditRecordView<'a> {
    #[schema(value_type = String, pattern = "^aud_[0-9A-Za-z]{10}$")]
    id: Id<kind::AuditRecord>,
    /// What was done, such as `api_key.created`.
    #[schema(value_type = String)]
    action: &'static str,
    actor: ActorView<'a>,
    /// The id of the object that the action changed.
    #[schema(value_type = Option<String>, required = true)]
    target_id: Option<&'a str>,
    /// The IP address of the client; null on the command line.
    #[schema(value_type = Option<String>, required = true)]
    ip_address: Option<IpAddr>,
    /// The id of the request; null on the command line.
    #[schema(value_type = Option<String>, required = true)]
    request_id: Option<Id<kind::Request>>,
    /// How many times it happened; repetitions within a few seconds share one record.
    #[schema(minimum = 1)]
    count: u32,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Who performed the action.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
struct ActorView<'a> {
    /// `api_key`, `command_line`, or `unknown` if authentication failed.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: &'static str,
    /// The API key, which may have been deleted since.
    #[schema(value_type = Option<String>, required = true)]
    id: Option<Id<kind::ApiKey>>,
    /// The name that the API key had at the time.
    #[schema(value_type = Option<String>, required = true)]
    name: Option<&'a str>,
}

impl<'a> From<&'a AuditRecord> for AuditRecordView<'a> {
    fn from(record: &'a AuditRecord) -> Self {
        let (id, name) = match &record.actor {
            Actor::ApiKey { id, name } => (Some(*id), Some(name.as_str())),
            Actor::CommandLine | Actor::Unknown => (None, None),
        };
        Self {
            id: record.id,
            action: record.action.name(),
            actor: ActorView { kind: record.actor.kind(), id, name },
            target_id: record.target_id.as_deref(),
            ip_address: record.origin.address,
            request_id: record.origin.request_id,
            count: record.count,
            created_at: record.at,
        }
    }
}

struct AuditLog;

impl List for AuditLog {
    type Permission = KeysRead;
    type Item = AuditRecord;
    type View<'a> = AuditRecordView<'a>;
    type Filter = AuditFilter;
    const NAME: &'static str = "audit_log";

    fn filter(query: &Query) -> Result<AuditFilter, Error> {
        let names = AuditAction::ALL.map(AuditAction::name).join(", ");
        let (action, after, before) = every((
            query.one_of("action", AuditAction::from_name, &names),
            query.moment("created_after"),
            query.end("created_before"),
        ))?;
        Ok(AuditFilter { action, after, before })
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<KeysRead>,
        _: &Incoming,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditRecord>, Error> {
        app.audit.list(caller.scope(), filter, page).await
    }
}
