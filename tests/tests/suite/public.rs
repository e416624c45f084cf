//! `GET /s/{document_id}`: texts that anybody can read.

use cicerone_tests::scenario::id;
use cicerone_tests::{Answer, Client, Server};
use serde_json::{Value, json};

use crate::world::{NO_DOCUMENT, client, program};

pub(crate) const ADDRESS: &str = "https://docs.example/guide";

pub(crate) fn public_server() -> Server {
    Server::of(&program()).env("CICERONE_PUBLIC_URL", format!("{ADDRESS}/")).start()
}

/// An agent that publishes its sources.
async fn public_agent(client: &Client) -> String {
    let body = json!({ "name": "Guide", "public_sources": true });
    id(&client.post("/v1/agents", body).await.expect(201))
}

/// The path of the only document of a source.
async fn page_of(client: &Client, source: &str) -> String {
    let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    format!("/s/{}", id(&listed[0]))
}

/// The answer to a document that is not there, which is the same for all of them.
#[track_caller]
fn assert_absent(answer: &Answer, path: &str) {
    let error = answer.refused(404, "resource_not_found");
    let id = path.trim_start_matches("/s/");
    assert_eq!(error["message"], format!("there is no document `{id}`"), "{error}");
}

#[tokio::test]
pub(crate) async fn a_public_text_is_a_page_that_loads_nothing() {
    let server = public_server();
    let client = server.client();
    let agent = public_agent(&client).await;
    let source =
        client.text(&agent, "Hours <b>\n\nThe museum opens at nine & closes at six.").await;
    let path = page_of(&client, &source).await;
    let page = client.anonymous().get(&path).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("<title>Hours &lt;b&gt;</title>"), "{}", page.text());
    assert!(page.text().contains("opens at nine &amp; closes at six."), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex"),
        ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
    let head = client.anonymous().request("HEAD", &path).send().await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(client.get("/v1/me").await.expect(200)["capabilities"]["public_url"], ADDRESS);
}

#[tokio::test]
async fn replies_link_to_public_texts_of_all_types_without_an_address() {
    let server = public_server();
    let client = server.client();
    let agent = public_agent(&client).await;
    let file = id(&client.upload("ferry.txt", "The ferry crosses the river.").await.expect(201));
    let file = client.source(&agent, "file", &file).await;
    client.trained(&file).await;
    client.text(&agent, "The museum opens at nine.").await;
    client.qa(&agent, &[("Where is the garden?", "Behind the tower.")]).await;
    for question in
        ["When does the museum open?", "Where is the garden?", "What does the ferry cross?"]
    {
        let answer = client.ask(&agent, question).await;
        let cited = &answer["sources_used"][0];
        let url = cited["url"].as_str().unwrap_or_else(|| panic!("{question} {answer}"));
        assert_eq!(url, format!("{ADDRESS}/s/{}", cited["document_id"].as_str().unwrap()));
        assert_eq!(cited["passages"][0]["url"], url);
        let page = client.anonymous().get(url.trim_start_matches(ADDRESS)).await;
        assert!(page.text().contains(cited["passages"][0]["text"].as_str().unwrap()), "{cited}");
    }
    // Switched off, the pages end at once, and replies no longer link to them.
    let before = client.ask(&agent, "When does the museum open?").await;
    let url = before["sources_used"][0]["url"].as_str().unwrap();
    let path = format!("/v1/agents/{agent}");
    client.patch(&path, json!({ "public_sources": null })).await.expect(200);
    let gone = url.trim_start_matches(ADDRESS);
    assert_absent(&client.anonymous().get(gone).await, gone);
    let after = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(after["sources_used"][0]["url"], Value::Null);
    assert_eq!(after["sources_used"][0]["document_id"], before["sources_used"][0]["document_id"]);
}

#[tokio::test]
pub(crate) async fn what_is_unknown_private_or_deleted_gets_the_same_answer() {
    let server = public_server();
    let client = server.client();
    let private = client.agent().await;
    let source = client.text(&private, "The vault opens at nine.").await;
    let private = page_of(&client, &source).await;
    let agent = public_agent(&client).await;
    let deleted = client.text(&agent, "The museum opens at nine.").await;
    let path = page_of(&client, &deleted).await;
    assert_eq!(client.get(&path).await.status, 200);
    client.delete(&format!("/v1/sources/{deleted}")).await.expect_nothing();
    let unknown = format!("/s/{NO_DOCUMENT}");
    // A key makes no difference.
    for path in [private, path, unknown, "/s/7".to_owned()] {
        assert_absent(&client.get(&path).await, &path);
        assert_absent(&client.anonymous().get(&path).await, &path);
    }
}

#[tokio::test]
async fn without_a_public_address_nothing_is_public() {
    let client = client();
    let agent = public_agent(&client).await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let path = page_of(&client, &source).await;
    assert_absent(&client.anonymous().get(&path).await, &path);
    let answer = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(answer["sources_used"][0]["url"], Value::Null);
    assert_eq!(client.get("/v1/me").await.expect(200)["capabilities"]["public_url"], Value::Null);
}

#[tokio::test]
async fn of_a_long_text_the_beginning_is_shown() {
    let server = public_server();
    let client = server.client();
    let agent = public_agent(&client).await;
    let most = 1_024 * 1_024;
    // As long as is shown, and with a character of two bytes at the end of what is shown.
    for (text, is_cut) in
        [("x".repeat(most), false), (format!("{}é and more", "x".repeat(most - 1)), true)]
    {
        let file = id(&client.upload("long.txt", text).await.expect(201));
        let source = client.source(&agent, "file", &file).await;
        client.trained(&source).await;
        let page = client.anonymous().get(&page_of(&client, &source).await).await;
        let shown = page.text().split(|c| c != 'x').map(str::len).max().unwrap();
        assert_eq!(shown, if is_cut { most - 1 } else { most });
        assert_eq!(page.text().contains("The text is longer."), is_cut);
        assert!(!page.text().contains("and more"));
    }
}

#[tokio::test]
pub(crate) async fn requests_of_an_address_are_limited() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    let settings = format!("public_url = \"{ADDRESS}\"\n[http]\npublic_requests_per_minute = 3\n");
    std::fs::write(&file, settings).unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let client = server.client();
    let path = format!("/s/{NO_DOCUMENT}");
    for _ in 0..3 {
        assert_absent(&client.get(&path).await, &path);
    }
    client.get(&path).await.refused(429, "rate_limit_exceeded");
    // Requests with a key have limits of their own.
    client.get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn a_public_address_that_is_none_stops_the_start() {
    for address in ["docs.example", "https://ann:secret@docs.example", "https://docs.example?a=b"] {
        let errors = Server::of(&program()).env("CICERONE_PUBLIC_URL", address).start_fails();
        assert!(errors.contains("CICERONE_PUBLIC_URL"), "{errors}");
        assert!(!errors.contains("secret"), "{errors}");
    }
}
