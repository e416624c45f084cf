//! Bodies: limits, encodings, and connections that break off.

use std::io::Write as _;
use std::time::Duration;

use cicerone_egress::{EgressError, Method, Request, header};
use cicerone_tests_listener::Listener;
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::AsyncWriteExt as _;

use crate::site::{Site, ok, open, scripted, url};

/// 64 KiB of zeros, as brotli.
const BROTLI_ZEROS: &[u8] = &[27, 255, 255, 0, 36, 0, 226, 177, 64, 114, 239, 1, 0];

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// The outcome of reading an answer with `headers` and `body`, after which the connection closes.
async fn read(headers: &str, body: &[u8], limit: usize) -> Result<usize, EgressError> {
    let mut whole = format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    whole.extend_from_slice(body);
    let address = scripted(move |mut stream| {
        let whole = whole.clone();
        async move {
            // The client may have hung up at its limit.
            let _ = stream.write_all(&whole).await;
        }
    })
    .await;
    let answer = open().send(Request::get(url(&format!("http://{address}/")))).await?;
    answer.bytes(limit).await.map(|body| body.len())
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_given_and_one_byte_more_is_too_large() {
    let (body, zipped) = (vec![b'x'; 5_000], gzip(&[b'x'; 5_000]));
    let chunked = [b"1388\r\n", body.as_slice(), b"\r\n0\r\n\r\n"].concat();
    for (headers, bytes) in [
        ("content-length: 5000\r\n", &body),
        ("", &body),
        ("transfer-encoding: chunked\r\n", &chunked),
        ("content-encoding: gzip\r\n", &zipped),
    ] {
        assert_eq!(read(headers, bytes, 5_000).await.unwrap(), 5_000, "{headers}");
        let error = read(headers, bytes, 4_999).await.unwrap_err();
        assert!(matches!(error, EgressError::TooLarge { limit: 4_999 }), "{headers} {error:?}");
        assert!(!error.is_transient());
    }
    assert_eq!(read("content-length: 0\r\n", b"", 0).await.unwrap(), 0);
}

#[tokio::test]
async fn gzip_and_brotli_are_asked_for_and_decoded() {
    let site = Site::serve("127.0.0.1:0", |_| ok("")).await;
    open().send(Request::get(site.url("/"))).await.unwrap();
    let heads = site.heads();
    assert!(heads[0].contains("accept-encoding: gzip,br\r\n"), "{heads:?}");

    assert_eq!(read("content-encoding: gzip\r\n", &gzip(b"hello"), 10).await.unwrap(), 5);
    assert_eq!(read("content-encoding: br\r\n", BROTLI_ZEROS, 65_536).await.unwrap(), 65_536);
    let error = read("content-encoding: br\r\n", BROTLI_ZEROS, 65_535).await.unwrap_err();
    assert!(matches!(error, EgressError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn an_encoding_that_is_not_decoded_is_an_error_and_not_a_text() {
    for (headers, body) in [
        ("content-encoding: gzip\r\n", b"not gzip at all".as_slice()),
        ("content-encoding: br\r\n", b"\xff\xff\xff\xff\xff\xff".as_slice()),
        ("content-encoding: zstd\r\n", b"x"),
        ("content-encoding: deflate\r\n", b"x"),
        ("content-encoding: gzip, gzip\r\n", b"x"),
    ] {
        let error = read(headers, body, 1_000).await.unwrap_err();
        assert!(matches!(error, EgressError::Encoding(_)), "{headers} {error:?}");
        assert!(!error.is_transient());
    }
    assert_eq!(read("content-encoding: identity\r\n", b"plain", 1_000).await.unwrap(), 5);
}

#[tokio::test]
async fn a_connection_that_breaks_off_may_work_at_another_time() {
    let cut = &gzip(&[b'x'; 5_000])[..20];
    let chunked = b"ff\r\nonly this".as_slice();
    for (headers, body) in [
        ("content-length: 10\r\n", b"half".as_slice()),
        ("content-length: 5000\r\ncontent-encoding: gzip\r\n", cut),
        ("content-encoding: gzip\r\n", cut),
        ("transfer-encoding: chunked\r\n", chunked),
    ] {
        let error = read(headers, body, 10_000).await.unwrap_err();
        assert!(matches!(error, EgressError::Broken(_)), "{headers} {error:?}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn what_is_not_http_is_an_error() {
    for greeting in ["", "220 mail.example.com ESMTP\r\n", "-ERR unknown command\r\n"] {
        let address = scripted(move |mut stream| async move {
            stream.write_all(greeting.as_bytes()).await.unwrap();
        })
        .await;
        let outcome = open().send(Request::get(url(&format!("http://{address}/")))).await;
        let error = outcome.unwrap_err();
        assert!(matches!(error, EgressError::Broken(_)), "{greeting} {error:?}");
    }
}

#[tokio::test]
async fn a_body_comes_in_pieces() {
    let site = Site::serve("127.0.0.1:0", |_| ok(&"piece ".repeat(50_000))).await;
    let mut answer = open().send(Request::get(site.url("/"))).await.unwrap();
    assert!(answer.time_left() <= Request::TOTAL && answer.time_left() > Duration::ZERO);
    let (mut pieces, mut bytes) = (0, 0);
    while let Some(chunk) = answer.chunk().await.unwrap() {
        pieces += 1;
        bytes += chunk.len();
    }
    assert!(pieces > 1);
    assert_eq!(bytes, 300_000);
}

#[tokio::test]
async fn a_head_request_may_announce_any_length() {
    let site = Site::serve("127.0.0.1:0", |_| {
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n".to_owned()
    });
    let site = site.await;
    let request = Request::new(Method::HEAD, site.url("/"));
    let answer = open().send(request).await.unwrap();
    assert_eq!(answer.headers.get(header::CONTENT_LENGTH).unwrap(), "99999999");
    assert_eq!(answer.bytes(10).await.unwrap(), "");
}

#[tokio::test]
async fn a_sent_body_arrives() {
    let listener = Listener::start(|request, mut stream| async move {
        let echo = ok(std::str::from_utf8(&request.body).unwrap());
        stream.write_all(echo.as_bytes()).await.ok()?;
        Some(stream)
    })
    .await;
    let hook = url(&listener.url("/hook"));
    let answer = open().send(Request::post(hook, "hello")).await.unwrap();
    assert_eq!(answer.bytes(5).await.unwrap(), "hello");
}
