//! `GET /v1/conversations/{conversation_id}/messages/{n}/receipt`.

use cicerone_tests::embedder::TestEmbedder;
use cicerone_tests::scenario::id;
use cicerone_tests::upstream::{Script, Upstream};
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_CONVERSATION, client, eventually, program, server};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/conversations/{conversation_id}/messages/{n}/receipt",
    cases: &[
        ("200", a_receipt_says_what_an_answer_was_made_from),
        ("400 invalid_operation", a_message_of_the_user_has_no_receipt),
        ("404 resource_not_found", what_does_not_exist_has_no_receipt),
    ],
};

const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";

fn path(conversation: &str, n: u32) -> String {
    format!("/v1/conversations/{conversation}/messages/{n}/receipt")
}

async fn receipt(client: &Client, reply: &Value) -> Value {
    let n = u32::try_from(reply["n"].as_u64().unwrap()).unwrap();
    client.get(&path(&id(reply), n)).await.expect(200)
}

async fn follow_up(client: &Client, reply: &Value, message: &str) -> Value {
    let body = json!({
        "agent_id": reply["agent_id"], "conversation_id": reply["id"], "message": message,
    });
    client.post("/v1/conversations", body).await.expect(200)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|stage| stage["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_receipt_says_what_an_answer_was_made_from() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    let body = json!({ "agent_id": agent, "message": "When does the museum open?" });
    let answer = client.post("/v1/conversations", body).await;
    let request = answer.header("x-request-id").unwrap().to_owned();
    let reply = answer.expect(200);
    let receipt = receipt(&client, &reply).await;
    assert_eq!((&receipt["n"], &receipt["request_id"]), (&json!(2), &json!(request)));
    assert_eq!((&receipt["model"], &receipt["history_messages"]), (&Value::Null, &json!(0)));
    assert_eq!(receipt["tokens"], json!({ "prompt": 0, "completion": 0 }));
    let search = &receipt["search"];
    assert_eq!(search["query"], "When does the museum open?");
    assert_eq!((&search["context_messages"], &search["by_meaning"]), (&json!(0), &json!(false)));
    assert!(search["confidence"].as_f64() >= search["floor"].as_f64(), "{search}");
    let terms = search["terms"].as_array().unwrap();
    let term = terms.iter().find(|term| term["text"] == "museum").unwrap();
    assert!(term["weight"].as_f64().unwrap() > 0.0 && term["is_context"] == false, "{term}");
    let hit = &receipt["hits"][0];
    let documents = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
    assert_eq!((&hit["source_id"], &hit["position"]), (&json!(source), &json!(0)));
    assert_eq!(hit["document_id"], documents["data"][0]["id"]);
    for flag in ["is_relevant", "is_sent", "is_cited", "is_current"] {
        assert_eq!(hit[flag], true, "{flag}");
    }
    assert_eq!(hit["title"], "Opening hours");
    assert!(hit["text"].as_str().unwrap().contains("nine o'clock"), "{hit}");
    assert_eq!(names(&receipt["stages"]), ["read", "wait", "search", "model"]);
    assert!(receipt["stages"][2]["ms"].as_f64().unwrap() > 0.0, "{receipt}");
}

#[tokio::test]
async fn a_receipt_of_a_refusal_shows_what_was_below_the_floor() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let question = "Which dinosaur skeletons of the museum are from Mongolia or Patagonia?";
    let reply = client.ask(&agent, question).await;
    assert_eq!(reply["sources_used"], json!([]), "{reply}");
    let receipt = receipt(&client, &reply).await;
    assert!(receipt["search"]["confidence"].as_f64() < receipt["search"]["floor"].as_f64());
    let hit = &receipt["hits"][0];
    for flag in ["is_relevant", "is_sent", "is_cited"] {
        assert_eq!(hit[flag], false, "{flag}");
    }
    assert!(hit["text"].as_str().unwrap().contains("museum"), "{hit}");
}

#[tokio::test]
async fn a_follow_up_says_with_what_it_was_understood() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let first = client.ask(&agent, "When does the museum open?").await;
    let second = follow_up(&client, &first, "And on Mondays?").await;
    let third = follow_up(&client, &second, "And on Sundays?").await;
    let (second, third) = (receipt(&client, &second).await, receipt(&client, &third).await);
    assert_eq!((&second["n"], &second["history_messages"]), (&json!(4), &json!(2)));
    assert_eq!(second["search"]["context_messages"], 2);
    assert_eq!(
        (&third["history_messages"], &third["search"]["context_messages"]),
        (&json!(4), &json!(3))
    );
    let terms = second["search"]["terms"].as_array().unwrap();
    let is_context = |word: &str| {
        let term = terms.iter().find(|term| term["text"] == word);
        term.unwrap_or_else(|| panic!("no `{word}` in {terms:?}"))["is_context"].clone()
    };
    assert_eq!((is_context("museum"), is_context("monday")), (json!(true), json!(false)));
}

#[tokio::test]
async fn passages_that_have_changed_are_shown_without_their_texts() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    let other = client.text(&agent, "Prices\n\nA ticket of the museum is nine euros.").await;
    let reply = client.ask(&agent, "When does the museum open?").await;
    let before = receipt(&client, &reply).await;
    assert!(before["hits"].as_array().unwrap().iter().all(|hit| hit["is_current"] == true));
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    // A new source raises the generation, and changes nothing of the others.
    client.text(&agent, "Parking\n\nThere is no parking at the museum.").await;
    let after = receipt(&client, &reply).await;
    for (hit, before) in
        after["hits"].as_array().unwrap().iter().zip(before["hits"].as_array().unwrap())
    {
        if hit["source_id"] == other.as_str() {
            assert_eq!(hit, before);
            continue;
        }
        assert_eq!(hit["is_current"], false);
        for field in ["title", "heading", "url", "page", "text"] {
            assert_eq!(hit[field], Value::Null, "{field}");
        }
        assert_eq!((&hit["score"], &hit["is_cited"]), (&before["score"], &json!(true)));
    }
}

