//! `cicerone health`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::configuration::{Environment, load};
use crate::failure::Failure;
use crate::{output, wiring};

/// The longest wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks the server on this machine whether it is ready. Containers have no other program to do so.
pub(crate) fn run(environment: &Environment) -> Result<(), Failure> {
    let configuration = load(environment)?;
    let url = format!("http://{}/readyz", reachable(&configuration.settings.bind));
    wiring::install_tls()?;
    let answer = wiring::runtime(1)?.block_on(async {
        let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()?;
        let response = client.get(&url).send().await?;
        Ok::<_, reqwest::Error>((response.status(), response.text().await?))
    });
    let (status, body) =
        answer.map_err(|error| Failure::because("the server does not answer", &error))?;
    if !status.is_success() {
        return Err(Failure::new(format!("the server is not ready: {}", body.trim())));
    }
    output::line(&body.trim())
}

/// The address that a server with this `bind` can be reached at from the same machine.
fn reachable(bind: &str) -> String {
    let Ok(mut address) = bind.parse::<SocketAddr>() else { return bind.to_owned() };
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address.to_string()
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn an_address_for_all_interfaces_is_asked_on_the_loopback() {
        for (bind, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.1.2.3:80", "10.1.2.3:80"),
            ("localhost:8080", "localhost:8080"),
        ] {
            assert_eq!(reachable(bind), asked);
        }
    }
}
