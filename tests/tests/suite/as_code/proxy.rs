//! A proxy that counts the requests that change something, and stops answering at one of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Where the proxy stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nowhere.
    Never,
    /// Before the change with this number, from 0, reaches the server.
    Before(usize),
    /// After the server has carried out the change with this number; its answer is lost.
    After(usize),
    /// For a while, with the answer to the change with this number, until [`Proxy::resume`].
    Pause(usize),
}

/// A running proxy.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    changes: Arc<AtomicUsize>,
    stopped: Arc<Notify>,
    resumed: Arc<Notify>,
}

impl Proxy {
    /// Starts a proxy in front of a server.
    pub(super) async fn start(server: SocketAddr, stop: Stop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (changes, stopped) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
        let resumed = Arc::<Notify>::default();
        let shared = (Arc::clone(&changes), Arc::clone(&stopped), Arc::clone(&resumed));
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (changes, stopped, resumed) = shared.clone();
                tokio::spawn(async move {
                    // A client that goes away ends its own connection only.
                    let _ = serve(connection, server, stop, &changes, (&stopped, &resumed)).await;
                });
            }
        });
        Self { address, changes, stopped, resumed }
    }

    /// The number of changes so far.
    pub(super) fn changes(&self) -> usize {
        self.changes.load(Ordering::SeqCst)
    }

    /// Goes on after a pause.
    pub(super) fn resume(&self) {
        self.resumed.notify_one();
    }

    /// Waits until the proxy has stopped.
    pub(super) async fn stopped(&self) {
        self.stopped.notified().await;
    }
}

async fn serve(
    mut connection: TcpStream,
    server: SocketAddr,
    stop: Stop,
    changes: &AtomicUsize,
    (stopped, resumed): (&Notify, &Notify),
) -> std::io::Result<()> {
    let mut request = Vec::new();
    let end = loop {
        if let Some(at) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
        if connection.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    while request.len() < end + length {
        connection.read_buf(&mut request).await?;
    }
    let hang = async || {
        stopped.notify_one();
        std::future::pending::<()>().await;
    };
    let number = (!head.starts_with("get ")).then(|| changes.fetch_add(1, Ordering::SeqCst));
    let is_beyond = |limit| number.is_some_and(|number| number >= limit);
    if matches!(stop, Stop::Before(limit) if is_beyond(limit)) {
        hang().await;
    }
    // One request for each connection, so that both ends know where the answer ends.
    let line = request.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut upstream = TcpStream::connect(server).await?;
    upstream.write_all(&request[..line]).await?;
    upstream.write_all(b"connection: close\r\n").await?;
    upstream.write_all(&request[line..]).await?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer).await?;
    if matches!(stop, Stop::After(limit) if is_beyond(limit)) {
        hang().await;
    }
    if matches!(stop, Stop::Pause(at) if number == Some(at)) {
        stopped.notify_one();
        resumed.notified().await;
    }
    connection.write_all(&answer).await?;
    connection.shutdown().await
}
