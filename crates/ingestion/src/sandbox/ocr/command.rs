//! The OCR program, from the parent's side.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::{ARGUMENT, NOT_STARTED, OcrSettings, Order, PATH};
use crate::sandbox::settings::SandboxSettings;

/// How much of its standard error is kept: the beginning.
const SAID_BYTES: usize = 4_096;
/// Signals, as Linux numbers them.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
const COULD_NOT_START: &str = "the server could not start the OCR program";

/// The text of a picture, or the reason why there is none, as part of a sentence. Dropping the future kills the
/// program.
pub(super) async fn text_of(
    sandbox: &SandboxSettings,
    settings: &OcrSettings,
    picture: Vec<u8>,
    wall: Duration,
) -> Result<String, String> {
    let not_started = |error: &dyn std::fmt::Display| {
        tracing::error!(%error, program = settings.program, "the OCR program could not be started");
        COULD_NOT_START.to_owned()
    };
    let program = settings.place().ok_or_else(|| not_started(&"there is no such file"))?;
    let order = Order {
        program,
        arguments: settings.arguments.clone(),
        folders: settings.folders.clone(),
        memory: sandbox.memory,
        seconds: sandbox.processor.as_secs().max(1),
    };
    let order = serde_json::to_string(&order).map_err(|error| not_started(&error))?;
    let mut child = Command::new(&sandbox.program)
        .args(&sandbox.arguments)
        .arg(ARGUMENT)
        .arg(order)
        .env_clear()
        .env("PATH", PATH)
        .env("LC_ALL", "C.UTF-8")
        // One processor for each picture, because processor time is limited.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| not_started(&error))?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut input), Some(output), Some(error)) = pipes else {
        return Err(COULD_NOT_START.to_owned());
    };
    let give = async move {
        // If the program refuses the picture, its status shows what is wrong.
        let _ = input.write_all(&picture).await;
        let _ = input.shutdown().await;
        drop((input, picture));
    };
    let most = usize::try_from(settings.output).unwrap_or(usize::MAX);
    let work = async {
        let text = async {
            let text = beginning(output, most.saturating_add(1)).await;
            // The limit is exceeded: reading stops, and the program is killed.
            if text.len() > most { Err(()) } else { Ok(text) }
        };
        let said = async { Ok(beginning_of_all(error).await) };
        let given = async {
            give.await;
            Ok(())
        };
        let (text, said, ()) = tokio::try_join!(text, said, given)?;
        Ok::<_, ()>((text, said, child.wait().await))
    };
    let outcome = tokio::time::timeout(wall, work).await;
    match outcome {
        Err(_) => Err(format!("it took longer than {} s", wall.as_secs_f64().ceil())),
        Ok(Err(())) => Err(format!("the text of a picture exceeds {most} bytes")),
        Ok(Ok((_, _, Err(error)))) => Err(not_started(&error)),
        Ok(Ok((text, said, Ok(status)))) => {
            let said = String::from_utf8_lossy(&said);
            if let Some(reason) = said.lines().find_map(|line| line.strip_prefix(NOT_STARTED)) {
                return Err(not_started(&reason));
            }
            if !status.success() {
                tracing::warn!(%status, "the OCR program failed on a picture");
                return Err(ended(status));
            }
            String::from_utf8(text).map_err(|_| "its text is not UTF-8".to_owned())
        }
    }
}

/// Why a program that failed has ended.
fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    match (signal, status.code()) {
        (Some(SIGXCPU | SIGKILL), _) => {
            "it took more processor time or memory than is allowed for one picture".to_owned()
        }
        (Some(signal), _) => format!("the OCR program crashed (signal {signal})"),
        (None, Some(code)) => format!("the OCR program ended with status {code}"),
        (None, None) => "the OCR program ended without a status".to_owned(),
    }
}

/// Reads at most this many bytes of a stream.
async fn beginning(stream: impl AsyncRead + Unpin, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    // After an error of the pipe, nothing more arrives.
    let _ = stream.take(most).read_to_end(&mut bytes).await;
    bytes
}

/// The beginning of a stream. The rest is read and discarded, so that the writer does not block.
async fn beginning_of_all(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut part = [0; 1_024];
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        let room = SAID_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(part.get(..count.min(room)).unwrap_or_default());
    }
    kept
}
