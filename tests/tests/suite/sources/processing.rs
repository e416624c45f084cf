//! The processing of a source after it was added.

use cicerone_tests::scenario::id;
use serde_json::Value;

use crate::files::upload::minimal_docx;
use crate::world::client;

#[tokio::test]
async fn what_cannot_be_read_fails_with_a_reason() {
    let client = client();
    let agent = client.agent().await;
    let pdf = id(&client.upload("a.pdf", "%PDF-1.7\n1 0 obj\n").await.expect(201));
    let contents = [("website", "http://127.0.0.1:9/"), ("file", &pdf)];
    for (kind, content) in contents {
        let source = client.source(&agent, kind, content).await;
        let failed = client.failed(&source).await;
        let message = failed["error_message"].as_str().unwrap();
        assert!(message.len() > 20, "a person can act on it: `{message}`");
        assert_eq!(failed["character_count"], Value::Null);
    }
}

#[tokio::test]
async fn documents_are_read_and_passages_know_their_page() {
    let client = client();
    let agent = client.agent().await;
    let docx = id(&client.upload("hours.docx", minimal_docx()).await.expect(201));
    let docx = client.source(&agent, "file", &docx).await;
    let pages = ["The harbour light was built in the year 1854.", "The lifeboat is called Marie."];
    let pdf = id(&client.upload("light.pdf", pdf(&pages)).await.expect(201));
    let pdf = client.source(&agent, "file", &pdf).await;
    let page =
        "<!doctype html><title>Cafe</title><main><p>The <em>cafe</em> sells apple cake.</main>";
    let page = id(&client.upload("cafe.html", page).await.expect(201));
    let page = client.source(&agent, "file", &page).await;
    for source in [&docx, &pdf, &page] {
        client.trained(source).await;
    }

    let documents = client.list_all(&format!("/v1/sources/{pdf}/documents"), 10).await;
    assert_eq!(
        (&documents[0]["page_count"], &documents[0]["title"]),
        (&2.into(), &"light.pdf".into())
    );
    let passages = client.list_all(&format!("/v1/sources/{pdf}/passages"), 10).await;
    assert_eq!(passages[0]["page"], 1, "{passages:?}");
    for (question, answer, source) in [
        ("When does the museum open?", "at nine", &docx),
        ("When was the harbour light built?", "1854", &pdf),
        ("What is the lifeboat called?", "Marie", &pdf),
        ("What does the cafe sell?", "The cafe sells apple cake.", &page),
    ] {
        let reply = client.ask(&agent, question).await;
        assert!(reply["reply"].as_str().unwrap().contains(answer), "{reply}");
        assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{reply}");
    }
}

/// Files written by other programs, with content of our own, and a part of the text of each.
const OFFICE_FILES: [(&[u8], &str, &str); 9] = [
    (include_bytes!("../../../../crates/ingestion/tests/readers/data/fees.xlsx"), XLSX, WINTER),
    (include_bytes!("../../../../crates/ingestion/tests/readers/data/fees.ods"), ODS, WINTER),
    (include_bytes!("../../../../crates/ingestion/tests/readers/data/fees.xls"), XLS, WINTER),
    (
        include_bytes!("../../../../crates/ingestion/tests/readers/data/talk.pptx"),
        PPTX,
        "Notes: Mention",
    ),
    (include_bytes!("../../../../crates/ingestion/tests/readers/data/guide.odt"), ODT, "falls dry"),
    (
        include_bytes!("../../../../crates/ingestion/tests/readers/data/guide.epub"),
        "application/epub+zip",
        "falls dry",
    ),
    (
        include_bytes!("../../../../crates/ingestion/tests/readers/data/guide.rtf"),
        "application/rtf",
        "falls dry",
    ),
    (b"Berth;Price\nshort;5\nlong;90\n", "text/csv", "- Berth: long; Price: 90"),
    (
        b"From: ada@h.example\nDate: Mon, 2 Mar 2026 09:00:00 +0100\nSubject: Fees\n\nThey rise.\n",
        "message/rfc822",
        "They rise.",
    ),
];
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const ODS: &str = "application/vnd.oasis.opendocument.spreadsheet";
const XLS: &str = "application/vnd.ms-excel";
const PPTX: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const ODT: &str = "application/vnd.oasis.opendocument.text";
const WINTER: &str = "- Berth: winter; From: 2026-10-15; Price: 90; Open: no";

#[tokio::test]
async fn files_of_office_programs_are_known_by_their_content_and_read() {
    let client = client();
    let agent = client.agent().await;
    for (bytes, media_type, part) in OFFICE_FILES {
        let file = client.upload("a.bin", bytes.to_vec()).await.expect(201);
        assert_eq!(file["content_type"], media_type);
        let source = client.source(&agent, "file", &id(&file)).await;
        client.trained(&source).await;
        let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        let text = documents[0]["text"].as_str().unwrap();
        assert!(text.contains(part), "{media_type}: {text}");
    }
}

/// A PDF with a line of text on each page.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: String = (0..pages.len()).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for text in pages {
        let content = objects.len() + 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let stream = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf += &format!("xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n");
    pdf += &format!("startxref\n{start}\n%%EOF\n");
    pdf.into_bytes()
}

#[tokio::test]
async fn pairs_count_the_characters_of_questions_and_answers() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("Wann öffnet es?", "Um neun."), ("Wo?", "In Köln.")]).await;
    let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
    assert_eq!(found["character_count"], 15 + 8 + 3 + 8);
}

#[tokio::test]
async fn texts_of_many_scripts_are_trained() {
    let client = client();
    let agent = client.agent().await;
    let texts =
        ["博物馆九点开门。", "พิพิธภัณฑ์เปิดเก้าโมง", "المتحف يفتح في التاسعة.", "🦀🦀🦀", "...", "a"];
    for text in texts {
        client.text(&agent, text).await;
    }
}

#[tokio::test]
async fn a_file_without_text_fails_with_a_reason() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("blank.txt", " \n \n").await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    let failed = client.failed(&source).await;
    assert!(failed["error_message"].is_string(), "{failed}");
}

#[tokio::test]
async fn many_sources_added_at_once_are_all_trained() {
    let client = client();
    let agent = client.agent().await;
    let mut sources = Vec::new();
    for number in 0..30 {
        sources.push(client.source(&agent, "text", &format!("Room {number} is blue.")).await);
    }
    for source in &sources {
        client.trained(source).await;
    }
}
