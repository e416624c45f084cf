//! Every route with a valid request, for tests that walk all routes.

use cicerone_tests::client::Request;
use cicerone_tests::scenario::id;
use cicerone_tests::{Answer, Client};
use serde_json::{Value, json};

use crate::world::{
    NO_AGENT, NO_CONVERSATION, NO_DELIVERY, NO_DOCUMENT, NO_ENDPOINT, NO_FILE, NO_GAP, NO_KEY,
    NO_SOURCE, NO_WIDGET, NOWHERE,
};

/// A route of the API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// Its path as in the document.
    pub(crate) path: &'static str,
    /// The permission that it needs; empty if any valid key will do.
    pub(crate) permission: &'static str,
    body: Body,
}

#[derive(Debug, Clone, Copy)]
enum Body {
    None,
    Agent,
    Change,
    File,
    Source,
    SourceChange,
    Query,
    Site,
    Message,
    Chat,
    Response,
    Ping,
    Key,
    Endpoint,
    EndpointChange,
    Rating,
    Pairs,
    Gap,
    GapAnswer,
    Checks,
    Widget,
    WidgetChange,
    Token,
}

const fn route(
    method: &'static str,
    path: &'static str,
    permission: &'static str,
    body: Body,
) -> Route {
    Route { method, path, permission, body }
}

const RATING: &str = "/v1/conversations/{conversation_id}/messages/{n}/rating";
const EXPORT: &str = "/v1/agents/{agent_id}/conversations/export";
const RECEIPT: &str = "/v1/conversations/{conversation_id}/messages/{n}/receipt";

const PAIRS: &str = "/v1/sources/{source_id}/pairs";

