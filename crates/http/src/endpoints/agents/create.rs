//! `POST /v1/agents`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::agent::{AgentDraft, AgentProfile};
use cicerone_domain::{Error, every};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{AgentView, answer_floor, kept, model};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::ManagedBody;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::POST, "/v1/agents", handle)
        .named("createAgent", "Create an agent")
        .body::<CreateAgent>()
        .keyed()
        .gives::<AgentView<'_>>(201)
        .refuses(
            400,
            "A required field is missing, a field has a bad value, or the key is restricted to existing \
             agents.",
        )
        .refuses(
            409,
            "The account has as many agents as it may have, another agent has the same `managed` set and key, or the same \
             request is still being carried out.",
        )
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"name": "Guide", "system_prompt": "Answer in one sentence."})))]
struct CreateAgent {
    /// A human-readable name.
    #[schema(min_length = 1, max_length = 100, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    name: String,
    #[schema(schema_with = model)]
    model: Option<String>,
    /// Behaviour, tone and constraints; null for none.
    #[schema(max_length = 4000, pattern = "^[^\\u0000]*$")]
    system_prompt: Option<String>,
    /// Lower is more deterministic; null for the default, 0.7.
    #[schema(minimum = 0, maximum = 2)]
    temperature: Option<f64>,
    /// The maximum number of tokens in a reply; null for the default, 1024.
    #[schema(minimum = 1, maximum = 4096)]
    max_tokens: Option<i64>,
    /// Days after which a conversation without a new message is removed; null for never.
    #[schema(minimum = 1, maximum = 3650)]
    retention_days: Option<i64>,
    #[schema(schema_with = answer_floor)]
    answer_floor: Option<String>,
    /// Whether anyone who knows the address of a document may read its text without a key. Ids of documents are not
    /// secret: this publishes all texts of the agent. It has an effect only if the server has a public address. Null
    /// for false.
    public_sources: Option<bool>,
    /// Whether replies are stored with receipts, which show how they were produced; null for true.
    receipts: Option<bool>,
    /// Whether chat completions end with a list of their sources, for clients that drop other citations. The list is not
    /// stored; null for false.
    source_list: Option<bool>,
    /// The entry of a declaration file that manages this object; null if none does.
    managed: Option<ManagedBody>,
}

impl Body for CreateAgent {
    type Checked = AgentProfile;

    fn check(self, current: &Current<'_>) -> Result<AgentProfile, Error> {
        let managed = self.managed.map(ManagedBody::parse).transpose();
        let draft = AgentDraft {
            name: self.name,
            model: self.model,
            system_prompt: self.system_prompt,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            retention_days: self.retention_days,
            answer_floor: self.answer_floor,
            public_sources: self.public_sources,
            receipts: self.receipts,
            source_list: self.source_list,
            managed: None,
        };
        let (profile, managed) = every((AgentProfile::parse(draft, current.knows_model), managed))?;
        Ok(AgentProfile { managed, ..profile })
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (profile, key) = incoming.keyed_body::<CreateAgent>(&app).await?;
    Change::new(&app, &caller, key)
        .answer(
            |agent| kept(StatusCode::CREATED, agent),
            |app, caller, completion| async move {
                app.agents.create(&caller.scope, profile, completion).await
            },
        )
        .await
}
