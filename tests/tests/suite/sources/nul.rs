//! NUL in files and pages: any format can contain it, and PostgreSQL cannot store it.

use cicerone_tests::postgres::Cluster;
use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Resource, Server, Site};
use serde_json::json;

use super::partly_read::{line, titled};
use super::website::crawling;
use crate::world::program;

/// Runs a test on a server with each available database. The servers may fetch from loopback.
async fn on_each(test: impl AsyncFn(&Client)) {
    test(&crawling()).await;
    if let Some(cluster) = Cluster::shared() {
        let server = Server::of(&program())
            .env("CICERONE_DATABASE_URL", cluster.empty_database().to_string())
            .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
            .start();
        test(&server.client()).await;
    }
}

#[tokio::test]
async fn a_message_is_learned_with_spaces_in_its_place() {
    let message = b"From: ada@h.example\r\nSubject: Fees\0 of berths\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nVGhlAGZlZXMAcmlzZSBpbiBBcHJpbC4=\r\n--b\r\n\
        Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"fe\0es.pdf\"\r\n\r\n\
        %PDF-1.7 nothing\r\n--b--\r\n";
    on_each(async |client| {
        let agent = client.agent().await;
        let file = id(&client.upload("fees.eml", message.to_vec()).await.expect(201));
        let source = client.source(&agent, "file", &file).await;
        let trained = client.trained(&source).await;
        let reason = trained["partially_read"]["reason"].as_str().unwrap();
        assert!(reason.starts_with("the attachment `fe"), "{reason}");
        let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        let text = documents[0]["text"].as_str().unwrap();
        assert!(text.contains("The fees rise in April.") && !text.contains('\0'), "{text:?}");
    })
    .await;
}

#[tokio::test]
async fn the_titles_of_pages_omit_it() {
    let site = Site::start().await;
    let start = "The harbour has a light of stone and a museum that opens at nine o'clock.";
    site.page("/", "Harbour", start, &["/guide.pdf", "/said"]);
    let pages = [line("The museum shows ships, and the oldest of them is from 1854.")];
    let guide = titled("Museum guide\\000", &pages);
    site.put("/guide.pdf", Resource::of("application/pdf", guide));
    let said = r#"<html><head><title>Pilots&#0;</title><script type="application/ld+json">
        {"@type": "Article", "headline": "Pilots\u0000", "articleBody": "A pilot\u0000 is taken at the outer buoy, day and night."}
        </script></head><body><p>A pilot&#0; is taken at the outer buoy, at any time of the day.</p></body></html>"#;
    site.put("/said", Resource::html(said));
    on_each(async |client| {
        let agent = client.agent().await;
        let body = json!({ "type": "website", "content": site.url("/"), "crawl_subpages": true });
        let path = format!("/v1/agents/{agent}/sources");
        let source = id(&client.post(&path, body).await.expect(201));
        client.trained(&source).await;
        let pages = client.list_all(&format!("/v1/sources/{source}/pages"), 10).await;
        let title = |path: &str| {
            let url = site.url(path);
            pages.iter().find(|page| page["url"] == url.as_str()).unwrap()["title"].clone()
        };
        assert_eq!(title("/guide.pdf"), "Museum guide", "{pages:?}");
        assert!(title("/said").as_str().unwrap().starts_with("Pilots"), "{pages:?}");
        assert!(pages.iter().all(|page| page["status"] == "indexed"), "{pages:?}");
    })
    .await;
}
