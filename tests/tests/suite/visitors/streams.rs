//! Streams to visitors: replies continue without their readers, and many open streams take bounded memory.

use std::time::Duration;

use cicerone_tests::raw::Connection;
use cicerone_tests::sse::Streamed;
use cicerone_tests::upstream::{Script, Upstream};
use futures_util::future::join_all;
use serde_json::json;

use super::{Chat, QUESTION, server, server_with};
use crate::world::eventually;

/// Connections of the flood. The siege `widget` has more.
const STREAMS: usize = 400;

/// The text of a streamed message of a visitor, as a connection sends it.
fn head(chat: &Chat, credential: &str, address: &str) -> String {
    let body = json!({ "message": QUESTION, "stream": true }).to_string();
    format!(
        "POST /w/{}/messages HTTP/1.1\r\nHost: chat.example\r\nOrigin: {}\r\nX-Forwarded-For: {address}\r\n\
         Authorization: Bearer {credential}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        chat.token,
        super::SITE,
        body.len(),
    )
}

#[tokio::test]
async fn a_reply_whose_visitor_went_away_is_stored_all_the_same() {
    let reply = Script::stream().token("It opens ").pause(Duration::from_secs(1)).token("at nine.");
    let upstream = Upstream::start([reply.finish("stop").done()]).await;
    let server =
        server_with("", &[("OPENAI_BASE_URL", &upstream.url()), ("OPENAI_API_KEY", "sk-x")]);
    let chat = Chat::new(&server.client(), json!({})).await;
    let credential = chat.visitor().await;
    let body = json!({ "message": QUESTION, "stream": true });
    let request = chat.of_visitor(&credential, "POST", "/messages").json(&body);
    let mut opened = request.open().await;
    opened.until("It opens").await;
    drop(opened);
    eventually("the reply is stored", async || chat.conversations(&credential).await.len() == 1)
        .await;
    let id = chat.conversations(&credential).await.remove(0);
    let shown = chat.of_visitor(&credential, "GET", &format!("/conversations/{id}")).send().await;
    assert_eq!(shown.expect(200)["messages"][1]["content"], "It opens at nine.");
}

#[tokio::test]
async fn a_reply_that_fails_in_the_middle_ends_with_an_error_without_its_cause() {
    let reply = Script::stream().token("It opens ").token("at ");
    let upstream = Upstream::start([reply]).await;
    let server =
        server_with("", &[("OPENAI_BASE_URL", &upstream.url()), ("OPENAI_API_KEY", "sk-x")]);
    let chat = Chat::new(&server.client(), json!({})).await;
    let credential = chat.visitor().await;
    let answer = chat.send(&credential, json!({ "message": QUESTION, "stream": true })).await;
    let last = Streamed::parse(answer.text()).last;
    assert_eq!((last.name.as_str(), &last.data["code"]), ("error", &json!("model_unavailable")));
    assert!(!answer.text().contains("127.0.0.1"), "{}", answer.text());
    assert!(chat.conversations(&credential).await.is_empty());
}

#[tokio::test]
async fn many_streams_that_nobody_reads_take_bounded_memory_and_leave_others_alone() {
    let limits = json!({
        "messages_per_address_per_minute": 10_000, "messages_per_visitor_per_hour": 10_000,
        "messages_per_day": 100_000, "replies_at_once": 1_000,
    });
    let chat = Chat::new(&server().client(), json!({ "limits": limits })).await;
    let other = Chat::new(&server().account("reader of streams"), json!({})).await;
    let reader = other.visitor().await;
    other.ask(&reader).await;
    let credential = chat.visitor().await;
    chat.ask(&credential).await;
    let before = server().resident_bytes();
    let open = async |n: usize| {
        let address = format!("198.51.{}.{}", n / 250, n % 250);
        let mut connection = Connection::open(server().address()).await;
        connection.send(head(&chat, &credential, &address)).await;
        connection
    };
    let connections = join_all((0..STREAMS).map(open)).await;
    // Another account's visitors and the owner are still served.
    for _ in 0..5 {
        other.ask(&reader).await;
    }
    chat.owner.ask(&chat.agent, QUESTION).await;
    let grown = server().resident_bytes().saturating_sub(before);
    // Each connection has its buffers, and the reply that waits for its reader.
    assert!(grown < STREAMS * 128 * 1_024, "{grown} bytes");
    let mut served = 0;
    for mut connection in connections {
        let answer = connection.read_until("\r\n\r\n").await;
        // On a busy machine, replies may be expected to take longer than one waits for them.
        let is_known = ["200", "429", "503"]
            .iter()
            .any(|status| answer.starts_with(&format!("HTTP/1.1 {status}")));
        assert!(is_known, "{answer}");
        served += usize::from(answer.starts_with("HTTP/1.1 200"));
    }
    assert!(served > 0);
    eventually("every reply that began is stored", async || {
        chat.conversations(&credential).await.len() == 20
    })
    .await;
}
