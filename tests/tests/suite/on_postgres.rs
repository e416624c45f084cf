//! The same service on PostgreSQL: the whole lifecycle of an agent, and several servers on one
//! database.

use std::time::{Duration, Instant};

use cicerone_tests::postgres::Cluster;
use cicerone_tests::scenario::{cited, id, ids};
use cicerone_tests::sse::Streamed;
use cicerone_tests::{Client, Server};
use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection};
use serde_json::json;

use crate::routes::{Names, ROUTES, shown_again};
use crate::storage::waiting_for_rows;
use crate::world::{a_second_later, eventually, program};

/// Servers on one new database; `None` if PostgreSQL is not installed.
fn servers<const N: usize>() -> Option<[Server; N]> {
    let url = Cluster::shared()?.empty_database().to_string();
    Some(std::array::from_fn(|_| {
        Server::of(&program()).env("CICERONE_DATABASE_URL", url.clone()).start()
    }))
}

#[tokio::test]
async fn an_agent_lives_and_dies() {
    let Some([server]) = servers() else { return };
    let client = server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Hours\n\nThe museum opens at nine o'clock.").await;
    let pairs =
        client.qa(&agent, &[("How much is a ticket?", "A ticket costs twelve euros.")]).await;
    let file =
        id(&client.upload("garden.txt", "The garden closes at seven o'clock.").await.expect(201));
    let file_source = client.source(&agent, "file", &file).await;
    client.trained(&file_source).await;

    let body = json!({
        "agent_id": agent, "message": "When does the museum open?", "metadata": { "user": "ü" },
    });
    let reply = client.post("/v1/conversations", body).await.expect(200);
    assert_eq!(cited(&reply), json!([{ "id": source, "title": "Hours" }]));
    let body = json!({
        "agent_id": agent, "conversation_id": reply["id"], "message": "How much is a ticket?",
        "stream": true,
    });
    let streamed: Streamed = client.stream(body).await;
    assert_eq!(streamed.text(), "A ticket costs twelve euros.");
    assert_eq!(streamed.done()["sources_used"][0]["id"], pairs.as_str());

    let path = format!("/v1/agents/{agent}/conversations?metadata=user:%C3%BC");
    assert_eq!(client.get(&path).await.expect(200)["data"].as_array().unwrap().len(), 1);
    let path = format!("/v1/agents/{agent}/sources");
    let expected = [file_source.clone(), pairs.clone(), source.clone()];
    assert_eq!(ids(&client.list_all(&path, 1).await), expected);

    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert!(!reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    client.get(&format!("/v1/files/{file}")).await.refused(404, "resource_not_found");
    client.get(&format!("/v1/sources/{pairs}")).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_server_that_keeps_uploads_to_itself_says_so() {
    const WARNING: &str = "uploads are in the data directory";
    let Some([alone]) = servers() else { return };
    alone.log_with(WARNING).await;
    let url = Cluster::shared().unwrap().empty_database().to_string();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::of(&program())
        .env("CICERONE_DATABASE_URL", url)
        .env("CICERONE_OBJECT_STORE_URL", format!("file:{}", folder.path().display()))
        .start();
    assert!(!server.stderr().contains(WARNING), "{}", server.stderr());
}

#[tokio::test]
async fn every_write_is_idempotent() {
    let Some([server]) = servers() else { return };
    let client = server.client();
    for route in ROUTES.iter().filter(|route| route.writes()) {
        let names = Names::of_new(&client).await;
        let key = route.name().replace(' ', "-");
        let first = route.request(&client, &names).idempotent(&key).send().await;
        assert!(first.status < 300, "{}: {}", route.name(), first.text());
        let again = route.request(&client, &names).idempotent(&key).send().await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", route.name());
        assert_eq!(again.status, first.status, "{}", route.name());
        assert_eq!(shown_again(&again), shown_again(&first), "{}", route.name());
    }
}

#[tokio::test]
async fn a_key_that_one_server_deletes_stops_to_work_on_the_other_within_a_second() {
    let Some([one, other]) = servers() else { return };
    let body = json!({ "name": "Key", "permissions": ["agents:read"] });
    let key = one.client().post("/v1/api_keys", body).await.expect(201);
    let holder = other.client().with_key(key["key"].as_str().unwrap());
    holder.get("/v1/agents").await.expect(200);
    let path = format!("/v1/api_keys/{}", key["id"].as_str().unwrap());
    one.client().delete(&path).await.expect_nothing();
    a_second_later().await;
    holder.get("/v1/agents").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn identical_requests_to_two_servers_have_one_effect() {
    let Some([one, other]) = servers() else { return };
    let (one, other) = (one.client(), other.client());
    let body = json!({ "name": "Guide" });
    let send = |client: &Client| {
        client.request("POST", "/v1/agents").json(&body).idempotent("same").send()
    };
    let requests = (0..32).map(|n| send(if n % 2 == 0 { &one } else { &other }));
    let answers = futures_util::future::join_all(requests).await;
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 409)));
    let page = one.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    assert_eq!(other.get("/v1/agents").await.expect(200), page);
}

