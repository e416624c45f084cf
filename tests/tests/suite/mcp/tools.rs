//! The tools, and who may use them.

use cicerone_tests::Server;
use cicerone_tests::answer::is_id;
use serde_json::json;

use super::caller::{Caller, ERAS, LEGACY, MODERN, path};
use crate::world::{NO_AGENT, NO_DOCUMENT, account, client, own_server, program, server};

#[tokio::test]
async fn a_question_is_answered_with_its_sources_and_a_follow_up_continues() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        let question = json!({ "question": "When does the museum open?" });
        let reply = caller.tool("ask", question).await;
        assert!(reply["answer"].as_str().unwrap().contains("nine"), "{reply}");
        let conversation = reply["conversation_id"].as_str().unwrap();
        assert!(is_id(conversation, "conv_"), "{reply}");
        assert_eq!(reply["sources"][0]["id"], source.as_str());
        assert_eq!(reply["sources"][0]["title"], "Museum");
        assert_eq!(reply["sources"][0]["url"], "");
        let document = &reply["sources"][0]["document_id"];
        let fetched = caller.tool("fetch", json!({ "id": document })).await;
        assert_eq!(fetched["metadata"]["source_id"], source.as_str());
        let next = json!({ "question": "And when?", "conversation_id": conversation });
        assert_eq!(caller.tool("ask", next).await["conversation_id"], conversation);
        let stored = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
        assert_eq!(stored["messages"].as_array().unwrap().len(), 4);
        // What the sources do not cover is not answered.
        let other = caller.tool("ask", json!({ "question": "Which wines suit oysters?" })).await;
        assert_eq!(other["sources"], json!([]));
    }
}

#[tokio::test]
async fn documents_are_found_and_read_whole() {
    let client = client();
    let agent = client.agent().await;
    let text =
        format!("Museum\n\nThe museum opens at nine.\n\n{}", "The hall is large. ".repeat(200));
    let source = client.text(&agent, &text).await;
    client.qa(&agent, &[("Is parking free?", "Parking is free on Sundays.")]).await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        let found = caller.tool("search", json!({ "query": "When does the museum open?" })).await;
        let results = found["results"].as_array().unwrap();
        let first = &results[0];
        assert!(is_id(first["id"].as_str().unwrap(), "doc_"), "{found}");
        assert_eq!((&first["title"], &first["url"]), (&json!("Museum"), &json!("")));
        assert!(first["text"].as_str().unwrap().contains("nine"), "{found}");
        assert!(first["text"].as_str().unwrap().chars().count() <= 1_000);
        // Each document once, though many of its passages were found.
        let found = caller.tool("search", json!({ "query": "large hall" })).await;
        let results = found["results"].as_array().unwrap();
        assert_eq!(results.iter().filter(|result| result["id"] == first["id"]).count(), 1);

        let document = caller.tool("fetch", json!({ "id": first["id"] })).await;
        let read = client.get(&format!("/v1/documents/{}", first["id"].as_str().unwrap())).await;
        assert_eq!(document["text"], read.expect(200)["text"]);
        assert_eq!((&document["title"], &document["url"]), (&json!("Museum"), &json!("")));
        assert_eq!(document["metadata"], json!({ "source_id": source, "truncated": "false" }));

        let found = caller.tool("search", json!({ "query": "Is parking free?" })).await;
        let pair = caller.tool("fetch", json!({ "id": found["results"][0]["id"] })).await;
        assert_eq!(pair["title"], "Is parking free?");
        assert_eq!(pair["text"], "Parking is free on Sundays.");
    }
    let nothing = Caller::new(&client, &client.agent().await, LEGACY);
    let found = nothing.tool("search", json!({ "query": "museum" })).await;
    assert_eq!(found, json!({ "results": [] }));
}

#[tokio::test]
async fn a_text_is_cut_after_200_000_characters() {
    let client = client();
    let agent = client.agent().await;
    let caller = Caller::new(&client, &agent, MODERN);
    for (count, is_cut) in [(200_000_usize, "false"), (200_001, "true")] {
        let text = "é".repeat(count);
        let file = client.upload("long.txt", text.clone()).await.expect(201);
        let source = client.source(&agent, "file", file["id"].as_str().unwrap()).await;
        client.trained(&source).await;
        let listed = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
        let document = caller.tool("fetch", json!({ "id": listed["data"][0]["id"] })).await;
        assert_eq!(document["metadata"]["truncated"], is_cut);
        let read = document["text"].as_str().unwrap();
        assert_eq!(read.chars().count(), 200_000);
        assert!(text.starts_with(read));
    }
}

