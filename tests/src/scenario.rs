//! What most tests start with: accounts, keys, agents and trained sources.

use serde_json::{Value, json};

use crate::client::Client;
use crate::patience::awaited;
use crate::process::Server;
use crate::sse::Streamed;

/// A key that the command line created.
#[derive(Debug, Clone)]
pub struct Key {
    /// `key_` and 10 characters.
    pub id: String,
    /// The text after `Bearer`.
    pub secret: String,
}

impl Server {
    /// Creates an account with a key that has all permissions, and returns its client. Accounts
    /// share nothing, so a test with its own account sees nothing of the others.
    pub fn account(&self, name: &str) -> Client {
        self.succeed(&["account", "create", name]);
        let key = self.create_key(&["--account", name, "--permission", "*"]);
        Client::new(self.address(), Some(&key.secret))
    }

    /// Creates a key; `arguments` follow `key create`.
    pub fn create_key(&self, arguments: &[&str]) -> Key {
        let output = self.command(&[&["key", "create"], arguments].concat());
        // For scripts, standard output contains only the secret; the id is on standard error.
        let output = [output.stdout, output.stderr].concat();
        let output = String::from_utf8(output).expect("the output is UTF-8");
        let word = |prefix: &str| {
            let words = output.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let found = words.into_iter().find(|word| word.starts_with(prefix));
            found.unwrap_or_else(|| panic!("no `{prefix}` in {output:?}")).to_owned()
        };
        Key { id: word("key_"), secret: word("ck_") }
    }

    /// A client of the account `default` whose key has only these permissions.
    pub fn client_with(&self, permissions: &[&str]) -> Client {
        let mut arguments = vec!["--account", "default"];
        for permission in permissions {
            arguments.extend(["--permission", *permission]);
        }
        self.client().with_key(&self.create_key(&arguments).secret)
    }
}

impl Client {
    /// Creates an agent and returns its id.
    pub async fn agent(&self) -> String {
        id(&self.post("/v1/agents", json!({ "name": "Guide" })).await.expect(201))
    }

    /// Adds a source, and returns its id without waiting.
    pub async fn source(&self, agent: &str, kind: &str, content: &str) -> String {
        let body = json!({ "type": kind, "content": content });
        id(&self.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201))
    }

    /// Adds a text, waits until it is trained, and returns the source's id.
    pub async fn text(&self, agent: &str, text: &str) -> String {
        let source = self.source(agent, "text", text).await;
        self.trained(&source).await;
        source
    }

    /// Adds pairs, waits until they are trained, and returns the source's id.
    pub async fn qa(&self, agent: &str, pairs: &[(&str, &str)]) -> String {
        let source = self.source(agent, "qa", &qa_content(pairs)).await;
        self.trained(&source).await;
        source
    }

    /// Waits until the source is trained, and returns it.
    pub async fn trained(&self, source: &str) -> Value {
        self.finished(source, "trained").await
    }

    /// Waits until processing has failed, and returns the source.
    pub async fn failed(&self, source: &str) -> Value {
        self.finished(source, "failed").await
    }

    async fn finished(&self, source: &str, status: &str) -> Value {
        awaited(&format!("the source is `{status}`"), async || {
            let found = self.get(&format!("/v1/sources/{source}")).await.expect(200);
            match found["status"].as_str().expect("a status") {
                reached if reached == status => Ok(found),
                "pending" | "processing" => Err(found.to_string()),
                other => panic!("the source is `{other}`, not `{status}`: {found}"),
            }
        })
        .await
    }

    /// Sends a first message, and returns the answer.
    pub async fn ask(&self, agent: &str, message: &str) -> Value {
        let body = json!({ "agent_id": agent, "message": message });
        self.post("/v1/conversations", body).await.expect(200)
    }

    /// Sends a first message with a streamed reply.
    pub async fn stream(&self, body: Value) -> Streamed {
        let answer = self.post("/v1/conversations", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        Streamed::parse(answer.text())
    }

    /// All items of a list, page by page.
    pub async fn list_all(&self, path: &str, page_size: usize) -> Vec<Value> {
        let mut items = Vec::new();
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut next = format!("{path}{joint}page_size={page_size}");
        loop {
            let mut page = self.get(&next).await.expect(200);
            let data = page["data"].take();
            let data = data.as_array().expect("an array");
            assert!(data.len() <= page_size, "a page exceeds its size");
            items.extend(data.iter().cloned());
            match page["next_cursor"].as_str() {
                Some(cursor) => {
                    assert_eq!(page["has_more"], true);
                    next = format!("{path}{joint}page_size={page_size}&cursor={cursor}");
                }
                None => {
                    assert_eq!(page["has_more"], false);
                    return items;
                }
            }
        }
    }
}

/// The `id` of an object.
pub fn id(object: &Value) -> String {
    object["id"].as_str().expect("an id").to_owned()
}

/// The citations of a reply or message: only the ids and titles of the sources.
pub fn cited(reply: &Value) -> Value {
    let citations = reply["sources_used"].as_array().expect("citations");
    let cited = citations.iter().map(|one| json!({ "id": one["id"], "title": one["title"] }));
    Value::Array(cited.collect())
}

/// The ids of a list's items.
pub fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(id).collect()
}

/// The `content` of a `qa` source.
pub fn qa_content(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(q, a)| json!({ "question": q, "answer": a }));
    Value::Array(pairs.collect()).to_string()
}
