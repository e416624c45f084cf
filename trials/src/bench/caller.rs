//! A client for many small requests, which costs less than a complete one.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use cicerone_tests::process::ROOT_KEY;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::load;

/// A kept-alive connection with the root key.
pub(super) struct Caller {
    socket: TcpStream,
    address: SocketAddr,
    buffer: Vec<u8>,
}

impl Caller {
    pub(super) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { socket: load::connect(address).await?, address, buffer: Vec::new() })
    }

    /// Sends a request and returns the JSON of the answer, which must have this status.
    pub(super) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
        status: u16,
    ) -> anyhow::Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ROOT_KEY}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        self.socket.write_all(request.as_bytes()).await.context("sending")?;
        let answered = load::answer(&mut self.socket, &mut self.buffer).await?;
        let start = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
        let body = start.and_then(|start| self.buffer.get(start + 4..)).unwrap_or_default();
        ensure!(
            answered == status,
            "`{method} {path}` was answered {answered}: {}",
            String::from_utf8_lossy(body)
        );
        serde_json::from_slice(body).with_context(|| format!("the answer of `{method} {path}`"))
    }
}

pub(super) fn id(object: &Value) -> anyhow::Result<String> {
    Ok(object["id"].as_str().context("an object without an id")?.to_owned())
}
