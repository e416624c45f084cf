//! Pages of listed origins may use a widget, and no others; the headers tell browsers and caches.

use cicerone_tests::Answer;
use cicerone_tests::raw::exchange;
use serde_json::json;

use super::{Chat, SITE, server, server_with};
use crate::world::a_second_later;

fn allowed(answer: &Answer) -> Option<&str> {
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    answer.header("access-control-allow-origin")
}

#[tokio::test]
async fn an_origin_is_allowed_only_as_the_browser_writes_it() {
    let origins =
        json!([SITE, "https://*.shop.example", "http://localhost:5173", "https://Bücher.example"]);
    let chat =
        Chat::new(&server().client(), json!({ "origins": origins, "hosted_page": false })).await;
    for origin in [
        SITE,
        "https://a.shop.example",
        "https://a.b.shop.example",
        "http://localhost:5173",
        "https://xn--bcher-kva.example",
    ] {
        let answer = chat.bare("GET", "").header("Origin", origin).send().await;
        answer.expect(200);
        assert_eq!(allowed(&answer), Some(origin));
    }
    for origin in [
        "null",
        "*",
        "http://museum.example",
        "https://museum.example:444",
        "https://museum.example.evil.example",
        "https://evil-museum.example",
        "https://shop.example.evil.example",
        "https://evilshop.example",
        "http://localhost",
        "http://localhost:5174",
        "https://museum.example/",
        "https://museum.example, https://evil.example",
        &format!("https://{}.shop.example", "a".repeat(5_000)),
    ] {
        let answer = chat.bare("GET", "").header("Origin", origin).send().await;
        let error = answer.refused(403, "forbidden");
        assert_eq!(allowed(&answer), None, "{origin}");
        assert_eq!(answer.header("vary"), Some("Origin"), "{origin}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(error["message"].as_str().unwrap().len() < 300, "{error}");
    }
    let two = chat.bare("GET", "").header("Origin", SITE).header("Origin", "https://evil.example");
    assert_eq!(allowed(&two.send().await), None);
}

#[tokio::test]
async fn this_servers_own_pages_are_allowed_if_there_is_a_hosted_page() {
    let public = "https://chat.example/guide";
    let server = server_with("", &[("CICERONE_PUBLIC_URL", public)]);
    let chat = Chat::new(&server.client(), json!({ "origins": [] })).await;
    let own = format!("http://{}", server.address());
    for origin in [own.as_str(), "https://chat.example"] {
        let answer = chat.bare("POST", "/visitors").header("Origin", origin).send().await;
        answer.expect(200);
        assert_eq!(allowed(&answer), Some(origin));
    }
    chat.change(json!({ "hosted_page": false })).await;
    for origin in [own.as_str(), "https://chat.example", SITE] {
        let answer = chat.bare("POST", "/visitors").header("Origin", origin).send().await;
        answer.refused(403, "forbidden");
    }
    chat.change(json!({ "origins": ["*"] })).await;
    let answer = chat.bare("POST", "/visitors").header("Origin", SITE).send().await;
    answer.expect(200);
    assert_eq!(allowed(&answer), Some(SITE), "never a star");
}

#[tokio::test]
async fn requests_that_hide_their_page_are_refused() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let of_site =
        async |site: &str| chat.bare("GET", "").header("Sec-Fetch-Site", site).send().await;
    for site in ["cross-site", "same-site", "none"] {
        of_site(site).await.refused(403, "forbidden");
    }
    let answer = of_site("same-origin").await;
    answer.expect(200);
    assert_eq!((allowed(&answer), answer.header("vary").is_some()), (None, true));
    // Programs that are no browsers name neither.
    chat.bare("GET", "").send().await.expect(200);
}

