//! The clients of this repository, against a running server and a hostile one: `tests/clients/own.sh`,
//! which needs PyPI and npm.

use std::path::Path;
use std::process::Command;

use cicerone_tests::{ROOT_KEY, Server};

use crate::world::own_server;

/// The status with which a script reports that it cannot run here.
const SKIPPED: i32 = 77;

/// Runs a script with the address and the key of a server. `end` is its output at the end.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) async fn run(script: &str, server: &Server, variables: &[(&str, &str)], end: &str) {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    command
        .env("SERVER", format!("http://{}", server.address()))
        .env("KEY", ROOT_KEY)
        // The scripts of one run install the clients once.
        .env("RUN_ID", std::process::id().to_string())
        .envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.code() == Some(SKIPPED) {
        eprint!("{}", said(&output.stderr));
        return;
    }
    let (out, error) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains(end), "{out}\n{error}");
}

#[tokio::test]
async fn the_clients_do_what_their_readmes_say_and_survive_hostile_servers() {
    let server = own_server();
    run("clients/own.sh", &server, &[], "both work and cope").await;
}
