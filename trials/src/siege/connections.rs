//! Connections without manners, from addresses of their own: those of the attackers are bounded by
//! address, and the other account's is another.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(5);
/// The least that the system lets a socket take in before it is read.
const RECEIVE_BYTES: u32 = 4_096;

/// The attackers' `number`th address.
pub(super) fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 1 + (number % 250) as u8)
}

/// Connects from an address, with as little space for what is received as there can be.
pub(super) async fn connect(from: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.bind((from, 0).into())?;
    timeout(PATIENCE, socket.connect(to)).await.map_err(|_| std::io::ErrorKind::TimedOut)?
}

/// What became of connections that were held.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fates {
    /// Came about.
    pub(super) made: usize,
    /// Were still open at the end.
    pub(super) open: usize,
}

/// Makes so many connections from so many addresses, sends `request` over each (perhaps nothing), reads nothing and
/// holds them for so long.
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
            let Ok(mut stream) = connect(from, to).await else { return (false, false) };
            if stream.write_all(request.as_bytes()).await.is_err() {
                return (true, false);
            }
            sleep(time).await;
            (true, is_open(&mut stream).await)
        });
    }
    let mut fates = Fates::default();
    for (made, open) in held.join_all().await {
        fates.made += usize::from(made);
        fates.open += usize::from(open);
    }
    fates
}

/// Whether the other side has not hung up, as far as one look tells.
async fn is_open(stream: &mut TcpStream) -> bool {
    let mut piece = [0; 1_024];
    let look = timeout(Duration::from_millis(100), stream.read(&mut piece)).await;
    !matches!(look, Ok(Ok(0) | Err(_)))
}