#[tokio::test]
async fn an_agent_can_do_without_receipts() {
    let client = client();
    let agent = client.agent().await;
    let first = client.ask(&agent, "Hello there").await;
    let body = json!({ "receipts": false });
    client.patch(&format!("/v1/agents/{agent}"), body).await.expect(200);
    let second = follow_up(&client, &first, "And now?").await;
    let answer = client.get(&path(&id(&second), 4)).await;
    let error = answer.refused(404, "resource_not_found");
    assert_eq!(error["message"], "this reply has no receipt");
    assert_eq!(receipt(&client, &first).await["n"], 2, "the previous one is kept");
}

#[tokio::test]
async fn a_key_that_cannot_read_sources_sees_no_texts_of_passages() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let reply = client.ask(&agent, "When does the museum open?").await;
    let other = server().client_with(&["conversations:read"]);
    let receipt = receipt(&other, &reply).await;
    let hit = &receipt["hits"][0];
    assert_eq!((&hit["text"], &hit["title"]), (&Value::Null, &json!("Opening hours")));
    assert_eq!(
        (&hit["is_current"], &receipt["search"]["query"]),
        (&json!(true), &json!("When does the museum open?"))
    );
}

#[tokio::test]
async fn a_receipt_disappears_with_its_conversation_and_with_its_agent() {
    let client = client();
    let agent = client.agent().await;
    let reply = client.ask(&agent, "Hello there").await;
    client.delete(&format!("/v1/conversations/{}", id(&reply))).await.expect_nothing();
    client.get(&path(&id(&reply), 2)).await.refused(404, "resource_not_found");
    let reply = client.ask(&agent, "Hello there").await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    client.get(&path(&id(&reply), 2)).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_message_of_the_user_has_no_receipt() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    client.get(&path(&conversation, 1)).await.refused(400, "invalid_operation");
}

#[tokio::test]
async fn what_does_not_exist_has_no_receipt() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    for n in ["0", "02", "3", "x", "+2", "99999999999999999999", "9223372036854775808"] {
        let path = format!("/v1/conversations/{conversation}/messages/{n}/receipt");
        client.get(&path).await.refused(404, "resource_not_found");
    }
    for other in [NO_CONVERSATION, "7"] {
        client.get(&path(other, 2)).await.refused(404, "resource_not_found");
    }
}

/// Whole words that match every question about them, with a text that fills a passage.
fn passage(number: u32) -> String {
    format!(
        "Ticket prices {number}\n\n{}",
        "The ticket prices of the museum are nine euros. ".repeat(30)
    )
}

#[tokio::test]
async fn a_receipt_names_the_upstream_that_replied_and_what_fitted_into_its_prompt() {
    let failing = Upstream::start([Script::hang_up()]).await;
    let script = Script::whole("It is nine euros [1].");
    let upstream = Upstream::start([script.clone(), script]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    let text = format!(
        "[models.upstreams.first]\nbase_url = \"{}\"\nmax_retries = 0\n[models.upstreams.second]\n\
         base_url = \"{}\"\nmodel = \"mini\"\ncontext_tokens = 2048\n[models.default]\nupstream = \"first\"\n\
         fallbacks = [{{ upstream = \"second\" }}]\n",
        failing.url(),
        upstream.url()
    );
    std::fs::write(&file, text).unwrap();
    let server = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap()).start();
    let client = server.client();
    let agent = client.agent().await;
    for number in 0..8 {
        client.text(&agent, &passage(number)).await;
    }
    let reply = client.ask(&agent, "What are the ticket prices of the museum?").await;
    let receipt = receipt(&client, &reply).await;
    assert_eq!(receipt["model"], "mini");
    assert!(receipt["tokens"]["prompt"].as_u64().unwrap() > 0, "{receipt}");
    assert_eq!(names(&receipt["stages"]), ["read", "wait", "search", "prompt", "model"]);
    let hits = receipt["hits"].as_array().unwrap();
    let relevant = hits.iter().filter(|hit| hit["is_relevant"] == true).count();
    let sent: Vec<bool> = hits.iter().map(|hit| hit["is_sent"] == true).collect();
    let fitting = sent.iter().take_while(|sent| **sent).count();
    assert!(fitting > 0 && fitting < relevant, "{fitting} of {relevant}");
    assert!(sent[fitting..].iter().all(|sent| !sent), "{sent:?}");
    let cited: Vec<bool> = hits.iter().map(|hit| hit["is_cited"] == true).collect();
    assert_eq!((cited[0], cited.iter().filter(|cited| **cited).count()), (true, 1));
}

#[tokio::test]
async fn a_receipt_says_whether_the_search_went_by_meaning() {
    let upstream = TestEmbedder::start(64).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    let text = format!(
        "[embeddings]\nbase_url = \"{}\"\nmodel = \"test\"\n\
         question_prefix = \"query: \"\nfloor = 0.4\n",
        upstream.url()
    );
    std::fs::write(&file, text).unwrap();
    let server = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap()).start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    eventually("a search by meaning", async || {
        let reply = client.ask(&agent, "When does the museum open?").await;
        let receipt = receipt(&client, &reply).await;
        let is_embedded = names(&receipt["stages"]).contains(&"embed");
        assert_eq!(receipt["search"]["by_meaning"], is_embedded, "{receipt}");
        is_embedded
    })
    .await;
}