#[tokio::test]
async fn what_one_server_learns_and_forgets_the_other_knows_at_once() {
    let Some([one, other]) = servers() else { return };
    let (one, other) = (one.client(), other.client());
    let agent = one.agent().await;
    one.text(&agent, "The garden closes at seven o'clock.").await;
    for number in 0..10 {
        let word = format!("passphrase{number}");
        let text = format!("The secret {word} of the tower is number {number}.");
        let question = format!("What is the secret {word} of the tower?");
        let (teller, asked) = if number % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let source = teller.text(&agent, &text).await;
        let reply = asked.ask(&agent, &question).await;
        assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{reply}");
        teller.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
        let reply = asked.ask(&agent, &question).await;
        assert!(!reply.to_string().contains(&source), "{reply}");
    }
}

#[tokio::test]
async fn messages_to_two_servers_are_stored_in_pairs() {
    let Some([one, other]) = servers() else { return };
    let (one, other) = (one.client(), other.client());
    let agent = one.agent().await;
    let conversation = id(&one.ask(&agent, "Hello there").await);
    let sent = (0..16).map(|number| {
        let client = if number % 2 == 0 { one.clone() } else { other.clone() };
        let body = json!({
            "agent_id": agent, "conversation_id": conversation,
            "message": format!("Question {number}"),
        });
        async move { client.post("/v1/conversations", body).await.expect(200) }
    });
    futures_util::future::join_all(sent).await;
    let whole = one.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2 * 17);
    for pair in messages.chunks(2) {
        assert_eq!((&pair[0]["role"], &pair[1]["role"]), (&json!("user"), &json!("assistant")));
    }
}

#[tokio::test]
async fn everything_is_there_after_a_kill() {
    let Some([mut server]) = servers() else { return };
    let client = server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine o'clock.").await;
    let conversation = id(&client.ask(&agent, "When does the museum open?").await);
    server.kill();
    server.restart();
    let client = server.client();
    client.get(&format!("/v1/agents/{agent}")).await.expect(200);
    client.get(&format!("/v1/sources/{source}")).await.expect(200);
    client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
}

#[tokio::test]
async fn on_every_route_what_is_foreign_answers_exactly_like_what_is_unknown() {
    let Some([server]) = servers() else { return };
    let (owner, stranger) = (server.account("owner"), server.account("stranger"));
    let (foreign, nothing) = (Names::of_new(&owner).await, Names::of_nothing());
    for route in ROUTES.iter().filter(|route| route.names_something()) {
        let answer = route.call(&stranger, &foreign).await;
        let unknown = route.call(&stranger, &nothing).await;
        answer.refused(404, "resource_not_found");
        assert_eq!(
            foreign.hide(&answer.without_request_id()),
            nothing.hide(&unknown.without_request_id()),
            "{}",
            route.name()
        );
    }
}

