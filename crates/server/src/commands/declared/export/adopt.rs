//! Recording on the server that the written file manages what it was written from.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api_client::{ApiClient, Body, text};
use crate::commands::declared::wanted::identity;
use crate::failure::Failure;

/// An object that the file describes.
pub(super) struct Adopted {
    /// The section of the file; `sources` for a source.
    section: &'static str,
    key: String,
    path: String,
    /// The identity that it has.
    managed: Value,
}

impl Adopted {
    /// An object of the server that is written with this key.
    pub(super) fn new(section: &'static str, key: &str, object: &Value) -> Self {
        let id = text(object, "id");
        let path = match section {
            "webhooks" => format!("/v1/webhook_endpoints/{id}"),
            "keys" => format!("/v1/api_keys/{id}"),
            section => format!("/v1/{section}/{id}"),
        };
        Self { section, key: key.to_owned(), path, managed: object["managed"].clone() }
    }

    /// Whether it belongs to the set already. Its hash says which content a source has, and otherwise only whether its
    /// secret was written.
    fn is_in(&self, set: &str, hash: &str) -> bool {
        let is_known = self.section != "sources" || text(&self.managed, "hash") == hash;
        text(&self.managed, "set") == set && text(&self.managed, "key") == self.key && is_known
    }
}

/// Gives every object its identity. No other object has it: the keys of the set are reserved.
pub(super) async fn run(api: &ApiClient, file: &Path, adopted: &[Adopted]) -> Result<(), Failure> {
    // The hashes are those of the file, so it is read as `apply` does.
    let wanted = super::super::wanted(file)?;
    let hash = |one: &Adopted| match one.section {
        "sources" => {
            let mut sources = wanted.agents.iter().flat_map(|agent| agent.sources.iter().flatten());
            sources.find(|source| source.key == one.key).map(|source| source.hash.clone())
        }
        section => {
            let objects: Vec<_> = match section {
                "agents" => wanted.agents.iter().map(|agent| &agent.object).collect(),
                "widgets" => wanted.widgets().collect(),
                "webhooks" => wanted.webhooks.iter().flatten().collect(),
                _ => wanted.keys.iter().flatten().collect(),
            };
            objects
                .into_iter()
                .find(|object| object.key == one.key)
                .map(|object| object.hash.clone())
        }
    };
    let mut changes = Vec::new();
    for one in adopted {
        let Some(hash) = hash(one) else {
            return Err(Failure::new(format!("the written file has no `{}`", one.key)));
        };
        if !one.is_in(&wanted.set, &hash) {
            let body = json!({ "managed": identity(&wanted.set, &one.key, &hash) });
            changes.push((&one.path, body));
        }
    }
    for (done, (path, body)) in changes.iter().enumerate() {
        let change = api.change(Method::PATCH, path, "adopted", Body::Json(body)).await;
        change.map_err(|error| {
            let (most, set) = (changes.len(), &wanted.set);
            let error = Failure::from(error);
            Failure::new(format!(
                "{}; {done} of {most} objects were added to the set `{set}`; to add the others, export again with \
                 `--adopt`, into another folder",
                error.message()
            ))
        })?;
    }
    Ok(())
}
