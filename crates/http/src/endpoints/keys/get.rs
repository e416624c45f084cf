//! `GET /v1/api_keys/{key_id}`

use actix_web::http::Method;

use super::KeyView;
use crate::auth::Authorized;
use crate::auth::permission::KeysRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Keys, Method::GET, "/v1/api_keys/{key_id}", handle)
        .named("getApiKey", "Retrieve an API key")
        .gives::<KeyView<'_>>(200)
}

async fn handle(caller: Authorized<KeysRead>, app: App, incoming: Incoming) -> Answer {
    let key = app.keys.find(caller.key(), incoming.path_id()?).await?;
    Ok(ok(&KeyView::from(&key)))
}
