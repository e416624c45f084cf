//! The tools of an agent: their declarations, and who may call them.

mod ask;
mod fetch;
mod search;

use std::sync::Arc;

use cicerone_domain::access::Permissions;
use cicerone_domain::services::{Conversations, Sources};
use cicerone_domain::{Agent, Error, Id, Permission, PublicUrl, Scope, kind};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::watch;
use utoipa::PartialSchema;

use crate::auth::Authorized;
use crate::body::read_fields;
use crate::context::{RequestId, Shared};
use crate::stages::StageTimes;

/// The names of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolName {
    Search,
    Fetch,
    Ask,
}

/// The dependencies of an agent's tools.
#[derive(Clone)]
pub(super) struct Tools {
    pub(super) sources: Sources,
    pub(super) conversations: Conversations,
    /// The runtime on which replies are completed, even if their callers go away.
    pub(super) runtime: Handle,
    /// What the caller may see.
    pub(super) scope: Scope,
    /// What the caller may do.
    pub(super) permissions: Permissions,
    pub(super) agent: Arc<Agent>,
    /// The address of the server, if anybody may read the documents of the agent there.
    pub(super) public_url: Option<PublicUrl>,
    /// The clock of a reply; `None` if nothing is measured.
    pub(super) times: Option<StageTimes>,
    /// The id under which failures are logged; `None` if each call is to get one.
    pub(super) request_id: Option<RequestId>,
    /// Becomes true when the tools can be used; `None` if they can.
    pub(super) ready: Option<watch::Receiver<bool>>,
}

/// Whether the results of this tool are large enough for memory to be reserved beforehand.
pub(super) fn answers_at_length(tool: &str) -> bool {
    matches!(ToolName::from_name(tool), Some(ToolName::Search | ToolName::Fetch))
}

impl ToolName {
    /// All tools, in the order in which they are listed.
    pub(super) const ALL: [Self; 3] = [Self::Search, Self::Fetch, Self::Ask];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Ask => "ask",
        }
    }

    /// The tool with that name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The permission that its callers need.
    const fn permission(self) -> Permission {
        match self {
            Self::Search | Self::Fetch => Permission::SourcesRead,
            Self::Ask => Permission::ConversationsWrite,
        }
    }

    /// The description of the tool for clients and models.
    pub(super) fn declaration(self) -> Tool {
        match self {
            Self::Search => declare::<search::Arguments, search::Results>(
                self,
                "Search the documents",
                "Searches the agent's documents. Returns the best passage of each document that was found, best \
                 first. Use `fetch` with the `id` of a result to read the whole document.",
            )
            .annotate(ToolAnnotations::new().read_only(true).open_world(false)),
            Self::Fetch => declare::<fetch::Arguments, fetch::Document>(
                self,
                "Read a document",
                "Returns the text of one document. `id` is that of a result of `search`.",
            )
            .annotate(ToolAnnotations::new().read_only(true).open_world(false)),
            Self::Ask => declare::<ask::Arguments, ask::Reply>(
                self,
                "Ask the agent",
                "Asks the agent a question. The answer is based on its documents and names those that it used; if \
                 they do not cover the question, it says so. Give the `conversation_id` of an earlier answer to \
                 ask a follow-up question.",
            )
            .annotate(ToolAnnotations::new().read_only(false).destructive(false).open_world(false)),
        }
    }
}

impl Tools {
    pub(super) fn of_request<P>(app: &Shared, caller: &Authorized<P>, agent: Agent) -> Self {
        let is_public = agent.profile.public_sources;
        Self {
            public_url: app.public_url.clone().filter(|_| is_public),
            sources: app.sources.clone(),
            conversations: app.conversations.clone(),
            runtime: app.runtime.clone(),
            scope: caller.scope().clone(),
            permissions: caller.key().permissions,
            agent: Arc::new(agent),
            times: Some(StageTimes::new(caller.context().authenticated_in.get())),
            request_id: Some(caller.request_id()),
            ready: None,
        }
    }

    /// The tools that the caller may use.
    pub(super) fn allowed(&self) -> impl Iterator<Item = ToolName> {
        ToolName::ALL.into_iter().filter(|tool| self.permissions.allows(tool.permission()))
    }

    /// The address of a document, its own or that of its public page; empty if it has none.
    fn address(&self, url: Option<&str>, document: Id<kind::Document>) -> String {
        let page = || self.public_url.as_ref().map(|public| public.page_of(document));
        url.map(str::to_owned).or_else(page).unwrap_or_default()
    }

    /// Calls a tool. Returns its result as JSON.
    pub(super) async fn call(&self, tool: ToolName, arguments: JsonObject) -> Result<Value, Error> {
        let permission = tool.permission();
        if !self.permissions.allows(permission) {
            return Err(Error::Forbidden(permission));
        }
        if let Some(mut ready) = self.ready.clone() {
            ready.wait_for(|ready| *ready).await.map_err(Error::unavailable)?;
        }
        match tool {
            ToolName::Search => search::call(self, read(arguments)?).await.and_then(|it| json(&it)),
            ToolName::Fetch => fetch::call(self, read(arguments)?).await.and_then(|it| json(&it)),
            ToolName::Ask => ask::call(self, read(arguments)?).await.and_then(|it| json(&it)),
        }
    }
}

/// Reads arguments. Their types are checked, but not their values.
fn read<T: DeserializeOwned + PartialSchema>(arguments: JsonObject) -> Result<T, Error> {
    let text = Value::Object(arguments).to_string();
    read_fields(text.as_bytes())
}

fn json(result: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(result).map_err(Error::internal)
}

/// The declaration of a tool with arguments of the type `A` and a result of the type `R`.
fn declare<A: PartialSchema, R: PartialSchema>(
    tool: ToolName,
    title: &'static str,
    about: &'static str,
) -> Tool {
    Tool::new(tool.name(), about, schema::<A>())
        .with_title(title)
        .with_raw_output_schema(Arc::new(schema::<R>()))
}

/// The JSON Schema of a type. It is derived from OpenAPI 3.1, which uses the same language.
fn schema<T: PartialSchema>() -> JsonObject {
    match serde_json::to_value(T::schema()) {
        Ok(Value::Object(schema)) => schema,
        // The schema of a struct is an object. A test reads all of them.
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::ToolName;
    use serde_json::Value;

    /// Every `$ref` would point into the OpenAPI document, which clients do not have. Some clients translate schemas
    /// for models that do not support union types, so there are none.
    #[test]
    fn each_schema_is_an_object_that_stands_alone() {
        for tool in ToolName::ALL {
            let declaration = serde_json::to_value(tool.declaration()).unwrap();
            assert_eq!(declaration["name"], tool.name());
            assert_eq!(ToolName::from_name(tool.name()), Some(tool));
            for schema in ["inputSchema", "outputSchema"] {
                let schema = &declaration[schema];
                assert_eq!(schema["type"], "object", "{tool:?}");
                assert!(schema["properties"].as_object().is_some_and(|all| !all.is_empty()));
                assert!(schema["required"].is_array(), "{schema}");
                for unknown in ["$ref", "\"null\"", "anyOf", "oneOf"] {
                    assert!(!schema.to_string().contains(unknown), "{unknown}: {schema}");
                }
            }
            let is_read_only = declaration["annotations"]["readOnlyHint"] == Value::Bool(true);
            assert_eq!(is_read_only, tool != ToolName::Ask);
        }
    }
}