#[tokio::test]
async fn documents_of_an_agent_that_publishes_them_have_addresses() {
    let public = "https://docs.example/help";
    let server = Server::of(&program()).env("CICERONE_PUBLIC_URL", public).start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let caller = Caller::new(&client, &agent, LEGACY);
    let search =
        async || caller.tool("search", json!({ "query": "museum" })).await["results"][0].clone();
    assert_eq!(search().await["url"], "");
    let change = json!({ "public_sources": true });
    client.patch(&format!("/v1/agents/{agent}"), change).await.expect(200);
    let found = search().await;
    let address = format!("{public}/s/{}", found["id"].as_str().unwrap());
    assert_eq!(found["url"], address);
    let document = caller.tool("fetch", json!({ "id": found["id"] })).await;
    assert_eq!(document["url"], address);
    let reply = caller.tool("ask", json!({ "question": "When does the museum open?" })).await;
    assert_eq!(reply["sources"][0]["url"], address);
}

#[tokio::test]
async fn a_document_of_another_agent_or_account_does_not_exist() {
    let (owner, stranger) = (account(), account());
    let (agent, other) = (owner.agent().await, owner.agent().await);
    owner.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let own = Caller::new(&owner, &agent, LEGACY);
    let document =
        own.tool("search", json!({ "query": "museum" })).await["results"][0]["id"].clone();
    own.tool("fetch", json!({ "id": document })).await;
    let other = Caller::new(&owner, &other, LEGACY);
    let theirs = Caller::new(&stranger, &stranger.agent().await, LEGACY);
    for caller in [other, theirs] {
        let foreign = caller.tool_error("fetch", json!({ "id": document })).await;
        let unknown = caller.tool_error("fetch", json!({ "id": NO_DOCUMENT })).await;
        assert_eq!(foreign.0, "resource_not_found");
        assert_eq!(foreign.1.replace(document.as_str().unwrap(), NO_DOCUMENT), unknown.1);
        assert_eq!(unknown.0, foreign.0);
        let found = caller.tool("search", json!({ "query": "museum" })).await;
        assert_eq!(found["results"], json!([]));
    }
    for id in ["", "doc_", "museum", "src_0000000000"] {
        let (code, _) = own.tool_error("fetch", json!({ "id": id })).await;
        assert_eq!(code, "resource_not_found", "{id}");
    }
    // A refusal repeats the beginning of a long id only.
    let (_, message) = own.tool_error("fetch", json!({ "id": "d".repeat(100_000) })).await;
    assert_eq!(message, format!("there is no document `{}`", "d".repeat(100)));
}

#[tokio::test]
async fn a_key_sees_and_uses_the_tools_of_its_permissions_only() {
    let client = client();
    let agent = client.agent().await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        for (permissions, allowed) in [
            (vec!["conversations:write"], vec!["ask"]),
            (vec!["sources:read"], vec!["search", "fetch"]),
            (vec!["*"], vec!["search", "fetch", "ask"]),
            (vec!["agents:read", "conversations:read", "sources:write"], vec![]),
        ] {
            let caller = caller.with(&server().client_with(&permissions));
            assert_eq!(caller.tools().await, allowed, "{permissions:?}");
        }
        let other = caller.with(&server().client_with(&["agents:read", "sources:read"]));
        let (code, message) = other.tool_error("ask", json!({ "question": "What?" })).await;
        assert_eq!(code, "forbidden");
        assert!(message.contains("`conversations:write`"), "{message}");
        let others = ["agents:read", "sources:write", "conversations:write"];
        let other = caller.with(&server().client_with(&others));
        let arguments =
            [("search", json!({ "query": "museum" })), ("fetch", json!({ "id": NO_DOCUMENT }))];
        for (tool, arguments) in arguments {
            let (code, message) = other.tool_error(tool, arguments).await;
            assert_eq!(code, "forbidden");
            assert!(message.contains("`sources:read`"), "{message}");
        }
    }
}

