//! Identities that a site signs for its users.

use serde_json::{Value, json};

use super::{Chat, QUESTION, both, conversation_of, jwt, seconds, server, signed, signed_text};
use crate::world::a_second_later;

/// The message of the refusal of a credential.
async fn refusal(chat: &Chat, credential: &str) -> String {
    let answer = chat.of_visitor(credential, "GET", "/conversations").send().await;
    let error = answer.refused(401, "unauthorized");
    assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_user_has_the_same_conversations_everywhere_and_another_user_has_others() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({ "identity": "required" })).await;
        let claims = json!({
            "sub": "user-7", "exp": seconds() + 600, "name": "Zoë", "email": "zoe@museum.example",
        });
        let reply = chat.ask(&jwt(&chat.secret, &claims)).await;
        let id = reply["conversation_id"].as_str().unwrap().to_owned();
        let seen = chat.owner.get(&format!("/v1/conversations/{id}")).await.expect(200);
        let visitor = &seen["visitor"];
        assert_eq!((&visitor["subject"], &visitor["name"]), (&json!("user-7"), &json!("Zoë")));
        assert_eq!(visitor["email"], "zoe@museum.example");
        assert!(!visitor["id"].as_str().unwrap().contains("user"), "{visitor}");
        // On another device, with another token, and with another widget of the agent.
        assert_eq!(chat.conversations(&chat.identity("user-7")).await, std::slice::from_ref(&id));
        let second = Chat::of(&chat.owner, &chat.agent, json!({ "identity": "optional" })).await;
        assert_eq!(
            second.conversations(&second.identity("user-7")).await,
            std::slice::from_ref(&id)
        );
        // Another user, a visitor without identity, and the same user of another agent.
        assert!(chat.conversations(&chat.identity("user-8")).await.is_empty());
        assert!(second.conversations(&second.visitor().await).await.is_empty());
        let other = Chat::new(&chat.owner, json!({ "identity": "required" })).await;
        assert!(other.conversations(&other.identity("user-7")).await.is_empty());
        let path = format!(
            "/v1/agents/{}/conversations?visitor_id={}",
            chat.agent,
            visitor["id"].as_str().unwrap()
        );
        let listed = chat.owner.get(&path).await.expect(200);
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn the_rule_of_a_widget_decides_which_credentials_it_takes() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let visitor = chat.visitor().await;
    assert!(
        refusal(&chat, &chat.identity("user-7"))
            .await
            .contains("does not accept signed identities")
    );
    assert!(chat.conversations(&visitor).await.is_empty());
    chat.change(json!({ "identity": "optional" })).await;
    assert!(chat.conversations(&visitor).await.is_empty());
    assert!(chat.conversations(&chat.identity("user-7")).await.is_empty());
    chat.change(json!({ "identity": "required" })).await;
    assert!(refusal(&chat, &visitor).await.contains("requires an identity"));
    chat.request("POST", "/visitors").send().await.refused(401, "unauthorized");
    assert!(chat.conversations(&chat.identity("user-7")).await.is_empty());
}

