//! Strangers who guess ids and credentials: they learn nothing of other people's conversations.

use cicerone_tests::Answer;
use serde_json::{Value, json};

use super::{Chat, QUESTION, both, conversation_of};
use crate::world::NO_CONVERSATION;

/// The answers to everything that a visitor can do with a conversation.
async fn attempts(chat: &Chat, credential: &str, conversation: &str) -> Vec<Answer> {
    let path = format!("/conversations/{conversation}");
    let of = |method: &str, path: String| chat.of_visitor(credential, method, &path);
    let body = json!({ "message": QUESTION, "conversation_id": conversation });
    let streamed = json!({ "message": QUESTION, "conversation_id": conversation, "stream": true });
    vec![
        of("GET", path.clone()).send().await,
        of("DELETE", path.clone()).send().await,
        of("PUT", format!("{path}/messages/2/rating"))
            .json(&json!({ "value": "down" }))
            .send()
            .await,
        of("PUT", format!("{path}/messages/9/rating"))
            .json(&json!({ "value": "down" }))
            .send()
            .await,
        of("PUT", format!("{path}/handoff")).json(&json!({ "message": "mine" })).send().await,
        of("PUT", format!("{path}/lead"))
            .json(&json!({ "email": "eve@evil.example" }))
            .send()
            .await,
        chat.send(credential, body).await,
        chat.send(credential, streamed).await,
    ]
}

#[tokio::test]
async fn a_conversation_of_somebody_else_is_answered_like_one_that_does_not_exist() {
    for server in both() {
        let limits = json!({ "messages_per_address_per_minute": 1_000, "messages_per_visitor_per_hour": 1_000 });
        let fields =
            json!({ "handoff": true, "lead": true, "identity": "optional", "limits": limits });
        let (ours, theirs) = (server.account("ours"), server.account("theirs"));
        let chat = Chat::new(&ours, fields.clone()).await;
        let same_agent = Chat::of(&ours, &chat.agent, fields.clone()).await;
        let same_account = Chat::new(&ours, fields.clone()).await;
        let foreign = Chat::new(&theirs, fields).await;

        let victim = chat.visitor().await;
        let reply = chat.ask(&victim).await;
        let id = reply["conversation_id"].as_str().unwrap();
        let user = chat.identity("user-7");
        let of_user = chat.ask(&user).await;
        let of_key = ours.ask(&chat.agent, QUESTION).await;
        let whole = async |id: &Value| {
            ours.get(&format!("/v1/conversations/{}", id.as_str().unwrap())).await.expect(200)
        };
        let before = [&reply["conversation_id"], &of_user["conversation_id"], &of_key["id"]];
        let mut kept = Vec::new();
        for id in before {
            kept.push(whole(id).await);
        }

        for attacker in [&chat, &same_agent, &same_account, &foreign] {
            let credentials = [attacker.visitor().await, attacker.identity("user-8")];
            for credential in &credentials {
                let unknown = attempts(attacker, credential, NO_CONVERSATION).await;
                for target in before {
                    let target = target.as_str().unwrap();
                    let answers = attempts(attacker, credential, target).await;
                    for (answer, unknown) in answers.iter().zip(&unknown) {
                        answer.refused(404, "resource_not_found");
                        let told = answer.without_request_id().replace(target, NO_CONVERSATION);
                        assert_eq!(told, unknown.without_request_id());
                        let names = |answer: &Answer| {
                            let mut names: Vec<_> =
                                answer.headers.keys().map(ToString::to_string).collect();
                            names.sort();
                            names
                        };
                        assert_eq!(names(answer), names(unknown));
                    }
                }
                assert!(attacker.conversations(credential).await.is_empty());
            }
        }
        // A conversation of a key belongs to no visitor either, and nothing was changed.
        for credential in [&victim, &user] {
            for answer in attempts(&chat, credential, of_key["id"].as_str().unwrap()).await {
                answer.refused(404, "resource_not_found");
            }
        }
        for (id, kept) in before.into_iter().zip(kept) {
            assert_eq!(whole(id).await, kept);
        }
        assert_eq!(chat.conversations(&victim).await, [id]);
        assert_eq!(
            same_agent.conversations(&victim).await,
            [id],
            "the agent's visitor is the same"
        );
    }
}

#[tokio::test]
async fn a_credential_is_of_no_use_elsewhere_and_cannot_be_made_up() {
    for server in both() {
        let owner = server.client();
        let chat = Chat::new(&owner, json!({})).await;
        let other = Chat::new(&owner, json!({})).await;
        let victim = chat.visitor().await;
        let reply = chat.ask(&victim).await;
        let path = conversation_of(&reply);
        let refused = async |chat: &Chat, credential: &str| {
            let answer = chat.of_visitor(credential, "GET", &path).send().await;
            answer.refused(401, "unauthorized");
            answer.without_request_id()
        };
        refused(&other, &victim).await;
        let (id, tag) = victim.trim_start_matches("vst_").split_once('_').unwrap();
        let stranger = chat.visitor().await;
        let foreign_tag = stranger.rsplit_once('_').map(|_| stranger.split_at(15).1).unwrap();
        let mut told = std::collections::BTreeSet::new();
        for forged in [
            format!("vst_{id}_"),
            format!("vst_{id}_{}", "A".repeat(22)),
            format!("vst_{id}_{foreign_tag}"),
            format!("vst_0000000000_{tag}"),
            format!("vst_{id}_{tag}="),
            format!("vst_{id}"),
            format!("vis_{id}"),
            format!("vst_{}", "x".repeat(20_000)),
        ] {
            if forged.starts_with("vst_") {
                told.insert(refused(&chat, &forged).await);
            } else {
                refused(&chat, &forged).await;
            }
        }
        assert_eq!(told.len(), 1, "a refusal tells how near a guess was: {told:?}");
    }
}

#[tokio::test]
async fn a_visitor_cannot_use_the_api_of_the_owner() {
    let chat = Chat::new(&super::server().client(), json!({ "identity": "optional" })).await;
    let reply = chat.ask(&chat.visitor().await).await;
    for credential in
        [chat.visitor().await, chat.identity("user-7"), chat.token.clone(), chat.secret.clone()]
    {
        let stranger = chat.owner.with_key(&credential);
        for path in ["/v1/agents".to_owned(), format!("/v1{}", conversation_of(&reply))] {
            stranger.get(&path).await.refused(401, "unauthorized");
        }
    }
}
