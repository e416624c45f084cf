//! A library of others, in a process that asks it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Round;
use crate::others;

/// A process with an index. It ends when its input does.
pub(super) struct Other {
    name: &'static str,
    index_seconds: f64,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    child: Child,
}

#[derive(Deserialize)]
struct Indexed {
    seconds: f64,
}

impl Other {
    /// Starts it and waits until it has an index of the passages in that file.
    pub(super) fn start(name: &'static str, folder: &Path, file: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(folder.join("python/bin/python"));
        command.arg(others::scripts().join("search.py")).arg(name).arg(file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("starting {name}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("a process without output")?);
        let mut other = Self { name, index_seconds: 0.0, input, output, child };
        other.index_seconds = other.read::<Indexed>()?.seconds;
        Ok(other)
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// How long its index took.
    pub(super) const fn index_seconds(&self) -> f64 {
        self.index_seconds
    }

    /// Lets it ask all questions.
    pub(super) fn ask(&mut self) -> anyhow::Result<Round> {
        let input = self.input.as_mut().context("a process without input")?;
        input.write_all(b"\n").and_then(|()| input.flush()).context(self.name)?;
        self.read()
    }

    fn read<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).context(self.name)?;
        ensure!(length > 0, "{} has ended", self.name);
        serde_json::from_str(&line).with_context(|| format!("{} printed `{line}`", self.name))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.input.take());
        // If it cannot be waited for, it has ended.
        let _ = self.child.wait();
    }
}
