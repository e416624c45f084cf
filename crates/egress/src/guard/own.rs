//! The addresses that the server itself listens on, which its own crawler must not reach.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use crate::address::faces_of;

/// Listening addresses; a wildcard means every address of this machine.
#[derive(Debug)]
pub(super) struct OwnAddresses(Vec<SocketAddr>);

impl OwnAddresses {
    pub(super) fn new(own: Vec<SocketAddr>) -> Self {
        let canonical = |own: SocketAddr| SocketAddr::new(own.ip().to_canonical(), own.port());
        Self(own.into_iter().map(canonical).collect())
    }

    /// The ports, each once.
    pub(super) fn ports(&self) -> impl Iterator<Item = u16> {
        let is_first = |(at, port): &(usize, u16)| {
            !self.0.iter().take(*at).any(|earlier| earlier.port() == *port)
        };
        self.0.iter().map(SocketAddr::port).enumerate().filter(is_first).map(|(_, port)| port)
    }

    /// Whether the server listens on `address` at `port`.
    pub(super) fn contains(&self, address: IpAddr, port: u16) -> bool {
        let listens_on = |own: &SocketAddr, address: IpAddr| {
            if own.ip().is_unspecified() {
                // `::` takes IPv4 connections as well.
                (own.is_ipv6() || address.is_ipv4()) && is_of_this_machine(address)
            } else {
                own.ip() == address
            }
        };
        let at_port = || self.0.iter().filter(|own| own.port() == port);
        faces_of(address).any(|face| at_port().any(|own| listens_on(own, face)))
    }
}

/// Whether `address` belongs to this machine: only such addresses can be bound to. The test runs each time, because
/// interfaces come and go. If it cannot be determined, the address counts as this machine's.
fn is_of_this_machine(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use super::OwnAddresses;

    fn own(addresses: &[&str]) -> OwnAddresses {
        OwnAddresses::new(addresses.iter().map(|address| address.parse().unwrap()).collect())
    }

    #[test]
    fn an_address_is_own_at_its_port_only() {
        let own = own(&["127.0.0.1:80", "[::ffff:127.0.0.2]:81", "10.0.0.1:80"]);
        assert_eq!(own.ports().collect::<Vec<_>>(), [80, 81]);
        for (address, port, expected) in [
            ("127.0.0.1", 80, true),
            ("::ffff:127.0.0.1", 80, true),
            ("64:ff9b::127.0.0.1", 80, true),
            ("127.0.0.1", 81, false),
            ("127.0.0.2", 81, true),
            ("127.0.0.2", 80, false),
            ("10.0.0.1", 80, true),
        ] {
            assert_eq!(own.contains(address.parse().unwrap(), port), expected, "{address} {port}");
        }
    }

    #[test]
    fn a_wildcard_is_every_address_of_this_machine() {
        for (wildcard, address, expected) in [
            ("0.0.0.0:80", "127.0.0.1", true),
            ("0.0.0.0:80", "127.99.0.1", true),
            ("0.0.0.0:80", "192.0.2.1", false),
            ("0.0.0.0:80", "::1", false),
            ("[::]:80", "127.0.0.1", true),
            ("[::]:80", "::1", true),
            ("[::]:80", "192.0.2.1", false),
        ] {
            let contains = own(&[wildcard]).contains(address.parse().unwrap(), 80);
            assert_eq!(contains, expected, "{wildcard} {address}");
        }
    }
}
