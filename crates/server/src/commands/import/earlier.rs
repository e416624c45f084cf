//! What earlier imports added: the identity of an imported source is derived from its content, so that a repetition
//! finds it at any later time.

use std::collections::HashSet;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Refused;
use super::found::Item;
use crate::api_client::{ApiClient, hex, managed};

/// The set of all imported sources.
pub(in crate::commands) const SET: &str = "cicerone-import";
/// Hexadecimal digits of the hash that are the key of a source.
const KEY_DIGITS: usize = 20;

/// The hashes of the sources of an agent that were imported.
#[derive(Debug, Default)]
pub(super) struct Earlier(HashSet<String>);

impl Earlier {
    /// Reads them.
    pub(super) async fn of(api: &ApiClient, agent: &str) -> Result<Self, Refused> {
        let mut hashes = HashSet::new();
        let path = format!("/v1/agents/{agent}/sources?set={SET}");
        match api.get(&path).await {
            Ok(_) => {}
            // The key may only add sources. Then the server refuses a second source of the same identity.
            Err(error) if error.is(403) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        }
        let read = api.each(&path, |source| {
            hashes.insert(managed(&source, "hash").to_owned());
            Ok(())
        });
        read.await.map_err(|failure| Refused::All(failure.message().to_owned()))?;
        Ok(Self(hashes))
    }

    /// Whether the agent has a source with that hash.
    pub(super) fn has(&self, hash: &str) -> bool {
        self.0.contains(hash)
    }
}

/// The hash of an item; `file` is the content of a file.
pub(super) fn hash(item: &Item, file: Option<&[u8]>) -> String {
    let name;
    let parts: [&[u8]; 3] = match item {
        Item::Pairs { content, .. } => [b"qa", content.as_bytes(), b""],
        Item::Text { text, .. } => [b"text", text.as_bytes(), b""],
        Item::Website(url) => [b"website", url.as_bytes(), b""],
        Item::File(path) => {
            name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            [b"file", name.as_bytes(), file.unwrap_or_default()]
        }
    };
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// The identity of a source with that hash.
pub(super) fn identity(hash: &str) -> Value {
    let key = hash.get(..KEY_DIGITS).unwrap_or(hash);
    json!({ "set": SET, "key": key, "hash": hash })
}
