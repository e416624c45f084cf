//! The rules: which URLs may be requested, and which addresses may be connected to for them.

mod name;
mod own;
mod port;
mod refused;

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::{Host, Url};

pub use self::refused::{Reason, Refused};

use self::own::OwnAddresses;
use crate::address::{Scope, scope_of};

/// The rules, with the ranges that the operator allows and the addresses that the server listens on.
#[derive(Debug)]
pub(crate) struct Guard {
    allow: Vec<IpNet>,
    own: OwnAddresses,
}

/// The rules for the addresses of a URL in addition to the general ones. A resolver receives a name without a port, so
/// the port's consequences for addresses are kept here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The requested port, if the server itself listens on it.
    own_port: Option<u16>,
    /// Whether only addresses that the operator allows are accepted: the port or the name is not one of the public web.
    allowed_only: bool,
}

impl Terms {
    /// Whether only addresses that the operator allows are accepted.
    pub(crate) const fn is_allowed_only(self) -> bool {
        self.allowed_only
    }
}

impl Guard {
    pub(crate) fn new(allow: Vec<IpNet>, own: Vec<SocketAddr>) -> Self {
        Self { allow, own: OwnAddresses::new(own) }
    }

    /// Every combination of terms that [`Guard::url`] can return.
    pub(crate) fn all_terms(&self) -> Vec<Terms> {
        let ports = self.own.ports().map(Some).chain([None]);
        let with_both =
            |own_port| [false, true].map(|allowed_only| Terms { own_port, allowed_only });
        ports
            .flat_map(with_both)
            .filter(|terms| !terms.allowed_only || !self.allow.is_empty())
            .collect()
    }

    /// Checks the text of a URL, and its address if it contains one. With `allowed_only`, only ranges that the operator
    /// allows are accepted, even for public addresses.
    pub(crate) fn url(&self, url: &Url, allowed_only: bool) -> Result<Terms, Reason> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Reason::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Reason::Credentials);
        }
        let (host, port) = url.host().zip(url.port_or_known_default()).ok_or(Reason::NoHost)?;
        let mut terms = Terms {
            own_port: self.own.ports().find(|own| *own == port),
            allowed_only: allowed_only || port::is_bad(port),
        };
        if allowed_only && self.allow.is_empty() {
            return Err(Reason::NothingAllowed);
        }
        let address = match host {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(domain) => {
                match name::kind_of(domain) {
                    name::Kind::Public => {}
                    name::Kind::Local if self.allow.is_empty() => return Err(Reason::LocalName),
                    name::Kind::Local => terms.allowed_only = true,
                    name::Kind::Metadata => return Err(Reason::MetadataName),
                }
                None
            }
        };
        if let Some(address) = address {
            self.address(address, terms).map_err(|reason| match reason {
                Reason::NotAllowed(_) if port::is_bad(port) => Reason::Port(port),
                other => other,
            })?;
        } else if port::is_bad(port) && self.allow.is_empty() {
            return Err(Reason::Port(port));
        }
        Ok(terms)
    }

    /// Checks all addresses of a name, and returns those that may be connected to.
    ///
    /// One bad address refuses the name: honest names do not mix both kinds, whereas answers for DNS rebinding do. If
    /// only allowed addresses are accepted, the others are omitted, so that `localhost` can be allowed without naming
    /// each of its addresses.
    pub(crate) fn addresses(
        &self,
        addresses: Vec<IpAddr>,
        terms: Terms,
    ) -> Result<Vec<IpAddr>, Reason> {
        let mut good = Vec::with_capacity(addresses.len());
        let mut left_out = None;
        for address in addresses {
            match self.address(address, terms) {
                Ok(()) => good.push(address),
                Err(reason @ (Reason::Special(..) | Reason::NotAllowed(_)))
                    if terms.allowed_only =>
                {
                    left_out = Some(reason);
                }
                Err(reason) => return Err(reason),
            }
        }
        match left_out {
            Some(reason) if good.is_empty() => Err(reason),
            Some(_) | None => Ok(good),
        }
    }

    fn address(&self, address: IpAddr, terms: Terms) -> Result<(), Reason> {
        let is_allowed = || {
            let address = address.to_canonical();
            self.allow.iter().any(|range| range.contains(&address))
        };
        match scope_of(address) {
            Scope::Never(name) => return Err(Reason::Never(address, name)),
            Scope::Special(name) if !is_allowed() => return Err(Reason::Special(address, name)),
            Scope::Public if terms.allowed_only && !is_allowed() => {
                return Err(Reason::NotAllowed(address));
            }
            Scope::Special(_) | Scope::Public => {}
        }
        match terms.own_port {
            Some(port) if self.own.contains(address, port) => Err(Reason::Own(address, port)),
            Some(_) | None => Ok(()),
        }
    }
}
