//! Refusals: one message for the person who chose the address, and the reason for the log.

use std::net::IpAddr;

use thiserror::Error;

/// An address that may not be requested.
///
/// Its message is the same for every reason, and for a name that does not exist, so that the person who
/// chose the address learns nothing about this network. [`Refused::reason`] is for logs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", Refused::MESSAGE)]
pub struct Refused {
    reason: Reason,
}

impl Refused {
    /// The message for the person who chose the address.
    pub(crate) const MESSAGE: &str =
        "the address is not a public web address, or it is that of the server itself";

    /// Why; for logs only.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self { reason }
    }
}

/// Why an address may not be requested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    /// A scheme other than `http` and `https`.
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// A name or password in the URL.
    #[error("the URL contains credentials")]
    Credentials,
    /// A URL without a host.
    #[error("the URL has no host")]
    NoHost,
    /// A port that does not belong to the web.
    #[error("port {0} is not a web port")]
    Port(u16),
    /// A name that has a meaning only on this machine or its network.
    #[error("the name is local")]
    LocalName,
    /// A name of a cloud's metadata service.
    #[error("the name belongs to a metadata service")]
    MetadataName,
    /// An address that is not on the public internet and that the operator did not allow.
    #[error("`{0}` has a special purpose: {1}")]
    Special(IpAddr, &'static str),
    /// An address that no setting allows.
    #[error("`{0}` may not be requested: {1}")]
    Never(IpAddr, &'static str),
    /// A public address under a local name, at a port that does not belong to the web, or for a request that is
    /// restricted to what the operator allows.
    #[error("`{0}` is not among the allowed ranges")]
    NotAllowed(IpAddr),
    /// The request is restricted to what the operator allows, but nothing is allowed.
    #[error("no range is allowed")]
    NothingAllowed,
    /// The address that the server itself listens on.
    #[error("`{0}` at port {1} is this server")]
    Own(IpAddr, u16),
}
