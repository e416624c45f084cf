//! Hostile connections from separate addresses: the attackers are limited by address, and the other
//! account has a different one.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long it may take to open a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// The smallest receive buffer that the system allows.
const RECEIVE_BYTES: u32 = 4_096;

/// The attackers' `number`th address.
pub(super) fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 1 + (number % 250) as u8)
}

/// Connects from an address, with the smallest possible receive buffer.
pub(super) async fn connect(from: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.bind((from, 0).into())?;
    timeout(PATIENCE, socket.connect(to)).await.map_err(|_| std::io::ErrorKind::TimedOut)?
}

/// The outcome of connections that were held open.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fates {
    /// Connections that could be opened.
    pub(super) made: usize,
    /// Connections that were still open at the end.
    pub(super) open: usize,
    /// Requests that were answered with 200.
    pub(super) served: usize,
    /// Requests that were refused, with 429 or 503.
    pub(super) refused: usize,
}

/// Opens `count` connections from several addresses, sends `request` (possibly empty) over each,
/// reads nothing and holds them for this time.
pub(super) async fn hold(
    to: SocketAddr,
    count: usize,
    addresses: usize,
    request: &str,
    time: Duration,
) -> Fates {
    let mut held = JoinSet::new();
    for number in 0..count {
        let (from, request) = (address(number % addresses), request.to_owned());
        held.spawn(async move {
            let Ok(mut stream) = connect(from, to).await else { return Fates::default() };
            if stream.write_all(request.as_bytes()).await.is_err() {
                return Fates { made: 1, ..Fates::default() };
            }
            sleep(time).await;
            Fates { made: 1, ..look(&mut stream).await }
        });
    }
    let sum = |one: Fates, other: Fates| Fates {
        made: one.made + other.made,
        open: one.open + other.open,
        served: one.served + other.served,
        refused: one.refused + other.refused,
    };
    held.join_all().await.into_iter().fold(Fates::default(), sum)
}

/// Whether the other side has not closed the connection, and how it has begun to answer, as far as a single look shows.
async fn look(stream: &mut TcpStream) -> Fates {
    let mut piece = [0; 1_024];
    let look = timeout(Duration::from_millis(100), stream.read(&mut piece)).await;
    let begins =
        |status: &str| usize::from(piece.starts_with(format!("HTTP/1.1 {status} ").as_bytes()));
    Fates {
        made: 0,
        open: usize::from(!matches!(look, Ok(Ok(0) | Err(_)))),
        served: begins("200"),
        refused: begins("429") + begins("503"),
    }
}
