//! A relay in front of PostgreSQL that can stop to pass bytes on, as a suspended machine or a broken network does.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

/// A running relay. It ends with the runtime of its test.
#[derive(Debug)]
pub struct Relay {
    /// Where it listens.
    pub address: SocketAddr,
    holds: watch::Sender<bool>,
    accepted: Arc<AtomicUsize>,
}

impl Relay {
    /// Starts a relay in front of a Unix socket.
    pub async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let (holds, is_held) = watch::channel(false);
        let accepted = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (socket, is_held) = (socket.clone(), is_held.clone());
                tokio::spawn(async move {
                    let Ok(server) = UnixStream::connect(socket).await else { return };
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    tokio::join!(
                        pass(from_client, to_server, is_held.clone()),
                        pass(from_server, to_client, is_held)
                    );
                });
            }
        });
        Self { address, holds, accepted }
    }

    /// Keeps connections open and accepts new ones, but passes nothing on.
    pub fn hold(&self) {
        self.holds.send_replace(true);
    }

    /// Passes on what was held, and all the rest.
    pub fn resume(&self) {
        self.holds.send_replace(false);
    }

    /// The number of connections so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// Passes bytes on, except while they are held, until one of the ends closes.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut is_held: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 16 * 1_024];
    while let Ok(count) = from.read(&mut buffer).await
        && count > 0
    {
        let Ok(_) = is_held.wait_for(|is_held| !is_held).await.map(drop) else { return };
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
