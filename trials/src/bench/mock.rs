//! What the server is compared with: an upstream that answers at once, and a handler that does nothing.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The completion that the upstream sends.
const REPLY: &str =
    "The hall opens at nine in the morning and closes at five in the afternoon [1].";

/// Starts an OpenAI-compatible upstream on a thread of its own, which runs until the process ends.
pub(super) fn upstream() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("listening")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "mock",
        "choices": [{
            "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": REPLY },
        }],
        "usage": { "prompt_tokens": 1_000, "completion_tokens": 20, "total_tokens": 1_020 },
    })
    .to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer: &'static [u8] = Box::leak(answer.into_bytes().into_boxed_slice());
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    // A connection that breaks shows as a refused request in the figures.
                    let _ = serve(socket, answer).await;
                });
            }
        });
    });
    Ok(address)
}

/// A request to an upstream or to a gateway, of about the size of those that the server sends. `headers` are further
/// lines of its head.
pub(super) fn completion(address: SocketAddr, headers: &str) -> Vec<u8> {
    let content = "The hall opens at nine. ".repeat(400);
    let body = json!({ "model": "mock", "messages": [{ "role": "user", "content": content }] });
    let body = body.to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// Answers each request of a connection.
async fn serve(mut socket: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 * 1_024);
    loop {
        let head = loop {
            if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if socket.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let text = String::from_utf8_lossy(buffer.get(..head).unwrap_or_default()).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.and_then(|digits| digits.trim().parse::<usize>().ok()).unwrap_or(0);
        while buffer.len() < head + length {
            if socket.read_buf(&mut buffer).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        buffer.drain(..head + length);
        socket.write_all(answer).await?;
    }
}

/// Starts a bare handler of the same framework with as many threads as the server has, which answers `body`
/// to every request. It runs until the process ends.
pub(super) fn handler(body: String) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("listening")?;
    let address = listener.local_addr()?;
    let threads = std::thread::available_parallelism()?.get();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let make = move || {
                let body = body.clone();
                let answer = move || {
                    let body = body.clone();
                    async move { HttpResponse::Ok().content_type("application/json").body(body) }
                };
                App::new().default_service(web::to(answer))
            };
            let server = HttpServer::new(make).workers(threads).disable_signals().listen(listener);
            if let Ok(server) = server {
                // It ends with the process.
                let _ = server.run().await;
            }
        });
    });
    Ok(address)
}
