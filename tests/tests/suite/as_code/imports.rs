//! `cicerone import`.

use cicerone_tests::site::{Resource, Site};
use serde_json::{Value, json};

use super::Place;

/// A new agent, and a folder with these files.
async fn place(files: &[(&str, &str)]) -> (Place, String) {
    let place = Place::new(files);
    let agent = place.client.agent().await;
    (place, agent)
}

/// Imports, and returns the report.
fn import(place: &Place, agent: &str, status: i32, arguments: &[&str]) -> Value {
    let all = [&["import", "--json", "--agent", agent], arguments].concat();
    serde_json::from_str(&place.ends(status, &all).0).unwrap()
}

/// Whether something was not taken for a reason.
fn refused(report: &Value, what: &str, reason: &str) -> bool {
    report["not_taken"].as_array().unwrap().iter().any(|one| {
        one["what"].as_str().unwrap().contains(what)
            && one["reason"].as_str().unwrap().contains(reason)
    })
}

#[tokio::test]
async fn pairs_of_csv_and_json_become_sources_of_500_and_what_is_wrong_is_reported() {
    let mut csv = "Question,Answer\n".to_owned();
    for number in 0..600 {
        csv += &format!("What is in room {number}?,\"Painting, number {number}.\"\n");
    }
    csv += "What is in room 1?,\"Painting, number 1.\"\n,Nothing.\nonly one cell\n";
    let pairs =
        json!([{ "question": "Is parking free?", "answer": "It is free." }, { "question": "x" }])
            .to_string();
    let (place, agent) = place(&[("faq.csv", &csv), ("more.json", &pairs)]).await;
    let report = import(&place, &agent, 0, &["faq.csv", "more.json"]);
    let taken = report["taken"].as_array().unwrap();
    let counts: Vec<&Value> = taken.iter().map(|one| &one["pairs"]).collect();
    assert_eq!(counts, [500, 100, 1], "{report}");
    assert!(
        refused(&report, "faq.csv: line 602", "repeats an earlier pair"),
        "{}",
        report["not_taken"]
    );
    assert!(refused(&report, "faq.csv: line 603", "the question is empty"));
    assert!(refused(&report, "faq.csv: line 604", "only 1 cells"));
    assert!(refused(&report, "more.json: [1]", "not a pair"));
    assert_eq!(report["not_taken"].as_array().unwrap().len(), 4);
    let answer = place.client.ask(&agent, "What is in room 577?").await;
    assert_eq!(answer["reply"], "Painting, number 577.");
    // A repetition adds nothing.
    let again = import(&place, &agent, 0, &["faq.csv", "more.json"]);
    assert_eq!(again["taken"], json!([]));
    assert_eq!(again["already_there"].as_array().unwrap().len(), 3, "{again}");
    let (said, _) = place.ends(0, &["import", "--agent", &agent, "faq.csv"]);
    assert!(said.contains("already there: faq.csv: 500 pairs\n"), "{said}");
    let sources = place.client.list_all(&format!("/v1/agents/{agent}/sources"), 100).await;
    assert_eq!(sources.len(), 3);
}

