//! `GET /v1/models/{agent_id}`

use actix_web::http::Method;

use super::ModelView;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::OpenAi, Method::GET, "/v1/models/{agent_id}", handle)
        .named("getModel", "Retrieve an agent as a model")
        .details("A paused agent can also be retrieved.")
        .gives::<ModelView>(200)
}

async fn handle(caller: Authorized<ConversationsWrite>, app: App, incoming: Incoming) -> Answer {
    let agent = app.agents.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&ModelView::from(&agent)))
}
