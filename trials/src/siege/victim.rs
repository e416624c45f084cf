//! Another account, which sends messages, reads lists and adds texts at a steady pace and measures
//! each duration. It runs on a separate thread, so that the attackers in this program do not affect
//! its clock.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_tests::client::{Client, Request};
use cicerone_tests::process::Server;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::latency::percentile;

/// The pauses between two messages, between two lists, and between a trained text and the next one.
const MESSAGES: Duration = Duration::from_millis(50);
const LISTS: Duration = Duration::from_millis(200);
const TEXTS: Duration = Duration::from_millis(500);
/// The pause between two checks of a text that is not trained yet.
const POLL: Duration = Duration::from_millis(20);
/// The number of messages before measuring begins.
const WARM: usize = 100;

/// How long requests of one kind took.
#[derive(Debug, Clone, Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    /// The duration that this share of them does not exceed; zero if there are none.
    pub(super) fn within(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        percentile(&sorted, share)
    }

    /// Their number.
    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Adds one.
    pub(super) fn note(&mut self, time: Duration) {
        self.0.push(time);
    }
}

/// The measurements of the account.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// From a message to its reply.
    pub(super) messages: Times,
    /// From a request for a list to its end.
    pub(super) lists: Times,
    /// From a text to `trained`.
    pub(super) texts: Times,
    /// Unexpected answers, and how often each occurred.
    pub(super) failures: BTreeMap<String, usize>,
}

impl Seen {
    fn take(&mut self, (kind, time, failure): Outcome) {
        if let Some(failure) = failure {
            *self.failures.entry(failure).or_default() += 1;
        }
        match kind {
            Kind::Message => self.messages.note(time),
            Kind::List => self.lists.note(time),
            Kind::Text => self.texts.note(time),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Message,
    List,
    Text,
}

/// A request's kind, how long it took, and what was wrong with the answer.
type Outcome = (Kind, Duration, Option<String>);

/// The account.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    address: SocketAddr,
    key: String,
    agent: String,
}

impl Victim {
    /// Creates the account with an agent and a text, and lets it ask for a while.
    pub(super) async fn prepare(server: &Server) -> anyhow::Result<Self> {
        let client = server.account("victim");
        let agent = client.agent().await;
        client.text(&agent, "The museum opens at nine. On Mondays it is closed.").await;
        for _ in 0..WARM {
            client.ask(&agent, "When does the museum open?").await;
        }
        let key = client.key().context("a client with a key")?.to_owned();
        Ok(Self { address: server.address(), key, agent })
    }

    /// A client of the account, for the calling runtime.
    pub(super) fn client(&self) -> Client {
        Client::new(self.address, Some(&self.key))
    }

    /// The account's agent.
    pub(super) fn agent(&self) -> &str {
        &self.agent
    }

    /// The account's measurements over this time.
    pub(super) async fn alone(&self, time: Duration) -> anyhow::Result<Seen> {
        Ok(self.during(sleep(time)).await?.1)
    }

