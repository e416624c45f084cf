//! What a caller can see, as queries compare it.

use cicerone_domain::Scope;

/// A [`Scope`] in columns' words.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    /// The scope itself.
    pub(crate) scope: Scope,
    /// The account.
    pub(crate) account: String,
    /// The only agents that exist for the caller; `None` for all of the account.
    pub(crate) agents: Option<Vec<String>>,
}

impl From<&Scope> for Visible {
    fn from(scope: &Scope) -> Self {
        Self {
            scope: scope.clone(),
            account: scope.account.to_string(),
            agents: scope.agents.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
        }
    }
}
