//! The limits of visitors: each has its own refusal, and none starves the owner or another account.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cicerone_tests::Answer;
use cicerone_tests::upstream::{Script, Upstream};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{Chat, QUESTION, both, conversation_of, server, server_with};
use crate::world::eventually;

/// Sends a message from an address.
async fn from(chat: &Chat, credential: &str, address: &str) -> Answer {
    let request = chat.of_visitor(credential, "POST", "/messages");
    let request = request.header("X-Forwarded-For", address);
    request.json(&json!({ "message": "Hello there" })).send().await
}

fn message(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

#[tokio::test]
async fn one_address_is_limited_whoever_its_visitors_are() {
    let limits = json!({ "messages_per_address_per_minute": 3 });
    let chat = Chat::new(&server().client(), json!({ "limits": limits })).await;
    for _ in 0..3 {
        from(&chat, &chat.visitor().await, "2001:db8::1").await.expect(200);
    }
    let error = from(&chat, &chat.visitor().await, "2001:db8::ffff").await;
    let error = error.refused(429, "rate_limit_exceeded");
    assert!(message(&error).contains("your network"), "{error}");
    from(&chat, &chat.visitor().await, "2001:db8:0:1::1").await.expect(200);
    let other = Chat::of(&chat.owner, &chat.agent, json!({})).await;
    from(&other, &other.visitor().await, "2001:db8::1").await.expect(200);
}

#[tokio::test]
async fn a_flood_from_many_addresses_ends_at_the_days_bound_and_is_told_no_figures() {
    for server in both() {
        let limits = json!({ "messages_per_day": 5 });
        let chat = Chat::new(&server.client(), json!({ "limits": limits })).await;
        let visitors = join_all((0..12).map(|_| chat.visitor())).await;
        let sends = visitors
            .iter()
            .enumerate()
            .map(async |(n, visitor)| from(&chat, visitor, &format!("203.0.113.{n}")).await);
        let answers = join_all(sends).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 5);
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            let error = answer.refused(429, "quota_exceeded");
            assert!(message(&error).contains("today"), "{error}");
            assert!(!message(&error).contains('5'), "{error}");
            assert!(error["retry_after"].as_u64().unwrap() <= 24 * 60 * 60, "{error}");
            assert_eq!(answer.header("x-should-retry"), Some("false"));
        }
        // The owner and another widget still have theirs.
        chat.owner.ask(&chat.agent, QUESTION).await;
        let other = Chat::of(&chat.owner, &chat.agent, json!({})).await;
        other.ask(&other.visitor().await).await;
    }
}

#[tokio::test]
async fn one_visitor_is_limited_from_every_address_and_for_everything_that_is_written() {
    let limits = json!({ "messages_per_visitor_per_hour": 3 });
    let fields = json!({ "limits": limits, "handoff": true, "lead": true });
    let chat = Chat::new(&server().client(), fields).await;
    let visitor = chat.visitor().await;
    let reply = chat.ask(&visitor).await;
    from(&chat, &visitor, "203.0.113.1").await.expect(200);
    from(&chat, &visitor, "203.0.113.2").await.expect(200);
    let error = from(&chat, &visitor, "203.0.113.3").await.refused(429, "rate_limit_exceeded");
    assert!(message(&error).contains("within an hour; try again in 20 minutes"), "{error}");
    // Events are sent for these, so they count too.
    let path = conversation_of(&reply);
    for (what, body) in [
        ("messages/2/rating", json!({ "value": "up" })),
        ("handoff", json!({})),
        ("lead", json!({ "email": "a@b.example" })),
    ] {
        let request = chat.of_visitor(&visitor, "PUT", &format!("{path}/{what}"));
        request.json(&body).send().await.refused(429, "rate_limit_exceeded");
    }
    chat.of_visitor(&visitor, "GET", &path).send().await.expect(200);
    chat.of_visitor(&visitor, "DELETE", &path).send().await.expect_nothing();
    from(&chat, &chat.visitor().await, "203.0.113.3").await.expect(200);
}

#[tokio::test]
async fn feedback_from_many_addresses_ends_at_the_days_bound_and_what_is_refused_does_not_count() {
    let limits = json!({ "messages_per_day": 4 });
    let fields = json!({ "limits": limits, "handoff": true, "lead": true });
    let chat = Chat::new(&server().client(), fields).await;
    let visitor = chat.visitor().await;
    let path = conversation_of(&chat.ask(&visitor).await);
    let give = async |n: u8, what: &str, body: Value| {
        let request = chat.of_visitor(&visitor, "PUT", &format!("{path}/{what}"));
        request.header("X-Forwarded-For", &format!("203.0.113.{n}")).json(&body).send().await
    };
    for n in 0..5 {
        let request = chat.of_visitor(&visitor, "PUT", "/conversations/conv_0000000000/lead");
        let request = request.header("X-Forwarded-For", &format!("203.0.113.{n}"));
        let refused = request.json(&json!({ "email": "a@b.example" })).send().await;
        refused.refused(404, "resource_not_found");
    }
    give(1, "lead", json!({ "email": "a@b.example" })).await.expect_nothing();
    give(2, "handoff", json!({})).await.expect_nothing();
    for (n, value) in [(3, "up"), (4, "down")] {
        give(n, "messages/2/rating", json!({ "value": value })).await.expect(200);
    }
    for (what, body) in [
        ("messages/2/rating", json!({ "value": "up" })),
        ("handoff", json!({})),
        ("lead", json!({ "email": "c@d.example" })),
    ] {
        let error = give(5, what, body).await.refused(429, "rate_limit_exceeded");
        assert!(message(&error).contains("today"), "{error}");
    }
    // Messages have their own limit.
    from(&chat, &visitor, "203.0.113.6").await.expect(200);
}