/// All routes that need a key.
pub(crate) const ROUTES: &[Route] = &[
    route("POST", "/v1/agents", "agents:write", Body::Agent),
    route("GET", "/v1/agents", "agents:read", Body::None),
    route("GET", "/v1/agents/{agent_id}", "agents:read", Body::None),
    route("PATCH", "/v1/agents/{agent_id}", "agents:write", Body::Change),
    route("DELETE", "/v1/agents/{agent_id}", "agents:write", Body::None),
    route("GET", "/v1/agents/{agent_id}/statistics", "agents:read", Body::None),
    route("GET", "/v1/agents/{agent_id}/gaps", "conversations:read", Body::None),
    route("PATCH", "/v1/agents/{agent_id}/gaps/{gap_id}", "conversations:write", Body::Gap),
    route("POST", "/v1/agents/{agent_id}/gaps/{gap_id}/answer", "sources:write", Body::GapAnswer),
    route("PUT", "/v1/agents/{agent_id}/checks", "agents:write", Body::Checks),
    route("GET", "/v1/agents/{agent_id}/checks", "agents:read", Body::None),
    route("POST", "/v1/agents/{agent_id}/checks/run", "agents:write", Body::None),
    route("GET", "/v1/agents/{agent_id}/checks/runs", "agents:read", Body::None),
    route("POST", "/v1/files", "sources:write", Body::File),
    route("GET", "/v1/files/{file_id}", "sources:read", Body::None),
    route("GET", "/v1/files/{file_id}/content", "sources:read", Body::None),
    route("DELETE", "/v1/files/{file_id}", "sources:write", Body::None),
    route("POST", "/v1/agents/{agent_id}/sources", "sources:write", Body::Source),
    route("GET", "/v1/agents/{agent_id}/sources", "sources:read", Body::None),
    route("POST", "/v1/agents/{agent_id}/sources/preview", "sources:write", Body::Site),
    route("POST", "/v1/agents/{agent_id}/search", "sources:read", Body::Query),
    route("GET", "/v1/sources/{source_id}", "sources:read", Body::None),
    route("PATCH", "/v1/sources/{source_id}", "sources:write", Body::SourceChange),
    route("DELETE", "/v1/sources/{source_id}", "sources:write", Body::None),
    route("POST", "/v1/sources/{source_id}/refresh", "sources:write", Body::None),
    route("POST", PAIRS, "sources:write", Body::Pairs),
    route("GET", "/v1/sources/{source_id}/pages", "sources:read", Body::None),
    route("GET", "/v1/sources/{source_id}/documents", "sources:read", Body::None),
    route("GET", "/v1/sources/{source_id}/passages", "sources:read", Body::None),
    route("GET", "/v1/documents/{document_id}", "sources:read", Body::None),
    route("POST", "/v1/conversations", "conversations:write", Body::Message),
    route("GET", "/v1/agents/{agent_id}/conversations", "conversations:read", Body::None),
    route("GET", EXPORT, "conversations:export", Body::None),
    route("GET", "/v1/conversations/{conversation_id}", "conversations:read", Body::None),
    route("GET", "/v1/conversations/{conversation_id}/messages", "conversations:read", Body::None),
    route("DELETE", "/v1/conversations/{conversation_id}", "conversations:write", Body::None),
    route("PUT", RATING, "conversations:write", Body::Rating),
    route("DELETE", RATING, "conversations:write", Body::None),
    route("GET", RECEIPT, "conversations:read", Body::None),
    route("GET", "/v1/models", "conversations:write", Body::None),
    route("GET", "/v1/models/{agent_id}", "conversations:write", Body::None),
    route("POST", "/v1/chat/completions", "conversations:write", Body::Chat),
    route("POST", "/v1/responses", "conversations:write", Body::Response),
    route("POST", "/mcp/agents/{agent_id}", "", Body::Ping),
    route("POST", "/v1/webhook_endpoints", "webhooks:write", Body::Endpoint),
    route("GET", "/v1/webhook_endpoints", "webhooks:read", Body::None),
    route("GET", "/v1/webhook_endpoints/{endpoint_id}", "webhooks:read", Body::None),
    route("PATCH", "/v1/webhook_endpoints/{endpoint_id}", "webhooks:write", Body::EndpointChange),
    route("DELETE", "/v1/webhook_endpoints/{endpoint_id}", "webhooks:write", Body::None),
    route(
        "POST",
        "/v1/webhook_endpoints/{endpoint_id}/rotate_secret",
        "webhooks:write",
        Body::None,
    ),
    route("POST", "/v1/webhook_endpoints/{endpoint_id}/test", "webhooks:write", Body::None),
    route("GET", "/v1/webhook_endpoints/{endpoint_id}/deliveries", "webhooks:read", Body::None),
    route(
        "POST",
        "/v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver",
        "webhooks:write",
        Body::None,
    ),
    route("POST", "/v1/agents/{agent_id}/widgets", "agents:write", Body::Widget),
    route("GET", "/v1/agents/{agent_id}/widgets", "agents:read", Body::None),
    route("GET", "/v1/widgets/{widget_id}", "agents:read", Body::None),
    route("PATCH", "/v1/widgets/{widget_id}", "agents:write", Body::WidgetChange),
    route("DELETE", "/v1/widgets/{widget_id}", "agents:write", Body::None),
    route("POST", "/v1/widgets/{widget_id}/rotate_token", "agents:write", Body::Token),
    route("POST", "/v1/widgets/{widget_id}/rotate_secret", "agents:write", Body::Token),
    route("POST", "/v1/api_keys", "keys:write", Body::Key),
    route("GET", "/v1/api_keys", "keys:read", Body::None),
    route("GET", "/v1/api_keys/{key_id}", "keys:read", Body::None),
    route("PATCH", "/v1/api_keys/{key_id}", "keys:write", Body::Change),
    route("DELETE", "/v1/api_keys/{key_id}", "keys:write", Body::None),
    route("GET", "/v1/me", "", Body::None),
    route("GET", "/v1/audit_log", "keys:read", Body::None),
    route("GET", "/v1/usage", "agents:read", Body::None),
];

fn checks() -> Value {
    json!({ "checks": [{ "question": "When does the museum open?", "answered": true }] })
}

/// The ids that a request names.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// An agent.
    pub(crate) agent: String,
    /// A source of it: a website, which every route but one accepts.
    pub(crate) source: String,
    /// A source of it with pairs, for that one.
    pub(crate) pairs: String,
    /// A document of another source of it.
    pub(crate) document: String,
    pub(crate) gap: String,
    pub(crate) widget: String,
    pub(crate) conversation: String,
    pub(crate) file: String,
    /// A key restricted to the agent.
    pub(crate) key: String,
    /// A webhook endpoint at whose address nobody listens.
    pub(crate) endpoint: String,
    pub(crate) delivery: String,
}

