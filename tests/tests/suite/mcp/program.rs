//! `cicerone mcp` over standard input and output.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::world::program;

/// A running `cicerone mcp`.
pub(super) struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    /// Starts it with these arguments, environment variables and working directory.
    pub(super) fn start(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let arguments = [&["mcp"], arguments].concat();
        let mut command = Command::from(program().command(folder, &arguments));
        let mut child = command
            .envs(variables.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output }
    }

    /// Writes a line.
    pub(super) async fn say(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// The next line.
    pub(super) async fn heard(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap().expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// The answer to a request.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.say(&message.to_string()).await;
        let answer = self.heard().await;
        assert_eq!(answer["id"], 7, "{answer}");
        answer
    }

    /// Begins as a client of the older era does.
    pub(super) async fn begin(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "suite", "version": "1" },
        });
        let mut answer = self.ask("initialize", params).await;
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        answer["result"].take()
    }

    /// The structured result of a tool.
    pub(super) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let mut answer = self.ask("tools/call", params).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].take()
    }

    /// Ends the input, and reads the rest of the output.
    pub(super) async fn rest(mut self) -> Vec<String> {
        drop(self.input);
        let mut lines = Vec::new();
        while let Some(line) = self.output.next_line().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    /// Ends the input, and waits for the program.
    pub(super) async fn end(self) -> Output {
        drop((self.input, self.output));
        self.child.wait_with_output().await.unwrap()
    }
}

fn folder() -> TempDir {
    let folder = TempDir::with_prefix("cicerone-test-").unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    let light = "# The light\n\nThe harbour light was built in 1854 of local stone.\n";
    std::fs::write(folder.path().join("docs/light.md"), light).unwrap();
    std::fs::write(folder.path().join("docs/boat.txt"), "The lifeboat is called Marie.").unwrap();
    folder
}

#[tokio::test]
async fn a_folder_is_served_without_a_server() {
    let folder = folder();
    let mut pipe = Pipe::start(folder.path(), &["--source", "docs"], &[]);
    let begun = pipe.begin().await;
    assert_eq!(begun["serverInfo"]["name"], "cicerone", "{begun}");
    let question = json!({ "question": "When was the harbour light built?" });
    let reply = pipe.tool("ask", question).await;
    assert!(reply["answer"].as_str().unwrap().contains("1854"), "{reply}");
    assert_eq!(reply["sources"][0]["title"], "docs/light.md");
    let found = pipe.tool("search", json!({ "query": "lifeboat" })).await;
    let document = pipe.tool("fetch", json!({ "id": found["results"][0]["id"] })).await;
    assert_eq!(document["text"], "The lifeboat is called Marie.");
    let next = json!({ "question": "Of what?", "conversation_id": reply["conversation_id"] });
    assert_eq!(pipe.tool("ask", next).await["conversation_id"], reply["conversation_id"]);
    let output = pipe.end().await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left: {left:?}");
}

#[tokio::test]
async fn a_folder_is_served_to_a_client_of_the_stateless_era() {
    let folder = folder();
    let mut pipe = Pipe::start(folder.path(), &["--source", "docs"], &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = pipe.ask("server/discover", json!({ "_meta": meta })).await;
    assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
    let params = json!({
        "name": "ask",
        "arguments": { "question": "What is the lifeboat called?" },
        "_meta": meta,
    });
    let answer = pipe.ask("tools/call", params).await;
    let reply = &answer["result"]["structuredContent"];
    assert!(reply["answer"].as_str().unwrap().contains("Marie"), "{answer}");
    assert!(pipe.end().await.status.success());
}

#[tokio::test]
async fn what_cannot_be_served_ends_the_program_with_one_line() {
    let folder = folder();
    for (arguments, status, reason) in [
        (&["--source", "missing"][..], 1, "cannot read `missing`"),
        (&[], 2, "`--agent`"),
        (&["--agent", "agent_0123456789"], 2, "`CICERONE_API_KEY`"),
        (&["--agent", "agent_0123456789", "--source", "docs"], 2, "cannot be used with"),
        (&["--agent", "guide"], 2, "invalid value"),
        (&["--server", "http://localhost", "--source", "docs"], 2, "cannot be used with"),
    ] {
        let output = Pipe::start(folder.path(), arguments, &[]).end().await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[tokio::test]
async fn input_that_ends_at_once_ends_the_program() {
    let folder = folder();
    let output = Pipe::start(folder.path(), &["--source", "docs"], &[]).end().await;
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
