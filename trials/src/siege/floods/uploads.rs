//! Slow uploads, all with one key.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cicerone_tests::client::Client;
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::siege::arena::{Arena, Field};
use crate::siege::connections::{address, connect};
use crate::siege::report::{RISE_MIB, Report};

/// The number of concurrent uploads, and the addresses that they come from.
const UPLOADS: usize = 64;
const ADDRESSES: usize = 4;
/// The declared bytes of each, and the pause between two of them.
const PROMISED: usize = 1_000_000;
const PAUSE: Duration = Duration::from_secs(1);
/// The pause between two uploads of the other account.
const PACE: Duration = Duration::from_millis(250);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let time = field.seconds(20, 5);
    let mut report = Report::default();
    let attack = async {
        let slow = upload_slowly(&attacker, arena.server.address(), time);
        let own = upload(arena.victim.client(), time);
        tokio::join!(slow, own)
    };
    let ((), (taken, refused)) = arena.besiege(&mut report, RISE_MIB, attack).await?;
    report.attempted(format!(
        "{UPLOADS} slow uploads with one key; of the victim's {taken} were accepted, {refused} refused"
    ));
    report.check(refused == 0 && taken > 0, format!("{refused} of the victim's were refused"));
    Ok(report)
}

/// Keeps this many slow uploads in progress.
async fn upload_slowly(client: &Client, to: SocketAddr, time: Duration) {
    let key = client.key().unwrap_or_default();
    let head = format!(
        "POST /v1/files HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {PROMISED}\r\n\r\n--b\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"slow.txt\"\r\n\r\n"
    );
    let end = Instant::now() + time;
    let mut uploads = JoinSet::new();
    for number in 0..UPLOADS {
        let head = head.clone();
        uploads.spawn(async move {
            while Instant::now() < end {
                if let Ok(mut stream) = connect(address(number % ADDRESSES), to).await {
                    let mut sent = stream.write_all(head.as_bytes()).await;
                    while sent.is_ok() && Instant::now() < end {
                        sleep(PAUSE).await;
                        sent = stream.write_all(b"x").await;
                    }
                }
                sleep(PAUSE / 10).await;
            }
        });
    }
    uploads.join_all().await;
}

/// Uploads small files one after the other while the others are in progress. Returns how many were
/// accepted and refused.
async fn upload(client: Client, time: Duration) -> (usize, usize) {
    sleep(time / 4).await;
    let end = Instant::now() + time / 2;
    let (mut taken, mut refused) = (0, 0);
    while Instant::now() < end {
        let request = client.request("POST", "/v1/files").file("own.txt", b"At nine.".to_vec());
        match request.try_send().await {
            Ok(answer) if answer.status == 201 => taken += 1,
            Ok(_) | Err(_) => refused += 1,
        }
        sleep(PACE).await;
    }
    (taken, refused)
}
