//! Folders with one folder for each agent: those of the indexes, and those of the vectors.

use std::io;
use std::path::{Path, PathBuf};

use cicerone_domain::{Error, Id, kind};

/// A folder of folders, each named after its agent's id.
pub(crate) struct Folders {
    root: PathBuf,
}

impl Folders {
    /// The folders under `root`, which is created if it is missing.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&root)?;
        Ok(Self { root })
    }

    /// The folder of an agent, whether it exists or not.
    pub(crate) fn of(&self, agent: Id<kind::Agent>) -> PathBuf {
        self.path(agent, "")
    }

    /// The path of a file in the folder of an agent, or of the folder.
    fn path(&self, agent: Id<kind::Agent>, file: &str) -> PathBuf {
        let agent = agent.to_string();
        let room = self.root.as_os_str().len() + agent.len() + file.len() + 2;
        let mut path = PathBuf::with_capacity(room);
        path.extend([&*self.root, Path::new(&agent)]);
        if !file.is_empty() {
            path.push(file);
        }
        path
    }

    /// Whether the folder of an agent contains an index, which may have been deleted externally. Takes a microsecond.
    pub(super) fn exists(&self, agent: Id<kind::Agent>) -> bool {
        self.path(agent, "meta.json").exists()
    }

    /// Whether an agent has a folder, even if it contains no complete index.
    pub(crate) fn has(&self, agent: Id<kind::Agent>) -> bool {
        self.of(agent).exists()
    }

    /// The agents that have a folder; none if all folders were deleted externally.
    pub(crate) async fn agents(&self) -> Result<Vec<Id<kind::Agent>>, Error> {
        let root = self.root.clone();
        blocking(move || {
            let mut agents: Vec<Id<kind::Agent>> = Vec::new();
            let entries = match std::fs::read_dir(root) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(agents),
                entries => entries?,
            };
            for entry in entries {
                let name = entry?.file_name();
                agents.extend(name.to_str().and_then(|name| name.parse::<Id<kind::Agent>>().ok()));
            }
            Ok(agents)
        })
        .await
    }

    /// Removes an agent's folder, if there is one.
    pub(crate) async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        let folder = self.of(agent);
        blocking(move || super::remove_folder(&folder)).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?.map_err(Error::unavailable)
}
