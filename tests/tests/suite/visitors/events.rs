//! The actions of visitors are sent to webhook endpoints: each event once, signed, and with the documented payload.

use cicerone_tests::receiver::{Received, Receiver};
use cicerone_tests::{Client, Server};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Chat, QUESTION, conversation_of, jwt, on_both, seconds};
use crate::webhooks::sent::verifies;
use crate::world::eventually;

/// The events of conversations.
const EVENTS: [&str; 3] = ["conversation.handoff_requested", "message.rated", "lead.captured"];

/// Servers on both kinds of databases that may send to loopback.
fn sending() -> Vec<Server> {
    on_both("\n[webhooks]\npauses_seconds = [1, 1]\n", &[("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")])
}

/// An endpoint for [`EVENTS`] that sends to `receiver`.
async fn endpoint(client: &Client, receiver: &Receiver, payload: &str) -> Value {
    let body = json!({ "url": receiver.url(), "events": EVENTS, "payload": payload });
    client.post("/v1/webhook_endpoints", body).await.expect(201)
}

/// Waits until an endpoint has `count` deliveries that succeeded, and checks that there are no others and that each was sent
/// once.
async fn sent_once(
    client: &Client,
    endpoint: &Value,
    receiver: &Receiver,
    count: usize,
) -> Vec<Received> {
    let path = format!("/v1/webhook_endpoints/{}/deliveries", endpoint["id"].as_str().unwrap());
    eventually("every delivery succeeds", async || {
        let page = client.get(&path).await.expect(200);
        let deliveries = page["data"].as_array().unwrap();
        assert!(deliveries.len() <= count, "{page}");
        deliveries.len() == count && deliveries.iter().all(|one| one["status"] == "succeeded")
    })
    .await;
    let sent = receiver.received();
    let ids: std::collections::BTreeSet<_> =
        sent.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!((sent.len(), ids.len()), (count, count), "each event is sent once");
    assert!(sent.iter().all(|one| verifies(one, &endpoint["secret"])));
    sent
}

/// The data of the events with this name, in order.
fn told(sent: &[Received], name: &str) -> Vec<Value> {
    let mut bodies: Vec<Value> = sent.iter().map(Received::json).collect();
    bodies.retain(|body| body["event"] == name);
    bodies.sort_by_key(|body| body["created_at"].as_str().unwrap().to_owned());
    bodies.into_iter().map(|mut body| body["data"].take()).collect()
}

