//! `/v1/usage`.

use cicerone_domain::Error;
use cicerone_domain::usage::{Day, UsageFilter};

use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::query::Query;
use crate::response::Answer;
use crate::views::UsageView;

/// `GET /v1/usage`
pub(crate) async fn list(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list = ListName { name: "usage", account: caller.scope().account, parent: "" };
    let page = app.page(&caller, list, &query).await?;
    let agent = query.one("agent_id")?;
    let filter = UsageFilter {
        from: day(&query, "from")?,
        to: day(&query, "to")?,
        agent_id: agent
            .map(|text| {
                text.parse().map_err(|_| Error::invalid("agent_id", "must be an agent's id"))
            })
            .transpose()?,
    };
    let usage = app.quotas.usage(caller.scope(), filter, page).await?;
    Ok(app.envelope(list, &usage, UsageView::from))
}

fn day(query: &Query, name: &str) -> Result<Option<Day>, Error> {
    query.one(name)?.map(|text| Day::parse(name, text)).transpose()
}
