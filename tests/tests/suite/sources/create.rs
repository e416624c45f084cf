//! `POST /v1/agents/{agent_id}/sources`.

use cicerone_tests::Answer;
use cicerone_tests::answer::{is_id, is_timestamp};
use cicerone_tests::scenario::{id, qa_content};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, NO_FILE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/sources",
    cases: &[
        ("201", a_text_starts_pending),
        ("400 missing_required_field", a_source_without_type_or_content_is_refused),
        ("400 invalid_parameter", a_malformed_address_is_refused),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
        ("422 validation_error", malformed_pairs_are_refused_one_finding_each),
    ],
};

async fn add(body: Value) -> Answer {
    let agent = client().agent().await;
    client().post(&format!("/v1/agents/{agent}/sources"), body).await
}

#[tokio::test]
async fn a_text_starts_pending() {
    let agent = client().agent().await;
    let path = format!("/v1/agents/{agent}/sources");
    let body = json!({ "type": "text", "content": "The museum opens at nine." });
    let source = client().post(&path, body).await.expect(201);
    assert!(is_id(source["id"].as_str().unwrap(), "src_"), "{source}");
    assert!(is_timestamp(source["created_at"].as_str().unwrap()), "{source}");
    assert_eq!(source["type"], "text");
    assert_eq!(source["content"], "The museum opens at nine.");
    assert_eq!(source["status"], "pending");
    assert_eq!(source["character_count"], Value::Null);
    assert_eq!(source["error_message"], Value::Null);
    assert_eq!(source["title"], Value::Null);
    assert_eq!(source["progress"], Value::Null);
    assert_eq!(source["agent_id"], agent.as_str());
    for field in ["character_count", "error_message", "title", "progress"] {
        assert!(source.get(field).is_some(), "`{field}` must exist: {source}");
    }
}

