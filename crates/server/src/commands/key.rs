//! `cicerone key`.

use cicerone_domain::services::{Keys, NewKey};
use cicerone_domain::{Error, KeyName, Permissions};

use crate::cli::{KeyArguments, KeyCommand};
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::output;
use crate::wiring;

/// Manages API keys, also while a server runs on the same database.
pub(crate) fn run(environment: &Environment, command: KeyCommand) -> Result<(), Failure> {
    wiring::with_accounts(environment, async |keys, _| match command {
        KeyCommand::Create(arguments) => create(&keys, arguments).await,
        KeyCommand::Revoke { id } => {
            keys.revoke_key(id).await?;
            output::line(&format!("revoked {id}"))
        }
    })
}

/// Creates a key. Standard output gets only the secret, for scripts; the id goes to standard error.
async fn create(keys: &Keys, arguments: KeyArguments) -> Result<(), Failure> {
    let KeyArguments { account, permissions, agents, expires_at, name } = arguments;
    let permissions = Permissions::from_names(permissions.iter().map(String::as_str))
        .map_err(|error| Failure::misuse(format!("`--permission`: {error}")))?;
    let agent_ids = (!agents.is_empty()).then_some(agents);
    let name = KeyName::parse(name).map_err(Error::from)?;
    let new = NewKey { name, permissions, agent_ids, expires_at, managed: None };
    let (key, secret) = match keys.create_key(&account, new).await {
        Err(Error::NotFound { what: "account", .. }) => {
            return Err(Failure::misuse(format!("`--account`: no account is named `{account}`")));
        }
        Err(Error::Invalid(bad)) if bad.first().param == "expires_at" => {
            return Err(Failure::misuse(format!("`--expires-at` {}", bad.first().message)));
        }
        created => created?,
    };
    output::note(&format!("created {}; its secret is shown only this once:", key.id))?;
    output::line(&secret.reveal())
}
