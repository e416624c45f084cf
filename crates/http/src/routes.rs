//! Every route of the service.

mod account;

use actix_web::http::Method;
use cicerone_domain::{SourceStatus, SourceType};
use utoipa::openapi::path::Parameter;

use crate::docs;
use crate::endpoint::AnswerSchema::{Empty, Json, JsonOrEvents, List, Text};
use crate::endpoint::Endpoint;
use crate::handlers::{agents, conversations, files, health, sources};
use crate::openapi::parameters::{cursor, metadata, moment, one_of, page_size};

const QUERY: &str = "A parameter is out of range, given twice, or a cursor of another list.";
const FULL: &str = "Too many requests, or the account would keep more bytes than it may.";
const BODY: &str = "A required field is missing, or a field has a bad value.";

/// Every route, in the order of the documentation.
pub(crate) fn routes() -> Vec<Endpoint> {
    [
        agent_routes(),
        source_routes(),
        file_routes(),
        conversation_routes(),
        account::routes(),
        open_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn paging() -> [Parameter; 2] {
    [page_size(), cursor()]
}

fn agent_routes() -> Vec<Endpoint> {
    let (all, one) = ("/v1/agents", "/v1/agents/{agent_id}");
    let status = one_of("status", &["active", "paused"], "Only agents of this status.");
    vec![
        Endpoint::new(Method::POST, all, "createAgent", "Create an agent", agents::create)
            .json("CreateAgent")
            .keyed()
            .gives(201, Json("Agent"))
            .refuses(
                400,
                "A required field is missing, a field has a bad value, or the key is restricted \
                 to existing agents.",
            ),
        Endpoint::new(Method::GET, all, "listAgents", "List agents", agents::list)
            .details("Newest first.")
            .query(paging())
            .query([status])
            .gives(200, List("Agent"))
            .refuses(400, QUERY),
        Endpoint::new(Method::GET, one, "getAgent", "Retrieve an agent", agents::find)
            .gives(200, Json("Agent")),
        Endpoint::new(Method::PATCH, one, "updateAgent", "Update an agent", agents::update)
            .details(
                "Only the fields given change; null sets a field back to its default. `paused` \
                 takes no new conversations, `active` resumes.",
            )
            .json("UpdateAgent")
            .keyed()
            .gives(200, Json("Agent"))
            .refuses(400, BODY),
        Endpoint::new(Method::DELETE, one, "deleteAgent", "Delete an agent", agents::delete)
            .details("Removes the agent, its sources and its conversations, for good.")
            .keyed()
            .gives(204, Empty),
    ]
}

fn source_routes() -> Vec<Endpoint> {
    let (of_agent, one) = ("/v1/agents/{agent_id}/sources", "/v1/sources/{source_id}");
    let filters = || {
        let statuses = SourceStatus::ALL.map(SourceStatus::name);
        let types = SourceType::ALL.map(SourceType::name);
        [
            one_of("status", &statuses, "Only sources of this status."),
            one_of("type", &types, "Only sources of this type."),
        ]
    };
    vec![
        Endpoint::new(Method::POST, of_agent, "addSource", "Add a source", sources::create)
            .details("Processing starts at once and runs in the background.")
            .json("CreateSource")
            .keyed()
            .gives(201, Json("Source"))
            .refuses(400, BODY)
            .refuses(
                422,
                "The content exceeds its limits or is not the JSON that a `qa` source holds, or \
                 the idempotency key was used for another request.",
            )
            .refuses(429, FULL),
        Endpoint::new(Method::GET, of_agent, "listSources", "List sources", sources::list)
            .details("Newest first.")
            .query(paging())
            .query(filters())
            .gives(200, List("Source"))
            .refuses(400, QUERY),
        Endpoint::new(Method::GET, one, "getSource", "Retrieve a source", sources::find)
            .gives(200, Json("Source")),
        Endpoint::new(Method::DELETE, one, "deleteSource", "Delete a source", sources::delete)
            .details("The next answer no longer knows its content.")
            .keyed()
            .gives(204, Empty),
        refresh(),
        look_into("documents", "listDocuments", "List what was extracted", "Document"),
        look_into("passages", "listPassages", "List passages", "Passage"),
        look_into("pages", "listPages", "List crawled pages", "Page")
            .refuses(400, "The source is not a website, or a parameter has a bad value."),
        search(),
    ]
}

fn refresh() -> Endpoint {
    let path = "/v1/sources/{source_id}/refresh";
    Endpoint::new(Method::POST, path, "refreshSource", "Refresh a source", sources::refresh)
        .details("Crawls a website again. Replies use the content of before until it is done.")
        .keyed()
        .gives(200, Json("Source"))
        .refuses(400, "The source is not a website.")
        .refuses(
            409,
            "The source is being processed, or the same request is still being carried out.",
        )
        .refuses(429, FULL)
}

fn look_into(
    what: &'static str,
    id: &'static str,
    summary: &'static str,
    schema: &'static str,
) -> Endpoint {
    let endpoint = match what {
        "documents" => Endpoint::new(
            Method::GET,
            "/v1/sources/{source_id}/documents",
            id,
            summary,
            sources::documents,
        ),
        "passages" => Endpoint::new(
            Method::GET,
            "/v1/sources/{source_id}/passages",
            id,
            summary,
            sources::passages,
        ),
        _ => {
            Endpoint::new(Method::GET, "/v1/sources/{source_id}/pages", id, summary, sources::pages)
        }
    };
    endpoint
        .details("In order, of the last trained content.")
        .query(paging())
        .gives(200, List(schema))
        .refuses(400, QUERY)
}

fn search() -> Endpoint {
    let path = "/v1/agents/{agent_id}/search";
    Endpoint::new(Method::POST, path, "search", "Search an agent's sources", sources::search)
        .details("Best first, over the index and ranking that replies use. Changes nothing.")
        .json("Search")
        .gives(200, Json("SearchResult"))
        .refuses(400, BODY)
}

fn file_routes() -> Vec<Endpoint> {
    let (all, one) = ("/v1/files", "/v1/files/{file_id}");
    vec![
        Endpoint::new(Method::POST, all, "uploadFile", "Upload a file", files::create)
            .details(
                "A PDF, DOCX, HTML or text file of at most 10 MiB, for a source of type `file`. A file \
                 that no source uses is removed after 24 hours.",
            )
            .body("multipart/form-data", "UploadFile")
            .keyed()
            .gives(201, Json("File"))
            .refuses(400, "The part `file` is missing or given twice, or the body breaks off.")
            .refuses(
                422,
                "The file is empty, over 10,485,760 bytes or of another type, or the idempotency \
                 key was used for another request.",
            )
            .refuses(429, FULL),
        Endpoint::new(Method::GET, one, "getFile", "Retrieve a file's description", files::find)
            .gives(200, Json("File")),
        Endpoint::new(Method::DELETE, one, "deleteFile", "Delete a file", files::delete)
            .keyed()
            .gives(204, Empty)
            .refuses(409, "A source uses the file, or the same request is being carried out."),
    ]
}

fn conversation_routes() -> Vec<Endpoint> {
    let of_agent = "/v1/agents/{agent_id}/conversations";
    let one = "/v1/conversations/{conversation_id}";
    vec![
        send(),
        Endpoint::new(
            Method::GET,
            of_agent,
            "listConversations",
            "List conversations",
            conversations::list,
        )
        .details("Newest first, without their messages.")
        .query(paging())
        .query([
            moment("created_after", "Only conversations created after this moment."),
            moment("created_before", "Only conversations created before this moment."),
            metadata(),
        ])
        .gives(200, List("Conversation"))
        .refuses(400, QUERY),
        Endpoint::new(
            Method::GET,
            one,
            "getConversation",
            "Retrieve a conversation",
            conversations::find,
        )
        .details(
            "With its messages, oldest first: at most 4 MiB of JSON, of a longer conversation the \
             newest that fit. `messages_cursor` is then the cursor of the older ones.",
        )
        .gives(200, Json("Conversation")),
        Endpoint::new(
            Method::GET,
            "/v1/conversations/{conversation_id}/messages",
            "listMessages",
            "List messages",
            conversations::messages,
        )
        .details(
            "Newest first. With the `messages_cursor` of a conversation: those older than the ones \
             that it was retrieved with.",
        )
        .query(paging())
        .gives(200, List("Message"))
        .refuses(400, QUERY),
        Endpoint::new(
            Method::DELETE,
            one,
            "deleteConversation",
            "Delete a conversation",
            conversations::delete,
        )
        .keyed()
        .gives(204, Empty),
    ]
}

fn send() -> Endpoint {
    let path = "/v1/conversations";
    Endpoint::new(Method::POST, path, "sendMessage", "Send a message", conversations::send)
        .details(
            "Without `conversation_id` a new conversation begins. With `stream: true` the reply \
             comes as server-sent events: `token` events whose `content`, joined, is the reply, \
             then `done`; or `error` where it fails after it began. A comment line is sent every \
             10 s of silence.",
        )
        .json("SendMessage")
        .keyed()
        .gives(200, JsonOrEvents("Reply"))
        .refuses(400, BODY)
        .refuses(404, "The agent or the conversation does not exist.")
        .refuses(
            409,
            "The conversation belongs to another agent, the agent is paused, or the same request \
             is still being carried out.",
        )
        .refuses(429, "Too many requests, or the account has used what it may in a month.")
        .refuses(503, "The model gave no reply, or the server is at its limit.")
}

fn open_routes() -> Vec<Endpoint> {
    let get = Method::GET;
    vec![
        Endpoint::open(
            get.clone(),
            "/healthz",
            "health",
            "Whether the process is up",
            health::alive,
        )
        .gives(200, Json("Status")),
        Endpoint::open(get.clone(), "/readyz", "readiness", "Whether it can serve", health::ready)
            .gives(200, Json("Status"))
            .refuses(503, "The database is out of reach, or the workers do not run."),
        Endpoint::open(
            get.clone(),
            "/metrics",
            "metrics",
            "Metrics for Prometheus",
            health::metrics,
        )
        .gives(200, Text("text/plain"))
        .refuses(404, "Metrics are turned off."),
        Endpoint::open(get.clone(), "/v1/openapi.json", "openapi", "This document", docs::document)
            .gives(200, Json("OpenApi")),
        Endpoint::open(get.clone(), "/docs", "docs", "The reference for people", docs::page)
            .gives(200, Text("text/html")),
        Endpoint::open(get, "/docs/{asset}", "docsAsset", "A part of the reference", docs::asset)
            .gives(200, Text("*/*"))
            .refuses(404, "The reference has no such part."),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::routes;

    #[test]
    fn every_route_and_every_operation_id_is_there_once() {
        let mut seen = HashSet::new();
        for endpoint in routes() {
            assert!(!endpoint.methods().is_empty(), "{} {}", endpoint.method, endpoint.path);
            assert!(seen.insert(format!("{} {}", endpoint.method, endpoint.path)));
            assert!(seen.insert(endpoint.description.id.to_owned()));
        }
    }

    #[test]
    fn every_route_of_the_service_proper_asks_for_a_permission() {
        for endpoint in routes() {
            let is_open = !endpoint.path.starts_with("/v1/") || endpoint.path == "/v1/openapi.json";
            assert_eq!(endpoint.permission.is_none(), is_open, "{}", endpoint.path);
        }
    }
}
