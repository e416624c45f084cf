//! The scope of an IP address: the public internet, a special purpose, or forbidden in all cases.

mod registry;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A machine on the public internet.
    Public,
    /// A special purpose, with its name: private networks, loopback, documentation and so on. An operator may allow it.
    Special(&'static str),
    /// An address that hands out secrets without authentication (the metadata services of clouds), or that represents
    /// another address. No setting allows it.
    Never(&'static str),
}

/// Whether `address` belongs to a machine on the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    scope_of(address) == Scope::Public
}

/// The scope of `address`.
///
/// An IPv6 address that embeds the IPv4 address to which its packets are delivered has the scope of that address:
/// IPv4-mapped, NAT64 (`64:ff9b::/96`) and 6to4. In addition to the ranges of the IANA special-purpose registries, all
/// IPv6 outside `2000::/3` is special, because only that range is assigned to the public internet.
#[must_use]
pub fn scope_of(address: IpAddr) -> Scope {
    match address.to_canonical() {
        IpAddr::V4(address) => scope_of_v4(address),
        IpAddr::V6(address) => scope_of_v6(address),
    }
}

fn scope_of_v4(address: Ipv4Addr) -> Scope {
    let named = |table: &[(ipnet::Ipv4Net, &'static str)]| {
        table.iter().find(|(range, _)| range.contains(&address)).map(|(_, name)| *name)
    };
    if let Some(name) = named(&registry::NEVER_V4) {
        Scope::Never(name)
    } else if let Some(name) = named(&registry::SPECIAL_V4) {
        Scope::Special(name)
    } else {
        Scope::Public
    }
}

fn scope_of_v6(address: Ipv6Addr) -> Scope {
    let named = |table: &[(ipnet::Ipv6Net, &'static str)]| {
        table.iter().find(|(range, _)| range.contains(&address)).map(|(_, name)| *name)
    };
    let carried = carried_by(address);
    let never = carried.into_iter().flatten().find_map(|carried| match scope_of_v4(carried) {
        Scope::Never(name) => Some(name),
        Scope::Special(_) | Scope::Public => None,
    });
    if let Some(name) = named(&registry::NEVER_V6).or(never) {
        return Scope::Never(name);
    }
    if registry::TRANSLATED.iter().any(|range| range.contains(&address))
        && let [Some(carried), _] = carried
    {
        return scope_of_v4(carried);
    }
    match named(&registry::SPECIAL_V6) {
        Some(name) => Scope::Special(name),
        None if registry::GLOBAL_UNICAST.contains(&address) => Scope::Public,
        None => Scope::Special("not assigned"),
    }
}

/// The address itself and every IPv4 address that it embeds.
pub(crate) fn faces_of(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let address = address.to_canonical();
    let carried = match address {
        IpAddr::V4(_) => [None, None],
        IpAddr::V6(address) => carried_by(address),
    };
    std::iter::once(address).chain(carried.into_iter().flatten().map(IpAddr::V4))
}

/// The IPv4 addresses that an IPv6 address embeds: first the one to which its packets are delivered; for Teredo, the
/// client's and then the server's.
fn carried_by(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let [_, a, b, c, _, _, e, f] = address.segments();
    let last = ipv4(e, f);
    match address.segments() {
        // 6to4, RFC 3056
        [0x2002, ..] => [Some(ipv4(a, b)), None],
        // Teredo, RFC 4380: the client's with every bit inverted, and the server's
        [0x2001, 0, ..] => [Some(ipv4(!e, !f)), Some(ipv4(b, c))],
        // NAT64, RFC 6052 and RFC 8215
        [0x64, 0xff9b, 0 | 1, ..] => [Some(last), None],
        // IPv4-compatible, RFC 4291; IPv4-translated, RFC 7915
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => [Some(last), None],
        // Interfaces named after an IPv4 address: ISATAP, RFC 5214
        [.., 0 | 0x200, 0x5efe, _, _] => [Some(last), None],
        _ => [None, None],
    }
}

fn ipv4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}
