//! `/v1/agents`.

use actix_web::http::StatusCode;
use cicerone_domain::agent::{
    AgentDraft, AgentName, MODEL_DEFAULT, ModelName, ReplyTokens, RetentionDays, SystemPrompt,
    Temperature, parse_status,
};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::{Agent, AgentPatch, AgentStatus, Error, limits};

use crate::auth::Authorized;
use crate::auth::permission::{AgentsRead, AgentsWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::fields::{Fields, Given};
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::AgentView;

/// `POST /v1/agents`
pub(crate) async fn create(
    caller: Authorized<AgentsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let profile = app.agents.parse(draft(body.fields)?)?;
    let keyed = incoming.keyed(&[&body.bytes])?;
    let change = Change::new(&app, &caller, keyed);
    change
        .answer(created, |app, caller, completion| async move {
            app.agents.create(&caller.scope, profile, completion).await
        })
        .await
}

/// `GET /v1/agents`
pub(crate) async fn list(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list = ListName { name: "agents", account: caller.scope().account, parent: "" };
    let page = app.page(&caller, list, &query).await?;
    let status = query.one_of("status", AgentStatus::from_name, "active, paused")?;
    let agents = app.agents.list(caller.scope(), status, page).await?;
    Ok(app.envelope(list, &agents, AgentView::from))
}

/// `GET /v1/agents/{agent_id}`
pub(crate) async fn find(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    let agent = app.agents.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&AgentView::from(&agent)))
}

/// `PATCH /v1/agents/{agent_id}`
pub(crate) async fn update(
    caller: Authorized<AgentsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let patch = patch(body.fields, |model| app.agents.knows_model(model))?;
    let keyed = incoming.keyed(&[&body.bytes])?;
    let id = incoming.path_id();
    let change = Change::new(&app, &caller, keyed);
    change
        .answer(updated, move |app, caller, completion| async move {
            app.agents.update(&caller.scope, id?, patch, completion).await
        })
        .await
}

/// `DELETE /v1/agents/{agent_id}`
pub(crate) async fn delete(
    caller: Authorized<AgentsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::AgentDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.agents.delete(&caller.scope, id?, completion).await
        })
        .await
}

fn created(agent: &Agent) -> StoredResponse {
    keep(StatusCode::CREATED, &AgentView::from(agent), Some(subject(agent)))
}

fn updated(agent: &Agent) -> StoredResponse {
    keep(StatusCode::OK, &AgentView::from(agent), Some(subject(agent)))
}

fn subject(agent: &Agent) -> Subject {
    Subject::of_agent(agent.id, agent.id)
}

fn draft(mut fields: Fields) -> Result<AgentDraft, Error> {
    fields.require(&["name"])?;
    Ok(AgentDraft {
        name: fields.required_text("name")?,
        model: fields.text("model")?.value(),
        system_prompt: fields.text("system_prompt")?.value(),
        temperature: fields.number("temperature")?.value(),
        max_tokens: fields.integer("max_tokens")?.value(),
        retention_days: fields.integer("retention_days")?.value(),
    })
}

/// A change. Null is the default of a field that has one.
fn patch(mut fields: Fields, knows: impl Fn(&str) -> bool) -> Result<AgentPatch, Error> {
    let name = fields.text("name")?.not_null("name")?;
    let model = fields.text("model")?.or_default(MODEL_DEFAULT.to_owned());
    let prompt = fields.text("system_prompt")?.or_default(String::new());
    let temperature = fields.number("temperature")?.or_default(limits::TEMPERATURE_DEFAULT);
    let tokens = fields.integer("max_tokens")?.or_default(limits::REPLY_TOKENS_DEFAULT.into());
    let retention = fields.integer("retention_days")?;
    let status = fields.text("status")?.not_null("status")?;
    Ok(AgentPatch {
        name: name.map(AgentName::parse).transpose()?,
        model: model.map(|model| ModelName::parse(model, knows)).transpose()?,
        system_prompt: prompt.map(SystemPrompt::parse).transpose()?,
        temperature: temperature.map(Temperature::parse).transpose()?,
        max_tokens: tokens.map(ReplyTokens::parse).transpose()?,
        retention_days: match retention {
            Given::Value(days) => Some(Some(RetentionDays::parse(days)?)),
            Given::Null => Some(None),
            Given::Absent => None,
        },
        status: status.as_deref().map(parse_status).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::{draft, patch};
    use crate::fields::Fields;
    use cicerone_domain::agent::{ReplyTokens, Temperature};
    use cicerone_domain::{AgentStatus, Error};

    fn fields(json: &str) -> Fields {
        Fields::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn null_in_a_change_goes_back_to_the_default() {
        let json = r#"{"model": null, "system_prompt": null, "temperature": null,
            "max_tokens": null, "status": "paused"}"#;
        let patch = patch(fields(json), |_| true).unwrap();
        assert_eq!(patch.model.unwrap().as_str(), "gpt-4o");
        assert_eq!(patch.system_prompt.as_deref(), Some(""));
        assert_eq!(patch.temperature, Some(Temperature::default()));
        assert_eq!(patch.max_tokens, Some(ReplyTokens::default()));
        assert_eq!((patch.name, patch.status), (None, Some(AgentStatus::Paused)));
    }

    #[test]
    fn name_and_status_take_no_null_in_a_change() {
        for json in [r#"{"name": null}"#, r#"{"status": null}"#, r#"{"status": "deleted"}"#] {
            assert!(matches!(patch(fields(json), |_| true), Err(Error::Invalid(_))), "{json}");
        }
    }

    #[test]
    fn a_missing_name_comes_before_a_bad_value() {
        let error = draft(fields(r#"{"temperature": "hot"}"#)).unwrap_err();
        assert!(matches!(error, Error::Missing { param } if param == "name"));
    }
}
