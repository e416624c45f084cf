//! The public routes of widgets, below `/w/{token}`, and what pages load: everything that needs no key.

mod configuration;
mod conversations;
mod erasure;
mod events;
mod feedback;
mod guesses;
mod identity;
mod limits;
mod messages;
mod origins;
mod pages;
mod streams;
mod walks;

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cicerone_domain::clock::{Clock as _, SystemClock};
use cicerone_tests::client::Request;
use cicerone_tests::postgres::Cluster;
use cicerone_tests::{Answer, Client, Server};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;

use crate::coverage::Covers;
use crate::world::{a_second_later, program};

/// The tests of each public route.
pub(crate) const COVERS: &[&Covers] = &[
    &configuration::COVERS,
    &configuration::BEGIN,
    &messages::COVERS,
    &conversations::LIST,
    &conversations::GET,
    &conversations::DELETE,
    &feedback::RATE,
    &feedback::HANDOFF,
    &feedback::LEAD,
];
/// The statuses that are provoked on every route that describes them, and the walk that does so.
pub(crate) const WALKED: [(&str, fn()); 8] = [
    ("401", walks::without_a_credential_nothing_is_told),
    ("403", walks::pages_of_other_origins_are_refused_and_may_not_read_why),
    ("404", walks::tokens_that_lead_nowhere_are_all_alike),
    ("413", walks::large_and_foreign_bodies_are_refused),
    ("415", walks::large_and_foreign_bodies_are_refused),
    ("429", walks::requests_of_an_address_are_limited_on_every_route),
    ("500", walks::faults_of_the_server_are_told_without_their_causes),
    ("503", walks::without_a_database_visitors_are_told_to_come_back),
];

const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";
const QUESTION: &str = "When does the museum open?";
/// The site that embeds the widgets of these tests.
const SITE: &str = "https://museum.example";

/// A server with these settings, without a limit of public requests unless they set one. It believes in addresses that are
/// forwarded, so that tests have several.
fn server_with(settings: &str, environment: &[(&str, &str)]) -> Server {
    let data = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    let proxies = "trusted_proxies = [\"127.0.0.1/32\"]\n";
    let limit =
        if settings.contains("public_requests") { "" } else { "public_requests_per_minute = 0\n" };
    std::fs::write(&file, format!("[http]\n{proxies}{limit}{settings}")).unwrap();
    let builder = Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string());
    let builder =
        environment.iter().fold(builder, |builder, (name, value)| builder.env(name, *value));
    builder.start_in(data)
}

/// The server that these tests share.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| server_with("", &[]))
}

/// A server on each kind of database; PostgreSQL is left out if it is not installed.
fn both() -> Vec<Server> {
    on_both("", &[])
}

/// The same, with these settings.
fn on_both(settings: &str, environment: &[(&str, &str)]) -> Vec<Server> {
    let mut servers = vec![server_with(settings, environment)];
    if let Some(cluster) = Cluster::shared() {
        let url = cluster.empty_database().to_string();
        let environment = [environment, &[("CICERONE_DATABASE_URL", &url)]].concat();
        servers.push(server_with(settings, &environment));
    }
    servers
}

/// A widget of an agent that knows [`TEXT`].
pub(crate) struct Chat {
    owner: Client,
    agent: String,
    id: String,
    token: String,
    secret: String,
}

impl Chat {
    /// A new agent with a widget for [`SITE`] that has these fields.
    async fn new(owner: &Client, fields: Value) -> Self {
        let agent = owner.agent().await;
        owner.text(&agent, TEXT).await;
        Self::of(owner, &agent, fields).await
    }

    /// A widget of this agent.
    async fn of(owner: &Client, agent: &str, fields: Value) -> Self {
        let mut body = json!({ "name": "Site", "origins": [SITE] });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let made = owner.post(&format!("/v1/agents/{agent}/widgets"), body).await.expect(201);
        let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        let (owner, agent) = (owner.clone(), agent.to_owned());
        Self { owner, agent, id: text("id"), token: text("token"), secret: text("identity_secret") }
    }

    async fn change(&self, fields: Value) {
        self.owner.patch(&format!("/v1/widgets/{}", self.id), fields).await.expect(200);
        a_second_later().await;
    }

    /// A request without a credential, from a page of [`SITE`]. `path` follows the token.
    fn request(&self, method: &str, path: &str) -> Request {
        self.bare(method, path).header("Origin", SITE)
    }

    /// A request that names no page.
    fn bare(&self, method: &str, path: &str) -> Request {
        self.owner.anonymous().request(method, &format!("/w/{}{path}", self.token))
    }

    fn of_visitor(&self, credential: &str, method: &str, path: &str) -> Request {
        self.request(method, path).header("Authorization", &format!("Bearer {credential}"))
    }

    /// The credential of a new visitor.
    async fn visitor(&self) -> String {
        let made = self.request("POST", "/visitors").send().await.expect(200);
        made["credential"].as_str().unwrap().to_owned()
    }

    async fn send(&self, credential: &str, body: Value) -> Answer {
        self.of_visitor(credential, "POST", "/messages").json(&body).send().await
    }

    /// Asks in a new conversation.
    async fn ask(&self, credential: &str) -> Value {
        self.send(credential, json!({ "message": QUESTION })).await.expect(200)
    }

    /// The ids of a visitor's conversations.
    async fn conversations(&self, credential: &str) -> Vec<String> {
        let listed = self.of_visitor(credential, "GET", "/conversations").send().await.expect(200);
        let id = |item: &Value| item["id"].as_str().unwrap().to_owned();
        listed["data"].as_array().unwrap().iter().map(id).collect()
    }

    /// An identity that the site has signed for ten minutes.
    fn identity(&self, subject: &str) -> String {
        jwt(&self.secret, &json!({ "sub": subject, "exp": seconds() + 600 }))
    }
}

/// The conversation of a reply, as a path after the token.
fn conversation_of(reply: &Value) -> String {
    format!("/conversations/{}", reply["conversation_id"].as_str().unwrap())
}

/// The time now.
fn seconds() -> i64 {
    SystemClock.now().as_millis() / 1_000
}

/// A JSON Web Token with these claims.
fn jwt(secret: &str, claims: &Value) -> String {
    signed(secret, &json!({ "alg": "HS256", "typ": "JWT" }), claims)
}

fn signed(secret: &str, header: &Value, claims: &Value) -> String {
    signed_text(secret, &header.to_string(), &claims.to_string())
}

/// A JSON Web Token with these texts as its parts.
fn signed_text(secret: &str, header: &str, claims: &str) -> String {
    let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(&parts);
    format!("{parts}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}
