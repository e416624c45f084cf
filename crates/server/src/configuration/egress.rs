//! Address ranges in CIDR notation.

use std::net::IpAddr;

/// Checks `ADDRESS/PREFIX` or a single address. Crawling and webhooks, which will use these, come
/// with a later version; a mistake is told now.
pub(super) fn parse_network(text: &str) -> Result<(IpAddr, u8), String> {
    let bad = || format!("must be a list of ranges such as `10.0.0.0/8`, not `{text}`");
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse::<u8>().map_err(|_| bad())?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| bad())?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.unwrap_or(bits);
    if prefix > bits {
        return Err(bad());
    }
    Ok((address, prefix))
}
