//! The scope of a caller as the values that queries compare with.

use cicerone_domain::Scope;

/// What a `WHERE` names: the account, and the agents where they are restricted.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    pub(crate) account: String,
    pub(crate) agents: Option<Vec<String>>,
}

impl From<&Scope> for Visible {
    fn from(scope: &Scope) -> Self {
        Self {
            account: scope.account.to_string(),
            agents: scope.agents.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
        }
    }
}
