//! `cicerone account`.

use crate::cli::AccountCommand;
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::output;
use crate::wiring;

/// Manages accounts, also while a server runs on the same database.
pub(crate) fn run(environment: &Environment, command: AccountCommand) -> Result<(), Failure> {
    wiring::with_keys(environment, async |keys| match command {
        AccountCommand::Create { name } => {
            let account = keys.create_account(name).await?;
            output::line(&format!("{} {}", account.id, account.name))
        }
        AccountCommand::List => keys.accounts().await?.iter().try_for_each(|account| {
            output::line(&format!("{} {} {}", account.id, account.created_at, account.name))
        }),
    })
}
