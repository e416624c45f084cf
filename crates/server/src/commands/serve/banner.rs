//! The text that `serve` prints when it is ready.

use std::net::{IpAddr, SocketAddr};

use cicerone_domain::access::KeySecret;
use cicerone_domain::services::RootKey;

use crate::failure::Failure;
use crate::output;

/// Prints the address, and on the first start the key with commands to try. Programs also use the first line: those
/// that start a server on port 0 read its address there.
pub(super) fn print(address: SocketAddr, root: &RootKey, has_console: bool) -> Result<(), Failure> {
    output::print(&text(address, root, has_console))
}

fn text(address: SocketAddr, root: &RootKey, has_console: bool) -> String {
    let greeting = format!("cicerone is listening on http://{address}\n");
    match root {
        RootKey::Generated(secret) => {
            greeting + &first_steps(reachable(address), secret, has_console)
        }
        RootKey::Configured | RootKey::Existing => greeting,
    }
}

/// An address that reaches the server from the same machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Commands for any POSIX shell: ids are cut out with a pattern, so only curl is needed.
fn first_steps(address: SocketAddr, secret: &KeySecret, has_console: bool) -> String {
    let secret = secret.reveal();
    let console = if has_console {
        format!("In a browser, with the same key: http://{address}/console\n")
    } else {
        String::new()
    };
    format!(
        r#"
This is the first start. The first line below holds the key of the account `default`, which is
shown only this once. Pasted unchanged, the lines create an agent, add a text and ask:

KEY={secret}
URL=http://{address}/v1
post() {{ curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d "$2" "$URL/$1"; }}
AGENT=$(post agents '{{"name": "Guide"}}' | grep -o 'agent_[0-9A-Za-z]\{{10\}}' | head -n 1)
TEXT='The museum opens at nine in the morning. On Mondays it is closed. Admission is free for children.'
SOURCE=$(post agents/$AGENT/sources "{{\"type\": \"text\", \"content\": \"$TEXT\"}}" | grep -o 'src_[0-9A-Za-z]\{{10\}}' | head -n 1)
while curl -s -H "Authorization: Bearer $KEY" "$URL/sources/$SOURCE" | grep -q '"status": *"p'; do sleep 1; done
post conversations "{{\"agent_id\": \"$AGENT\", \"message\": \"When does the museum open?\"}}"

{console}Next steps: http://{address}/docs

"#
    )
}

#[cfg(test)]
mod tests {
    use cicerone_domain::access::KeySecret;
    use cicerone_domain::services::RootKey;
    use cicerone_domain::{Id, SystemEntropy};

    use super::text;

    #[test]
    fn the_key_is_shown_only_where_it_was_made() {
        let secret = KeySecret::generate(Id::random(&SystemEntropy), &SystemEntropy);
        let shown = secret.reveal().to_owned();
        let address = "0.0.0.0:8080".parse().unwrap();
        let first = text(address, &RootKey::Generated(secret), true);
        assert!(first.contains("http://127.0.0.1:8080/console\n"));
        assert!(first.starts_with("cicerone is listening on http://0.0.0.0:8080\n"));
        assert!(first.contains(&shown) && first.contains("URL=http://127.0.0.1:8080/v1"));
        for root in [RootKey::Configured, RootKey::Existing] {
            assert_eq!(
                text(address, &root, true),
                "cicerone is listening on http://0.0.0.0:8080\n"
            );
        }
    }
}