#[tokio::test]
async fn forged_foreign_and_expired_identities_are_refused_with_the_reason() {
    let owner = server().client();
    let chat = Chat::new(&owner, json!({ "identity": "required" })).await;
    let foreign = Chat::new(&owner, json!({ "identity": "required" })).await;
    let (now, secret) = (seconds(), chat.secret.as_str());
    let good = json!({ "sub": "user-7", "exp": now + 600 });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let header = |fields: Value| signed(secret, &fields, &good);
    let text = |claims: &str| signed_text(secret, r#"{"alg":"HS256"}"#, claims);
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let exp = now + 600;
    let unsigned = jwt(secret, &good).rsplit_once('.').unwrap().0.to_owned();
    assert!(chat.conversations(&jwt(secret, &good)).await.is_empty());
    // Unknown members are skipped, however deep they are.
    let deep_header = format!(r#"{{"alg":"HS256","x":{}}}"#, deep(1_000));
    let deep_claims = format!(r#"{{"sub":"user-7","exp":{exp},"x":{}}}"#, deep(1_000));
    assert!(chat.conversations(&text(&deep_claims)).await.is_empty());
    for (token, reason) in [
        (format!("{unsigned}."), "signature"),
        (foreign.identity("user-7"), "signature"),
        (jwt("", &good), "signature"),
        (jwt(&secret.to_uppercase(), &good), "signature"),
        (jwt(secret.trim_start_matches("wids_"), &good), "signature"),
        (header(json!({ "alg": "none" })), "HS256"),
        (header(json!({ "alg": "None" })), "HS256"),
        (header(json!({ "alg": "HS512" })), "HS256"),
        (header(json!({ "alg": "RS256", "jwk": { "kty": "oct", "k": "AA" } })), "HS256"),
        (header(json!({ "alg": "HS256", "typ": "JWE" })), "typ"),
        (header(json!({ "alg": "HS256", "crit": ["exp"] })), "crit"),
        (jwt(secret, &json!({ "sub": "user-7" })), "no `exp`"),
        (jwt(secret, &with("exp", json!(now - 61))), "expired"),
        (jwt(secret, &with("exp", json!(now + 24 * 60 * 60 + 120))), "24 hours"),
        (jwt(secret, &with("nbf", json!(now + 120))), "future"),
        (jwt(secret, &with("iat", json!(now + 120))), "future"),
        (jwt(secret, &with("sub", json!(""))), "`sub`"),
        (jwt(secret, &with("sub", json!("é".repeat(201)))), "`sub`"),
        (jwt(secret, &with("name", json!("é".repeat(101)))), "`name`"),
        (jwt(secret, &with("email", json!("é".repeat(255)))), "`email`"),
        (jwt(secret, &with("x", json!("x".repeat(4_096)))), "4 KiB"),
        ("x".repeat(6_000), "4 KiB"),
        // The key that a token names or brings is not asked.
        (
            signed(
                "AA",
                &json!({ "alg": "HS256", "kid": "../../dev/null", "jku": "https://evil.example", "jwk": { "kty": "oct", "k": "QUE" } }),
                &good,
            ),
            "signature",
        ),
        (header(json!({ "alg": "HS256", "crit": null })), "crit"),
        (header(json!({ "alg": "HS256", "typ": "at+jwt" })), "typ"),
        (
            signed_text(secret, r#"{"alg":"none","alg":"HS256"}"#, &good.to_string()),
            "JSON Web Token",
        ),
        (signed_text(secret, &deep(1_200), &good.to_string()), "JSON Web Token"),
        (signed_text("AA", &deep_header, &good.to_string()), "signature"),
        (text(&format!(r#"{{"sub":{},"exp":{exp}}}"#, deep(1_000))), "claims"),
        (text(&format!(r#"{{"sub":"user-8","sub":"user-7","exp":{exp}}}"#)), "claims"),
        (text(&format!(r#"{{"sub":"user-7","exp":{exp},"exp":{exp}}}"#)), "claims"),
        (text(&format!(r#"{{"sub":"user-7","exp":"{exp}"}}"#)), "claims"),
        (text(r#"{"sub":"user-7","exp":1e999}"#), "claims"),
        (text(r#"{"sub":"user-7","exp":1e300}"#), "24 hours"),
        (text(r#"{"sub":"user-7","exp":null}"#), "no `exp`"),
        (text(&format!(r#"{{"sub":["user-7"],"exp":{exp}}}"#)), "claims"),
        (text("{}"), "`exp`"),
        (text("null"), "claims"),
        ("a.b.c".to_owned(), "JSON Web Token"),
        ("x".repeat(200), "JSON Web Token"),
    ] {
        let told = refusal(&chat, &token).await;
        assert!(told.contains(reason), "{token}: {told}");
        assert!(!told.contains(secret), "{told}");
    }
}

#[tokio::test]
async fn after_a_rotation_both_secrets_are_accepted() {
    let chat = Chat::new(&server().client(), json!({ "identity": "required" })).await;
    let before = chat.identity("user-7");
    chat.ask(&before).await;
    let path = format!("/v1/widgets/{}/rotate_secret", chat.id);
    let rotated = chat.owner.post_nothing(&path).await.expect(200);
    let secret = rotated["identity_secret"].as_str().unwrap().to_owned();
    a_second_later().await;
    assert_ne!(secret, chat.secret);
    let after = jwt(&secret, &json!({ "sub": "user-7", "exp": seconds() + 600 }));
    for credential in [&before, &after] {
        assert_eq!(chat.conversations(credential).await.len(), 1);
    }
}

#[tokio::test]
async fn a_secret_that_somebody_else_knows_is_ended_at_once() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({ "identity": "required" })).await;
        let path = format!("/v1/widgets/{}/rotate_secret", chat.id);
        let first = chat.identity("user-7");
        let kept = chat.owner.post_nothing(&path).await.expect(200);
        let kept = kept["identity_secret"].as_str().unwrap().to_owned();
        let signed =
            |secret: &str| jwt(secret, &json!({ "sub": "user-7", "exp": seconds() + 600 }));
        a_second_later().await;
        chat.ask(&signed(&kept)).await;
        chat.ask(&first).await;
        let ended = chat.owner.post(&path, json!({ "keep_seconds": 0 })).await.expect(200);
        a_second_later().await;
        // Neither the last one nor the one before, which had 24 hours.
        for credential in [&first, &signed(&kept)] {
            let request = chat.of_visitor(credential, "GET", "/conversations");
            request.send().await.refused(401, "unauthorized");
        }
        let now = signed(ended["identity_secret"].as_str().unwrap());
        assert_eq!(chat.conversations(&now).await.len(), 2);
    }
}

#[tokio::test]
async fn an_identity_ends_with_its_widget_its_agent_and_its_rule() {
    for server in both() {
        let owner = server.client();
        let fields = || json!({ "identity": "optional" });
        let chat = Chat::new(&owner, fields()).await;
        let (user, visitor) = (chat.identity("user-7"), chat.visitor().await);
        let replies = [chat.ask(&user).await, chat.ask(&visitor).await];
        let refused = async |chat: &Chat, credential: &str, status: u16, code: &str| {
            for reply in &replies {
                let path = conversation_of(reply);
                chat.of_visitor(credential, "GET", &path).send().await.refused(status, code);
                chat.of_visitor(credential, "DELETE", &path).send().await.refused(status, code);
                let body =
                    json!({ "message": QUESTION, "conversation_id": reply["conversation_id"] });
                chat.send(credential, body).await.refused(status, code);
            }
        };
        chat.change(json!({ "identity": "none" })).await;
        refused(&chat, &user, 401, "unauthorized").await;
        chat.change(json!({ "identity": "required" })).await;
        refused(&chat, &visitor, 401, "unauthorized").await;
        chat.change(json!({ "is_active": false })).await;
        refused(&chat, &user, 404, "resource_not_found").await;
        // Another widget has another secret, and a paused agent gives its conversations to nobody else.
        let other = Chat::of(&owner, &chat.agent, fields()).await;
        refused(&other, &user, 401, "unauthorized").await;
        let agent = format!("/v1/agents/{}", chat.agent);
        owner.patch(&agent, json!({ "status": "paused" })).await.expect(200);
        let stranger = other.visitor().await;
        refused(&other, &stranger, 404, "resource_not_found").await;
        owner.delete(&agent).await.expect_nothing();
        a_second_later().await;
        refused(&other, &other.identity("user-7"), 404, "resource_not_found").await;
        refused(&other, &visitor, 404, "resource_not_found").await;
    }
}

#[tokio::test]
async fn conversations_without_identity_do_not_become_those_of_a_user() {
    let chat = Chat::new(&server().client(), json!({ "identity": "optional" })).await;
    let visitor = chat.visitor().await;
    let reply = chat.ask(&visitor).await;
    let user = chat.identity("user-7");
    assert!(chat.conversations(&user).await.is_empty());
    let body = json!({ "message": QUESTION, "conversation_id": reply["conversation_id"] });
    chat.send(&user, body).await.refused(404, "resource_not_found");
    let path = conversation_of(&reply);
    let answer = chat.of_visitor(&user, "GET", &path).send().await;
    answer.refused(404, "resource_not_found");
    // Nor does a name in a claim make a user of an anonymous id.
    let id = visitor.trim_start_matches("vst_").split('_').next().unwrap();
    for subject in [format!("vis_{id}"), id.to_owned()] {
        assert!(chat.conversations(&chat.identity(&subject)).await.is_empty());
    }
}
