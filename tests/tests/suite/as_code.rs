//! `cicerone plan`, `apply`, `export` and `import`: the program against a server.

mod apply;
mod bad_files;
mod exports;
mod imports;
mod interrupted;
mod proxy;
mod pruning;
mod saved_plans;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use cicerone_tests::Client;
use tempfile::TempDir;

use crate::world::{account, program};

/// A folder with a file, and an account.
pub(super) struct Place {
    folder: TempDir,
    pub(super) client: Client,
}

impl Place {
    /// A new account, and a folder with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self::of(account(), files)
    }

    /// A folder for an account that exists.
    pub(super) fn of(client: Client, files: &[(&str, &str)]) -> Self {
        let place = Self { folder: TempDir::with_prefix("cicerone-test-").unwrap(), client };
        place.write(files);
        place
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command line for the server at an address.
    pub(super) fn command_at(&self, address: &str, arguments: &[&str]) -> Command {
        let mut command = program().command(self.folder.path(), arguments);
        command
            .args(["--server", &format!("http://{address}")])
            .env("CICERONE_API_KEY", self.client.key().unwrap())
            .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
            .current_dir(self.folder.path());
        command
    }

    /// Runs a command line.
    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        let address = self.client.address().to_string();
        self.command_at(&address, arguments).output().unwrap()
    }

    /// Runs a command line that must end with this status. Returns standard output and standard error.
    pub(super) fn ends(&self, status: i32, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(status), "{arguments:?}\n{out}\n{err}");
        (out, err)
    }

    /// Applies the file.
    pub(super) fn apply(&self) -> String {
        self.ends(0, &["apply"]).0
    }
}

/// A client with the key that a file contains.
pub(super) fn client_of(place: &Place, file: &str) -> Client {
    place.client.with_key(place.read(file).trim())
}
