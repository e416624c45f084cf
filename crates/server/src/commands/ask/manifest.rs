//! The manifest in a data directory of `ask`: which source was created from which file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cicerone_domain::{Id, kind};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The name of its file in the data directory.
const FILE: &str = "ask.json";

/// The agent of a data directory, and its files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
pub(super) struct Manifest {
    agent: Option<String>,
    /// By absolute path.
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// The ids of the sources of websites, by address and by whether links were followed.
    #[serde(default)]
    pub(super) websites: BTreeMap<String, String>,
}

/// A file that became a source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Entry {
    /// The source's id.
    pub(super) source: String,
    /// The name that citations show.
    pub(super) name: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub(super) digest: String,
}

impl Entry {
    pub(super) fn source(&self) -> Option<Id<kind::Source>> {
        self.source.parse().ok()
    }
}

impl Manifest {
    /// Reads the manifest of a data directory; an empty one if there is none.
    pub(super) fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Failure::because(&format!("`{}` is damaged", path.display()), &error)
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                Err(Failure::because(&format!("cannot read `{}`", path.display()), &error))
            }
        }
    }

    /// Writes the manifest atomically.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Failure> {
        let path = directory.join(FILE);
        let failed = |error: &(dyn std::error::Error + 'static)| {
            Failure::because(&format!("cannot write `{}`", path.display()), error)
        };
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| failed(&error))?;
        let next = directory.join(format!("{FILE}.next"));
        std::fs::write(&next, bytes).map_err(|error| failed(&error))?;
        std::fs::rename(&next, &path).map_err(|error| failed(&error))
    }

    /// The agent of earlier calls.
    pub(super) fn agent(&self) -> Option<Id<kind::Agent>> {
        self.agent.as_ref().and_then(|id| id.parse().ok())
    }

    /// Continues with `agent`. If it is not the previous one, it has no files yet.
    pub(super) fn begin(&mut self, agent: Id<kind::Agent>) {
        if self.agent() != Some(agent) {
            *self = Self { agent: Some(agent.to_string()), ..Self::default() };
        }
    }
}
