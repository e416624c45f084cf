//! `cicerone ask`: the entire pipeline in one process, for one question.

pub(super) mod files;
mod knowledge;
mod manifest;
mod reply;
pub(super) mod session;

use cicerone_domain::conversation::{Channel, MessageText, Metadata};
use cicerone_domain::services::{Handling, NewMessage};

use crate::cli::AskArguments;
use crate::configuration::Environment;
use crate::failure::Failure;

use session::{Session, Workplace};

/// Answers one question.
pub(crate) fn run(environment: Environment, arguments: AskArguments) -> Result<(), Failure> {
    let AskArguments { from, json, question } = arguments;
    let workplace = Workplace::open(environment, &from)?;
    workplace.run(async |configuration, environment| {
        let question = MessageText::parse_field("QUESTION", question)
            .map_err(|field| Failure::misuse(field.to_string()))?;
        let found = files::find(&from.sources)?;
        let mut session = Session::open(configuration, environment, &from).await?;
        session.learn(found).await?;
        let message = NewMessage {
            agent_id: session.agent.id,
            conversation_id: None,
            text: question,
            metadata: Metadata::default(),
            channel: Channel::Api,
            request_id: None,
            handling: Handling::default(),
        };
        let outcome = reply::give(&session.parts, &session.scope, message, json).await;
        session.close().await?;
        outcome
    })
}
