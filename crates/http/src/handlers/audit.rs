//! `/v1/audit_log`.

use cicerone_domain::audit::{AuditAction, AuditFilter};

use crate::auth::Authorized;
use crate::auth::permission::KeysRead;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::response::Answer;
use crate::views::AuditRecordView;

/// `GET /v1/audit_log`
pub(crate) async fn list(caller: Authorized<KeysRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list = ListName { name: "audit_log", account: caller.scope().account, parent: "" };
    let page = app.page(&caller, list, &query).await?;
    let names = AuditAction::ALL.map(AuditAction::name).join(", ");
    let filter = AuditFilter {
        action: query.one_of("action", AuditAction::from_name, &names)?,
        after: query.moment("created_after")?,
        before: query.moment("created_before")?,
    };
    let records = app.audit.list(caller.scope(), filter, page).await?;
    Ok(app.envelope(list, &records, AuditRecordView::from))
}