#[tokio::test]
pub(super) async fn the_agent_of_another_account_does_not_exist() {
    let (owner, stranger) = (account(), account());
    let agent = owner.agent().await;
    let ping = || json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let foreign = stranger.post(&path(&agent), ping()).await;
    foreign.refused(404, "resource_not_found");
    for unknown in [NO_AGENT, "agent_", "guide", "src_0000000000"] {
        stranger.post(&path(unknown), ping()).await.refused(404, "resource_not_found");
    }
    // This is reported before the body is read.
    let request = stranger.request("POST", &path(&agent)).raw("application/json", "{");
    request.send().await.refused(404, "resource_not_found");
    let body = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [owner.agent().await] });
    let key = owner.post("/v1/api_keys", body).await.expect(201);
    let restricted = owner.with_key(key["key"].as_str().unwrap());
    restricted.post(&path(&agent), ping()).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_key_within_an_agent_uses_that_agent() {
    let owner = account();
    let agent = owner.agent().await;
    owner.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let body =
        json!({ "name": "Key", "permissions": ["conversations:write"], "agent_ids": [agent] });
    let key = owner.post("/v1/api_keys", body).await.expect(201);
    let caller = Caller::new(&owner.with_key(key["key"].as_str().unwrap()), &agent, MODERN);
    let reply = caller.tool("ask", json!({ "question": "When does the museum open?" })).await;
    assert!(reply["answer"].as_str().unwrap().contains("nine"), "{reply}");
}

#[tokio::test]
async fn a_conversation_of_another_account_or_agent_cannot_be_continued() {
    let (owner, stranger) = (account(), account());
    let (theirs, own) = (owner.agent().await, stranger.agent().await);
    let conversation = owner.ask(&theirs, "Hello there").await["id"].clone();
    let arguments = json!({ "question": "What?", "conversation_id": conversation });
    let caller = Caller::new(&stranger, &own, LEGACY);
    let (code, message) = caller.tool_error("ask", arguments.clone()).await;
    assert_eq!(code, "resource_not_found", "{message}");
    // As over the API, it is a conflict within an account.
    let caller = Caller::new(&owner, &owner.agent().await, LEGACY);
    assert_eq!(caller.tool_error("ask", arguments).await.0, "conflict");
}

#[tokio::test]
async fn a_paused_agent_begins_no_conversation_but_continues_those_it_has() {
    let client = client();
    let agent = client.agent().await;
    let caller = Caller::new(&client, &agent, LEGACY);
    let before = caller.tool("ask", json!({ "question": "What?" })).await;
    client.patch(&format!("/v1/agents/{agent}"), json!({ "status": "paused" })).await.expect(200);
    let (code, message) = caller.tool_error("ask", json!({ "question": "What?" })).await;
    assert_eq!(code, "conflict");
    assert!(message.contains("paused"), "{message}");
    let next = json!({ "question": "What?", "conversation_id": before["conversation_id"] });
    caller.tool("ask", next).await;
}

#[tokio::test]
async fn questions_count_toward_the_quota_and_are_refused_beyond_it() {
    let server = own_server();
    let client = server.account("small");
    server.succeed(&["account", "limit", "small", "--messages", "1"]);
    let caller = Caller::new(&client, &client.agent().await, MODERN);
    caller.tool("ask", json!({ "question": "What?" })).await;
    let (code, message) = caller.tool_error("ask", json!({ "question": "What?" })).await;
    assert_eq!(code, "quota_exceeded", "{message}");
    let me = client.get("/v1/me").await.expect(200);
    assert_eq!(me["quotas"]["messages"], json!({ "limit": 1, "used": 1 }));
}

#[tokio::test]
async fn an_idempotency_key_is_ignored() {
    let client = client();
    let caller = Caller::new(&client, &client.agent().await, LEGACY);
    let params = json!({ "name": "ask", "arguments": { "question": "What?" } });
    let ask = || caller.request("tools/call", params.clone()).idempotent("two words").send();
    let (first, second) = (ask().await.expect(200), ask().await.expect(200));
    let conversation = |answer: &serde_json::Value| {
        answer["result"]["structuredContent"]["conversation_id"].as_str().unwrap().to_owned()
    };
    assert_ne!(conversation(&first), conversation(&second));
}

#[tokio::test]
async fn no_log_contains_a_question_or_an_error_of_a_call() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        caller.tool("ask", json!({ "question": "Where is the periwinkle kept?" })).await;
        let params = json!({ "name": "ask", "arguments": { "question": ["periwinkle"] } });
        caller.send("tools/call", params).await;
        caller.error("periwinkle/list", json!({})).await;
    }
    let log = server.log_with("/mcp/agents/{agent_id}").await;
    assert!(!log.contains("periwinkle") && !log.contains("rmcp"), "{log}");
}
