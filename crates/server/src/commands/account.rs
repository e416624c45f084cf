//! `cicerone account`.

use cicerone_domain::services::Quotas;
use cicerone_domain::usage::{AccountQuotas, Quota, Standing};
use cicerone_domain::{AccountName, Error};

use crate::cli::{AccountCommand, LimitArguments};
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::output;
use crate::wiring;

/// Manages accounts, also while a server runs on the same database.
pub(crate) fn run(environment: &Environment, command: AccountCommand) -> Result<(), Failure> {
    wiring::with_accounts(environment, async |keys, quotas| match command {
        AccountCommand::Create { name } => {
            let account =
                keys.create_account(AccountName::parse(name).map_err(Error::from)?).await?;
            output::line(&format!("{} {}", account.id, account.name))
        }
        AccountCommand::List => keys.accounts().await?.iter().try_for_each(|account| {
            output::line(&format!("{} {} {}", account.id, account.created_at, account.name))
        }),
        AccountCommand::Limit(arguments) => limit(&quotas, &arguments).await,
    })
}

/// Sets the quotas that are given, and prints all quotas with their use.
async fn limit(quotas: &Quotas, arguments: &LimitArguments) -> Result<(), Failure> {
    let LimitArguments { name, messages, tokens, bytes } = arguments;
    let found = |outcome: Result<_, Error>| match outcome {
        Err(Error::NotFound { what: "account", .. }) => {
            Err(Failure::misuse(format!("no account is named `{name}`")))
        }
        outcome => Ok(outcome?),
    };
    let before = found(quotas.limit(name, None).await)?.quotas;
    let change = AccountQuotas {
        messages: messages.unwrap_or(before.messages),
        tokens: tokens.unwrap_or(before.tokens),
        bytes: bytes.unwrap_or(before.bytes),
    };
    let change = (change != before).then_some(change);
    let Standing { quotas: now, used, kept_bytes } = found(quotas.limit(name, change).await)?;
    output::line(&format!("messages a month: {}, {} used", shown(now.messages), used.messages))?;
    output::line(&format!("model tokens a month: {}, {} used", shown(now.tokens), used.tokens))?;
    output::line(&format!("bytes kept: {}, {kept_bytes} used", shown(now.bytes)))
}

fn shown(quota: Quota) -> String {
    match quota {
        Quota::Default => "default".to_owned(),
        Quota::Unlimited => "unlimited".to_owned(),
        Quota::AtMost(most) => most.to_string(),
    }
}