impl Names {
    /// Creates new objects. The account must belong to the test, because its earlier webhook
    /// endpoints are removed: it can have only ten.
    pub(crate) async fn of_new(client: &Client) -> Self {
        let agent = client.agent().await;
        let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
        client.failed(&source).await;
        let pairs = client.qa(&agent, &[("When does it close?", "At five.")]).await;
        let text = client.text(&agent, "The museum opens at nine.").await;
        let documents = client.list_all(&format!("/v1/sources/{text}/documents"), 1).await;
        let document = id(&documents[0]);
        client.put(&format!("/v1/agents/{agent}/checks"), checks()).await.expect(200);
        let conversation = id(&client.ask(&agent, "Is there a restaurant?").await);
        let gaps = client.get(&format!("/v1/agents/{agent}/gaps")).await.expect(200);
        let gap = id(&gaps["data"][0]);
        let rating = format!("/v1/conversations/{conversation}/messages/2/rating");
        client.put(&rating, json!({ "value": "down" })).await.expect(200);
        let widgets = format!("/v1/agents/{agent}/widgets");
        let widget = id(&client.post(&widgets, json!({ "name": "Shop" })).await.expect(201));
        let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
        let key = json!({ "name": "Guide", "permissions": ["keys:write"], "agent_ids": [agent] });
        let key = id(&client.post("/v1/api_keys", key).await.expect(201));
        for old in client.list_all("/v1/webhook_endpoints", 10).await {
            client.delete(&format!("/v1/webhook_endpoints/{}", id(&old))).await.expect_nothing();
        }
        let endpoint = client.post("/v1/webhook_endpoints", json!({ "url": NOWHERE })).await;
        let endpoint = id(&endpoint.expect(201));
        let test = format!("/v1/webhook_endpoints/{endpoint}/test");
        let delivery = id(&client.post_nothing(&test).await.expect(202));
        Self {
            agent,
            source,
            pairs,
            document,
            gap,
            widget,
            conversation,
            file,
            key,
            endpoint,
            delivery,
        }
    }

    /// Ids of objects that do not exist.
    pub(crate) fn of_nothing() -> Self {
        Self {
            agent: NO_AGENT.to_owned(),
            source: NO_SOURCE.to_owned(),
            pairs: NO_SOURCE.to_owned(),
            document: NO_DOCUMENT.to_owned(),
            gap: NO_GAP.to_owned(),
            widget: NO_WIDGET.to_owned(),
            conversation: NO_CONVERSATION.to_owned(),
            file: NO_FILE.to_owned(),
            key: NO_KEY.to_owned(),
            endpoint: NO_ENDPOINT.to_owned(),
            delivery: NO_DELIVERY.to_owned(),
        }
    }

    /// Replaces the placeholders in a path by these ids.
    pub(crate) fn fill(&self, path: &str) -> String {
        let source = if path == PAIRS { &self.pairs } else { &self.source };
        path.replace("{agent_id}", &self.agent)
            .replace("{source_id}", source)
            .replace("{document_id}", &self.document)
            .replace("{gap_id}", &self.gap)
            .replace("{widget_id}", &self.widget)
            .replace("{conversation_id}", &self.conversation)
            .replace("{n}", "2")
            .replace("{file_id}", &self.file)
            .replace("{key_id}", &self.key)
            .replace("{endpoint_id}", &self.endpoint)
            .replace("{delivery_id}", &self.delivery)
    }

    /// Replaces these ids in an answer by the placeholders.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.agent, "{agent_id}")
            .replace(&self.source, "{source_id}")
            .replace(&self.pairs, "{source_id}")
            .replace(&self.document, "{document_id}")
            .replace(&self.gap, "{gap_id}")
            .replace(&self.widget, "{widget_id}")
            .replace(&self.conversation, "{conversation_id}")
            .replace(&self.file, "{file_id}")
            .replace(&self.key, "{key_id}")
            .replace(&self.endpoint, "{endpoint_id}")
            .replace(&self.delivery, "{delivery_id}")
    }
}

