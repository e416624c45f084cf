//! Runs the program in a folder of its own.
#![expect(clippy::expect_used, reason = "a failed setup is a failed test")]

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A folder that the program runs in.
pub(crate) struct Workplace(TempDir);

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        let parent = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).expect("the folder");
        std::fs::write(path, text).expect("the file");
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.path().join(name)).expect("the file");
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(&[], arguments)
    }

    pub(crate) fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_cicerone"))
            .current_dir(self.0.path())
            .env_clear()
            .envs(environment.iter().copied())
            .args(arguments)
            .output()
            .expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output in UTF-8");
        Run {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}
