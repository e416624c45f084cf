//! The addresses that events may be sent to.

use async_trait::async_trait;
use cicerone_domain::ports::{CheckTarget, TargetRefused};
use cicerone_domain::{Id, kind};
use cicerone_egress::{Egress, EgressError, Request, on_behalf_of};
use url::Url;

/// Checks addresses with the guarded client: `https` addresses, and others if the operator allows
/// the range that they are in.
#[derive(Debug, Clone)]
pub struct Targets {
    egress: Egress,
}

impl Targets {
    /// Checks addresses by this client's rules.
    pub const fn new(egress: Egress) -> Self {
        Self { egress }
    }
}

/// Restricts an unencrypted request to the ranges that the operator allows.
pub(crate) fn within_bounds(request: Request) -> Request {
    if request.url.scheme() == "https" { request } else { request.within_allowed() }
}

#[async_trait]
impl CheckTarget for Targets {
    async fn check_target(
        &self,
        account: Id<kind::Account>,
        url: &Url,
    ) -> Result<(), TargetRefused> {
        if url.scheme() != "https" {
            let checked = self.egress.check_within_allowed(url);
            let checked = on_behalf_of(Some(account), checked).await;
            return checked.map_err(|_| TargetRefused("must be an https URL".to_owned()));
        }
        match on_behalf_of(Some(account), self.egress.check_resolved(url)).await {
            Err(refused @ EgressError::Refused(_)) => {
                Err(TargetRefused(format!("must lead to a public web address ({refused})")))
            }
            // A name that cannot be resolved now may be resolvable later.
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
