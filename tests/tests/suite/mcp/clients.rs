//! Unchanged official clients: `tests/clients/mcp.sh`, which needs PyPI and npm.

use std::path::Path;
use std::process::Command;

use cicerone_tests::ROOT_KEY;
use tempfile::TempDir;

use crate::world::{own_server, program};

/// The status with which the script reports that it cannot run here.
const SKIPPED: i32 = 77;

#[tokio::test(flavor = "multi_thread")]
async fn official_clients_are_answered() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let folder = TempDir::with_prefix("cicerone-test-").unwrap();
    std::fs::write(folder.path().join("boat.md"), "The lifeboat is called Marie.").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/mcp.sh");
    let output = Command::new(script)
        .arg(program().path())
        .args([&format!("http://{}", server.address()), &agent])
        .arg(folder.path())
        .env("CICERONE_API_KEY", ROOT_KEY)
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.code() == Some(SKIPPED) {
        eprint!("{}", said(&output.stderr));
        return;
    }
    let (out, error) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains("all were answered"), "{out}\n{error}");
}
