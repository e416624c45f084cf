//! Sources that are very large in one dimension. Their processing ends, the stored result is
//! bounded, and none of them raises the server's memory by more than 64 MB.

use cicerone_tests::scenario::{id, qa_content};
use cicerone_tests::{Client, Resource, Server, Site};
use serde_json::json;

use crate::world::{client, program};

/// The most memory that a source may cost the server, in kB.
const MOST_KB: u64 = 64 * 1_024;
/// The size of the files here. Unoptimised builds would be slow with the largest files that are
/// allowed.
const FILE_BYTES: usize = 1_024 * 1_024;
/// Titles and headings are cut to this many characters.
const HEADING_CHARS: usize = 200;

/// A server that may fetch from loopback, and whose readers have enough time in an unoptimised
/// build.
fn patient_server() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    std::fs::write(&file, "[workers]\ndocument_seconds = 120\n").unwrap();
    Server::of(&program())
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .start()
}

/// A value from the server's memory statistics, in kB.
fn memory(server: &Server, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

/// Processes a source. Returns its id, and by how much the peak of the server's memory exceeded the
/// memory before, in kB.
async fn raised(server: &Server, client: &Client, kind: &str, content: &str) -> (String, u64) {
    let agent = client.agent().await;
    let before = rest(server);
    let source = client.source(&agent, kind, content).await;
    client.trained(&source).await;
    // The first question brings the index up to date, unless that has happened before.
    client.ask(&agent, "Where is the harbour light?").await;
    (source, memory(server, "VmHWM").saturating_sub(before))
}

/// The server's current memory, in kB. Resets its peak to this value.
fn rest(server: &Server) -> u64 {
    std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
    memory(server, "VmRSS")
}

fn many_sections(heading: usize, sections: usize) -> String {
    let sections: String = (0..sections).map(|number| format!("## {number}\n\n")).collect();
    format!("# {}\n\n{sections}", "long ".repeat(heading / 5))
}

#[tokio::test]
async fn no_source_raises_the_servers_memory_by_more_than_64_mb() {
    let server = patient_server();
    let client = server.client();
    client.text(&client.agent().await, "The harbour light stands on the pier.").await;
    let site = Site::start().await;
    let sections: String = (0..30_000).map(|number| format!("<h2>{number}</h2>")).collect();
    let page = format!("<main><h1>{}</h1>{sections}</main>", "long ".repeat(150_000));
    site.put("/", Resource::html(page));
    // Digits and Greek, for which the language is detected at once.
    let ascii = "1854 ".repeat(FILE_BYTES / 5);
    let ascii = id(&client.upload("ascii.txt", ascii).await.expect(201));
    // In ISO 8859-7 each of these characters takes one byte, in UTF-8 two.
    let greek = [&[0xd6, 0xdc, 0xf1, 0xef, 0xf2], &b" "[..]].concat().repeat(FILE_BYTES / 6);
    let greek = id(&client.upload("greek.txt", greek).await.expect(201));
    let headings = id(&client.upload("a.txt", many_sections(1_000_000, 30_000)).await.expect(201));
    let question = "why ".repeat(500);
    let answer = "1854 ".repeat(500);
    let pairs = qa_content(&vec![(question.as_str(), answer.as_str()); 500]);
    let long = "1854 ".repeat(300_000);
    let pair = qa_content(&[(question.as_str(), long.as_str())]);
    let sources = [
        ("text", many_sections(20_000, 8_000)),
        ("website", site.url("/")),
        ("file", headings),
        ("file", ascii),
        ("file", greek),
        ("qa", pairs),
        ("qa", pair),
    ];
    let mut raises = Vec::new();
    for (kind, content) in &sources {
        let (source, raise) = raised(&server, &client, kind, content).await;
        raises.push((*kind, content.len(), raise));
        let page = client.get(&format!("/v1/sources/{source}/passages")).await.expect(200);
        for passage in page["data"].as_array().unwrap() {
            let title = passage["title"].as_str().unwrap().chars().count();
            assert!(title <= HEADING_CHARS || *kind == "qa", "a title of {title} characters");
        }
    }
    println!("kind, bytes of content, kB more at the peak: {raises:?}");
    assert!(raises.iter().all(|(.., raise)| *raise <= MOST_KB), "{raises:?}");
}

/// The limit of a reader is one of addresses. A reader with mimalloc, which reserves them, refused such a page.
#[tokio::test]
async fn a_page_of_25_000_paragraphs_fits_into_the_memory_of_a_reader() {
    let server = patient_server();
    let client = server.client();
    let paragraphs = "<p>word word</p>".repeat(25_000);
    let page = format!("<!doctype html><title>Words</title><main>{paragraphs}</main>");
    let file = id(&client.upload("paragraphs.html", page).await.expect(201));
    let source = client.source(&client.agent().await, "file", &file).await;
    let trained = client.trained(&source).await;
    assert_eq!(trained["character_count"], 25_000 * "word word\n\n".len() - 2, "{trained}");
}

#[tokio::test]
async fn a_heading_is_cut_at_200_characters() {
    let client = client();
    let agent = client.agent().await;
    let site =
        format!("<!doctype html><title>{}</title><p>It is open.", "a long title ".repeat(5_000));
    let file = id(&client.upload("hours.html", site).await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
    let text = client.text(&agent, &many_sections(90_000, 900)).await;
    let trained = client.trained(&text).await;
    assert_eq!(trained["title"].as_str().unwrap().chars().count(), 80);
    let passages = client.list_all(&format!("/v1/sources/{text}/passages"), 100).await;
    assert!(passages.len() < 200, "{}", passages.len());
}

#[tokio::test]
async fn a_question_of_2000_characters_is_taken_and_one_more_is_refused() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources");
    let add = async |chars: usize| {
        let question = "é".repeat(chars);
        let pairs = qa_content(&[("Q?", "A."), (question.as_str(), "A.")]);
        client.post(&path, json!({ "type": "qa", "content": pairs })).await
    };
    add(2_000).await.expect(201);
    let error = add(2_001).await.refused(422, "validation_error");
    assert_eq!(error["errors"][0]["param"], "content[1].question", "{error}");
    assert_eq!(error["errors"].as_array().unwrap().len(), 1, "{error}");
}

#[tokio::test]
async fn an_address_of_2048_characters_is_taken_and_one_more_is_refused() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources");
    let add = async |chars: usize| {
        let start = "https://127.0.0.1:9/";
        let url = format!("{start}{}", "ü".repeat(chars - start.len()));
        client.post(&path, json!({ "type": "website", "content": url })).await
    };
    add(2_048).await.expect(201);
    add(2_049).await.refuses(400, "invalid_parameter", "content");
    add(3_000_000).await.refuses(400, "invalid_parameter", "content");
}

#[tokio::test]
async fn what_is_no_pair_takes_no_memory_for_each_item() {
    let server = patient_server();
    let client = server.client();
    let agent = client.agent().await;
    let content = format!("[{}0]", "0,".repeat(3_000_000));
    let before = rest(&server);
    let body = json!({ "type": "qa", "content": content });
    let answer = client.post(&format!("/v1/agents/{agent}/sources"), body).await;
    answer.refused(422, "validation_error");
    let raise = memory(&server, "VmHWM").saturating_sub(before);
    assert!(raise <= MOST_KB, "{raise} kB");
}
