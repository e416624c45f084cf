//! Gateways of others as processes, installed from their registries.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::json;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::bench::corpus::Numbers;
use crate::bench::{load, mock};
use crate::others;

/// The longest that a start may take, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(200);
/// The longest that a first answer may take.
const FIRST: Duration = Duration::from_secs(20);

/// A running gateway. Dropping it kills its processes.
pub(in crate::bench) struct Gateway {
    name: &'static str,
    address: SocketAddr,
    request: Vec<u8>,
    child: Child,
    _guardian: Guardian,
}

/// A process that kills a group of processes when this program has ended, or when it is dropped.
struct Guardian(std::process::Child);

impl Guardian {
    fn of(group: u32) -> anyhow::Result<Self> {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", "cat >/dev/null; kill -s KILL -- \"-$1\"", "guardian"])
            .arg(group.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // An interrupt from the terminal must not end it before its time.
        command.process_group(0);
        Ok(Self(command.spawn().context("starting a shell")?))
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // If the shell cannot be waited for, it has ended.
        let _ = self.0.wait();
    }
}

impl Gateway {
    pub(in crate::bench) const fn name(&self) -> &'static str {
        self.name
    }

    pub(in crate::bench) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A request that it passes on to the upstream.
    pub(in crate::bench) fn request(&self) -> Vec<u8> {
        self.request.clone()
    }

    /// Its process.
    pub(super) fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().with_context(|| format!("{} has ended", self.name))
    }

    /// Waits until it answers.
    async fn ready(mut self, log: &Path) -> anyhow::Result<Self> {
        let began = Instant::now();
        loop {
            let answered = timeout(FIRST, load::ask(self.address, &self.request)).await;
            if matches!(answered, Ok(Ok(200))) {
                return Ok(self);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status}: `{}`", self.name, log.display());
            }
            ensure!(
                began.elapsed() < PATIENCE,
                "{} does not answer ({answered:?}): `{}`",
                self.name,
                log.display()
            );
            sleep(PAUSE).await;
        }
    }
}

/// Installs and starts all, in front of this upstream. None if they cannot be installed.
pub(in crate::bench) async fn all(upstream: SocketAddr) -> anyhow::Result<Vec<Gateway>> {
    match others::install().await? {
        Some(folder) => {
            Ok(vec![portkey(&folder, upstream).await?, litellm(&folder, upstream).await?])
        }
        None => Ok(Vec::new()),
    }
}

async fn portkey(folder: &Path, upstream: SocketAddr) -> anyhow::Result<Gateway> {
    let address = free()?;
    let program = folder.join("node_modules/@portkey-ai/gateway/build/start-server.js");
    let mut command = Command::new("node");
    command.arg(program).arg(format!("--port={}", address.port())).arg("--headless");
    command.env("TRUSTED_CUSTOM_HOSTS", "127.0.0.1,localhost").env("NODE_ENV", "production");
    let headers = format!(
        "Authorization: Bearer none\r\nx-portkey-provider: openai\r\n\
         x-portkey-custom-host: http://{upstream}/v1\r\n"
    );
    let request = mock::completion(address, &headers);
    start("Portkey's gateway", address, request, command, folder).await
}

async fn litellm(folder: &Path, upstream: SocketAddr) -> anyhow::Result<Gateway> {
    let address = free()?;
    let model = json!({
        "model": "openai/mock", "api_base": format!("http://{upstream}/v1"), "api_key": "none",
    });
    // JSON is YAML.
    let configuration = json!({
        "model_list": [{ "model_name": "mock", "litellm_params": model }],
        "litellm_settings": { "telemetry": false, "num_retries": 0 },
    });
    let path = folder.join("litellm.yaml");
    fs::write(&path, configuration.to_string())
        .with_context(|| format!("writing `{}`", path.display()))?;
    let mut command = Command::new(folder.join("python/bin/litellm"));
    command.arg("--config").arg(path).args(["--host", "127.0.0.1"]);
    command.args(["--port", &address.port().to_string()]);
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("LITELLM_LOG", "ERROR");
    // It does not start without a key that is hard to guess.
    let mut numbers = Numbers::new(43);
    let key: String = (0..4).map(|_| format!("{:016x}", numbers.next())).collect();
    command.env("LITELLM_MASTER_KEY", format!("sk-{key}"));
    let request = mock::completion(address, &format!("Authorization: Bearer sk-{key}\r\n"));
    start("LiteLLM", address, request, command, folder).await
}

/// Starts a gateway, and waits until it answers.
async fn start(
    name: &'static str,
    address: SocketAddr,
    request: Vec<u8>,
    mut command: Command,
    folder: &Path,
) -> anyhow::Result<Gateway> {
    let log = folder.join(format!("{}.log", address.port()));
    let output = File::create(&log).with_context(|| format!("creating `{}`", log.display()))?;
    // A proxy of the environment is for other hosts.
    command.env("NO_PROXY", "*").env("no_proxy", "*").current_dir(folder).process_group(0);
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let child = command.spawn().with_context(|| format!("starting {name}"))?;
    let guardian = Guardian::of(child.id().with_context(|| format!("{name} has ended"))?)?;
    let gateway = Gateway { name, address, request, child, _guardian: guardian };
    let gateway = gateway.ready(&log).await?;
    fs::remove_file(&log).with_context(|| format!("removing `{}`", log.display()))?;
    Ok(gateway)
}

/// An address where nobody listens. The system does not give such ports to connections that leave, one of which could
/// take it before the gateway does: a connection to a port of that range where nobody listens may even connect to
/// itself.
fn free() -> anyhow::Result<SocketAddr> {
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let mut ports = first..first + 1_000;
    let found = ports.find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    Ok(found.context("no port is free")?.local_addr()?)
}
