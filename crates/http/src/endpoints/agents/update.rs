//! `PATCH /v1/agents/{agent_id}`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::agent::{
    AnswerFloor, MODEL_DEFAULT, ModelName, RECEIPTS_DEFAULT, ReplyTokens, RetentionDays,
    SystemPrompt, Temperature, parse_status,
};
use cicerone_domain::{AgentName, AgentPatch, Error, every};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use super::{AgentView, answer_floor, kept, model};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current, Given, not_null};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::{ManagedBody, TAKEN};
use crate::openapi::schema::name_of;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::PATCH, "/v1/agents/{agent_id}", handle)
        .named("updateAgent", "Update an agent")
        .details(
            "Changes only the fields that are given; null resets a field to its default. A \
             `paused` agent accepts no new conversations until it is `active` again.",
        )
        .body::<UpdateAgent>()
        .keyed()
        .gives::<AgentView<'_>>(200)
        .refuses(409, TAKEN)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"status": "paused"})))]
struct UpdateAgent {
    /// A human-readable name.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(
        nullable = false,
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"
    )]
    name: Option<String>,
    #[serde(default)]
    #[schema(schema_with = model)]
    model: Given<String>,
    /// Behaviour, tone and constraints; null for none.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 4000, pattern = "^[^\\u0000]*$")]
    system_prompt: Given<String>,
    /// Lower is more deterministic; null for the default, 0.7.
    #[serde(default)]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 2)]
    temperature: Given<f64>,
    /// The maximum number of tokens in a reply; null for the default, 1024.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4096)]
    max_tokens: Given<i64>,
    /// Days after which a conversation without a new message is removed; null for never.
    #[serde(default)]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    retention_days: Given<i64>,
    #[serde(default)]
    #[schema(schema_with = answer_floor)]
    answer_floor: Given<String>,
    /// Whether anyone who knows the address of a document may read its text without a key. Ids of documents are not
    /// secret: this publishes all texts of the agent. It has an effect only if the server has a public address. Null
    /// for false.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    public_sources: Given<bool>,
    /// Whether replies are stored with receipts, which show how they were produced; null for true. Existing receipts
    /// are kept.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    receipts: Given<bool>,
    /// Whether chat completions end with a list of their sources, for clients that drop other citations. The list is not
    /// stored; null for false.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    source_list: Given<bool>,
    /// The entry of a declaration file that manages this object; null if none does.
    #[serde(default)]
    #[schema(value_type = Option<ManagedBody>)]
    managed: Given<ManagedBody>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(schema_with = status)]
    status: Option<String>,
}

fn status() -> Object {
    name_of(["active", "paused"], "A `paused` agent accepts no new conversations.")
}

impl Body for UpdateAgent {
    type Checked = AgentPatch;

    fn check(self, current: &Current<'_>) -> Result<AgentPatch, Error> {
        let known = |name| ModelName::parse(name, current.knows_model);
        let (
            name,
            model,
            system_prompt,
            temperature,
            max_tokens,
            retention_days,
            answer_floor,
            managed,
            status,
        ) = every((
            self.name.map(AgentName::parse).transpose(),
            self.model.or(MODEL_DEFAULT.to_owned()).map(known).transpose(),
            self.system_prompt.or_default(SystemPrompt::parse),
            self.temperature.or_default(Temperature::parse),
            self.max_tokens.or_default(ReplyTokens::parse),
            self.retention_days.or_none(RetentionDays::parse),
            self.answer_floor.or_default(|name| AnswerFloor::parse(&name)),
            self.managed.or_none(ManagedBody::parse),
            self.status.as_deref().map(parse_status).transpose(),
        ))?;
        Ok(AgentPatch {
            name,
            model,
            system_prompt,
            temperature,
            max_tokens,
            retention_days,
            answer_floor,
            public_sources: self.public_sources.or(false),
            receipts: self.receipts.or(RECEIPTS_DEFAULT),
            source_list: self.source_list.or(false),
            managed,
            status,
        })
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (patch, key) = incoming.keyed_body::<UpdateAgent>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .answer(
            |agent| kept(StatusCode::OK, agent),
            move |app, caller, completion| async move {
                app.agents.update(&caller.scope, id?, patch, completion).await
            },
        )
        .await
}

#[cfg(test)]
mod tests {
    use super::UpdateAgent;
    use crate::body::{Body as _, Current};
    use cicerone_domain::agent::AnswerFloor;
    use cicerone_domain::{AgentPatch, AgentStatus, Error, Timestamp};

    fn patch(json: &str) -> Result<AgentPatch, Error> {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        UpdateAgent::parse(json.as_bytes(), &current)
    }

    #[test]
    fn null_sets_a_field_to_its_default() {
        let json = r#"{"model": null, "system_prompt": null, "temperature": null,
            "max_tokens": null, "retention_days": null, "answer_floor": null, "public_sources": null, "receipts": null,
            "source_list": null, "managed": null, "status": "paused"}"#;
        let patch = patch(json).unwrap();
        assert_eq!(patch.model.unwrap().as_str(), "gpt-4o");
        assert_eq!(patch.system_prompt.unwrap().as_str(), "");
        assert_eq!(patch.temperature.unwrap().get(), 0.7);
        assert_eq!(patch.max_tokens.unwrap().get(), 1_024);
        assert_eq!(patch.retention_days, Some(None));
        assert_eq!(patch.answer_floor, Some(AnswerFloor::Balanced));
        assert_eq!((patch.public_sources, patch.receipts), (Some(false), Some(true)));
        assert_eq!((patch.source_list, patch.managed), (Some(false), Some(None)));
        assert_eq!((patch.name, patch.status), (None, Some(AgentStatus::Paused)));
    }

    #[test]
    fn a_name_and_a_status_have_no_default() {
        for json in [r#"{"name": null}"#, r#"{"status": null}"#, r#"{"status": "deleted"}"#] {
            assert!(matches!(patch(json), Err(Error::Invalid(_))), "{json}");
        }
    }
}
