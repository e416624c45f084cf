//! What was read of a source and what was not: `partially_read` of the source, and the counts and
//! warnings of its documents.

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Resource, Site};
use serde_json::{Value, json};

use super::website::crawling;
use crate::world::client;

/// A page that shows a line.
pub(super) fn line(text: &str) -> String {
    let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// The content of a page that cannot be decoded.
fn torn() -> String {
    let content = "no zlib! ".repeat(9);
    format!("<< /Filter /FlateDecode /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A PDF whose pages have these contents.
fn pdf(contents: &[String]) -> Vec<u8> {
    titled("", contents)
}

/// A PDF with this title, as it is written in a literal string, whose pages have these contents.
pub(super) fn titled(title: &str, contents: &[String]) -> Vec<u8> {
    let kids: String = (0..contents.len()).map(|page| format!("{} 0 R ", 5 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", contents.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        format!("<< /Title ({title}) >>"),
    ];
    for content in contents {
        let place = objects.len() + 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {place} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        objects.push(content.clone());
    }
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf += &format!("xref\n0 {size}\n{table}trailer\n");
    pdf += &format!("<< /Size {size} /Root 1 0 R /Info 4 0 R >>\n");
    pdf += &format!("startxref\n{start}\n%%EOF\n");
    pdf.into_bytes()
}

/// Three pages, the second of which cannot be decoded.
fn torn_in_the_middle() -> Vec<u8> {
    pdf(&[
        line("The harbour light was built in 1854."),
        torn(),
        line("The lifeboat is called Marie."),
    ])
}

const DAMAGED: &str = "a part of the page is damaged and cannot be decoded";

/// Uploads a file, waits until its source is trained, and returns the source with its documents.
async fn trained(client: &Client, name: &str, bytes: Vec<u8>) -> (Value, Vec<Value>) {
    let agent = client.agent().await;
    let file = id(&client.upload(name, bytes).await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    let trained = client.trained(&source).await;
    let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    (trained, documents)
}

#[tokio::test]
async fn a_page_that_cannot_be_decoded_is_named_by_the_document_and_the_source() {
    let (source, documents) = trained(&client(), "light.pdf", torn_in_the_middle()).await;
    assert_eq!(source["status"], "trained");
    let partial = json!({ "documents": 1, "pages": [2], "reason": DAMAGED });
    assert_eq!(source["partially_read"], partial);
    let warning = json!({ "code": "damaged", "message": DAMAGED, "pages": [2], "page_count": 1 });
    assert_eq!(documents[0]["warnings"], json!([warning]));
    assert_eq!((&documents[0]["page_count"], &documents[0]["table_count"]), (&json!(3), &json!(0)));
    let text = documents[0]["text"].as_str().unwrap();
    assert!(text.contains("1854") && text.contains("Marie"), "{text}");
}

#[tokio::test]
async fn a_whole_file_has_no_warnings() {
    let whole = pdf(&[line("The harbour light was built in 1854.")]);
    let (source, documents) = trained(&client(), "light.pdf", whole).await;
    assert_eq!(source["partially_read"], Value::Null);
    assert_eq!(documents[0]["warnings"], json!([]));
}

#[tokio::test]
async fn tables_are_counted_whatever_their_format() {
    let client = client();
    let fees = include_bytes!("../../../../crates/ingestion/tests/readers/data/fees.xlsx");
    let csv = b"Berth;Price\nshort;5\nlong;90\n";
    let page = b"<!doctype html><main><p>Fees</p><table><tr><th>Berth<th>Price<tr><td>short<td>5</table></main>";
    let text = b"# Fees\n\n| Berth | Price |\n|---|---|\n| short | 5 |\n\nNone here.";
    for (name, bytes, tables) in [
        ("fees.xlsx", &fees[..], 2),
        ("fees.csv", csv, 1),
        ("fees.html", page, 1),
        ("fees.md", text, 1),
    ] {
        let (source, documents) = trained(&client, name, bytes.to_vec()).await;
        assert_eq!(source["partially_read"], Value::Null);
        assert_eq!(documents[0]["table_count"], tables, "{name}: {documents:?}");
        assert_eq!(documents[0]["warnings"], json!([]));
    }
}

#[tokio::test]
async fn an_attachment_that_is_not_read_is_named_with_the_reason() {
    let message = "From: ada@h.example\r\nDate: Mon, 2 Mar 2026 09:00:00 +0100\r\nSubject: Fees\r\n\
        MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
        Content-Type: text/plain\r\n\r\nThey rise.\r\n--b\r\nContent-Type: application/pdf\r\n\
        Content-Disposition: attachment; filename=\"fees.pdf\"\r\n\r\n%PDF-1.7 nothing\r\n--b--\r\n";
    let (source, documents) = trained(&client(), "fees.eml", message.into()).await;
    let warning = &documents[0]["warnings"][0];
    assert_eq!((&warning["code"], &warning["pages"]), (&json!("attachment"), &json!([])));
    let told = warning["message"].as_str().unwrap();
    assert!(told.starts_with("the attachment `fees.pdf` was not read: the PDF"), "{told}");
    assert_eq!(source["partially_read"]["reason"], told);
    assert_eq!(source["partially_read"]["pages"], json!([]));
}

#[tokio::test]
async fn a_file_that_a_website_links_to_warns_among_its_documents() {
    let site = Site::start().await;
    site.page("/", "Harbour", "The harbour has a light of stone.", &["/light.pdf"]);
    site.put("/light.pdf", Resource::of("application/pdf", torn_in_the_middle()));
    let client = crawling();
    let agent = client.agent().await;
    let body = json!({ "type": "website", "content": site.url("/"), "crawl_subpages": true });
    let source = client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    let source = id(&source);
    let trained = client.trained(&source).await;
    let partial = json!({ "documents": 1, "pages": [], "reason": DAMAGED });
    assert_eq!(trained["partially_read"], partial);
    let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    let warned: Vec<_> = documents.iter().map(|document| document["warnings"].clone()).collect();
    let warning = json!({ "code": "damaged", "message": DAMAGED, "pages": [2], "page_count": 1 });
    assert_eq!(warned, [json!([]), json!([warning])]);
}
