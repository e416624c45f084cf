//! Which requests are accepted: every route, with keys that are missing, malformed, unknown or
//! revoked.

use cicerone_tests::raw;

use crate::routes::{Names, ROUTES};
use crate::world::{account, client, eventually, own_server, server};

#[tokio::test]
async fn every_route_refuses_a_request_without_a_key() {
    let names = Names::of_new(&account()).await;
    for route in ROUTES {
        let answer = route.call(&client().anonymous(), &names).await;
        assert_eq!(answer.status, 401, "{}: {}", route.name(), answer.text());
        answer.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn every_route_refuses_an_unknown_key_and_a_mistyped_one() {
    let names = Names::of_new(&account()).await;
    let good = server().create_key(&["--account", "default", "--permission", "*"]).secret;
    let mut mistyped = good.clone().into_bytes();
    mistyped[20] = if mistyped[20] == b'a' { b'b' } else { b'a' };
    let mistyped = String::from_utf8(mistyped).unwrap();
    let unknown = "another-root-key-0123456789abcdef0123";
    for route in ROUTES {
        for key in [mistyped.as_str(), unknown] {
            let answer = route.call(&client().with_key(key), &names).await;
            assert_eq!(answer.status, 401, "{}: {}", route.name(), answer.text());
            answer.refused(401, "unauthorized");
        }
    }
    client().with_key(&good).get("/v1/agents?page_size=1").await.expect(200);
}

#[tokio::test]
async fn refusals_of_different_keys_look_alike() {
    let unknown = client().with_key("another-root-key-0123456789abcdef0123");
    let short = client().with_key("short");
    let one = unknown.get("/v1/agents").await;
    let other = short.get("/v1/agents").await;
    assert_eq!(one.without_request_id(), other.without_request_id());
}

#[tokio::test]
async fn a_header_that_is_no_bearer_key_is_refused() {
    let key = client().key().unwrap().to_owned();
    let headers = [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        key.clone(),
        format!("Basic {key}"),
        format!("Token {key}"),
        format!("Bearer {key} {key}"),
        format!("Bearer {key}x"),
    ];
    for header in headers {
        let request = client().anonymous().request("GET", "/v1/agents");
        let answer = request.header("Authorization", &header).send().await;
        answer.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn two_keys_in_one_request_are_none() {
    let key = client().key().unwrap().to_owned();
    for other in ["Bearer other".to_owned(), format!("Bearer {key}")] {
        let request = client().request("GET", "/v1/agents").header("Authorization", &other);
        request.send().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case() {
    let key = client().key().unwrap().to_owned();
    for scheme in ["bearer", "BEARER"] {
        let request = client().anonymous().request("GET", "/v1/agents?page_size=1");
        request.header("Authorization", &format!("{scheme} {key}")).send().await.expect(200);
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_no_key() {
    let key = client().key().unwrap().to_owned();
    let answer = client().anonymous().get(&format!("/v1/agents?api_key={key}&key={key}")).await;
    answer.refused(401, "unauthorized");
}

#[tokio::test]
async fn authentication_comes_before_everything_else() {
    let anonymous = client().anonymous();
    let cases = [
        ("POST", "/v1/agents", "not json"),
        ("POST", "/v1/agents", "{\"temperature\": 9}"),
        ("GET", "/v1/agents/agent_0000000000", ""),
        ("GET", "/v1/agents?page_size=0", ""),
        ("DELETE", "/v1/sources/src_0000000000", ""),
    ];
    for (method, path, body) in cases {
        let request = anonymous.request(method, path).raw("application/json", body);
        request.send().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn a_refusal_does_not_repeat_the_key() {
    let key = "secret-key-that-nobody-may-read-0123456789";
    let answer = client().with_key(key).get("/v1/agents").await;
    assert!(!answer.text().contains(key), "{}", answer.text());
    let request = format!(
        "GET /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    let answer = raw::exchange(server().address(), request).await;
    assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains(key), "{answer}");
}

#[tokio::test]
async fn a_revoked_key_is_refused_within_a_moment() {
    let server = own_server();
    let key = server.create_key(&["--account", "default", "--permission", "*"]);
    let client = server.client().with_key(&key.secret);
    client.get("/v1/agents").await.expect(200);
    server.succeed(&["key", "revoke", &key.id]);
    eventually("the key is refused", async || client.get("/v1/agents").await.status == 401).await;
    client.get("/v1/agents").await.refused(401, "unauthorized");
    server.client().get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn neither_keys_nor_words_of_users_are_logged() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let secret = "Zaubersprudel";
    client.text(&agent, &format!("Das Museum verkauft {secret} um neun.")).await;
    client.ask(&agent, &format!("Was ist {secret} im Museum?")).await;
    client.anonymous().with_key("wrong-key-0123456789-wrong-key-0123").get("/v1/agents").await;
    let log = server.log_with("\"status\":401").await;
    for forbidden in [secret, client.key().unwrap(), "wrong-key-0123456789"] {
        assert!(!log.contains(forbidden), "`{forbidden}` is in the log: {log}");
        assert!(!server.stdout().contains(forbidden), "`{forbidden}` was printed");
    }
}
