//! A private PostgreSQL cluster for the tests of one process. It is created in a temporary folder
//! when it is first used, and removed when the process ends, for whatever reason. It listens on a
//! Unix socket in that folder and on no port.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a cluster that does not start is the failure of the test that needs it"
)]

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cicerone_storage::{DatabaseUrl, migrations};

/// Where Debian and its derivatives install the servers of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Creates the cluster, runs it, prints its folder, and stops it when standard input is closed,
/// which also happens if the parent process panics or is killed.
const SCRIPT: &str = r#"
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/cicerone-postgres.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$BIN/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 \
    --no-locale --no-sync >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
"$BIN/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
    -c fsync=off -c full_page_writes=off -c max_connections=300 >"$folder/log" 2>&1 </dev/null &
server=$!
until "$BIN/pg_isready" -q -h "$folder"; do
    kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.02
done
echo "$folder"
cat >/dev/null
kill -INT "$server"
wait "$server" || true
"#;

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    bin: PathBuf,
    /// Contains its data and its socket.
    folder: String,
    databases: AtomicU32,
    template: OnceLock<String>,
    /// Its standard input stays open as long as this process lives.
    _watchdog: Child,
}

impl Cluster {
    /// The cluster of this process, started at the first call. If PostgreSQL is not installed,
    /// panics if `CI` is set; otherwise prints a line on standard error and returns `None`.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(|| newest().map(Self::start).or_else(missing)).as_ref()
    }

    fn start(bin: PathBuf) -> Self {
        let mut watchdog = unprivileged_shell()
            .arg(SCRIPT)
            .env("BIN", &bin)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Interrupting the tests at the terminal must not reach the watchdog, which stops the
            // cluster cleanly.
            .process_group(0)
            .spawn()
            .expect("a shell can be started");
        let mut folder = String::new();
        BufReader::new(watchdog.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        assert!(folder.ends_with('\n'), "PostgreSQL did not start");
        folder.pop();
        let (databases, template) = (AtomicU32::new(0), OnceLock::new());
        Self { bin, folder, databases, template, _watchdog: watchdog }
    }

    /// A new database without tables.
    pub fn empty_database(&self) -> DatabaseUrl {
        self.create(&[])
    }

    /// A new database with every migration applied: a copy of a template that is created once.
    pub fn migrated_database(&self) -> DatabaseUrl {
        let template = self.template.get_or_init(|| {
            let url = self.empty_database();
            migrations::run(&url).unwrap();
            url.to_string().rsplit('/').next().unwrap().to_owned()
        });
        self.create(&["--template", template])
    }

    /// Ends every connection to a database from the server's side, as a restart would.
    pub fn disconnect(&self, url: &DatabaseUrl) {
        let name = name(url);
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        self.run("psql", &["--quiet", "--no-psqlrc", "--command", &sql, "template1"]);
    }

    /// Makes every new connection to a database read-only, as that to a standby is, or no longer.
    pub fn set_read_only(&self, url: &DatabaseUrl, is_on: bool) {
        let name = name(url);
        let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = {is_on}");
        self.run("psql", &["--quiet", "--no-psqlrc", "--command", &sql, "template1"]);
    }

    /// Ends every connection to a database and refuses new ones, as if it were unreachable.
    pub fn close(&self, url: &DatabaseUrl) {
        let sql = format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", name(url));
        self.run("psql", &["--quiet", "--no-psqlrc", "--command", &sql, "template1"]);
        self.disconnect(url);
    }

    /// Writes a database to a file with `pg_dump`, in its custom format.
    pub fn dump(&self, url: &DatabaseUrl, file: &Path) {
        let file = file.to_str().expect("UTF-8");
        self.run("pg_dump", &["--format", "custom", "--file", file, name(url).as_str()]);
    }

    /// Restores a database from a file of [`dump`](Self::dump) in one transaction, even while servers use it.
    pub fn restore(&self, url: &DatabaseUrl, file: &Path) {
        let file = file.to_str().expect("UTF-8");
        let options = ["--clean", "--if-exists", "--single-transaction", "--dbname"];
        self.run("pg_restore", &[&options[..], &[name(url).as_str(), file]].concat());
    }

    /// The address of a database for clients that connect to its socket through `relay`, at `HOST:PORT`.
    pub fn through(&self, relay: SocketAddr, url: &DatabaseUrl) -> String {
        format!("postgres://postgres@{relay}/{}", name(url))
    }

    /// The socket that it listens on.
    pub fn socket(&self) -> PathBuf {
        Path::new(&self.folder).join(".s.PGSQL.5432")
    }

    fn create(&self, options: &[&str]) -> DatabaseUrl {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("createdb", &[options, &[&name]].concat());
        // A folder in place of the host means a Unix socket.
        let url = format!("postgres://postgres@{}/{name}", self.folder.replace('/', "%2F"));
        DatabaseUrl::parse(&url).unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = Command::new(self.bin.join(program))
            .args(["--host", &self.folder, "--username", "postgres"])
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{program}` failed: {errors}");
    }
}

fn name(url: &DatabaseUrl) -> String {
    url.to_string().rsplit('/').next().expect("a name").to_owned()
}

/// The folder of programs of the newest installed version.
fn newest() -> Option<PathBuf> {
    let versions = Path::new(VERSIONS).read_dir().ok()?;
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.ok()?.path();
            let number = version.file_name()?.to_str()?.parse().ok()?;
            let bin = version.join("bin");
            bin.join("initdb").exists().then_some((number, bin))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin)
}

#[expect(clippy::disallowed_methods, reason = "`CI` says that nothing may be skipped")]
#[expect(clippy::print_stderr, reason = "a person who runs the tests must see what was skipped")]
fn missing() -> Option<Cluster> {
    assert!(
        std::env::var_os("CI").is_none(),
        "PostgreSQL is not installed: apt-get install postgresql"
    );
    eprintln!("skipped on PostgreSQL, which is not installed:\napt-get install postgresql");
    None
}

/// A shell of a user who may run PostgreSQL, which refuses to run as root.
fn unprivileged_shell() -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        let mut shell = Command::new("sh");
        shell.arg("-c");
        return shell;
    }
    let known = |user: &str| Command::new("id").arg(user).output().unwrap().status.success();
    let user = if known("postgres") { "postgres" } else { "nobody" };
    let mut shell = Command::new("runuser");
    shell.args(["-u", user, "--", "sh", "-c"]);
    shell
}
