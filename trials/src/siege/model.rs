//! An upstream model that answers most messages at once and some slowly.

use std::time::Duration;

use cicerone_tests::upstream::{chunk, completion};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// A message with this word is answered slowly.
pub(super) const SLOW: &str = "slowly";
/// Tokens of a slow answer, and the pause after each: it takes two minutes.
const TOKENS: usize = 60;
const PAUSE: Duration = Duration::from_secs(2);

/// Starts it on a separate thread, which ends with the program. Returns its base URL.
pub(super) async fn start() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?.into_std()?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    std::thread::spawn(move || serve(listener));
    Ok(url)
}

fn serve(listener: std::net::TcpListener) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            // The server may close the connection at any time.
            tokio::spawn(async move { answer(stream).await.ok() });
        }
    })
}

/// Answers one request, in one piece or as a stream, as it asks.
async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    let is_streamed = request.contains("\"stream\":true");
    let is_slow = request.contains(SLOW);
    if !is_streamed {
        let body = completion("It opens at nine.").to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        return stream.write_all((head + &body).as_bytes()).await;
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let pause = if is_slow { PAUSE } else { Duration::ZERO };
    let count = if is_slow { TOKENS } else { 3 };
    for _ in 0..count {
        let chunk = chunk(&json!({ "content": "at nine " }), None);
        stream.write_all(format!("data: {chunk}\n\n").as_bytes()).await?;
        sleep(pause).await;
    }
    let chunk = chunk(&json!({}), Some("stop"));
    stream.write_all(format!("data: {chunk}\n\ndata: [DONE]\n\n").as_bytes()).await
}

/// A request with its body, as text.
async fn read(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if body.len() >= length {
            return Ok(text.into_owned());
        }
    }
}
