//! `GET /v1/agents/{agent_id}/checks/runs`

use cicerone_domain::check::CheckRun;
use cicerone_domain::{Error, Page, PageRequest};

use super::CheckRunView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Runs>(Tag::Agents, "/v1/agents/{agent_id}/checks/runs")
        .named("listCheckRuns", "List the runs of an agent's checks")
        .details("Newest first. The last 20 are kept.")
}

struct Runs;

impl List for Runs {
    type Permission = AgentsRead;
    type Item = CheckRun;
    type View<'a> = CheckRunView<'a>;
    type Filter = ();
    const NAME: &'static str = "check_runs";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<AgentsRead>,
        incoming: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<CheckRun>, Error> {
        app.checks.runs(caller.scope(), incoming.path_id()?, page).await
    }
}