#[tokio::test]
async fn what_visitors_do_is_sent_once_signed_and_as_documented() {
    for server in sending() {
        let (ours, theirs) = (server.account("ours"), server.account("theirs"));
        let [full, thin, foreign] =
            [Receiver::start().await, Receiver::start().await, Receiver::start().await];
        let to_full = endpoint(&ours, &full, "full").await;
        let to_thin = endpoint(&ours, &thin, "thin").await;
        endpoint(&theirs, &foreign, "full").await;
        let fields = json!({ "handoff": true, "lead": true, "identity": "optional" });
        let chat = Chat::new(&ours, fields).await;
        let claims = json!({
            "sub": "user-7", "exp": seconds() + 600, "name": "Zoë", "email": "zoe@museum.example",
        });
        let user = jwt(&chat.secret, &claims);
        let long = format!("{QUESTION} {}", "🦀".repeat(1_100));
        let reply = chat.send(&user, json!({ "message": long })).await.expect(200);
        let path = conversation_of(&reply);
        let put = async |what: &str, body: &Value| {
            let answer =
                chat.of_visitor(&user, "PUT", &format!("{path}/{what}")).json(body).send().await;
            assert!(answer.status < 300, "{}", answer.text());
        };

        let down = json!({ "value": "down", "comment": "Too early. 🦀" });
        put("messages/2/rating", &down).await;
        // An equal rating changes nothing, whoever sends it.
        put("messages/2/rating", &down).await;
        let of_owner = format!("/v1{path}/messages/2/rating");
        ours.put(&of_owner, down.clone()).await.expect(200);
        let up = json!({ "value": "up" });
        ours.put(&of_owner, up).await.expect(200);
        let wish = json!({ "message": "Please call. 🦀" });
        join_all((0..6).map(|_| put("handoff", &wish))).await;
        let lead = json!({
            "email": "ann@museum.example", "name": "Ann", "phone": "+49 30 1", "message": "Prices?",
        });
        put("lead", &lead).await;
        put("lead", &lead).await;
        let changed = json!({ "email": "ann@museum.example" });
        put("lead", &changed).await;

        let sent = sent_once(&ours, &to_full, &full, 5).await;
        for one in &sent {
            let body = one.json();
            let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
            assert_eq!(fields, ["created_at", "data", "event"]);
            assert_eq!(one.header("content-type"), "application/json");
        }
        let seen = ours.get(&format!("/v1{path}")).await.expect(200);
        let visitor = &seen["visitor"];
        assert_eq!(visitor["email"], "zoe@museum.example");
        let of_visitor = json!({
            "conversation_id": reply["conversation_id"], "agent_id": chat.agent, "widget_id": chat.id,
            "visitor": visitor,
        });
        let with = |name: &str, value: Value| {
            let mut data = of_visitor.clone();
            data[name] = value;
            data
        };
        assert_eq!(told(&sent, EVENTS[0]), [with("message", wish["message"].clone())]);
        let bare =
            json!({ "email": "ann@museum.example", "name": null, "phone": null, "message": null });
        assert_eq!(told(&sent, EVENTS[2]), [with("lead", lead), with("lead", bare)]);
        let rating = |value: &str, comment: Value| {
            json!({
                "conversation_id": reply["conversation_id"], "agent_id": chat.agent, "n": 2,
                "rating": { "value": value, "comment": comment },
                "question": long.chars().take(1_000).collect::<String>(), "reply": reply["reply"],
            })
        };
        let ratings = told(&sent, EVENTS[1]);
        assert_eq!(ratings, [rating("down", down["comment"].clone()), rating("up", Value::Null)]);

        let sent = sent_once(&ours, &to_thin, &thin, 5).await;
        let ids = json!({
            "conversation_id": reply["conversation_id"], "agent_id": chat.agent, "widget_id": chat.id,
            "visitor": { "id": visitor["id"] },
        });
        assert_eq!(told(&sent, EVENTS[0]), std::slice::from_ref(&ids));
        assert_eq!(told(&sent, EVENTS[2]), [ids.clone(), ids]);
        assert_eq!(told(&sent, EVENTS[1])[0]["rating"], json!({ "value": "down" }));
        for one in &sent {
            let text = String::from_utf8_lossy(&one.body).into_owned();
            for written in
                ["museum.example", "user-7", "Zo", "Ann", "Please", "Prices", "early", QUESTION]
            {
                assert!(!text.contains(written), "{text}");
            }
        }
        assert!(foreign.received().is_empty(), "another account gets no event");
    }
}

#[tokio::test]
async fn what_visitors_did_before_a_refusal_is_not_told() {
    for server in sending() {
        let owner = server.client();
        let receiver = Receiver::start().await;
        let to = endpoint(&owner, &receiver, "full").await;
        let chat = Chat::new(&owner, json!({})).await;
        let (visitor, stranger) = (chat.visitor().await, chat.visitor().await);
        let reply = chat.ask(&visitor).await;
        let path = conversation_of(&reply);
        let put = async |credential: &str, what: &str, body: Value| {
            chat.of_visitor(credential, "PUT", &format!("{path}/{what}"))
                .json(&body)
                .send()
                .await
                .status
        };
        let email = || json!({ "email": "eve@evil.example" });
        // The widget takes neither; others may not; and the question cannot be rated.
        assert_eq!(put(&visitor, "handoff", json!({})).await, 409);
        assert_eq!(put(&visitor, "lead", email()).await, 409);
        chat.change(json!({ "handoff": true, "lead": true })).await;
        assert_eq!(put(&stranger, "handoff", json!({})).await, 404);
        assert_eq!(put(&stranger, "lead", email()).await, 404);
        assert_eq!(put(&stranger, "messages/2/rating", json!({ "value": "up" })).await, 404);
        assert_eq!(put(&visitor, "messages/1/rating", json!({ "value": "up" })).await, 400);
        assert_eq!(put(&visitor, "handoff", json!({})).await, 204);
        let sent = sent_once(&owner, &to, &receiver, 1).await;
        let told = told(&sent, EVENTS[0]);
        assert_eq!(
            (&told[0]["message"], &told[0]["visitor"]["subject"]),
            (&Value::Null, &Value::Null)
        );
    }
}
