//! The script of the widget, and the hosted page.

use serde_json::{Value, json};

use super::{Chat, SITE, server, server_with};

/// The address of the script that the hosted page loads.
async fn script_of(chat: &Chat) -> String {
    let page = chat.owner.anonymous().get(&format!("/chat/{}", chat.token)).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let (_, rest) = page.text().split_once("<script src=\"..").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[tokio::test]
async fn the_hosted_page_loads_the_script_and_nothing_else() {
    let fields = json!({ "title": "\"><script>alert(1)</script>&", "origins": [SITE, "https://*.shop.example"] });
    let chat = Chat::new(&server().client(), fields).await;
    let page = chat.owner.anonymous().get(&format!("/chat/{}", chat.token)).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.text().matches("<script").count(), 1, "{}", page.text());
    assert!(page.text().contains(&format!("data-token=\"{}\"", chat.token)), "{}", page.text());
    assert!(page.text().contains("<html lang=\"en\""), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(policy.contains("connect-src 'self'"), "{policy}");
    assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let (_, frames) = policy.split_once("frame-ancestors ").unwrap();
    assert_eq!(frames, "'self' https://museum.example https://*.shop.example");
    let anywhere =
        Chat::of(&chat.owner, &chat.agent, json!({ "origins": [], "title": "a\r\nX-Evil: 1" }))
            .await;
    let closed = chat.owner.anonymous().get(&format!("/chat/{}", anywhere.token)).await;
    assert!(closed.header("content-security-policy").unwrap().ends_with("frame-ancestors 'self'"));
    assert_eq!(closed.header("x-evil"), None);
    anywhere.change(json!({ "origins": ["*"] })).await;
    let open = chat.owner.anonymous().get(&format!("/chat/{}", anywhere.token)).await;
    assert!(open.header("content-security-policy").unwrap().ends_with("frame-ancestors 'self' *"));
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-robots-tag", "noindex"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
    let path = format!("/chat/{}", chat.token);
    let anonymous = chat.owner.anonymous();
    assert_eq!(anonymous.request("HEAD", &path).send().await.body.len(), 0);
    anonymous.post_nothing(&path).await.refused(405, "method_not_allowed");
    // The page may be opened by a link on any site, and its script is on this server.
    let linked =
        anonymous.request("GET", &path).header("Sec-Fetch-Site", "cross-site").send().await;
    assert_eq!(linked.status, 200);
    assert_eq!(anonymous.get(&script_of(&chat).await).await.status, 200);
    chat.change(json!({ "hosted_page": false })).await;
    anonymous.get(&path).await.refused(404, "resource_not_found");
    anonymous.get("/chat/pub_000000000000000000000000").await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn people_get_a_page_if_there_is_no_chat_or_too_much_is_asked() {
    let server = server_with("public_requests_per_minute = 2\n", &[]);
    let anonymous = server.client().anonymous();
    let path = "/chat/pub_000000000000000000000000";
    let asked = async |address: &str| {
        let accepted = "text/html,application/xhtml+xml,*/*;q=0.8";
        let request = anonymous.request("GET", path).header("Accept", accepted);
        request.header("X-Forwarded-For", address).send().await
    };
    for (status, text) in [(404, "not available"), (404, "not available"), (429, "busy")] {
        let page = asked("203.0.113.1").await;
        assert_eq!(page.status, status, "{}", page.text());
        assert!(page.text().contains(text), "{}", page.text());
        assert_eq!(page.header("retry-after").is_some(), status == 429);
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(page.header(name), Some(value), "{name}");
        }
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    }
    // Programs get the usual error.
    anonymous.get(path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn the_hosted_page_has_an_icon_that_its_policy_allows() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let anonymous = chat.owner.anonymous();
    let page = anonymous.get(&format!("/chat/{}", chat.token)).await;
    let (_, rest) =
        page.text().split_once("<link rel=\"icon\" type=\"image/svg+xml\" href=\"..").unwrap();
    let path = rest.split_once('"').unwrap().0;
    let icon = anonymous.get(path).await;
    assert_eq!(icon.status, 200, "{}", icon.text());
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    assert_eq!(icon.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(icon.header("x-content-type-options"), Some("nosniff"));
    assert!(icon.text().starts_with("<svg") && !icon.text().contains("script"), "{}", icon.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("img-src 'self'"), "{policy}");
    assert_eq!(anonymous.request("HEAD", path).send().await.body.len(), 0);
    anonymous.get("/widget/0000000000000000/icon.svg").await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn no_origin_adds_to_the_policy_of_the_page() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let path = format!("/v1/widgets/{}", chat.id);
    for origin in [
        "https://a.example;sandbox",
        "https://a.example,b.example",
        "https://a.example%3Bsandbox",
        "https://a.example\r\nX-Evil: 1",
        "https://a.example default-src *",
        "https://'unsafe-inline'",
        "'none'",
    ] {
        let answer = chat.owner.patch(&path, json!({ "origins": [origin] })).await;
        answer.refuses(400, "invalid_parameter", "origins[0]");
    }
}

#[tokio::test]
async fn turned_off_nothing_is_left_for_visitors() {
    let server = server_with("widgets = false\n", &[]);
    let owner = server.client();
    let chat = Chat::new(&owner, json!({})).await;
    let anonymous = owner.anonymous();
    let page = format!("/chat/{}", chat.token);
    let paths = ["", "/conversations", "/conversations/conv_0000000000"];
    let paths = paths.map(|path| format!("/w/{}{path}", chat.token));
    let icon = "/widget/0000000000000000/icon.svg".to_owned();
    for path in paths.iter().chain([&page, &icon]) {
        anonymous.get(path).await.refused(404, "resource_not_found");
        let asked = anonymous.request("OPTIONS", path).header("Origin", SITE).send().await;
        assert!(matches!(asked.status, 404 | 405), "{}", asked.text());
    }
    anonymous
        .post_nothing(&format!("/w/{}/visitors", chat.token))
        .await
        .refused(404, "resource_not_found");
    chat.request("POST", "/messages")
        .json(&json!({ "message": "Hello" }))
        .send()
        .await
        .refused(404, "resource_not_found");
    // The owner can still manage them.
    assert_ne!(owner.get(&format!("/v1/widgets/{}", chat.id)).await.expect(200)["id"], Value::Null);
}
