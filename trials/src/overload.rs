//! Many times the load that the server can handle: it refuses the excess soon, answers the rest in time, its memory stays
//! bounded, and it recovers as soon as the load is over.

mod figures;
mod flood;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::process::Server;
use clap::Args;
use tokio::time::timeout;

use self::figures::Latency;
pub(crate) use self::figures::Overload;
use self::flood::{Answers, Flood};
use crate::bench::{Output, load, memory, questions, questions_of};
use crate::{open_files, program};

/// How much load, and for how long.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// Seconds of overload
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// The load, as a multiple of what the server can handle
    #[arg(long, default_value_t = 10)]
    factor: u32,
    /// Connections that are kept alive, which is also the most requests in progress
    #[arg(long, default_value_t = 800)]
    connections: usize,
    /// Accounts that send it, each an equal part
    #[arg(long, default_value_t = 1)]
    accounts: usize,
    /// Approximate number of passages of each agent
    #[arg(long, default_value_t = 500)]
    passages: usize,
    /// Replies in progress for one account, instead of the server's default
    #[arg(long)]
    replies_at_once: Option<u32>,
    #[command(flatten)]
    output: Output,
}

/// How long the server is asked over one connection, to see how fast it is without load.
const UNLOADED: Duration = Duration::from_secs(5);
/// Connections of the normal load, and its duration.
const NORMAL_CONNECTIONS: usize = 16;
const NORMAL: Duration = Duration::from_secs(10);
/// Statuses that an overloaded server answers with.
const STATUSES: [u16; 3] = [200, 429, 503];
/// The share of requests that may fail with a broken connection.
const BROKEN: f64 = 0.01;
/// How much more memory it may take than under the normal load.
const GROWTH_MIB: f64 = 100.0;
/// The most that the p99 of accepted turns may be, as a multiple of that of the normal load.
const SLOWER: f64 = 5.0;
/// How soon it must have recovered.
const RECOVERED: Duration = Duration::from_secs(5);
/// It has recovered when this many requests in a row are answered within `QUICK`.
const IN_A_ROW: usize = 3;
const QUICK: Duration = Duration::from_millis(250);
/// The longest wait for its recovery.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures, floods, measures again. Returns an error if a promise is broken.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    open_files::allow(arguments.connections as u64 + 500)?;
    let mut server = Server::of(&program).env("RUST_LOG", "warn");
    let settings = tempfile::NamedTempFile::new().context("a temporary file")?;
    if let Some(replies) = arguments.replies_at_once {
        let text = format!("[http]\nreplies_at_once = {replies}\n");
        std::fs::write(settings.path(), text).context("writing the settings")?;
        server = server.env("CICERONE_CONFIG", settings.path().to_string_lossy());
    }
    let server = server.start();
    let (address, pid) = (server.address(), server.pid());
    let requests = Arc::new(questions(&server, arguments.passages).await);
    let mut floods = vec![Arc::clone(&requests)];
    for number in 1..arguments.accounts {
        let account = server.account(&format!("flood-{number}"));
        floods.push(Arc::new(questions_of(&account, arguments.passages).await));
    }
    let other = Arc::new(questions_of(&server.account("other"), arguments.passages).await);

    load::run(address, Arc::clone(&requests), NORMAL_CONNECTIONS, NORMAL / 5).await?;
    let unloaded = load::run(address, Arc::clone(&requests), 1, UNLOADED).await?;
    let normal = load::run(address, Arc::clone(&requests), NORMAL_CONNECTIONS, NORMAL);
    let (normal, usual) = tokio::join!(normal, most_memory(pid, NORMAL));
    let (normal, usual) = (normal?, usual?);

    let time = Duration::from_secs(arguments.seconds);
    let flood = Flood {
        address,
        requests: floods,
        other,
        connections: arguments.connections,
        rate: normal.rate() * f64::from(arguments.factor),
    };
    let (answers, most) = tokio::join!(flood.run(time), most_memory(pid, time));
    let (answers, most) = (answers?, most?);
    let request = requests.first().context("no requests")?;
    let recovered = recovery(address, request).await?;
    let refused = answers.refused.len() as f64;
    let (usually, accepted) = (Latency::of(&normal.latencies), Latency::of(&answers.accepted));
    // Without a refusal it is a queue, not an overload.
    let is_slower = refused > 0.0 && accepted.times_slower_than(&usually) > SLOWER;
    arguments.output.publish(Overload {
        factor: arguments.factor,
        seconds: arguments.seconds,
        connections: arguments.connections,
        accounts: arguments.accounts,
        replies_at_once: arguments.replies_at_once,
        normal_rate: normal.rate(),
        offered_rate: flood.rate,
        accepted_rate: answers.accepted.len() as f64 / time.as_secs_f64().max(1.0),
        refused_rate: refused / time.as_secs_f64().max(1.0),
        unloaded: Latency::of(&unloaded.latencies),
        normal: usually,
        accepted,
        refused: Latency::of(&answers.refused),
        other: Latency::of(&answers.other),
        other_refused: answers.other_refused,
        without_retry_after: answers.without_retry_after,
        statuses: answers.statuses.iter().map(|(status, count)| (*status, *count)).collect(),
        errors: answers.errors.iter().map(|(error, count)| (error.clone(), *count)).collect(),
        usual_mib: usual,
        most_mib: most,
        recovered_seconds: recovered.as_secs_f64(),
    })?;
    judge(&answers)?;
    ensure!(most <= usual + GROWTH_MIB, "memory grew by {:.0} MiB", most - usual);
    ensure!(!is_slower, "accepted turns were more than {SLOWER} times slower than usually");
    ensure!(recovered <= RECOVERED, "it took {recovered:.1?} to be itself again");
    Ok(())
}

/// The most memory that a process is seen to use during this time, in MiB.
async fn most_memory(pid: u32, time: Duration) -> anyhow::Result<f64> {
    let end = Instant::now() + time;
    let mut most = 0.0;
    while Instant::now() < end {
        let now = memory::of(pid).context("the server has ended")?;
        most = f64::max(most, now.resident_mib());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(most)
}

/// How long it takes until requests over new connections are answered as usual.
async fn recovery(address: SocketAddr, request: &[u8]) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let mut in_a_row = 0;
    while in_a_row < IN_A_ROW {
        ensure!(began.elapsed() < PATIENCE, "it is not itself again after {PATIENCE:?}");
        let answered = timeout(QUICK, load::ask(address, request)).await;
        if matches!(answered, Ok(Ok(200))) {
            in_a_row += 1;
        } else {
            in_a_row = 0;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(began.elapsed())
}

/// Returns an error if there were unexpected answers or more than a few broken connections.
fn judge(answers: &Answers) -> anyhow::Result<()> {
    let strange = answers.statuses.keys().find(|status| !STATUSES.contains(*status));
    ensure!(strange.is_none(), "answers of status {}", strange.copied().unwrap_or_default());
    let refused = answers.other_refused;
    ensure!(refused == 0, "{refused} turns of the account that does not flood were refused");
    let silent = answers.without_retry_after;
    ensure!(silent == 0, "{silent} answers of status 503 have no `Retry-After`");
    let answered: usize = answers.statuses.values().sum();
    let broken: usize = answers.errors.values().sum();
    ensure!(answered > 0, "nothing was answered");
    let share = broken as f64 / (answered + broken) as f64;
    ensure!(share <= BROKEN, "the connection broke for {:.1} % of all requests", share * 100.0);
    Ok(())
}
