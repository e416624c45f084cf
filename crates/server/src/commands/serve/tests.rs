//! The server as clients see it while one of its background tasks ends again and again.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::application;
use crate::configuration::{Environment, load};
use crate::supervisor::{Pauses, Supervisor};
use crate::wiring::{self, Parts};

/// Short enough for a test.
const PAUSES: Pauses = Pauses {
    first: Duration::from_millis(2),
    longest: Duration::from_millis(10),
    steady: Duration::from_millis(200),
    ends: 2,
};

/// The answer of `/readyz`, head and body.
async fn ready(server: SocketAddr) -> String {
    let mut connection = TcpStream::connect(server).await.unwrap();
    let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    connection.write_all(request).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Asks until the answer has this status.
async fn until(server: SocketAddr, status: u16) -> String {
    let asked = async {
        loop {
            let answer = ready(server).await;
            if answer.starts_with(&format!("HTTP/1.1 {status} ")) {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap()
}

#[test]
fn readyz_fails_while_a_task_panics_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().display().to_string();
    let environment = Environment::from([("CICERONE_DATA_DIR".to_owned(), directory)]);
    let configuration = load(&environment).unwrap();
    let runtime = wiring::runtime(2).unwrap();
    runtime.block_on(async {
        let parts = Parts::open(&configuration, &environment, None).await.unwrap();
        parts.keys.ensure_root(None).await.unwrap();
        let storage = Arc::clone(&parts.storage);
        let (broken, is_broken) = watch::channel(false);
        let mut work = Supervisor::new(PAUSES);
        work.keep("test", move |stop| {
            let mut is_broken = is_broken.clone();
            async move {
                let breaks = async { is_broken.wait_for(|is_broken| *is_broken).await.is_ok() };
                if stop.run_until_cancelled(breaks).await.is_some() {
                    panic!("as a task might");
                }
            }
        });
        let settings = configuration.settings.http();
        let application = application(&configuration, settings, parts, [7; 32], &mut work).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = cicerone_http::serve(listener, application).unwrap();
        let handle = server.handle();
        let server = tokio::spawn(server);

        assert!(ready(address).await.starts_with("HTTP/1.1 200 "));
        broken.send(true).unwrap();
        let answer = until(address, 503).await;
        assert!(answer.contains("the workers are not running"), "{answer}");
        broken.send(false).unwrap();
        until(address, 200).await;

        handle.stop(true).await;
        server.await.unwrap().unwrap();
        work.stop().await;
        storage.close().await;
    });
}
