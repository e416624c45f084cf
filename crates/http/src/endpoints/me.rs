//! `GET /v1/me`

use actix_web::http::Method;
use cicerone_domain::usage::{Allowance, Allowances};
use cicerone_domain::{Account, Id, Timestamp, kind, limits};
use serde::Serialize;
use utoipa::ToSchema;

use super::keys::KeyView;
use crate::auth::Authorized;
use crate::auth::permission::AnyKey;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Account, Method::GET, "/v1/me", handle)
        .named("getMe", "Retrieve the account and key that make the request")
        .details("Includes the quotas of the account and the capabilities of this server.")
        .gives::<MeView<'_>>(200)
}

/// The account and the API key of the request, with quotas and capabilities.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Me)]
struct MeView<'a> {
    account: AccountView<'a>,
    api_key: KeyView<'a>,
    quotas: QuotasView,
    capabilities: CapabilitiesView,
}

/// The account that the key belongs to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Account)]
struct AccountView<'a> {
    #[schema(value_type = String, pattern = "^acct_[0-9A-Za-z]{10}$")]
    id: Id<kind::Account>,
    #[schema(max_length = 100)]
    name: &'a str,
}

/// What the account may use, and what it has used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quotas)]
struct QuotasView {
    /// Messages answered in a calendar month (UTC).
    messages: QuotaView,
    /// Model tokens in a calendar month (UTC).
    tokens: QuotaView,
    /// Bytes stored: sources, what was extracted from them, and files.
    bytes: QuotaView,
    /// When the next month begins.
    #[schema(value_type = String, format = DateTime)]
    renewed_at: Timestamp,
}

/// A limit of the account, and how much of it is used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quota)]
struct QuotaView {
    /// The limit; null for none.
    #[schema(required)]
    limit: Option<u64>,
    /// What the account has used so far; null for a key that is restricted to agents.
    #[schema(required)]
    used: Option<u64>,
}

/// The capabilities of this server.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Capabilities)]
struct CapabilitiesView {
    /// The size of the largest file that can be uploaded.
    max_upload_bytes: usize,
    /// The models that agents can use.
    models: Vec<String>,
    /// Whether any model is served by an upstream. If not, the embedded answerer replies for all of them.
    has_upstream: bool,
    /// The server's public address, under which the texts of agents with `public_sources` are published; null if it has
    /// none.
    #[schema(required)]
    public_url: Option<String>,
}

impl<'a> From<&'a Account> for AccountView<'a> {
    fn from(account: &'a Account) -> Self {
        Self { id: account.id, name: account.name.as_str() }
    }
}

impl From<Allowance> for QuotaView {
    fn from(Allowance { limit, used }: Allowance) -> Self {
        Self { limit, used }
    }
}

impl From<Allowances> for QuotasView {
    fn from(allowances: Allowances) -> Self {
        Self {
            messages: allowances.messages.into(),
            tokens: allowances.tokens.into(),
            bytes: allowances.bytes.into(),
            renewed_at: allowances.renewed_at,
        }
    }
}

async fn handle(caller: Authorized<AnyKey>, app: App, _: Incoming) -> Answer {
    let key = caller.key();
    let account = app.keys.account(key.account_id).await?;
    let allowances = app.quotas.allowances(caller.scope()).await?;
    Ok(ok(&MeView {
        account: AccountView::from(&account),
        api_key: KeyView::from(key),
        quotas: allowances.into(),
        capabilities: CapabilitiesView {
            max_upload_bytes: limits::FILE_BYTES,
            models: app.agents.models(),
            has_upstream: app.agents.has_upstream(),
            public_url: app.public_url.as_ref().map(|url| url.as_str().to_owned()),
        },
    }))
}
