//! The address of a client, even behind proxies.

use std::net::{IpAddr, SocketAddr};

use actix_web::http::header::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// The header to which each proxy appends the address that it received the request from.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a request comes from: that of the connection or, if that is a trusted proxy,
/// the one that the proxy names, and so on up to the first address that is not a trusted proxy. The
/// header is ignored if the connection is not from a trusted proxy.
pub(crate) fn client_address(
    peer: Option<IpAddr>,
    headers: &HeaderMap,
    trusted: &[IpNet],
) -> Option<IpAddr> {
    let mut address = peer?.to_canonical();
    let is_trusted = |address: &IpAddr| trusted.iter().any(|range| range.contains(address));
    if !is_trusted(&address) {
        return Some(address);
    }
    let named: Vec<&str> = headers
        .get_all(&FORWARDED_FOR)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for text in named.into_iter().rev() {
        let Some(next) = read(text) else { break };
        address = next.to_canonical();
        if !is_trusted(&address) {
            break;
        }
    }
    Some(address)
}

/// Reads an address as proxies write it: alone, in brackets, or with a port.
fn read(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let alone = text.trim_start_matches('[').trim_end_matches(']').parse();
    alone.ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use actix_web::http::header::HeaderMap;

    use super::{FORWARDED_FOR, client_address};

    fn address(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted: Vec<_> = trusted.iter().map(|range| range.parse().unwrap()).collect();
        let peer: IpAddr = peer.parse().unwrap();
        client_address(Some(peer), &headers, &trusted).unwrap().to_string()
    }

    #[test]
    fn only_what_a_trusted_proxy_says_is_believed() {
        let proxies = ["10.0.0.0/8", "::1/128"];
        assert_eq!(address("192.0.2.1", &["198.51.100.7"], &proxies), "192.0.2.1");
        assert_eq!(address("10.0.0.1", &["198.51.100.7"], &[]), "10.0.0.1");
        assert_eq!(address("10.0.0.1", &["198.51.100.7"], &proxies), "198.51.100.7");
        assert_eq!(address("::ffff:10.0.0.1", &["198.51.100.7"], &proxies), "198.51.100.7");
        assert_eq!(address("::1", &["2001:db8::1"], &proxies), "2001:db8::1");
        assert_eq!(address("10.0.0.1", &[], &proxies), "10.0.0.1");
        for written in ["198.51.100.7:5555", " 198.51.100.7 ", "\"198.51.100.7\""] {
            assert_eq!(address("10.0.0.1", &[written], &proxies), "198.51.100.7", "{written}");
        }
        for written in ["[2001:db8::7]:80", "[2001:db8::7]", "2001:db8::7"] {
            assert_eq!(address("10.0.0.1", &[written], &proxies), "2001:db8::7", "{written}");
        }
    }

    #[test]
    fn of_several_the_last_that_is_no_proxy_counts() {
        let proxies = ["10.0.0.0/8"];
        let forged = ["203.0.113.9, 198.51.100.7, 10.1.1.1"];
        assert_eq!(address("10.0.0.1", &forged, &proxies), "198.51.100.7");
        let two = ["203.0.113.9", "198.51.100.7"];
        assert_eq!(address("10.0.0.1", &two, &proxies), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["203.0.113.9, nonsense"], &proxies), "10.0.0.1");
        assert_eq!(address("10.0.0.1", &["10.2.2.2, 10.1.1.1"], &proxies), "10.2.2.2");
    }
}
