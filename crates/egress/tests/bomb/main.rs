//! A bomb, in a process of its own so that its memory can be measured.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use cicerone_egress::{Egress, EgressError, EgressSettings, Request, SystemResolver};
use flate2::{Compress, Compression, FlushCompress};

const LIMIT: usize = 8 << 20;

/// A gzip stream without an end: 1 KiB of it holds about 1 MiB of zeros.
fn serve_bomb(listener: &TcpListener) {
    let zeros = vec![0; 1 << 20];
    let mut block = Vec::with_capacity(1 << 16);
    let mut compress = Compress::new(Compression::fast(), false);
    compress.compress_vec(&zeros, &mut block, FlushCompress::Full).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
    let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff";
    stream.write_all(head).unwrap();
    // Ends when the client hangs up, as nothing else ends it.
    while stream.write_all(&block).is_ok() {}
}

/// The most memory that this process had at once, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_endless_bomb_costs_its_limit_and_the_server_is_hung_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || serve_bomb(&listener));
    let settings =
        EgressSettings { allow: vec!["127.0.0.0/8".parse().unwrap()], ..EgressSettings::default() };
    let egress = Egress::new(settings, Arc::new(SystemResolver)).unwrap();
    let url = format!("http://{address}/").parse().unwrap();
    let answer = egress.send(Request::get(url)).await.unwrap();

    let before = peak();
    let error = answer.bytes(LIMIT).await.unwrap_err();
    assert!(matches!(error, EgressError::TooLarge { limit: LIMIT }), "{error:?}");
    let grown = peak() - before;
    // A growing buffer doubles, and is copied once.
    assert!(grown < 4 * LIMIT as u64 / 1024, "grown by {grown} KiB");
    // Not here: the client hangs up on this thread.
    tokio::task::spawn_blocking(|| server.join().unwrap()).await.unwrap();
}
