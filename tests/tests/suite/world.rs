//! Shared parts of the tests: the program, one server for all tests that do not change it, and
//! accounts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cicerone_domain::clock::{Clock as _, SystemClock};
use cicerone_tests::{Client, Program, Server};
use serde_json::Value;

/// The executable under test: the program that is built beside the tests, or the one that the
/// environment variable `CICERONE_PROGRAM` names by its absolute path.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable names the program under test and is not one of its \
    settings"
)]
pub(crate) fn program() -> Program {
    let named = std::env::var_os("CICERONE_PROGRAM");
    Program::at(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_cicerone-under-test").into()))
}

/// A separate server, for tests that stop it or configure it differently.
pub(crate) fn own_server() -> Server {
    Server::of(&program()).start()
}

/// The server that tests share.
pub(crate) fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(own_server)
}

/// A client of the account `default`, which tests share: for tests that look only at objects of
/// their own.
pub(crate) fn client() -> Client {
    server().client()
}

/// A client of a new account, for tests that look at everything in an account.
pub(crate) fn account() -> Client {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    server().account(&format!("account {}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

pub(crate) use cicerone_tests::patience::{awaited, eventually};

/// Waits for the second within which a change of a key or a widget takes effect on all servers.
///
/// This is the promise itself and not a guess: a test that is held up for longer passes too.
pub(crate) async fn a_second_later() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// Waits until the clock is past a time from an answer, by at least a millisecond.
pub(crate) async fn past(moment: &Value) {
    let moment = moment.as_str().unwrap();
    eventually("the clock advances", async || *SystemClock.now().to_string() > *moment).await;
}

/// A character of four bytes, for limits that count characters.
pub(crate) const CRAB: &str = "🦀";

/// An agent id that does not exist.
pub(crate) const NO_AGENT: &str = "agent_0000000000";
/// A source id that does not exist.
pub(crate) const NO_SOURCE: &str = "src_0000000000";
/// A document id that does not exist.
pub(crate) const NO_DOCUMENT: &str = "doc_0000000000";
/// A conversation id that does not exist.
pub(crate) const NO_CONVERSATION: &str = "conv_0000000000";
/// A gap id that does not exist.
pub(crate) const NO_GAP: &str = "gap_0000000000";
/// A widget id that does not exist.
pub(crate) const NO_WIDGET: &str = "wgt_0000000000";
/// A file id that does not exist.
pub(crate) const NO_FILE: &str = "file_0000000000";
/// A key id that does not exist.
pub(crate) const NO_KEY: &str = "key_0000000000";
/// A webhook endpoint id that does not exist.
pub(crate) const NO_ENDPOINT: &str = "whep_0000000000";
/// A delivery id that does not exist.
pub(crate) const NO_DELIVERY: &str = "dlv_0000000000";
/// An address that webhooks may be sent to, where nobody listens.
pub(crate) const NOWHERE: &str = "http://127.9.9.9:9/";