#[tokio::test]
async fn browsers_are_told_what_a_page_may_send() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let ask = async |origin: &str, path: &str| {
        let request = chat.bare("OPTIONS", path).header("Origin", origin);
        let request = request.header("Access-Control-Request-Method", "PUT");
        request.header("Access-Control-Request-Headers", "authorization").send().await
    };
    let conversation = "/conversations/conv_0000000000";
    for path in [
        "",
        "/visitors",
        "/messages",
        "/conversations",
        conversation,
        &format!("{conversation}/handoff"),
        &format!("{conversation}/lead"),
        &format!("{conversation}/messages/2/rating"),
    ] {
        let answer = ask(SITE, path).await;
        answer.expect_nothing();
        assert_eq!(allowed(&answer), Some(SITE));
        assert_eq!(
            answer.header("access-control-allow-headers"),
            Some("authorization, content-type")
        );
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, POST, PUT, DELETE"));
        assert_eq!(answer.header("access-control-max-age"), Some("600"));
        assert_eq!(answer.header("vary"), Some("Origin"));
        let answer = ask("https://evil.example", path).await;
        answer.refused(403, "forbidden");
        assert_eq!(allowed(&answer), None);
    }
    // The owner's API is for no page.
    let request = chat.owner.anonymous().request("OPTIONS", "/v1/agents").header("Origin", SITE);
    let answer = request.send().await;
    answer.refused(405, "method_not_allowed");
    assert_eq!(allowed(&answer), None);
    let answer = chat.request("PATCH", "").send().await;
    answer.refused(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
}

#[tokio::test]
async fn every_page_may_read_why_a_widget_does_not_answer() {
    let server = server_with("public_requests_per_minute = 2\n", &[]);
    let chat = Chat::new(&server.client(), json!({})).await;
    let messages = format!("/w/{}/messages", chat.token);
    let unknown = "/w/pub_000000000000000000000000";
    let from = |address: &'static str, method: &'static str, path: &str| {
        let request = chat.owner.anonymous().request(method, path);
        request.header("Origin", "https://any.example").header("X-Forwarded-For", address)
    };
    let answer = from("203.0.113.1", "GET", unknown).send().await;
    answer.refused(404, "resource_not_found");
    assert_eq!(allowed(&answer), Some("*"));
    // The preflight request is allowed, because browsers hide the refusal of one. It is asked for again each time.
    let preflight = from("203.0.113.1", "OPTIONS", &format!("{unknown}/messages"));
    let preflight = preflight.header("Access-Control-Request-Method", "POST").send().await;
    preflight.expect_nothing();
    assert_eq!(allowed(&preflight), Some("*"));
    assert_eq!(
        preflight.header("access-control-allow-headers"),
        Some("authorization, content-type")
    );
    assert_eq!(preflight.header("access-control-max-age"), None);
    // Too many requests, of which none has found the widget.
    a_second_later().await;
    for (method, status) in [("OPTIONS", 204), ("POST", 429)] {
        let answer = from("203.0.113.1", method, &messages).send().await;
        assert_eq!((answer.status, allowed(&answer)), (status, Some("*")), "{}", answer.text());
    }
    // Once the widget is known, its origins decide.
    let answer = from("203.0.113.2", "GET", &format!("/w/{}", chat.token)).send().await;
    answer.refused(403, "forbidden");
    for (address, method) in [("203.0.113.1", "POST"), ("203.0.113.1", "OPTIONS")] {
        let answer = from(address, method, &messages).send().await;
        answer.refused(403, "forbidden");
        assert_eq!(allowed(&answer), None, "{method}");
    }
    let own = chat.bare("OPTIONS", "/messages").header("X-Forwarded-For", "203.0.113.1");
    let own = own.header("Origin", SITE).send().await;
    assert_eq!((own.status, allowed(&own)), (204, Some(SITE)), "{}", own.text());
}

#[tokio::test]
async fn a_compressed_answer_is_kept_apart_by_page_too() {
    let texts: serde_json::Map<_, _> = ["open", "close", "send", "you", "reply"]
        .map(|key| (key.to_owned(), json!("x".repeat(300))))
        .into_iter()
        .collect();
    let chat = Chat::new(&server().client(), json!({ "texts": texts })).await;
    // Over a raw connection, since the client unpacks what it reads.
    let ask = format!(
        "GET /w/{} HTTP/1.1\r\nHost: x\r\nOrigin: {SITE}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
        chat.token,
    );
    let answer = exchange(chat.owner.address(), ask).await.to_lowercase();
    for header in ["content-encoding: gzip", "vary: origin", "vary: accept-encoding"] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
}