#[tokio::test]
async fn messages_that_are_refused_do_not_use_up_the_day() {
    let limits = json!({ "messages_per_day": 1, "messages_per_address_per_minute": 100 });
    let chat = Chat::new(&server().client(), json!({ "limits": limits })).await;
    let visitor = chat.visitor().await;
    for body in [json!({}), json!({ "message": "Hello", "conversation_id": "conv_0000000000" })] {
        assert!(chat.send(&visitor, body).await.status >= 400);
    }
    chat.ask(&visitor).await;
    chat.send(&visitor, json!({ "message": "Hello" })).await.refused(429, "quota_exceeded");
}

#[tokio::test]
async fn the_accounts_quota_is_told_without_its_figures() {
    let server = server_with("\n[quotas]\nmessages_per_month = 2\n", &[]);
    let chat = Chat::new(&server.client(), json!({})).await;
    let visitor = chat.visitor().await;
    chat.ask(&visitor).await;
    chat.ask(&visitor).await;
    let answer = chat.send(&visitor, json!({ "message": QUESTION })).await;
    let error = answer.refused(429, "quota_exceeded");
    assert!(
        !message(&error).contains("quota of") && !message(&error).contains("account"),
        "{error}"
    );
    // A stream is refused in the same way, before it begins.
    let answer = chat.send(&visitor, json!({ "message": QUESTION, "stream": true })).await;
    answer.refused(429, "quota_exceeded");
}

/// A streamed reply that ends when the gate has a permit.
fn held(gate: &Arc<Semaphore>) -> Script {
    Script::stream().token("Yes").hold(gate).finish("stop").done()
}

/// A server with this model.
fn server_of(upstream: &Upstream, settings: &str) -> cicerone_tests::Server {
    server_with(settings, &[("OPENAI_BASE_URL", &upstream.url()), ("OPENAI_API_KEY", "sk-x")])
}

#[tokio::test]
async fn replies_in_progress_are_bounded_and_leave_room_to_the_owner_and_others() {
    let gate = Arc::new(Semaphore::new(0));
    let upstream = Upstream::start([held(&gate)]).await;
    let server = server_of(&upstream, "replies_at_once = 8\n");
    let (ours, theirs) = (server.account("ours"), server.account("theirs"));
    let limits = json!({ "replies_at_once": 3, "messages_per_address_per_minute": 1_000 });
    let chat = Chat::new(&ours, json!({ "limits": limits })).await;
    let most = json!({ "replies_at_once": 1_000, "messages_per_address_per_minute": 1_000 });
    let greedy = Chat::of(&ours, &chat.agent, json!({ "limits": most })).await;
    let agent = theirs.agent().await;
    let visitors = join_all((0..5).map(|_| chat.visitor())).await;
    let streamed = json!({ "message": QUESTION, "stream": true });
    let refused = AtomicUsize::new(0);
    let counted = async |answer: Answer| {
        if answer.status != 200 {
            refused.fetch_add(1, Ordering::Relaxed);
        }
        answer
    };
    // Each message reaches the model or is refused; replies do not end until the gate is opened.
    let judged = || upstream.received().len() + refused.load(Ordering::Relaxed);
    let are_judged = async |count: usize| {
        eventually("messages are accepted or refused", async || judged() >= count).await;
    };
    let flood = async |chat: &Chat| {
        let sent = visitors.iter().map(|visitor| chat.send(visitor, streamed.clone()));
        join_all(sent.map(|answer| answer.then(&counted))).await
    };
    let (first, second, of_owner, of_other, ()) = tokio::join!(
        flood(&chat),
        async {
            are_judged(5).await;
            flood(&greedy).await
        },
        async {
            are_judged(10).await;
            let body = json!({ "agent_id": chat.agent, "message": QUESTION, "stream": true });
            let sent = (0..4).map(|_| ours.post("/v1/conversations", body.clone()));
            join_all(sent.map(|answer| answer.then(&counted))).await
        },
        async {
            are_judged(14).await;
            let body = json!({ "agent_id": agent, "message": QUESTION, "stream": true });
            counted(theirs.post("/v1/conversations", body).await).await
        },
        async {
            are_judged(15).await;
            gate.add_permits(1);
        },
    );
    let served = |answers: &[Answer]| answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(served(&first), 3, "of one widget");
    assert_eq!(
        served(&second),
        1,
        "of all widgets of an account, half of what the account may have"
    );
    for answer in first.iter().chain(&second).filter(|answer| answer.status != 200) {
        let error = answer.refused(429, "rate_limit_exceeded");
        assert!(message(&error).contains("at the moment"), "{error}");
    }
    assert_eq!(served(&of_owner), 4, "the owner has the other half");
    assert_eq!(of_other.status, 200, "{}", of_other.text());
    eventually("all places are free again", async || {
        let gate = Arc::new(Semaphore::new(0));
        upstream.follow([held(&gate)]);
        let all = judged() + visitors.len();
        let (answers, ()) = tokio::join!(flood(&chat), async {
            are_judged(all).await;
            gate.add_permits(1);
        });
        served(&answers) == 3
    })
    .await;
}
