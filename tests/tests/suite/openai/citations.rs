//! Citations as annotations: of sources with an address, and of those without.

use cicerone_tests::Server;
use serde_json::{Value, json};

use super::{QUESTION, user};
use crate::world::program;

#[tokio::test]
async fn a_source_with_an_address_is_cited_by_it_and_another_one_by_its_id() {
    let server =
        Server::of(&program()).env("CICERONE_PUBLIC_URL", "https://museum.example").start();
    let client = server.client();
    let agent = client.agent().await;
    let source =
        client.text(&agent, "Öffnungszeiten 🦀\n\nThe museum opens at nine o'clock 🦀.").await;
    for is_public in [false, true] {
        let change = json!({ "public_sources": is_public });
        client.patch(&format!("/v1/agents/{agent}"), change).await.expect(200);
        let body = json!({ "model": agent, "messages": [user(QUESTION)] });
        let chat = client.post("/v1/chat/completions", body).await.expect(200);
        let message = &chat["choices"][0]["message"];
        let end = message["content"].as_str().unwrap().chars().count();
        let url = chat["sources_used"][0]["url"].clone();
        let title = chat["sources_used"][0]["title"].clone();
        assert_eq!(url.is_string(), is_public, "{chat}");
        let at = json!({ "start_index": end, "end_index": end, "title": title, "url": url });
        let in_chat = json!([{ "type": "url_citation", "url_citation": at }]);
        let expected = if is_public { in_chat } else { json!([]) };
        assert_eq!(message["annotations"], expected);

        let body = json!({ "model": agent, "input": QUESTION });
        let response = client.post("/v1/responses", body).await.expect(200);
        let annotations = &response["output"][0]["content"][0]["annotations"];
        let mut expected = match is_public {
            true => at,
            false => json!({ "file_id": source, "filename": title, "index": end }),
        };
        let kind = if is_public { "url_citation" } else { "file_citation" };
        expected["type"] = Value::from(kind);
        assert_eq!(*annotations, json!([expected]));
    }
}
