//! Serving files without a server.

use std::convert::Infallible;

use cicerone_domain::agent::AgentName;
use cicerone_http::McpAgent;
use tokio::sync::watch;

use crate::cli::SourceArguments;
use crate::commands::ask::files::{self, Found};
use crate::commands::ask::session::{Session, Workplace};
use crate::configuration::Environment;
use crate::failure::Failure;

/// The name of the agent, which clients show.
const NAME: &str = "Files";

/// Serves an agent over the files. Tools that are called before the files were read wait until they were.
pub(super) fn run(environment: Environment, from: &SourceArguments) -> Result<(), Failure> {
    let workplace = Workplace::open(environment, from)?;
    workplace.run(async |configuration, environment| {
        let found = files::find(&from.sources)?;
        let name = AgentName::parse(NAME)
            .map_err(|error| Failure::because("the agent cannot be named", &error))?;
        let mut session = Session::open(configuration, environment, from).await?;
        let mut served = session.agent.clone();
        served.profile.name = name;
        let (learned, ready) = watch::channel(false);
        let agent = McpAgent {
            sources: session.parts.sources.clone(),
            conversations: session.parts.conversations.clone(),
            scope: session.scope.clone(),
            agent: served,
            ready,
        };
        let outcome = tokio::select! {
            served = agent.serve(tokio::io::stdin(), tokio::io::stdout()) => {
                served.map_err(|error| Failure::because("cannot serve", &error))
            }
            Err(failure) = learn(&mut session, found, learned) => Err(failure),
        };
        session.close().await?;
        outcome
    })
}

/// Reads the files, reports this, and never returns unless it fails.
async fn learn(
    session: &mut Session<'_>,
    found: Found,
    learned: watch::Sender<bool>,
) -> Result<Infallible, Failure> {
    session.learn(found).await?;
    learned.send_replace(true);
    std::future::pending().await
}
