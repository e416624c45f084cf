//! Others that are slow, or silent.

use std::time::{Duration, Instant};

use cicerone_egress::{Egress, EgressError, EgressSettings, Request, Url};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use crate::site::{allowing, always, open, redirect, resolver, scripted, url};

const SHORT: Duration = Duration::from_millis(200);
/// Far beyond every deadline here, and far below those that are not meant.
const LONG: Duration = Duration::from_secs(3);

fn with(connect_timeout: Duration, read_timeout: Duration) -> Egress {
    let settings = EgressSettings { connect_timeout, read_timeout, ..allowing(&["127.0.0.0/8"]) };
    Egress::new(settings, always(&["127.0.0.1"])).unwrap()
}

async fn times_out(egress: &Egress, request: Request) {
    let before = Instant::now();
    let outcome = match egress.send(request).await {
        Ok(answer) => answer.bytes(1_000_000).await.map(drop),
        Err(error) => Err(error),
    };
    let error = outcome.unwrap_err();
    assert!(matches!(error, EgressError::Timeout), "{error:?}");
    assert!(error.is_transient());
    assert!(before.elapsed() < LONG, "{:?}", before.elapsed());
}

fn at(address: std::net::SocketAddr) -> Url {
    url(&format!("http://{address}/"))
}

#[tokio::test]
async fn a_listener_that_accepts_nobody_is_left_at_the_connect_timeout() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(connected) = timeout(SHORT, TcpStream::connect(address)).await {
        queue.push(connected.unwrap());
    }
    times_out(&with(SHORT, LONG * 2), Request::get(at(address))).await;
}

#[tokio::test]
async fn a_resolver_that_never_answers_is_left_at_the_connect_timeout() {
    struct Silent;
    #[async_trait::async_trait]
    impl cicerone_egress::Resolve for Silent {
        async fn resolve(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
            std::future::pending().await
        }
    }
    let settings = EgressSettings { connect_timeout: SHORT, ..allowing(&[]) };
    let egress = Egress::new(settings, std::sync::Arc::new(Silent)).unwrap();
    times_out(&egress, Request::get(url("http://example.com/"))).await;
    let outcome = egress.check_resolved(&url("http://example.com/")).await;
    assert!(matches!(outcome.unwrap_err(), EgressError::Timeout));
}

#[tokio::test]
async fn silence_before_the_head_ends_at_the_read_timeout() {
    let address = scripted(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    times_out(&with(LONG, SHORT), Request::get(at(address))).await;
}

#[tokio::test]
async fn silence_within_the_body_ends_at_the_read_timeout() {
    for headers in ["content-length: 100\r\n", "content-encoding: gzip\r\n"] {
        let address = scripted(move |mut stream| async move {
            let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(b"\x1f\x8b\x08").await.unwrap();
            std::future::pending::<()>().await;
        })
        .await;
        times_out(&with(LONG, SHORT), Request::get(at(address))).await;
    }
}

/// Sends one byte every few milliseconds, forever.
async fn trickle(mut stream: TcpStream, bytes: &'static [u8]) {
    for byte in bytes.iter().chain(std::iter::repeat(&b'x')) {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_trickle_ends_at_the_total_deadline_in_the_body_and_in_the_head() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nx: "] {
        let address = scripted(|stream| trickle(stream, head.as_bytes())).await;
        let request = Request::get(at(address)).with_total(Duration::from_millis(500));
        times_out(&with(LONG * 2, LONG * 2), request).await;
    }
}

#[tokio::test]
async fn the_total_deadline_spans_all_hops() {
    let address = scripted(|mut stream| async move {
        sleep(Duration::from_millis(50)).await;
        let _ = stream.write_all(redirect(302, "/again").as_bytes()).await;
    })
    .await;
    let before = Instant::now();
    let request = Request::get(at(address)).with_total(Duration::from_millis(500));
    let error = open().get_following(request, 1_000, |_| true).await.unwrap_err();
    assert!(matches!(error, EgressError::Timeout), "{error:?}");
    assert!(before.elapsed() < LONG);
}

#[tokio::test]
async fn a_refused_connection_is_a_transient_error() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = open().send(Request::get(at(closed))).await.unwrap_err();
    assert!(matches!(error, EgressError::Connect(_)), "{error:?}");
    assert!(error.is_transient());
    assert!(!error.to_string().contains("127.0.0.1"));
}

#[tokio::test]
async fn a_server_without_tls_is_a_lasting_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read(&mut [0; 4096]).await;
    });
    let outcome = open().send(Request::get(url(&format!("https://{address}/")))).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error, EgressError::Tls(_)), "{error:?}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_request_that_is_dropped_is_over() {
    let address = scripted(|stream| trickle(stream, b"HTTP/1.1 200 OK\r\n\r\n")).await;
    let egress = Egress::new(
        allowing(&["127.0.0.0/8"]),
        resolver(|_: &str, _| Ok(vec!["127.0.0.1".parse().unwrap()])),
    )
    .unwrap();
    let answer = egress.send(Request::get(at(address)));
    let answer = answer.await.unwrap();
    assert!(timeout(SHORT, answer.bytes(usize::MAX)).await.is_err());
}
