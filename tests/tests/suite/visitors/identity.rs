//! Identities that a site signs for its users.

use serde_json::{Value, json};

use super::{Chat, QUESTION, both, conversation_of, forgotten, jwt, seconds, server, signed};

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
    assert!(refusal(&chat, &chat.identity("user-7")).await.contains("no signed identities"));
    assert!(chat.conversations(&visitor).await.is_empty());
    chat.change(json!({ "identity": "optional" })).await;
    assert!(chat.conversations(&visitor).await.is_empty());
    assert!(chat.conversations(&chat.identity("user-7")).await.is_empty());
    chat.change(json!({ "identity": "required" })).await;
    assert!(refusal(&chat, &visitor).await.contains("needs an identity"));
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
    let unsigned = jwt(secret, &good).rsplit_once('.').unwrap().0.to_owned();
    assert!(chat.conversations(&jwt(secret, &good)).await.is_empty());
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
    forgotten().await;
    assert_ne!(secret, chat.secret);
    let after = jwt(&secret, &json!({ "sub": "user-7", "exp": seconds() + 600 }));
    for credential in [&before, &after] {
        assert_eq!(chat.conversations(credential).await.len(), 1);
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