#[tokio::test]
async fn connections_that_the_database_ends_are_made_anew() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let server = Server::of(&program()).env("CICERONE_DATABASE_URL", url.to_string()).start();
    let client = server.client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}");
    for _ in 0..3 {
        cluster.disconnect(&url);
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let answer = client.get(&path).await;
            if answer.status == 200 {
                break;
            }
            answer.refused(503, "service_unavailable");
            assert!(Instant::now() < deadline, "the server does not recover: {}", answer.text());
        }
        client.patch(&path, json!({ "name": "Docent" })).await;
    }
    client.text(&agent, "The museum opens at nine o'clock.").await;
    assert_eq!(client.anonymous().get("/readyz").await.status, 200);
}

#[tokio::test]
async fn connections_that_only_read_are_replaced_when_new_ones_write() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let server = Server::of(&program()).env("CICERONE_DATABASE_URL", url.to_string()).start();
    let client = server.client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}");
    cluster.set_read_only(&url, true);
    cluster.disconnect(&url);
    eventually("writes are refused", async || {
        client.patch(&path, json!({ "name": "Docent" })).await.status == 503
    })
    .await;
    client.get(&path).await.expect(200);
    // The connections that only read are still open.
    cluster.set_read_only(&url, false);
    a_second_later().await;
    client.patch(&path, json!({ "name": "Guide" })).await.expect(200);
    eventually("the server is ready", async || {
        client.anonymous().get("/readyz").await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_suspended_in_a_transaction_does_not_stop_the_others() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let start = || Server::of(&program()).env("CICERONE_DATABASE_URL", url.to_string()).start();
    let (suspended, other) = (start(), start());
    let agent = other.client().agent().await;
    let path = format!("/v1/agents/{agent}");
    let mut holder = PgConnection::establish(&url.to_string()).unwrap();
    holder.batch_execute("BEGIN; SELECT 1 FROM agents FOR UPDATE").unwrap();
    let client = suspended.client();
    let patch = client.patch(&path, json!({ "name": "Docent" }));
    let holder_and_other = async {
        let holder = std::sync::Mutex::new(holder);
        eventually("the change waits for the row", async || {
            waiting_for_rows(&mut holder.lock().unwrap()) > 0
        })
        .await;
        suspended.freeze();
        // Its transaction gets the row now, and has no next statement.
        holder.lock().unwrap().batch_execute("ROLLBACK").unwrap();
        other.client().patch(&path, json!({ "name": "Guide" })).await.expect(200);
        suspended.thaw();
    };
    let (answer, ()) = tokio::join!(patch, holder_and_other);
    assert!([200, 503].contains(&answer.status), "{}", answer.text());
    client.patch(&path, json!({ "name": "Keeper" })).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_pg_restore_only_what_was_restored_is_answered() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let start = || Server::of(&program()).env("CICERONE_DATABASE_URL", url.to_string()).start();
    // One server runs during the restore; the other is started again after it.
    let (running, mut restarted) = (start(), start());
    let client = running.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine in the morning.").await;
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    cluster.dump(&url, &dump);
    client.text(&agent, "The elephant lives behind the zoo.").await;
    for server in [&running, &restarted] {
        let reply = server.client().ask(&agent, "Where does the elephant live?").await;
        assert!(reply["reply"].as_str().unwrap().contains("zoo"), "{reply}");
    }
    cluster.restore(&url, &dump);
    restarted.restart();
    for round in 0..4 {
        for server in [&running, &restarted] {
            let client = server.client();
            let reply = client.ask(&agent, "Where does the elephant live?").await;
            assert_eq!(reply["sources_used"], json!([]), "round {round}: {reply}");
            let body = json!({ "query": "elephant zoo" });
            let found = client.post(&format!("/v1/agents/{agent}/search"), body).await.expect(200);
            assert!(!found.to_string().contains("elephant"), "round {round}: {found}");
            let reply = client.ask(&agent, "When does the museum open?").await;
            assert!(reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
        }
        // In the first round, both histories have the same generation.
        client.text(&agent, &format!("Train {round} leaves from platform {round}.")).await;
    }
}
