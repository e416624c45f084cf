//! `GET /v1/agents/{agent_id}/conversations/export`.

use std::collections::BTreeSet;

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use diesel::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::coverage::Covers;
use crate::world::{NO_AGENT, a_second_later, account, client, eventually, own_server, server};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/conversations/export",
    cases: &[
        ("200", an_export_is_every_conversation_with_every_message),
        ("400 invalid_parameter", bad_parameters_are_refused),
        ("400 invalid_operation", an_export_neither_searches_nor_has_pages),
        ("404 resource_not_found", an_agent_that_does_not_exist_is_not_found),
        ("503 service_unavailable", an_account_has_two_exports_at_once),
    ],
};

fn path(agent: &str) -> String {
    format!("/v1/agents/{agent}/conversations/export")
}

async fn lines(client: &Client, path: &str) -> Vec<Value> {
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn go_on(client: &Client, reply: &Value, message: &str) {
    let body = json!({
        "agent_id": reply["agent_id"], "conversation_id": reply["id"], "message": message,
    });
    client.post("/v1/conversations", body).await.expect(200);
}

#[tokio::test]
async fn an_export_is_every_conversation_with_every_message() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let first = client.ask(&agent, "When does the museum open?").await;
    go_on(&client, &first, "And on \"Mondays\"?").await;
    let second = client.ask(&agent, "Hello there").await;
    let rating = format!("/v1/conversations/{}/messages/2/rating", id(&first));
    client.put(&rating, json!({ "value": "up", "comment": "Good" })).await.expect(200);
    let answer = client.get(&path(&agent)).await;
    let disposition = format!("attachment; filename=\"conversations-{agent}.ndjson\"");
    assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let lines = lines(&client, &path(&agent)).await;
    let mut expected = Vec::new();
    for reply in [&second, &first] {
        let mut whole = client.get(&format!("/v1/conversations/{}", id(reply))).await.expect(200);
        whole.as_object_mut().unwrap().remove("messages_cursor");
        expected.push(whole);
    }
    assert_eq!(lines, expected);
    let empty = client.agent().await;
    assert_eq!(client.get(&path(&empty)).await.text(), "");
}

#[tokio::test]
async fn a_table_has_a_line_for_each_message_and_no_formulas() {
    let client = client();
    let agent = client.agent().await;
    let body = json!({
        "agent_id": agent, "message": "=SUM(A1)\n\"x\", y", "metadata": { "user": "a,b" },
    });
    let reply = client.post("/v1/conversations", body).await.expect(200);
    let answer = client.get(&format!("{}?format=csv", path(&agent))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert!(answer.header("content-disposition").unwrap().ends_with(".csv\""));
    let whole = client.get(&format!("/v1/conversations/{}", id(&reply))).await.expect(200);
    let [question, replied] = [0, 1].map(|n| whole["messages"][n]["timestamp"].as_str().unwrap());
    let conversation = format!(
        "{},api,{},\"{{\"\"user\"\":\"\"a,b\"\"}}\"",
        id(&reply),
        whole["created_at"].as_str().unwrap()
    );
    let text = reply["reply"].as_str().unwrap();
    let text = if text.contains(',') { format!("\"{text}\"") } else { text.to_owned() };
    let expected = format!(
        "conversation_id,channel,conversation_created_at,metadata,n,role,content,timestamp,answered,rating,comment,sources,\
         widget_id,visitor_id,visitor,handoff_requested_at,lead\r\n\
         {conversation},1,user,\"'=SUM(A1)\n\"\"x\"\", y\",{question},,,,,,,,,\r\n\
         {conversation},2,assistant,{text},{replied},false,,,,,,,,\r\n"
    );
    assert_eq!(answer.text(), expected);
}

#[tokio::test]
async fn an_export_takes_the_filters_of_the_list() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    client.ask(&agent, "When does the museum open?").await;
    let body = json!({ "agent_id": agent, "message": "Hello there", "metadata": { "a": "b" } });
    let refused = client.post("/v1/conversations", body).await.expect(200);
    let list = format!("/v1/agents/{agent}/conversations");
    let begin = refused["created_at"].as_str().unwrap();
    for query in [
        "unanswered=true".to_owned(),
        "channel=mcp".to_owned(),
        "metadata=a:b".to_owned(),
        "rating=down".to_owned(),
        format!("created_before={begin}"),
        format!("created_after={begin}&channel=api"),
    ] {
        let ids = |list: Vec<Value>| list.iter().map(id).collect::<Vec<_>>();
        let listed = ids(client.list_all(&format!("{list}?{query}"), 10).await);
        let exported = ids(lines(&client, &format!("{}?{query}", path(&agent))).await);
        assert_eq!(exported, listed, "{query}");
    }
}

