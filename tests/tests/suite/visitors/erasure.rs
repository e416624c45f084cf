//! What a visitor left is deleted with the conversation: none of it is in any table, in a pending event, or in the log.

use cicerone_tests::postgres::Cluster;
use cicerone_tests::receiver::{Reaction, Receiver};
use cicerone_tests::{Client, Server};
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::SqliteConnection;
use serde_json::{Value, json};

use super::{Chat, conversation_of, jwt, seconds, server_with};
use crate::webhooks::sent::verifies;
use crate::world::{a_second_later, eventually};

/// Every text that the visitor of these tests leaves has this word.
const MARK: &str = "Quetzalcoatlus";
/// Names of tables, or of columns.
const SQLITE_TABLES: &str =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
const POSTGRES_TABLES: &str = "SELECT table_name::text AS name FROM information_schema.tables \
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// A server with its database.
struct Place {
    server: Server,
    /// The address of the PostgreSQL database; `None` for SQLite.
    postgres: Option<String>,
    receiver: Receiver,
}

impl Place {
    /// One on each kind of database. Endpoints refuse the first request, so that events wait for another attempt.
    async fn all(pause: u64) -> Vec<Self> {
        let settings = format!("\n[webhooks]\npauses_seconds = [{pause}, {pause}]\n");
        let urls = [None, Cluster::shared().map(|cluster| cluster.empty_database().to_string())];
        let mut places = Vec::new();
        for postgres in urls.into_iter().enumerate().filter(|(n, url)| *n == 0 || url.is_some()) {
            let mut environment = vec![("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")];
            let postgres = postgres.1;
            environment.extend(postgres.as_deref().map(|url| ("CICERONE_DATABASE_URL", url)));
            let server = server_with(&settings, &environment);
            let receiver = Receiver::reacting(|_, before| {
                Reaction::status(if before < 3 { 500 } else { 204 })
            })
            .await;
            places.push(Self { server, postgres, receiver });
        }
        places
    }

    /// Rows of the database that contain the mark, each as the name of its table.
    fn marked(&self) -> Vec<String> {
        match &self.postgres {
            Some(url) => {
                let mut connection = PgConnection::establish(url).unwrap();
                let tables: Vec<Name> =
                    diesel::sql_query(POSTGRES_TABLES).load(&mut connection).unwrap();
                assert!(!tables.is_empty());
                let holds = |Name { name }: Name| {
                    let query = format!(
                        "SELECT count(*) AS count FROM \"{name}\" AS any_row WHERE any_row::text LIKE '%{MARK}%'"
                    );
                    let count: Count =
                        diesel::sql_query(query).get_result(&mut connection).unwrap();
                    (count.count > 0).then_some(name)
                };
                tables.into_iter().filter_map(holds).collect()
            }
            None => {
                let mut connection = self.sqlite();
                let tables: Vec<Name> =
                    diesel::sql_query(SQLITE_TABLES).load(&mut connection).unwrap();
                assert!(!tables.is_empty());
                let holds = |Name { name }: Name| {
                    let query = format!("SELECT name FROM pragma_table_info('{name}')");
                    let columns: Vec<Name> =
                        diesel::sql_query(query).load(&mut connection).unwrap();
                    let is_marked = |column: &Name| {
                        format!("instr(CAST(\"{}\" AS TEXT), '{MARK}') > 0", column.name)
                    };
                    let marked: Vec<String> = columns.iter().map(is_marked).collect();
                    let query = format!(
                        "SELECT count(*) AS count FROM \"{name}\" WHERE {}",
                        marked.join(" OR ")
                    );
                    let count: Count =
                        diesel::sql_query(query).get_result(&mut connection).unwrap();
                    (count.count > 0).then_some(name)
                };
                tables.into_iter().filter_map(holds).collect()
            }
        }
    }

    /// Makes all conversations as old as the first moment of 2020.
    fn grow_old(&self) {
        let old = "UPDATE conversations SET created_at = 1577836800000, updated_at = 1577836800000";
        match &self.postgres {
            Some(url) => diesel::sql_query(old).execute(&mut PgConnection::establish(url).unwrap()),
            None => diesel::sql_query(old).execute(&mut self.sqlite()),
        }
        .unwrap();
    }

