//! The server's own address.

use std::net::SocketAddr;

use cicerone_egress::{Egress, EgressError, EgressSettings, Reason, Request};

use crate::site::{Site, allowing, always, ok, url};

fn with_own(own: SocketAddr, names: &[&str]) -> Egress {
    let settings = EgressSettings { own: vec![own], ..allowing(&["127.0.0.0/8", "::1/128"]) };
    Egress::new(settings, always(names)).unwrap()
}

async fn is_own(egress: &Egress, address: &str) -> bool {
    match egress.send(Request::get(url(address))).await {
        Ok(answer) => {
            assert_eq!(answer.status, 200);
            false
        }
        Err(EgressError::Refused(refused)) => {
            assert!(matches!(refused.reason(), Reason::Own(..)), "{refused:?}");
            true
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_server_does_not_ask_itself_though_loopback_is_allowed() {
    let itself = Site::serve("127.0.0.1:0", |_| ok("itself")).await;
    let other = Site::serve("127.0.0.1:0", |_| ok("other")).await;
    let egress = with_own(itself.address, &["127.0.0.1"]);
    for host in ["127.0.0.1", "127.1", "[::ffff:127.0.0.1]", "localhost", "app.example.com"] {
        let address = |site: &Site| format!("http://{host}:{}/", site.port());
        assert!(is_own(&egress, &address(&itself)).await, "{host}");
        assert!(!is_own(&egress, &address(&other)).await, "{host}");
    }
    assert_eq!(itself.connections(), 0);
}

#[tokio::test]
async fn a_wildcard_stands_for_every_address_of_this_machine() {
    let itself = Site::serve("0.0.0.0:0", |_| ok("itself")).await;
    let egress = with_own(itself.address, &["127.0.0.9"]);
    for host in ["127.0.0.1", "127.200.0.1", "app.example.com", "localhost"] {
        assert!(is_own(&egress, &format!("http://{host}:{}/", itself.port())).await, "{host}");
    }
    let other = Site::serve("127.0.0.9:0", |_| ok("other")).await;
    assert!(!is_own(&egress, &format!("http://app.example.com:{}/", other.port())).await);
    assert_eq!(itself.connections(), 0);
}

#[tokio::test]
async fn a_connection_kept_for_another_port_does_not_open_the_servers_own() {
    let itself = Site::serve("127.0.0.1:0", |_| ok("itself")).await;
    let other = Site::serve("127.0.0.1:0", |_| ok("other")).await;
    let egress = with_own(itself.address, &["127.0.0.1"]);
    for _ in 0..3 {
        assert!(!is_own(&egress, &format!("http://a.example.com:{}/", other.port())).await);
        assert!(is_own(&egress, &format!("http://a.example.com:{}/", itself.port())).await);
    }
    assert_eq!(itself.connections(), 0);
}
