//! Records of the audit log on the wire.

use std::net::IpAddr;

use cicerone_domain::audit::{Actor, AuditRecord};
use cicerone_domain::{Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// Who did what, when and from where.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditRecord)]
pub(crate) struct AuditRecordView<'a> {
    #[schema(value_type = String, pattern = "^aud_[0-9A-Za-z]{10}$")]
    id: Id<kind::AuditRecord>,
    /// What was done, as `api_key.created`.
    #[schema(value_type = String)]
    action: &'static str,
    actor: ActorView<'a>,
    /// The id of what it was done to.
    #[schema(value_type = Option<String>, required = true)]
    target_id: Option<&'a str>,
    /// The address that the request came from; null on the command line.
    #[schema(value_type = Option<String>, required = true)]
    ip_address: Option<IpAddr>,
    /// The request; null on the command line.
    #[schema(value_type = Option<String>, required = true)]
    request_id: Option<Id<kind::Request>>,
    /// How often, where several of a kind within seconds are one record.
    #[schema(minimum = 1)]
    count: u32,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub(crate) struct ActorView<'a> {
    /// `api_key`, `command_line`, or `unknown` where authentication failed.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: &'static str,
    /// The API key.
    #[schema(value_type = Option<String>, required = true)]
    id: Option<Id<kind::ApiKey>>,
    /// Its name when it was used.
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
