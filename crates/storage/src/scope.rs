//! What a caller can see, in the form that queries compare.

use cicerone_domain::Scope;

/// A [`Scope`] as column values.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    pub(crate) scope: Scope,
    pub(crate) account: String,
    /// The only agents that exist for the caller; `None` for all of the account.
    pub(crate) agents: Option<Vec<String>>,
    /// The only visitor whose conversations exist for the caller; `None` for a caller with a key.
    pub(crate) visitor: Option<String>,
}

impl From<&Scope> for Visible {
    fn from(scope: &Scope) -> Self {
        Self {
            scope: scope.clone(),
            account: scope.account.to_string(),
            agents: scope.agents.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
            visitor: scope.visitor.as_ref().map(|scope| scope.visitor.id.to_string()),
        }
    }
}
