//! Recording on the server that the written file manages what it was written from.

use std::path::Path;

use reqwest::Method;
use serde_json::json;

use crate::api_client::{ApiClient, Body};
use crate::commands::declared::wanted::identity;
use crate::failure::Failure;

/// An object that the file describes.
pub(super) struct Adopted {
    /// The section of the file; `sources` for a source.
    section: &'static str,
    key: String,
    path: String,
}

impl Adopted {
    pub(super) fn new(section: &'static str, key: &str, path: String) -> Self {
        Self { section, key: key.to_owned(), path }
    }
}

/// Gives every object its identity.
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
    for one in adopted {
        let Some(hash) = hash(one) else {
            return Err(Failure::new(format!("the written file has no `{}`", one.key)));
        };
        let body = json!({ "managed": identity(&wanted.set, &one.key, &hash) });
        api.change(Method::PATCH, &one.path, "adopted", Body::Json(&body)).await?;
    }
    Ok(())
}
