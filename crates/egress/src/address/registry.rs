//! The address ranges that are not the public internet's, as IANA registers them.
//!
//! Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates),
//! the IPv6 address space registry (RFC 4291), and the documentation of the clouds for their
//! metadata services. The names appear in the log. A range within another one precedes it.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// IPv4 ranges that no setting allows.
pub(super) const NEVER_V4: [(Ipv4Net, &str); 5] = [
    (v4([0, 0, 0, 0], 32), "unspecified"),
    // AWS, Azure, Google and most others at .169.254; AWS for containers at .170.2 and .170.23;
    // Scaleway at .42.42; Tencent at .0.23. No website is in this range.
    (v4([169, 254, 0, 0], 16), "link-local and metadata"),
    (v4([100, 100, 100, 200], 32), "metadata of Alibaba Cloud"),
    (v4([168, 63, 129, 16], 32), "metadata of Azure"),
    (v4([192, 0, 0, 192], 32), "metadata of Oracle Cloud"),
];

/// IPv6 ranges that no setting allows.
pub(super) const NEVER_V6: [(Ipv6Net, &str); 6] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local and metadata"),
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32), "metadata of AWS"),
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), "metadata of Google Cloud"),
    (v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), "metadata of Oracle Cloud"),
    (v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128), "metadata of Scaleway"),
];

/// IPv4 with a special purpose. The blocks of AS112 and AMT, which are registered too, are
/// reachable globally and public.
pub(super) const SPECIAL_V4: [(Ipv4Net, &str); 15] = [
    (v4([0, 0, 0, 0], 8), "this network, RFC 791"),
    (v4([10, 0, 0, 0], 8), "private use, RFC 1918"),
    (v4([100, 64, 0, 0], 10), "shared by carriers, RFC 6598"),
    (v4([127, 0, 0, 0], 8), "loopback, RFC 1122"),
    (v4([172, 16, 0, 0], 12), "private use, RFC 1918"),
    (v4([192, 0, 0, 0], 24), "IETF protocol assignments, RFC 6890"),
    (v4([192, 0, 2, 0], 24), "documentation, RFC 5737"),
    (v4([192, 88, 99, 0], 24), "6to4 relays, RFC 7526"),
    (v4([192, 168, 0, 0], 16), "private use, RFC 1918"),
    (v4([198, 18, 0, 0], 15), "benchmarking, RFC 2544"),
    (v4([198, 51, 100, 0], 24), "documentation, RFC 5737"),
    (v4([203, 0, 113, 0], 24), "documentation, RFC 5737"),
    (v4([224, 0, 0, 0], 4), "multicast, RFC 5771"),
    (v4([255, 255, 255, 255], 32), "broadcast, RFC 8190"),
    (v4([240, 0, 0, 0], 4), "reserved, RFC 1112"),
];

/// IPv6 with a special purpose, in part within [`GLOBAL_UNICAST`].
pub(super) const SPECIAL_V6: [(Ipv6Net, &str); 18] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback, RFC 4291"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible, RFC 4291"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "IPv4-translated, RFC 7915"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "local NAT64, RFC 8215"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "discard, RFC 6666"),
    (v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64), "dummy prefix, RFC 9780"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "Teredo, RFC 4380"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), "benchmarking, RFC 5180"),
    (v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28), "ORCHID, RFC 4843"),
    (v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), "ORCHIDv2, RFC 7343"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "IETF protocol assignments, RFC 2928"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "documentation, RFC 3849"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation, RFC 9637"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "SRv6 segments, RFC 9602"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local, RFC 4193"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local, RFC 3879"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast, RFC 4291"),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), "6bone, RFC 3701"),
];

/// IPv6 whose packets are delivered to the IPv4 address that it embeds: NAT64 and 6to4.
pub(super) const TRANSLATED: [Ipv6Net; 2] =
    [v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16)];

/// All IPv6 that is assigned to the public internet.
pub(super) const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}