#[tokio::test]
async fn a_folder_gives_a_source_for_each_file_that_is_read() {
    let (place, agent) = place(&[
        ("docs/hours.md", "# Hours\n\nThe museum opens at nine."),
        ("docs/deep/prices.html", "<html><title>Prices</title><p>A ticket costs five euros."),
        ("docs/broken.pdf", "%PDF-1.7\n"),
        ("docs/empty.txt", ""),
        ("docs/.hidden.txt", "Nobody sees this."),
        ("docs/picture.png", "\u{89}PNG\r\n"),
    ])
    .await;
    std::fs::write(place.path("docs/photo.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    place.write(&[("secret.txt", "Nobody may read this.")]);
    std::os::unix::fs::symlink(place.path("secret.txt"), place.path("docs/link.txt")).unwrap();
    let report = import(&place, &agent, 0, &["docs"]);
    let names: Vec<&str> = report["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"docs/hours.md") && names.contains(&"docs/deep/prices.html"),
        "{names:?}"
    );
    assert!(refused(&report, "docs/broken.pdf", ""), "{report}");
    assert!(refused(&report, "docs/empty.txt", "empty"), "{report}");
    assert!(refused(&report, "docs/photo.png", "PDF, DOCX"), "{report}");
    assert!(!report.to_string().contains("hidden"));
    assert!(refused(&report, "docs/link.txt", "symbolic link"), "{report}");
    assert_eq!(names.len(), 2, "{report}");
    let answer = place.client.ask(&agent, "What does a ticket cost?").await;
    assert_eq!(answer["reply"], "A ticket costs five euros.");
}

// The site answers while the test waits for the program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_sitemap_become_sources_up_to_a_limit() {
    let site = Site::start().await;
    let page = |path: &str| format!("<url><loc>{}</loc></url>", site.url(path));
    let pages = format!(
        "<urlset>{}{}{}<url><loc>nowhere</loc></url></urlset>",
        page("/a"),
        page("/b"),
        page("/a")
    );
    let index = format!(
        "<sitemapindex><sitemap><loc>{}</loc></sitemap><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        site.url("/pages.xml"),
        site.url("/gone.xml")
    );
    site.put("/sitemap.xml", Resource::of("application/xml", index));
    site.put("/pages.xml", Resource::of("application/xml", pages));
    let (place, agent) = place(&[]).await;
    let address = site.url("/sitemap.xml");
    let report = import(&place, &agent, 0, &["--dry-run", &address]);
    let names: Vec<&Value> =
        report["taken"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&json!(site.url("/a")), &json!(site.url("/b"))], "{report}");
    assert!(refused(&report, "nowhere", "") && refused(&report, "/gone.xml", "404"), "{report}");
    assert!(refused(&report, "/a", "repeats"), "{report}");
    assert!(place.client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await.is_empty());
    let report = import(&place, &agent, 0, &["--dry-run", "--pages", "1", &address]);
    assert!(refused(&report, "/b", "more than 1 pages"), "{report}");
    let report = import(&place, &agent, 0, &["--no-wait", &address]);
    assert_eq!(report["taken"].as_array().unwrap().len(), 2);
    let sources = place.client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await;
    assert_eq!(sources.len(), 2);
}

#[tokio::test]
async fn what_chatbase_exports_is_taken_or_reported() {
    let export = json!({
        "chatbotId": "x", "chatbotName": "Guide",
        "sourceText": "The museum opens at nine.\n".repeat(5_000),
        "qAndAs": [{ "question": "Is parking free?", "answer": "It is free." }],
        "sources": [{ "type": "file", "name": "prices.pdf" }],
        "conversations": { "data": [] },
    });
    let conversations =
        json!({ "data": [{ "id": "1", "messages": [{ "role": "user", "content": "Hi" }] }] });
    let files =
        [("export.json", &*export.to_string()), ("talks.json", &*conversations.to_string())];
    let (place, agent) = place(&files).await;
    let report = import(&place, &agent, 0, &["export.json"]);
    let taken = report["taken"].as_array().unwrap();
    let types: Vec<&Value> = taken.iter().map(|one| &one["type"]).collect();
    assert_eq!(types, ["text", "text", "qa"], "{report}");
    assert!(refused(&report, "chatbotName", "settings are not imported"), "{report}");
    assert!(refused(&report, "sources[0]", "prices.pdf"), "{report}");
    assert!(refused(&report, "export.json: conversations", "this field is not known"), "{report}");
    let report = import(&place, &agent, 1, &["talks.json"]);
    assert!(refused(&report, "data[0]", "conversations are not content"), "{report}");
}

#[tokio::test]
async fn an_import_stops_where_nothing_else_can_succeed() {
    let (place, _) = place(&[("faq.csv", "Q?,A\n"), ("a.txt", "The museum.")]).await;
    let report = import(&place, "agent_0000000000", 1, &["faq.csv", "a.txt"]);
    assert!(report["taken"].as_array().unwrap().is_empty());
    assert!(refused(&report, "faq.csv", "404") || refused(&report, "a.txt", "404"), "{report}");
    assert_eq!(report["not_taken"].as_array().unwrap().len(), 2, "{report}");
    let (said, _) = place.ends(1, &["import", "--agent", "agent_0000000000", "faq.csv"]);
    assert!(
        said.starts_with("not taken: faq.csv: 1 pairs: ") && said.contains("Sources added: 0;"),
        "{said}"
    );
}
