//! What the tests share: the program, one server for all that leave it as it is, and accounts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cicerone_domain::clock::{Clock as _, SystemClock};
use cicerone_tests::{Client, Program, Server};
use serde_json::Value;

/// The executable under test.
pub(crate) fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_cicerone-under-test"))
}

/// A server of one's own, for tests that stop it or set it up differently.
pub(crate) fn own_server() -> Server {
    Server::of(&program()).start()
}

/// The server that tests share.
pub(crate) fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(own_server)
}

/// A client of the account `default`, which tests share: for those that look at what they made
/// themselves.
pub(crate) fn client() -> Client {
    server().client()
}

/// A client of a new account, for tests that look at everything an account has.
pub(crate) fn account() -> Client {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    server().account(&format!("account {}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// How long something may take that happens soon.
const SOON: Duration = Duration::from_secs(30);

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, condition: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition().await {
        assert!(Instant::now() < deadline, "not in {} s: {what}", SOON.as_secs());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the clock has passed a moment that an answer showed, to the millisecond.
pub(crate) async fn past(moment: &Value) {
    let moment = moment.as_str().unwrap();
    eventually("time goes on", async || *SystemClock.now().to_string() > *moment).await;
}

/// A character of four bytes, for limits that count characters.
pub(crate) const CRAB: &str = "🦀";

/// An agent's id that no agent has.
pub(crate) const NO_AGENT: &str = "agent_0000000000";
/// A source's id that no source has.
pub(crate) const NO_SOURCE: &str = "src_0000000000";
/// A conversation's id that no conversation has.
pub(crate) const NO_CONVERSATION: &str = "conv_0000000000";
/// A file's id that no file has.
pub(crate) const NO_FILE: &str = "file_0000000000";
/// A key's id that no key has.
pub(crate) const NO_KEY: &str = "key_0000000000";
/// A webhook endpoint's id that no endpoint has.
pub(crate) const NO_ENDPOINT: &str = "whep_0000000000";
/// A delivery's id that no delivery has.
pub(crate) const NO_DELIVERY: &str = "dlv_0000000000";
/// An address that webhooks may be sent to and that nobody listens at.
pub(crate) const NOWHERE: &str = "http://127.9.9.9:9/";
