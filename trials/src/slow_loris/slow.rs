//! A slow connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cicerone_tests::process::ROOT_KEY;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, sleep_until};

use crate::latency::percentile;

/// The pause between two bytes.
const PAUSE: Duration = Duration::from_secs(3);
/// The pause after the server refused a connection.
const REFUSED_PAUSE: Duration = Duration::from_millis(500);
/// The declared size of the body, in bytes.
const BODY_BYTES: usize = 1_000;

/// The part of a request that is sent slowly.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Head,
    /// Its body, after a head with a valid key.
    Body,
}

/// The outcome of slow connections.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The ages of those that the server closed during their heads.
    heads: Vec<Duration>,
    /// The same during their bodies.
    bodies: Vec<Duration>,
    /// Those that were still open at the end.
    open: usize,
    /// Those that could not be opened.
    refused: usize,
}

impl Seen {
    /// Adds the outcome of others.
    pub(super) fn add(&mut self, other: Self) {
        self.heads.extend(other.heads);
        self.bodies.extend(other.bodies);
        self.open += other.open;
        self.refused += other.refused;
    }

    /// Prints it.
    pub(super) fn show(mut self) {
        self.heads.sort_unstable();
        self.bodies.sort_unstable();
        for (part, ages) in [("head", &self.heads), ("body", &self.bodies)] {
            println!(
                "slow {part}: {} connections closed by the server, after {:.1} s, at most {:.1} s",
                ages.len(),
                percentile(ages, 0.5).as_secs_f64(),
                percentile(ages, 1.0).as_secs_f64(),
            );
        }
        println!("{} were open at the end, {} did not come about", self.open, self.refused);
    }
}

/// Keeps one slow connection open until `end`, and opens another whenever the server closes it.
pub(super) async fn keep(address: SocketAddr, part: Part, delay: Duration, end: Instant) -> Seen {
    let mut seen = Seen::default();
    sleep(delay).await;
    while Instant::now() < end {
        let Ok(socket) = TcpStream::connect(address).await else {
            seen.refused += 1;
            sleep(REFUSED_PAUSE).await;
            continue;
        };
        match (hold(socket, part, end).await, part) {
            (Some(age), Part::Head) => seen.heads.push(age),
            (Some(age), Part::Body) => seen.bodies.push(age),
            (None, _) => seen.open += 1,
        }
    }
    seen
}

/// Sends the request byte by byte. Returns the connection's age when the server closes it; `None`
/// if it is open at the end.
async fn hold(socket: TcpStream, part: Part, end: Instant) -> Option<Duration> {
    let opened = Instant::now();
    let (mut reader, mut writer) = socket.into_split();
    let (at_once, slowly) = match part {
        Part::Head => (String::new(), "POST /v1/conversations HTTP/1.1\r\nHost: here\r\nSlow: "),
        Part::Body => (head(), ""),
    };
    // The rest is a long value in the head, or a body that begins with white space.
    let mut rest = slowly.bytes().chain(std::iter::repeat(b' '));
    if writer.write_all(at_once.as_bytes()).await.is_err() {
        return Some(opened.elapsed());
    }
    let mut answer = [0; 1_024];
    loop {
        tokio::select! {
            read = reader.read(&mut answer) => match read {
                Ok(0) | Err(_) => return Some(opened.elapsed()),
                Ok(_) => {}
            },
            () = sleep(PAUSE) => {
                let byte = [rest.next().unwrap_or(b' ')];
                if writer.write_all(&byte).await.is_err() {
                    return Some(opened.elapsed());
                }
            }
            () = sleep_until(end.into()) => return None,
        }
    }
}

fn head() -> String {
    format!(
        "POST /v1/conversations HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {ROOT_KEY}\r\n\
         Content-Type: application/json\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
    )
}