#[tokio::test]
async fn each_export_is_recorded_also_one_of_the_head_alone() {
    let client = account();
    let agent = client.agent().await;
    client.ask(&agent, "Hello there").await;
    for method in ["GET", "HEAD"] {
        let answer = client.request(method, &path(&agent)).send().await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.text().is_empty(), method == "HEAD");
        assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    }
    client.get(&path(NO_AGENT)).await.refused(404, "resource_not_found");
    let log = client.list_all("/v1/audit_log?action=conversations.exported", 10).await;
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log.iter().all(|record| record["target_id"] == agent.as_str()), "{log:?}");
}

#[tokio::test]
async fn reading_and_exporting_are_two_permissions() {
    let owner = client();
    let agent = owner.agent().await;
    let conversation = id(&owner.ask(&agent, "Hello there").await);
    let reader = server().client_with(&["conversations:read"]);
    reader.get(&path(&agent)).await.refused(403, "forbidden");
    let exporter = server().client_with(&["conversations:export"]);
    assert_eq!(lines(&exporter, &path(&agent)).await.len(), 1);
    let read = format!("/v1/conversations/{conversation}");
    exporter.get(&read).await.refused(403, "forbidden");
}

#[tokio::test]
async fn bad_parameters_are_refused() {
    let client = client();
    let agent = client.agent().await;
    for (query, param) in [
        ("format=xml", "format"),
        ("format=csv&format=csv", "format"),
        ("channel=mail", "channel"),
        ("unanswered=false", "unanswered"),
        ("created_after=now", "created_after"),
        ("metadata=a", "metadata"),
    ] {
        let answer = client.get(&format!("{}?{query}", path(&agent))).await;
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn an_export_neither_searches_nor_has_pages() {
    let client = client();
    let agent = client.agent().await;
    for query in ["text=nine", "page_size=10", "cursor=x"] {
        let answer = client.get(&format!("{}?{query}", path(&agent))).await;
        let name = query.split('=').next().unwrap();
        let error = answer.refuses(400, "invalid_operation", name);
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
}

#[tokio::test]
async fn an_agent_that_does_not_exist_is_not_found() {
    for agent in [NO_AGENT, "7"] {
        client().get(&path(agent)).await.refused(404, "resource_not_found");
    }
}

/// Adds conversations of 1,000 messages of about 200 bytes, as another process would.
fn flood(server: &Server, agent: &str, conversations: u32) {
    let file = server.data().join("cicerone.db");
    let mut connection = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    let mut execute = |sql: &str| {
        diesel::sql_query("PRAGMA busy_timeout = 30000").execute(&mut connection).unwrap();
        diesel::sql_query(sql).execute(&mut connection).unwrap();
    };
    let numbers = |count| {
        format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"
        )
    };
    execute(&format!(
        "{} INSERT INTO conversations (id, account_id, agent_id, metadata, message_count, created_at, updated_at) \
         SELECT printf('conv_%010d', n), (SELECT account_id FROM agents WHERE id = '{agent}'), '{agent}', '{{}}', 1000, n, n \
         FROM numbers",
        numbers(conversations)
    ));
    execute(&format!(
        "{} INSERT INTO messages (conversation_id, position, account_id, role, content, created_at) \
         SELECT c.id, n - 1, c.account_id, CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, \
         printf('%0200d', n), n FROM numbers, conversations c WHERE c.id LIKE 'conv_00000%'",
        numbers(1_000)
    ));
}

#[tokio::test]
async fn a_large_export_takes_little_memory() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    flood(&server, &agent, 200);
    client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    let before = server.peak_bytes();
    for format in ["ndjson", "csv"] {
        let mut answer =
            client.request("GET", &format!("{}?format={format}", path(&agent))).open().await;
        assert_eq!(answer.status, 200);
        let (mut messages, mut ids) = (0, BTreeSet::new());
        let mut line = Vec::new();
        while let Some(piece) = answer.next().await {
            for byte in piece {
                line.push(byte);
                if byte != b'\n' {
                    continue;
                }
                if format == "csv" {
                    messages += 1;
                } else {
                    let whole: Value = serde_json::from_slice(&line).unwrap();
                    messages += whole["messages"].as_array().unwrap().len();
                    assert!(ids.insert(id(&whole)));
                }
                line.clear();
            }
        }
        let expected = if format == "csv" { 200_001 } else { 200_000 };
        assert_eq!(messages, expected, "{format}");
    }
    let raised = server.peak_bytes().saturating_sub(before);
    assert!(raised < 30 * 1_024 * 1_024, "{raised} bytes");
}

#[tokio::test]
async fn an_account_has_two_exports_at_once() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    flood(&server, &agent, 200);
    let begin = async || {
        let mut answer = client.request("GET", &path(&agent)).open().await;
        assert_eq!(answer.status, 200);
        answer.next().await.unwrap();
        answer
    };
    let (one, _two) = (begin().await, begin().await);
    let refused = client.get(&path(&agent)).await;
    assert_eq!(refused.header("retry-after"), Some("5"));
    refused.refused(503, "service_unavailable");
    let other = server.account("other");
    let theirs = other.agent().await;
    assert_eq!(lines(&other, &path(&theirs)).await.len(), 0, "another account has places");
    drop(one);
    eventually("a place is free again", async || {
        let answer = client.request("GET", &path(&agent)).open().await;
        answer.status == 200
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_during_an_export_is_left_out() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    flood(&server, &agent, 200);
    let mut answer = client.request("GET", &path(&agent)).open().await;
    let mut text = answer.next().await.unwrap().to_vec();
    // The newest one comes first, and so the oldest one is not read yet.
    client.delete("/v1/conversations/conv_0000000001").await.expect_nothing();
    while let Some(piece) = answer.next().await {
        text.extend_from_slice(&piece);
    }
    let text = String::from_utf8(text).unwrap();
    let ids: Vec<String> =
        text.lines().map(|line| id(&serde_json::from_str::<Value>(line).unwrap())).collect();
    assert_eq!((ids.len(), ids[0].as_str()), (199, "conv_0000000200"));
    assert!(!ids.contains(&"conv_0000000001".to_owned()));
}

#[tokio::test]
async fn an_export_that_fails_is_cut_off_before_its_end() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    flood(&server, &agent, 200);
    let key = json!(client.key().unwrap());
    let (mut socket, mut text) = begun(&server, &path(&agent), &key).await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    // The connection may also be reset, since the server closes it.
    let _ = socket.read_to_end(&mut text).await;
    assert!(text.starts_with(b"HTTP/1.1 200"));
    assert!(!text.ends_with(b"\r\n0\r\n\r\n"), "the end of a whole body was sent");
}

#[tokio::test]
async fn an_export_ends_with_its_key() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    flood(&server, &agent, 200);
    let reading = json!({"name": "reads", "permissions": ["conversations:export", "agents:read"]});
    for change in ["delete", "reduce"] {
        let key = client.post("/v1/api_keys", reading.clone()).await.expect(201);
        let (mut socket, mut text) = begun(&server, &path(&agent), &key["key"]).await;
        let at = format!("/v1/api_keys/{}", id(&key));
        match change {
            "delete" => client.delete(&at).await.expect_nothing(),
            _ => {
                let less = json!({"permissions": ["agents:read"]});
                client.patch(&at, less).await.expect(200);
            }
        }
        // A key that was found is known for a second.
        a_second_later().await;
        // The connection may also be reset, since the server closes it.
        let _ = socket.read_to_end(&mut text).await;
        assert!(text.starts_with(b"HTTP/1.1 200"));
        assert!(text.len() < 30_000_000, "{change}: {} bytes of some 50,000,000", text.len());
        assert!(!text.ends_with(b"\r\n0\r\n\r\n"), "the end of a whole body was sent");
    }
}

/// An export of which the beginning was received.
async fn begun(server: &Server, path: &str, key: &Value) -> (TcpStream, Vec<u8>) {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let key = key.as_str().unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut text = vec![0; 4_096];
    let count = socket.read(&mut text).await.unwrap();
    text.truncate(count);
    (socket, text)
}
