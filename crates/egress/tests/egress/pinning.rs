//! Names that change what they resolve to: the address that was judged is the one connected to.

use std::io;
use std::net::IpAddr;

use cicerone_egress::{Egress, EgressError, Reason, Request};

use crate::site::{allowing, always, ips, neighbours, ok, resolver, url};

/// Sends and reads the body.
async fn fetch(egress: &Egress, address: &str) -> Result<String, EgressError> {
    let answer = egress.send(Request::get(url(address))).await?;
    Ok(String::from_utf8(answer.bytes(1000).await?.to_vec()).unwrap())
}

fn closing(_: &str) -> String {
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi".to_owned()
}

#[tokio::test]
async fn a_name_that_alternates_never_leads_to_the_forbidden_address() {
    let (canary, site) = neighbours(closing).await;
    let names = resolver(|_: &str, asked| {
        Ok(ips(if asked % 2 == 0 { &["127.0.0.2"] } else { &["127.0.0.1"] }))
    });
    let egress = Egress::new(allowing(&["127.0.0.2/32"]), names.clone()).unwrap();
    let address = format!("http://rebind.example.com:{}/", site.port());
    let mut outcomes = [0, 0];
    for _ in 0..100 {
        match fetch(&egress, &address).await {
            Ok(body) => {
                assert_eq!(body, "hi");
                outcomes[0] += 1;
            }
            Err(EgressError::Refused(refused)) => {
                assert!(matches!(refused.reason(), Reason::Special(..)), "{refused:?}");
                outcomes[1] += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(outcomes, [50, 50]);
    assert_eq!((names.asked(), site.connections(), canary.connections()), (100, 50, 0));
}

#[tokio::test]
async fn a_name_that_is_public_when_checked_and_loopback_when_sent_is_refused() {
    let (canary, _) = neighbours(closing).await;
    let names = resolver(|_: &str, asked| {
        Ok(ips(if asked % 2 == 0 { &["93.184.216.34"] } else { &["127.0.0.1"] }))
    });
    let egress = Egress::new(allowing(&[]), names).unwrap();
    let address = url(&format!("http://rebind.example.com:{}/", canary.port()));
    for _ in 0..100 {
        egress.check_resolved(&address).await.unwrap();
        let refusal = egress.send(Request::get(address.clone())).await.unwrap_err();
        assert!(matches!(refusal, EgressError::Refused(_)), "{refusal:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn one_forbidden_address_among_good_ones_refuses_the_name() {
    let (canary, site) = neighbours(closing).await;
    for bad in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "0.0.0.0"] {
        for answer in [["127.0.0.2", bad], [bad, "127.0.0.2"]] {
            let egress = Egress::new(allowing(&["127.0.0.2/32"]), always(&answer)).unwrap();
            let address = format!("http://mixed.example.com:{}/", site.port());
            let refusal = fetch(&egress, &address).await.unwrap_err();
            assert!(matches!(refusal, EgressError::Refused(_)), "{answer:?} {refusal:?}");
        }
    }
    assert_eq!((site.connections(), canary.connections()), (0, 0));
}

#[tokio::test]
async fn metadata_is_refused_as_the_answer_to_a_name_whatever_is_allowed() {
    let everything = allowing(&["0.0.0.0/0", "::/0"]);
    for bad in ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"] {
        let egress = Egress::new(everything.clone(), always(&[bad])).unwrap();
        for address in ["http://cloud.example.com/", "http://localhost/", "http://a.local:6379/"] {
            let refusal = fetch(&egress, address).await.unwrap_err();
            assert!(matches!(refusal, EgressError::Refused(_)), "{bad} {refusal:?}");
        }
    }
}

#[tokio::test]
async fn a_kept_connection_is_used_again_without_asking_the_resolver() {
    let (canary, site) = neighbours(|_| ok("hi")).await;
    let names = resolver(|_: &str, asked| {
        Ok(ips(if asked == 0 { &["127.0.0.2"] } else { &["127.0.0.1"] }))
    });
    let egress = Egress::new(allowing(&["127.0.0.2/32"]), names.clone()).unwrap();
    for _ in 0..5 {
        let address = format!("http://kept.example.com:{}/", site.port());
        assert_eq!(fetch(&egress, &address).await.unwrap(), "hi");
    }
    assert_eq!((names.asked(), site.connections(), canary.connections()), (1, 1, 0));
}

#[tokio::test]
async fn local_names_and_unusual_ports_lead_into_allowed_ranges_only() {
    let (canary, site) = neighbours(closing).await;
    let all = always(&["127.0.0.1", "::1", "127.0.0.2", "93.184.216.34"]);
    let egress = Egress::new(allowing(&["127.0.0.2/32"]), all).unwrap();
    for _ in 0..10 {
        let address = format!("http://localhost:{}/", site.port());
        assert_eq!(fetch(&egress, &address).await.unwrap(), "hi");
    }
    assert_eq!((site.connections(), canary.connections()), (10, 0));

    let egress = Egress::new(allowing(&["127.0.0.2/32"]), always(&["93.184.216.34"])).unwrap();
    for address in ["http://wiki.internal/", "http://example.com:6379/"] {
        let Err(EgressError::Refused(refused)) = fetch(&egress, address).await else { panic!() };
        assert!(matches!(refused.reason(), Reason::NotAllowed(_)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_name_without_an_address_reads_like_a_refused_one() {
    type Answer = fn() -> io::Result<Vec<IpAddr>>;
    let none: [Answer; 2] = [|| Ok(Vec::new()), || Err(io::ErrorKind::NotFound.into())];
    for none in none {
        let egress = Egress::new(allowing(&[]), resolver(move |_: &str, _| none())).unwrap();
        let missing = fetch(&egress, "http://gone.example.com/").await.unwrap_err();
        assert!(matches!(missing, EgressError::Dns { is_temporary: false, .. }), "{missing:?}");
        assert!(!missing.is_transient());
        let refused = fetch(&egress, "http://127.0.0.1/").await.unwrap_err();
        assert!(!refused.is_transient());
        assert_eq!(missing.to_string(), refused.to_string());
    }
}

#[tokio::test]
async fn a_resolver_that_fails_may_succeed_at_another_time() {
    let failing = resolver(|_: &str, _| Err(io::Error::other("no resolver answers")));
    let egress = Egress::new(allowing(&[]), failing).unwrap();
    for failure in [
        fetch(&egress, "http://example.com/").await.unwrap_err(),
        egress.check_resolved(&url("http://example.com/")).await.unwrap_err(),
    ] {
        assert!(matches!(failure, EgressError::Dns { is_temporary: true, .. }), "{failure:?}");
        assert!(failure.is_transient());
    }
}
