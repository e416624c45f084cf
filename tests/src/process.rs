//! The program as a process: starts it on a free port and in its own data directory, stops it,
//! kills it, starts it again.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::client::Client;
use crate::patience::{PATIENCE, awaited};

/// The full-permission key of the account `default` on every server started here.
pub const ROOT_KEY: &str = "root-key-of-the-test-suite-0123456789abcdef";

/// The state of an open connection in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";

/// The start of the first line that `serve` prints, followed by its address.
const GREETING: &str = "cicerone is listening on http://";

/// The executable under test.
#[derive(Debug, Clone)]
pub struct Program(PathBuf);

impl Program {
    /// The executable at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of the executable.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A command line of the program on the data directory `data`, with no other environment
    /// variables.
    pub fn command(&self, data: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.env_clear().env("CICERONE_DATA_DIR", data).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a command line to its end.
    pub fn run(&self, data: &Path, arguments: &[&str]) -> Output {
        self.command(data, arguments).output().expect("the program can be started")
    }

    /// Runs a command line that must succeed, and returns its standard output.
    pub fn succeed(&self, data: &Path, arguments: &[&str]) -> String {
        let output = self.run(data, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{arguments:?}` ended with {}: {errors}", output.status);
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    }
}

/// The settings of a server to be started.
#[derive(Debug, Clone)]
pub struct Builder {
    program: Program,
    environment: Vec<(String, String)>,
    root_key: bool,
}

impl Builder {
    /// Sets a variable of the server's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Omits [`ROOT_KEY`], so that the server generates a key.
    #[must_use]
    pub fn without_root_key(mut self) -> Self {
        self.root_key = false;
        self
    }

    /// Starts the server in a new data directory.
    pub fn start(self) -> Server {
        self.start_in(TempDir::with_prefix("cicerone-test-").expect("a temporary directory"))
    }

    /// Starts the server in this data directory.
    pub fn start_in(self, data: TempDir) -> Server {
        let running = Running::start(&self, data.path());
        Server { builder: self, data, running }
    }

    /// Starts a server that must fail to start; returns its standard error.
    pub fn start_fails(self) -> String {
        let data = TempDir::with_prefix("cicerone-test-").expect("a temporary directory");
        let output = self.command(data.path()).output().expect("the program can be started");
        assert!(!output.status.success(), "the start was expected to fail");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn command(&self, data: &Path) -> Command {
        let mut command = self.program.command(data, &["serve"]);
        command.env("CICERONE_BIND", "127.0.0.1:0").env("RUST_LOG", "info");
        if self.root_key {
            command.env("CICERONE_ROOT_KEY", ROOT_KEY);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A running server with its data directory. Dropping it kills the process and removes the data.
#[derive(Debug)]
pub struct Server {
    builder: Builder,
    data: TempDir,
    running: Running,
}

impl Server {
    /// A server of `program`, to be started.
    pub fn of(program: &Program) -> Builder {
        // Tests send as fast as they can; the tests of the rate limit set their own limit. Webhook
        // endpoints may be on loopback, at an address where nobody listens.
        let environment =
            [("CICERONE_RATE_LIMIT_PER_MINUTE", "0"), ("CICERONE_EGRESS_ALLOW", "127.9.9.9/32")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = environment.to_vec();
        Builder { program: program.clone(), environment, root_key: true }
    }

    /// The server's address. The port changes with every restart.
    pub fn address(&self) -> SocketAddr {
        self.running.address
    }

    /// Its data directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.running.child.id()
    }

    /// Its current memory in bytes.
    pub fn resident_bytes(&self) -> usize {
        self.status("VmRSS:")
    }

    /// Its resident memory in bytes without that of files: pages of the program come and go.
    pub fn anonymous_bytes(&self) -> usize {
        self.status("RssAnon:")
    }

    /// Its peak memory in bytes.
    pub fn peak_bytes(&self) -> usize {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> usize {
        let path = format!("/proc/{}/status", self.pid());
        let status = std::fs::read_to_string(path).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        let kibibytes: usize =
            line.trim().trim_end_matches(" kB").parse().expect("a number of kibibytes");
        kibibytes * 1_024
    }

    /// How many connections to its port it has accepted and keeps open.
    pub fn accepted(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.pid());
        let files = std::fs::read_dir(folder).expect("the server runs");
        let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        let sockets: HashSet<String> =
            links.map(|link| link.to_string_lossy().into_owned()).collect();
        let port = format!(":{:04X}", self.address().port());
        let table = std::fs::read_to_string("/proc/net/tcp").expect("a table of connections");
        let is_held = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields.get(1).is_some_and(|local| local.ends_with(&port))
                && fields.get(3) == Some(&ESTABLISHED)
                && fields.get(9).is_some_and(|inode| sockets.contains(&format!("socket:[{inode}]")))
        };
        table.lines().filter(is_held).count()
    }

    /// A client with the root key.
    pub fn client(&self) -> Client {
        Client::new(self.address(), Some(ROOT_KEY))
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        self.running.stdout.lock().unwrap().clone()
    }

    /// Waits until its standard output contains `mark`, and returns all of it.
    pub fn stdout_with(&self, mark: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.stdout();
            if text.contains(mark) {
                return text;
            }
            assert!(Instant::now() < deadline, "no `{mark}` on standard output: {text}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        self.running.stderr.lock().unwrap().clone()
    }

    /// The log, once it contains `mark`: a line may be read later than the answer to the request that caused it.
    pub async fn log_with(&self, mark: &str) -> String {
        awaited(&format!("the log contains `{mark}`"), async || {
            let log = self.stderr();
            if log.contains(mark) { Ok(log) } else { Err(log) }
        })
        .await
    }

    /// Runs a command line of the same program on the same data and database.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let mut command = self.builder.program.command(self.data(), arguments);
        command.envs(self.builder.environment.iter().map(|(name, value)| (name, value)));
        command.output().expect("the program can be started")
    }

    /// Runs a command line that must succeed, and returns its standard output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{arguments:?}` ended with {}: {errors}", output.status);
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    }

    /// Kills the process at once, as a power failure would.
    pub fn kill(&mut self) {
        self.running.kill();
    }

    /// Sends SIGTERM without waiting for the process to end.
    pub fn terminate(&self) {
        signal("TERM", self.pid());
    }

    /// Suspends the process, as if it were too busy to do anything, until
    /// [`thaw`](Self::thaw).
    pub fn freeze(&self) {
        signal("STOP", self.pid());
    }

    /// Lets a frozen process continue.
    pub fn thaw(&self) {
        signal("CONT", self.pid());
    }

    /// Waits for the process to end by itself.
    pub fn wait(&mut self) -> ExitStatus {
        self.running.wait()
    }

    /// Removes the search index, all of it at once, even if the server is writing to it.
    pub fn remove_index(&self) {
        let trash = TempDir::new_in(self.data()).expect("a temporary directory");
        match std::fs::rename(self.data().join("index"), trash.path().join("index")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                panic!("removing the index: {error}")
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Sets a variable for further starts.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.builder.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Starts the server again on the same data. Kills the process first if it still runs.
    pub fn restart(&mut self) {
        self.running.kill();
        self.running = Running::start(&self.builder, self.data.path());
    }
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status();
    assert!(status.expect("a shell").success(), "no process {pid}");
}

#[derive(Debug)]
struct Running {
    child: Child,
    guardian: Child,
    address: SocketAddr,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
}

impl Running {
    fn start(builder: &Builder, data: &Path) -> Self {
        let mut command = builder.command(data);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let guardian = guardian(child.id(), data);
        let (ready, greeted) = mpsc::channel();
        let stdout = collect(child.stdout.take().unwrap(), Some(ready));
        let stderr = collect(child.stderr.take().unwrap(), None);
        let Ok(address) = greeted.recv_timeout(PATIENCE) else {
            let _ = child.kill();
            let status = child.wait();
            panic!("the server did not start ({status:?}): {}", stderr.lock().unwrap());
        };
        Self { child, guardian, address, stdout, stderr }
    }

    fn kill(&mut self) {
        // The guardian ends first: later it would kill whatever process has this id by then.
        let _ = self.guardian.kill();
        let _ = self.guardian.wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child process") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server did not stop");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        if !thread::panicking() {
            assert_discreet();
        }
    }
}

/// Texts that no log may contain: keys, secrets, and parts of the messages and documents of most
/// tests.
const SECRETS: [&str; 6] = [ROOT_KEY, "\"ck_", " ck_", "=ck_", "whsec_", "museum opens"];

/// The first log line with a secret, of all servers of this process.
static TOLD: Mutex<Option<String>> = Mutex::new(None);

/// Panics if any server of this process has logged a key, a secret, a message or a document.
///
/// It is called for every request of a test and at every end of a server, so it covers a whole run.
pub fn assert_discreet() {
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(told, None, "a log contains a secret");
}

/// A process that briefly outlives this one and removes the server and its data: nobody drops a
/// server that a whole test binary shares.
fn guardian(pid: u32, data: &Path) -> Child {
    Command::new("sh")
        .args(["-c", "cat >/dev/null; kill -9 \"$1\"; rm -rf \"$2\"", "guardian"])
        .arg(pid.to_string())
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}

/// Reads an output of the server to its end, and reports the address in its greeting.
fn collect(
    output: impl Read + Send + 'static,
    ready: Option<mpsc::Sender<SocketAddr>>,
) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let collected = Arc::clone(&text);
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let address = line.strip_prefix(GREETING).and_then(|rest| rest.trim().parse().ok());
            // Standard output shows a generated key once; the log never does.
            if ready.is_none() && SECRETS.iter().any(|secret| line.contains(secret)) {
                let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
                told.get_or_insert_with(|| line.clone());
            }
            {
                let mut collected = collected.lock().unwrap();
                collected.push_str(&line);
                collected.push('\n');
            }
            if let (Some(ready), Some(address)) = (&ready, address) {
                let _ = ready.send(address);
            }
        }
    });
    text
}
