//! Official clients of OpenAI's API, unchanged, against a running server: `tests/clients/openai.sh`, which needs PyPI and npm.

use std::path::Path;
use std::process::Command;

use cicerone_tests::Server;
use serde_json::json;

use super::guide;
use crate::world::program;

/// The status with which the script reports that it cannot run here.
const SKIPPED: i32 = 77;

#[tokio::test]
async fn official_clients_understand_the_server() {
    let server =
        Server::of(&program()).env("CICERONE_PUBLIC_URL", "https://museum.example").start();
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let public = json!({ "public_sources": true });
    client.patch(&format!("/v1/agents/{agent}"), public).await.expect(200);
    let paused = client.agent().await;
    let pause = json!({ "status": "paused" });
    client.patch(&format!("/v1/agents/{paused}"), pause).await.expect(200);
    let arguments = ["--account", "default", "--permission", "conversations:write"];
    let key = server.create_key(&arguments);

    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/openai.sh"));
    command
        .env("BASE_URL", format!("http://{}/v1", server.address()))
        .env("API_KEY", &key.secret)
        .env("AGENT", &agent)
        .env("PAUSED", &paused);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.code() == Some(SKIPPED) {
        eprint!("{}", said(&output.stderr));
        return;
    }
    let (out, error) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains("all of them understand the server"), "{out}\n{error}");
}