    /// The account's measurements during some work, and the result of the work.
    pub(super) async fn during<T>(
        &self,
        other: impl Future<Output = T>,
    ) -> anyhow::Result<(T, Seen)> {
        let (stop, stopped) = watch::channel(false);
        let victim = self.clone();
        let (done, seen) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let seen = runtime.map(|runtime| runtime.block_on(victim.live(stopped)));
            // The receiver is gone only if the siege was abandoned.
            let _ = done.send(seen);
        });
        let other = other.await;
        stop.send_replace(true);
        Ok((other, seen.await.context("the victim's thread")??))
    }

    /// Sends messages, reads lists and adds texts until it is told to stop.
    async fn live(self, stopped: watch::Receiver<bool>) -> Seen {
        let (asking, listing, adding) = tokio::join!(
            self.paced(Kind::Message, MESSAGES, stopped.clone()),
            self.paced(Kind::List, LISTS, stopped.clone()),
            self.add(stopped),
        );
        let mut seen = Seen::default();
        for outcome in asking.into_iter().chain(listing).chain(adding) {
            seen.take(outcome);
        }
        seen
    }

    /// Sends requests of one kind at their pace, whether or not answers arrive.
    async fn paced(
        &self,
        kind: Kind,
        pace: Duration,
        mut stopped: watch::Receiver<bool>,
    ) -> Vec<Outcome> {
        let client = self.client();
        let mut sent = JoinSet::new();
        let mut ticks = interval(pace);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                _ = stopped.changed() => break,
            }
            let request = self.request(&client, kind, sent.len());
            sent.spawn(timed(kind, request));
        }
        sent.join_all().await
    }

    fn request(&self, client: &Client, kind: Kind, number: usize) -> Request {
        let agent = &self.agent;
        match kind {
            // Lists use new connections, messages kept-alive ones.
            Kind::List if number.is_multiple_of(2) => {
                client.request("GET", "/v1/agents?page_size=10").header("Connection", "close")
            }
            Kind::List => {
                let path = format!("/v1/agents/{agent}/conversations");
                client.request("GET", &path).header("Connection", "close")
            }
            Kind::Message | Kind::Text => {
                let message = json!({ "agent_id": agent, "message": "When does the museum open?" });
                client.request("POST", "/v1/conversations").json(&message)
            }
        }
    }

    /// Adds one text after the other and waits until each is trained.
    async fn add(&self, mut stopped: watch::Receiver<bool>) -> Vec<Outcome> {
        let client = self.client();
        let mut outcomes = Vec::new();
        loop {
            let begun = Instant::now();
            let trained = train(&client, &self.agent, outcomes.len(), &stopped).await;
            let failure = match trained {
                Ok(true) => None,
                // It was stopped before the text was trained; the time so far is recorded.
                Ok(false) => Some("a text was not trained before the end".to_owned()),
                Err(error) => Some(format!("a text: {error:#}")),
            };
            outcomes.push((Kind::Text, begun.elapsed(), failure));
            tokio::select! {
                () = sleep(TEXTS) => {}
                _ = stopped.changed() => return outcomes,
            }
        }
    }
}

/// How long after the end a text may still become trained.
const LATE: Duration = Duration::from_secs(5);

/// Adds a text and waits until it is trained; false if it is not trained some time after the end.
async fn train(
    client: &Client,
    agent: &str,
    number: usize,
    stopped: &watch::Receiver<bool>,
) -> anyhow::Result<bool> {
    let content = format!("In hall {number} of the museum stands a boat. It came in {number}.");
    let body = json!({ "type": "text", "content": content });
    let path = format!("/v1/agents/{agent}/sources");
    let added = client.request("POST", &path).json(&body).try_send().await?;
    anyhow::ensure!(added.status == 201, "adding was answered {}", added.status);
    let id = added.json()["id"].as_str().context("a source without an id")?.to_owned();
    let path = format!("/v1/sources/{id}");
    let mut end = None;
    loop {
        let found = client.request("GET", &path).try_send().await?;
        anyhow::ensure!(found.status == 200, "reading was answered {}", found.status);
        match found.json()["status"].as_str() {
            Some("trained") => break,
            Some("failed") => anyhow::bail!("it failed: {}", found.json()["error_message"]),
            _ => sleep(POLL).await,
        }
        if *stopped.borrow() && *end.get_or_insert_with(|| Instant::now() + LATE) < Instant::now() {
            return Ok(false);
        }
    }
    client.request("DELETE", &path).try_send().await?;
    Ok(true)
}

/// Sends a request that must be answered 200.
async fn timed(kind: Kind, request: Request) -> Outcome {
    let sent = Instant::now();
    let failure = match request.try_send().await {
        Ok(answer) if answer.status == 200 => None,
        Ok(answer) => Some(format!("a {} was answered {}", kind.name(), answer.status)),
        Err(error) if error.is_timeout() => Some(format!("a {} was not answered", kind.name())),
        Err(_) => Some(format!("a {} failed: its connection broke", kind.name())),
    };
    (kind, sent.elapsed(), failure)
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::List => "list",
            Self::Text => "text",
        }
    }
}