impl Route {
    /// A valid request to the route.
    pub(crate) fn request(&self, client: &Client, names: &Names) -> Request {
        let request = client.request(self.method, &names.fill(self.path));
        match self.json(names) {
            Some(body) => request.json(&body),
            None if matches!(self.body, Body::File) => {
                request.file("hours.txt", b"The museum opens at nine.".to_vec())
            }
            None => request,
        }
    }

    /// Sends a valid request to the route.
    pub(crate) async fn call(&self, client: &Client, names: &Names) -> Answer {
        self.request(client, names).send().await
    }

    /// Whether a request names an existing object.
    pub(crate) fn names_something(&self) -> bool {
        self.path.contains('{') || matches!(self.body, Body::Message | Body::Chat | Body::Response)
    }

    /// Whether it changes something, and therefore accepts an idempotency key.
    pub(crate) fn writes(&self) -> bool {
        // A preview changes nothing, but it lets the server send requests.
        let is_change = !["GET", "PUT"].contains(&self.method) && !matches!(self.body, Body::Site);
        is_change && self.permission.ends_with(":write")
    }

    /// The path of what a request to it has made, or of what its answer is about, to delete it.
    pub(crate) fn made(&self, names: &Names, answer: &Answer) -> String {
        match self.body {
            Body::Chat | Body::Response => format!("/v1/agents/{}", names.agent),
            Body::Widget => format!("/v1/widgets/{}", id(&answer.json())),
            _ => format!("{}/{}", self.path, id(&answer.json())),
        }
    }

    /// Whether its key must have a permission.
    pub(crate) fn needs_permission(&self) -> bool {
        !self.permission.is_empty()
    }

    /// Whether it accepts a JSON body.
    pub(crate) fn takes_json(&self) -> bool {
        !matches!(self.body, Body::None | Body::File)
    }

    /// Its method and path.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn json(&self, names: &Names) -> Option<Value> {
        match self.body {
            Body::None | Body::File => None,
            Body::Agent => Some(json!({ "name": "Guide" })),
            Body::Change => Some(json!({ "name": "Docent" })),
            Body::Source => Some(json!({ "type": "text", "content": "The museum." })),
            Body::SourceChange => Some(json!({ "managed": managed("site") })),
            Body::Site => Some(json!({ "url": NOWHERE })),
            Body::Query => Some(json!({ "query": "museum" })),
            Body::Ping => Some(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })),
            Body::Key => Some(json!({ "name": "Guide", "permissions": ["keys:write"] })),
            Body::Endpoint => Some(json!({ "url": NOWHERE })),
            Body::Pairs => {
                let pair = json!({ "question": "Is parking free?", "answer": "Yes." });
                Some(json!({ "pairs": [pair] }))
            }
            Body::Gap => Some(json!({ "status": "dismissed" })),
            Body::GapAnswer => {
                Some(json!({ "question": "Is parking free?", "answer": "Yes, behind the museum." }))
            }
            Body::Checks => Some(checks()),
            Body::Widget => Some(json!({ "name": "Shop" })),
            Body::WidgetChange => Some(json!({ "greeting": "Hi" })),
            Body::Token => Some(json!({ "keep_seconds": 60 })),
            Body::Rating => Some(json!({ "value": "up" })),
            Body::EndpointChange => Some(json!({ "description": "Ours" })),
            Body::Message => Some(json!({ "agent_id": names.agent, "message": "Hello there" })),
            Body::Chat => {
                let message = json!({ "role": "user", "content": "Hello there" });
                Some(json!({ "model": names.agent, "messages": [message] }))
            }
            Body::Response => Some(json!({ "model": names.agent, "input": "Hello there" })),
        }
    }
}

/// An identity with that key.
pub(crate) fn managed(key: &str) -> Value {
    json!({ "set": "museum", "key": key, "hash": "0".repeat(64) })
}

/// The body of an answer as it is replayed: without the secret of a new key.
pub(crate) fn shown_again(answer: &Answer) -> Vec<u8> {
    let text = answer.text();
    match text.rsplit_once(",\"key\":\"ck_") {
        Some((before, secret)) if secret.ends_with("\"}") => format!("{before}}}").into_bytes(),
        Some(_) | None => text.as_bytes().to_vec(),
    }
}