    fn sqlite(&self) -> SqliteConnection {
        let path = self.server.data().join("cicerone.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut connection).unwrap();
        connection
    }

    async fn endpoint(&self, client: &Client) -> Value {
        let events = ["conversation.handoff_requested", "message.rated", "lead.captured"];
        let body = json!({ "url": self.receiver.url(), "events": events });
        client.post("/v1/webhook_endpoints", body).await.expect(201)
    }

    /// Waits until nothing that contains the mark is left.
    async fn is_erased(&self) {
        eventually("nothing is left", async || self.marked().is_empty()).await;
        let log = self.server.stdout() + &self.server.stderr();
        assert!(!log.contains(MARK), "{log}");
    }
}

/// A widget, and a visitor who leaves everything that can be left. Returns the visitor's credential and conversation.
async fn left(client: &Client) -> (Chat, String, String) {
    let fields = json!({ "handoff": true, "lead": true, "identity": "required" });
    let chat = Chat::new(client, fields).await;
    let claims = json!({
        "sub": format!("{MARK} 7"), "exp": seconds() + 600, "name": MARK, "email": format!("{MARK}@museum.example"),
    });
    let user = jwt(&chat.secret, &claims);
    let question = format!("Does the {MARK} fly, and what does {MARK} eat?");
    let reply = chat.send(&user, json!({ "message": question })).await.expect(200);
    let path = conversation_of(&reply);
    for (what, body) in [
        ("messages/2/rating", json!({ "value": "down", "comment": format!("Ask {MARK}.") })),
        ("handoff", json!({ "message": format!("Call {MARK}.") })),
        (
            "lead",
            json!({ "email": format!("{MARK}@b.example"), "name": MARK, "phone": MARK, "message": MARK }),
        ),
    ] {
        let answer =
            chat.of_visitor(&user, "PUT", &format!("{path}/{what}")).json(&body).send().await;
        assert!(answer.status < 300, "{}", answer.text());
    }
    // The owner reads all of it, and its question is in a gap.
    let seen = client.get(&format!("/v1{path}")).await.expect(200);
    assert_eq!(seen["lead"]["name"], MARK);
    client.get(&format!("/v1/agents/{}/gaps", chat.agent)).await.expect(200);
    (chat, user, path)
}

#[tokio::test]
async fn what_a_visitor_left_is_gone_with_the_conversation_and_with_the_agent() {
    for place in Place::all(3_600).await {
        let client = place.server.client();
        place.endpoint(&client).await;
        let (chat, user, path) = left(&client).await;
        for table in ["conversations", "messages", "ratings", "events"] {
            assert!(
                place.marked().iter().any(|marked| marked == table),
                "{table}: {:?}",
                place.marked()
            );
        }
        chat.of_visitor(&user, "DELETE", &path).send().await.expect_nothing();
        place.is_erased().await;
        let (_, _, path) = left(&client).await;
        client.delete(&format!("/v1{path}")).await.expect_nothing();
        place.is_erased().await;
        let (chat, ..) = left(&client).await;
        client.delete(&format!("/v1/agents/{}", chat.agent)).await.expect_nothing();
        place.is_erased().await;
    }
}

#[tokio::test]
async fn what_a_visitor_left_is_gone_when_the_agent_keeps_conversations_no_longer() {
    for mut place in Place::all(3_600).await {
        let client = place.server.client();
        place.endpoint(&client).await;
        let (chat, ..) = left(&client).await;
        place.grow_old();
        assert!(!place.marked().is_empty(), "without a bound, conversations are kept");
        let path = format!("/v1/agents/{}", chat.agent);
        client.patch(&path, json!({ "retention_days": 1 })).await.expect(200);
        // A round of the housekeeper is the first thing that a server does.
        place.server.restart();
        place.is_erased().await;
    }
}

#[tokio::test]
async fn a_deleted_widget_leaves_its_conversations_to_the_owner() {
    for place in Place::all(3_600).await {
        let client = place.server.client();
        let (chat, user, path) = left(&client).await;
        client.delete(&format!("/v1/widgets/{}", chat.id)).await.expect_nothing();
        a_second_later().await;
        chat.of_visitor(&user, "GET", &path).send().await.refused(404, "resource_not_found");
        let seen = client.get(&format!("/v1{path}")).await.expect(200);
        assert_eq!((&seen["widget_id"], &seen["lead"]["name"]), (&Value::Null, &json!(MARK)));
        // Its secret signs for no other widget of the agent.
        let other = Chat::of(&client, &chat.agent, json!({ "identity": "required" })).await;
        other.of_visitor(&user, "GET", &path).send().await.refused(401, "unauthorized");
        let again =
            jwt(&other.secret, &json!({ "sub": format!("{MARK} 7"), "exp": seconds() + 600 }));
        other.of_visitor(&again, "DELETE", &path).send().await.expect_nothing();
        place.is_erased().await;
    }
}

#[tokio::test]
async fn events_that_wait_are_sent_without_what_was_deleted() {
    for place in Place::all(3).await {
        let client = place.server.client();
        let endpoint = place.endpoint(&client).await;
        let (chat, user, path) = left(&client).await;
        let first = place.receiver.wait_for(3).await;
        assert!(first.iter().all(|sent| String::from_utf8_lossy(&sent.body).contains(MARK)));
        chat.of_visitor(&user, "DELETE", &path).send().await.expect_nothing();
        let again = place.receiver.wait_for(6).await.split_off(3);
        for sent in again {
            let text = String::from_utf8_lossy(&sent.body).into_owned();
            assert!(!text.contains(MARK), "{text}");
            assert!(first.iter().any(|one| one.header("webhook-id") == sent.header("webhook-id")));
            assert!(verifies(&sent, &endpoint["secret"]));
            assert_eq!(
                format!(
                    "/conversations/{}",
                    sent.json()["data"]["conversation_id"].as_str().unwrap()
                ),
                path
            );
        }
    }
}
