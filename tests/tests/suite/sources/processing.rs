//! What becomes of a source after it was added.

use cicerone_tests::scenario::id;
use serde_json::Value;

use crate::files::upload::minimal_docx;
use crate::world::client;

#[tokio::test]
async fn what_this_version_cannot_read_fails_with_a_reason() {
    let client = client();
    let agent = client.agent().await;
    let pdf = id(&client.upload("a.pdf", "%PDF-1.7\n1 0 obj\n").await.expect(201));
    let docx = id(&client.upload("a.docx", minimal_docx()).await.expect(201));
    let contents = [("website", "http://127.0.0.1:9/"), ("file", &pdf), ("file", &docx)];
    for (kind, content) in contents {
        let source = client.source(&agent, kind, content).await;
        let failed = client.failed(&source).await;
        let message = failed["error_message"].as_str().unwrap();
        assert!(message.len() > 20, "a person can act on it: `{message}`");
        assert_eq!(failed["character_count"], Value::Null);
    }
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
