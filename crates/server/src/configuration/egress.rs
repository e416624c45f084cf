//! Address ranges in CIDR notation.

use std::net::IpAddr;

use ipnet::IpNet;

/// The ranges of `CICERONE_EGRESS_ALLOW`. An address without a prefix is a range of one address,
/// and bits beyond the prefix are ignored: `10.1.2.3/8` is `10.0.0.0/8`.
pub(super) fn parse_networks(texts: &[String]) -> Result<Vec<IpNet>, String> {
    texts.iter().map(|text| parse_network(text)).collect()
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    let range = text.parse::<IpNet>().map(|range| range.trunc());
    range
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| format!("must be a list of ranges such as `10.0.0.0/8`, not `{text}`"))
}
