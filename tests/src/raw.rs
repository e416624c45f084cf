//! A raw connection, for malformed and unfinished requests.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// How long the server may take to answer or to close the connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self { stream }
    }

    /// Connects from another address of this machine, with so small a receive buffer that the
    /// server notices at once if nothing is read.
    pub async fn open_from(local: IpAddr, address: SocketAddr) -> std::io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.bind(SocketAddr::new(local, 0))?;
        Ok(Self { stream: socket.connect(address).await? })
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("the connection holds");
    }

    /// Sends bytes, if the server still accepts them.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        // A closed connection is not an error here.
        let _ = timeout(PATIENCE, self.stream.write_all(bytes.as_ref())).await;
    }

    /// Reads until the server closes the connection.
    pub async fn read_to_end(&mut self) -> String {
        let mut answer = Vec::new();
        let read = self.stream.read_to_end(&mut answer);
        // A reset after the answer is also an end of the connection.
        let _ = timeout(PATIENCE, read).await.expect("the server hangs up");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends `piece` again and again while it reads the answer, until the server closes the
    /// connection or `most` bytes were sent. Returns how many were sent, and the answer.
    pub async fn flood(self, piece: &[u8], most: usize) -> (usize, String) {
        let (mut reader, mut writer) = self.stream.into_split();
        let reading = async {
            let mut answer = Vec::new();
            // A reset after the answer is also an end of the connection.
            let _ = reader.read_to_end(&mut answer).await;
            answer
        };
        let writing = async {
            let mut sent = 0;
            while sent < most {
                let rest = piece.get(sent % piece.len()..).unwrap_or_default();
                match writer.write(rest).await {
                    Ok(count) => sent += count,
                    Err(_) => break,
                }
            }
            sent
        };
        let both = async { tokio::join!(reading, writing) };
        let (answer, sent) = timeout(PATIENCE, both).await.expect("the server hangs up");
        (sent, String::from_utf8_lossy(&answer).into_owned())
    }

    /// Reads until the received text contains `mark`.
    pub async fn read_until(&mut self, mark: &str) -> String {
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&answer).contains(mark) {
            let read = timeout(PATIENCE, self.stream.read(&mut piece)).await;
            let count = read.expect("the server answers").expect("the connection holds");
            assert!(count > 0, "the end came before `{mark}`: {answer:?}");
            answer.extend_from_slice(&piece[..count]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Sends a request, and reads until the server closes the connection.
pub async fn exchange(address: SocketAddr, request: impl AsRef<[u8]>) -> String {
    let mut connection = Connection::open(address).await;
    connection.send(request).await;
    connection.read_to_end().await
}
