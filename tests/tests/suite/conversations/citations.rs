//! Citations: sources with their documents, passages and addresses.

use cicerone_tests::{Resource, Site};
use serde_json::{Value, json};

use crate::sources::website::crawling;
use crate::world::client;

#[tokio::test]
async fn a_citation_names_the_document_and_shows_the_passage() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Opening hours\n\nThe museum opens at nine.").await;
    let path = format!("/v1/sources/{source}/passages");
    let passage = client.get(&path).await.expect(200)["data"][0].clone();
    let answer = client.ask(&agent, "When does the museum open?").await;
    let expected = json!([{
        "id": source, "title": "Opening hours", "url": null, "document_id": passage["document_id"],
        "passages": [{
            "document_id": passage["document_id"], "position": 0, "title": "Opening hours", "url": null,
            "page": null, "heading": "Opening hours", "text": "Opening hours\n\nThe museum opens at nine.",
        }],
    }]);
    assert_eq!(answer["sources_used"], expected);
    // The message and the stream have the same.
    let conversation = answer["id"].as_str().unwrap();
    let kept = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    assert_eq!(kept["messages"][1]["sources_used"], expected);
    let body =
        json!({ "agent_id": agent, "message": "When does the museum open?", "stream": true });
    assert_eq!(client.stream(body).await.done()["sources_used"], expected);
}

#[tokio::test]
async fn passages_of_a_source_are_cited_together_and_cut_at_a_word() {
    let client = client();
    let agent = client.agent().await;
    let answer =
        "The ferry leaves at seven, and ".to_owned() + &"crosses the wide river ".repeat(40);
    let source = client.qa(&agent, &[("When does the ferry leave?", &answer)]).await;
    let reply = client.ask(&agent, "When does the ferry leave?").await;
    let cited = reply["sources_used"].as_array().unwrap();
    assert_eq!((cited.len(), &cited[0]["id"]), (1, &json!(source)));
    let passages = cited[0]["passages"].as_array().unwrap();
    assert!((1..=8).contains(&passages.len()), "{reply}");
    let text = passages[0]["text"].as_str().unwrap();
    assert!(text.chars().count() <= 300 && text.ends_with('…'), "{text}");
    assert_eq!(passages[0]["title"], "When does the ferry leave?");
}

#[tokio::test]
async fn a_page_is_cited_by_its_address_and_keeps_its_id_over_refreshes() {
    let (site, client) = (Site::start().await, crawling());
    let tram = "Take the tram number four to the stop named Harbour Square.";
    let price =
        |euros: &str| format!("A ticket for adults costs {euros} euros on every day of the year.");
    site.page("/", "Prices", &price("seven"), &["/way"]);
    site.page("/way", "How to get here", tram, &["/"]);
    let agent = client.agent().await;
    let body = json!({ "type": "website", "content": site.url("/"), "crawl_subpages": true });
    let source = client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    let source = source["id"].as_str().unwrap();
    client.trained(source).await;
    let documents = async || {
        let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        let of = |path: &str| {
            let url = site.url(path);
            let found = listed.iter().find(|document| document["url"] == url.as_str());
            found.map(|document| document["id"].clone())
        };
        (of("/"), of("/way"))
    };
    let refresh = async || {
        client.post_nothing(&format!("/v1/sources/{source}/refresh")).await.expect(200);
        client.trained(source).await;
    };
    let (prices, way) = documents().await;
    let (prices, way) = (prices.unwrap(), way.unwrap());

    let reply = client.ask(&agent, "What does a ticket for adults cost?").await;
    let cited = &reply["sources_used"][0];
    assert_eq!((&cited["url"], &cited["document_id"]), (&json!(site.url("/")), &prices));

    // Changed, and vanished.
    site.page("/", "Prices", &price("nine"), &[]);
    site.put("/way", Resource::html("gone").status(404));
    refresh().await;
    assert_eq!(documents().await, (Some(prices.clone()), None));
    let path = |id: &Value| format!("/v1/documents/{}", id.as_str().unwrap());
    let found = client.get(&path(&prices)).await.expect(200);
    assert!(found["text"].as_str().unwrap().contains("nine euros"), "{found}");
    client.get(&path(&way)).await.refused(404, "resource_not_found");
    let reply = client.ask(&agent, "What does a ticket for adults cost?").await;
    assert_eq!(reply["sources_used"][0]["document_id"], prices);

    // Back again.
    site.page("/", "Prices", &price("ten"), &["/way"]);
    site.page("/way", "How to get here", tram, &["/"]);
    refresh().await;
    assert_eq!(documents().await, (Some(prices), Some(way)));
}
