//! Rate limits: per key, per account, and per address for failed authentications.

use cicerone_tests::Server;
use cicerone_tests::answer::Answer;

use crate::world::program;

fn limited(per_minute: &str) -> Server {
    Server::of(&program()).env("CICERONE_RATE_LIMIT_PER_MINUTE", per_minute).start()
}

fn number(answer: &Answer, header: &str) -> u64 {
    let value = answer.header(header).unwrap_or_else(|| panic!("no `{header}`"));
    value.parse().unwrap_or_else(|_| panic!("`{header}` is `{value}`"))
}

#[tokio::test]
async fn every_answer_to_a_key_says_what_is_left() {
    let server = limited("600");
    let client = server.client();
    let mut left = u64::MAX;
    for path in ["/v1/agents", "/v1/agents/7", "/v1/agents?page_size=0"] {
        let answer = client.get(path).await;
        assert_eq!(number(&answer, "ratelimit-limit"), 600);
        let remaining = number(&answer, "ratelimit-remaining");
        assert!(remaining < 600 && remaining <= left, "{remaining} after {left}");
        left = remaining;
        assert!(number(&answer, "ratelimit-reset") <= 60);
    }
}

#[tokio::test]
async fn beyond_the_limit_a_key_is_told_when_to_come_back() {
    let server = limited("30");
    let client = server.client();
    let mut answered = 0;
    let refused = loop {
        let answer = client.get("/v1/agents").await;
        if answer.status == 429 {
            break answer;
        }
        answer.expect(200);
        answered += 1;
        assert!(answered <= 60, "nothing was refused");
    };
    assert!(answered >= 30, "the limit is 30, and {answered} were answered");
    let error = refused.refused(429, "rate_limit_exceeded");
    assert!((1..=60).contains(&error["retry_after"].as_u64().unwrap()), "{error}");
    assert_eq!(number(&refused, "ratelimit-remaining"), 0);
    assert_eq!(number(&refused, "ratelimit-limit"), 30);
}

#[tokio::test]
async fn another_key_has_a_limit_of_its_own() {
    let server = limited("5");
    let other = server.create_key(&["--account", "default", "--permission", "*"]);
    let client = server.client();
    while client.get("/v1/agents").await.status != 429 {}
    client.with_key(&other.secret).get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn all_keys_of_an_account_share_ten_times_the_limit_of_one() {
    let server = limited("5");
    let other = server.account("other");
    let keys: Vec<_> = (0..14)
        .map(|_| server.create_key(&["--account", "default", "--permission", "*"]).secret)
        .collect();
    let (mut answered, mut refused) = (0, None);
    for key in keys {
        let client = server.client().with_key(&key);
        let first = client.get("/v1/agents").await;
        if first.status == 429 {
            refused = Some(first);
            break;
        }
        answered += 1;
        while client.get("/v1/agents").await.status == 200 {
            answered += 1;
        }
    }
    let refused = refused.expect("a new key of the account is refused");
    assert!(answered >= 50, "the limit is 50, and {answered} were answered");
    refused.refused(429, "rate_limit_exceeded");
    assert_eq!(number(&refused, "ratelimit-limit"), 50);
    assert_eq!(number(&refused, "ratelimit-remaining"), 0);
    assert!((1..=60).contains(&number(&refused, "retry-after")));
    other.get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn the_limit_of_an_account_is_a_setting_and_the_nearer_limit_is_shown() {
    let server = Server::of(&program())
        .env("CICERONE_RATE_LIMIT_PER_MINUTE", "600")
        .env("CICERONE_ACCOUNT_RATE_LIMIT_PER_MINUTE", "100")
        .start();
    let answer = server.client().get("/v1/agents").await;
    assert_eq!(number(&answer, "ratelimit-limit"), 100);
    let server = Server::of(&program())
        .env("CICERONE_RATE_LIMIT_PER_MINUTE", "2")
        .env("CICERONE_ACCOUNT_RATE_LIMIT_PER_MINUTE", "0")
        .start();
    let answer = server.client().get("/v1/agents").await;
    assert_eq!((answer.status, number(&answer, "ratelimit-limit")), (200, 2));
}

#[tokio::test]
async fn a_refused_request_has_no_effect_and_keeps_its_idempotency_key_free() {
    let server = limited("5");
    let client = server.client();
    let body = serde_json::json!({ "name": "Guide" });
    let mut created = 0;
    loop {
        let request = client.request("POST", "/v1/agents").json(&body);
        let answer = request.idempotent(&format!("key-{created}")).send().await;
        if answer.status == 429 {
            break;
        }
        answer.expect(201);
        created += 1;
    }
    let other = server.create_key(&["--account", "default", "--permission", "*"]);
    let other = client.with_key(&other.secret);
    let page = other.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), created);
    let request = other.request("POST", "/v1/agents").json(&body);
    let answer = request.idempotent(&format!("key-{created}")).send().await;
    assert_eq!(answer.header("idempotent-replayed"), None);
    answer.expect(201);
}

#[tokio::test]
async fn what_needs_no_key_has_no_limit() {
    let server = limited("3");
    let client = server.client().anonymous();
    for _ in 0..20 {
        for path in ["/healthz", "/readyz", "/v1/openapi.json"] {
            assert_eq!(client.get(path).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn failed_authentications_are_limited_by_address_and_good_keys_are_not() {
    let server = limited("6000");
    let wrong = server.client().with_key("wrong-key-0123456789-wrong-key-0123456789");
    let mut refused = None;
    for _ in 0..2_000 {
        let answer = wrong.get("/v1/agents").await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.refused(401, "unauthorized");
    }
    refused.expect("guessing is limited").refused(429, "rate_limit_exceeded");
    server.client().get("/v1/agents").await.expect(200);
}