#[tokio::test]
async fn each_type_is_taken() {
    let file = id(&client().upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let contents = [
        ("website", "https://example.com/docs?a=1#top".to_owned()),
        ("text", "The museum opens at nine.".to_owned()),
        ("file", file),
        ("qa", qa_content(&[("When does it open?", "At nine.")])),
    ];
    for (kind, content) in contents {
        let source = add(json!({ "type": kind, "content": content })).await.expect(201);
        assert_eq!(source["type"], kind);
        assert_eq!(source["content"], content);
        assert_eq!(source["status"], "pending");
    }
}

#[tokio::test]
async fn a_website_may_be_crawled_with_its_subpages() {
    for crawl in [json!(true), json!(false), Value::Null] {
        let body = json!({
            "type": "website", "content": "http://example.com", "crawl_subpages": crawl,
        });
        add(body).await.expect(201);
    }
}

#[tokio::test]
async fn crawl_subpages_that_is_false_may_stand_on_any_type() {
    let body = json!({ "type": "text", "content": "The museum.", "crawl_subpages": false });
    add(body).await.expect(201);
}

#[tokio::test]
async fn fields_that_the_service_does_not_know_are_ignored() {
    let body = json!({ "type": "text", "content": "The museum.", "status": "trained", "x": [] });
    assert_eq!(add(body).await.expect(201)["status"], "pending");
}

#[tokio::test]
async fn a_source_without_type_or_content_is_refused() {
    let bodies = [
        ("type", json!({ "content": "The museum." })),
        ("type", json!({ "type": null, "content": "The museum." })),
        ("content", json!({ "type": "text" })),
        ("content", json!({ "type": "text", "content": null })),
    ];
    for (param, body) in bodies {
        add(body).await.refuses(400, "missing_required_field", param);
    }
}

#[tokio::test]
async fn a_type_that_does_not_exist_is_refused() {
    for kind in [json!("pdf"), json!("TEXT"), json!(""), json!(3)] {
        let body = json!({ "type": kind, "content": "The museum." });
        add(body).await.refuses(400, "invalid_parameter", "type");
    }
}

#[tokio::test]
async fn content_that_is_not_a_string_is_refused() {
    for content in [json!(3), json!(["The museum."]), json!({ "text": "The museum." })] {
        let body = json!({ "type": "text", "content": content });
        add(body).await.refuses(400, "invalid_parameter", "content");
    }
}

#[tokio::test]
async fn crawl_subpages_of_another_kind_is_refused() {
    for crawl in [json!("true"), json!(1)] {
        let body = json!({
            "type": "website", "content": "http://example.com", "crawl_subpages": crawl,
        });
        add(body).await.refuses(400, "invalid_parameter", "crawl_subpages");
    }
}

#[tokio::test]
async fn crawl_subpages_of_another_type_than_website_is_refused() {
    for (kind, content) in [
        ("text", "The museum.".to_owned()),
        ("file", NO_FILE.to_owned()),
        ("qa", qa_content(&[("When does it open?", "At nine.")])),
    ] {
        let body = json!({ "type": kind, "content": content, "crawl_subpages": true });
        add(body).await.refuses(400, "invalid_parameter", "crawl_subpages");
    }
}

#[tokio::test]
async fn only_a_website_is_guarded() {
    for (kind, content) in [
        ("text", "The museum.".to_owned()),
        ("file", NO_FILE.to_owned()),
        ("qa", qa_content(&[("When does it open?", "At nine.")])),
    ] {
        let body = json!({ "type": kind, "content": content, "guarded": true });
        add(body).await.refuses(400, "invalid_parameter", "guarded");
    }
    let text = json!({ "type": "text", "content": "The museum.", "guarded": false });
    assert_eq!(add(text).await.expect(201)["guarded"], false);
    for (given, shown) in [(json!(true), true), (json!(false), false), (json!(null), false)] {
        let body = json!({ "type": "website", "content": "http://example.com", "guarded": given });
        assert_eq!(add(body).await.expect(201)["guarded"], shown);
    }
    let body = json!({ "type": "website", "content": "http://example.com", "guarded": "yes" });
    add(body).await.refuses(400, "invalid_parameter", "guarded");
}

#[tokio::test]
async fn a_malformed_address_is_refused() {
    let addresses = [
        "",
        "example.com",
        "www.example.com/docs",
        "/docs",
        "http://",
        "https:///docs",
        "ftp://example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://user@example.com",
        "http://user:secret@example.com/",
        "http://:@example.com/",
        "http://@example.com/",
        "http://exa\nmple.com",
        "http://ex\tample.com",
        " http://example.com/ ",
        "http://a..b/",
        "http://exa mple.com",
        "http://[::1",
        "http://example.com/\u{0}",
    ];
    for address in addresses {
        let answer = add(json!({ "type": "website", "content": address })).await;
        assert_eq!(answer.status, 400, "`{address}` was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", "content");
    }
}

#[tokio::test]
async fn a_file_that_does_not_exist_is_refused() {
    for file in [NO_FILE, "", "hours.txt", "src_0000000000"] {
        let answer = add(json!({ "type": "file", "content": file })).await;
        assert_eq!(answer.status, 400, "`{file}` was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", "content");
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("/v1/agents/{NO_AGENT}/sources");
    let answer = client().post(&path, json!({ "type": "text", "content": "The museum." })).await;
    answer.refused(404, "resource_not_found");
}

#[tokio::test]
async fn values_are_checked_before_the_agent_is_looked_for() {
    for agent in [NO_AGENT, "zz"] {
        let path = format!("/v1/agents/{agent}/sources");
        let answer = client().post(&path, json!({ "type": "text", "content": "" })).await;
        answer.refused(422, "validation_error");
        let answer = client().post(&path, json!({ "type": "text" })).await;
        answer.refuses(400, "missing_required_field", "content");
    }
}

#[tokio::test]
async fn an_empty_text_is_refused() {
    for text in ["", " \n\t "] {
        add(json!({ "type": "text", "content": text })).await.refused(422, "validation_error");
    }
}

#[tokio::test]
async fn a_text_of_100000_characters_is_taken_and_one_more_is_refused() {
    let text = CRAB.repeat(100_000);
    let source = add(json!({ "type": "text", "content": text })).await.expect(201);
    assert_eq!(source["content"], text);
    let answer = add(json!({ "type": "text", "content": CRAB.repeat(100_001) })).await;
    answer.refused(422, "validation_error");
}

#[tokio::test]
async fn malformed_pairs_are_refused_one_finding_each() {
    let bad = [
        ("not JSON", vec!["content"]),
        ("{}", vec!["content"]),
        ("\"text\"", vec!["content"]),
        ("null", vec!["content"]),
        ("[]", vec!["content"]),
        ("", vec!["content"]),
        ("[1]", vec!["content[0]"]),
        ("[{}]", vec!["content[0].question", "content[0].answer"]),
        (
            r#"[{"question": "a", "answer": "b"}, {"question": "a", "answer": 7}]"#,
            vec!["content[1].answer"],
        ),
        (
            r#"[{"question": null, "answer": "b"}, {"question": "a", "answer": ""}]"#,
            vec!["content[0].question", "content[1].answer"],
        ),
        (r#"[{"question": "a", "answer": "b"}"#, vec!["content"]),
        (r#"[{"question": "a", "answer": "b"}] []"#, vec!["content"]),
    ];
    for (content, params) in bad {
        let answer = add(json!({ "type": "qa", "content": content })).await;
        assert_eq!(answer.status, 422, "`{content}` was answered {}", answer.text());
        let error = answer.refused(422, "validation_error");
        let findings = error["errors"].as_array().unwrap();
        let found: Vec<&str> = findings.iter().map(|f| f["param"].as_str().unwrap()).collect();
        assert_eq!(found, params, "{content}");
    }
}

#[tokio::test]
async fn pairs_may_have_more_fields() {
    let content = r#"[{"question": "When?", "answer": "At nine.", "topic": {"a": 1}}]"#;
    add(json!({ "type": "qa", "content": content })).await.expect(201);
}

#[tokio::test]
async fn pairs_must_be_text_in_the_string_and_not_json_beside_it() {
    let body = json!({ "type": "qa", "content": [{ "question": "When?", "answer": "At nine." }] });
    add(body).await.refuses(400, "invalid_parameter", "content");
}

#[tokio::test]
async fn a_set_of_500_pairs_is_taken_and_one_of_501_is_refused() {
    let (question, answer) = (format!("Wann {CRAB}?"), format!("Um neun {CRAB}."));
    let pairs = vec![(question.as_str(), answer.as_str()); 501];
    add(json!({ "type": "qa", "content": qa_content(&pairs[..500]) })).await.expect(201);
    let answer = add(json!({ "type": "qa", "content": qa_content(&pairs) })).await;
    answer.refused(422, "validation_error");
}
