//! Which replies share connections to an upstream.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cicerone_tests::Server;
use cicerone_tests::upstream::completion;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::world::program;

/// An upstream that keeps its connections open and counts them, and its base URL.
async fn counting() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(answer(socket));
        }
    });
    (url, opened)
}

/// Answers each request of a connection, until it is closed.
async fn answer(mut socket: TcpStream) {
    let body = completion("It opens at nine [1].").to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut received = Vec::new();
    while socket.read_buf(&mut received).await.is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&received).to_lowercase();
        let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if rest.len() >= length.unwrap().parse().unwrap() {
            received.clear();
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn replies_in_one_piece_use_connections_of_their_thread_and_streams_those_of_the_process() {
    let (url, opened) = counting().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nthreads = 1\n").unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("OPENAI_BASE_URL", url)
        .start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    let before = opened.load(Ordering::Relaxed);
    for (is_streamed, connections) in [(false, 1), (true, 2), (false, 2), (true, 2), (false, 2)] {
        let question =
            json!({"agent_id": agent, "message": "When does it open?", "stream": is_streamed});
        let answer = client.post("/v1/conversations", question).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.text().contains("It opens at nine"), "{}", answer.text());
        assert_eq!(opened.load(Ordering::Relaxed) - before, connections);
    }
}
