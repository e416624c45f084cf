//! Plans that are saved, to be carried out later as they were shown.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::content::bounded;
use super::observed::{Mark, ObservedState};
use super::plan::{Plan, Pruning, Step};
use super::wanted::Wanted;
use crate::failure::Failure;

/// The version of the format.
const FORMAT: u32 = 1;
/// The largest saved plan, in bytes.
const BYTES: u64 = 32 * 1_024 * 1_024;

/// A saved plan. It contains no contents and no secrets: the file is read again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedPlan {
    format: u32,
    pub(super) server: String,
    pub(super) file: PathBuf,
    pub(super) pruning: Pruning,
    /// The hash of what the file asked for.
    wanted: String,
    /// What the server had.
    state: Vec<Mark>,
    steps: Vec<Step>,
}

impl SavedPlan {
    pub(super) fn new(
        server: &str,
        file: &Path,
        pruning: Pruning,
        wanted: &Wanted,
        state: &ObservedState,
        plan: &Plan,
    ) -> Result<Self, Failure> {
        let file = std::path::absolute(file)
            .map_err(|error| Failure::because("cannot find the current folder", &error))?;
        Ok(Self {
            format: FORMAT,
            server: server.to_owned(),
            file,
            pruning,
            wanted: wanted.hash(),
            state: state.marks(),
            steps: plan.steps.clone(),
        })
    }

    /// Writes the plan to a file.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::because("cannot write the plan", &error))?;
        std::fs::write(path, text + "\n").map_err(|error| {
            Failure::because(&format!("cannot write `{}`", path.display()), &error)
        })
    }

    /// Reads a plan from a file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let saved: Self = serde_json::from_slice(&bounded(path, BYTES)?)
            .map_err(|error| Failure::new(format!("`{shown}` is not a saved plan: {error}")))?;
        if saved.format != FORMAT {
            let format = saved.format;
            return Err(Failure::new(format!(
                "`{shown}` has the format {format}, but this program reads {FORMAT}; make a new plan"
            )));
        }
        Ok(saved)
    }

    /// Checks that the plan still fits.
    pub(super) fn check(
        &self,
        wanted: &Wanted,
        state: &ObservedState,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let file = self.file.display();
        if self.wanted != wanted.hash() {
            return Err(Failure::new(format!(
                "`{file}`, or a file that it names, was changed after the plan was made; make a new plan"
            )));
        }
        if self.state != state.marks() || self.steps != plan.steps {
            return Err(Failure::new(
                "the server was changed after the plan was made; make a new plan",
            ));
        }
        Ok(())
    }
}
