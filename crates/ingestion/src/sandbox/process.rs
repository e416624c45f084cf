//! One child process, from the parent's side.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::child::NO_FILTER;
use super::end;
use super::ocr::Pictures;
use super::settings::SandboxSettings;
use super::wire::{ANSWER_BYTES, Answer, Header, PICTURE_BYTES, Reply, Request};
use crate::extract::Unreadable;
use crate::extract::ocr::Recognized;

/// How much of a child's standard error is kept: the end of it.
const SAID_BYTES: usize = 4_096;
/// An answer of up to this many bytes is parsed on the thread that receives it.
const QUICK_BYTES: usize = 64 * 1_024;
/// How long to wait for a process that is ending.
const END: Duration = Duration::from_secs(2);

/// A child process with nothing to do. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    said: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    /// The number of documents that it has received.
    pub(super) documents: u32,
    _counted: Counted,
}

/// What a process sends.
enum Turn {
    /// The result of reading the document.
    Reply(Box<Reply>),
    /// A picture whose text it waits for.
    Picture(Vec<u8>),
}

/// Counts a process for as long as it lives.
#[derive(Debug)]
struct Counted;

impl Counted {
    const PROCESSES: &'static str = "cicerone_reader_processes";

    fn new() -> Self {
        metrics::gauge!(Self::PROCESSES).increment(1.0);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!(Self::PROCESSES).decrement(1.0);
    }
}

impl Process {
    /// Starts the program.
    pub(super) fn start(settings: &SandboxSettings) -> io::Result<Self> {
        let mut child = Command::new(&settings.program)
            .args(&settings.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(error)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let listener = tokio::spawn(listen(error, Arc::clone(&said)));
        Ok(Self { child, input, output, said, listener, documents: 0, _counted: Counted::new() })
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Reads a document. If the process does not answer, it is dead or is killed.
    ///
    /// The time for recognising pictures does not count towards the process's limit.
    pub(super) async fn read(
        mut self,
        settings: &SandboxSettings,
        request: &Request,
        document: Bytes,
    ) -> Result<(Self, Reply), Unreadable> {
        self.documents += 1;
        let mut pictures = settings.ocr.as_ref().map(|ocr| Pictures::of(settings, ocr));
        let mut deadline = Instant::now() + settings.wall;
        let exchange = self.begin(settings, request, document);
        let mut outcome = tokio::time::timeout_at(deadline, exchange).await;
        loop {
            let picture = match outcome {
                Ok(Ok(Turn::Reply(reply))) => return Ok((self, *reply)),
                Ok(Ok(Turn::Picture(picture))) => picture,
                Ok(Err(error)) => return Err(self.post_mortem(&error).await),
                Err(_) => return Err(end::timed_out(settings.wall)),
            };
            let began = Instant::now();
            let recognised = match &mut pictures {
                Some(pictures) => pictures.text_of(picture).await,
                None => None,
            };
            let Some(recognised) = recognised else {
                let error = io::Error::other("more pictures than may be");
                return Err(self.post_mortem(&error).await);
            };
            deadline += began.elapsed();
            outcome = tokio::time::timeout_at(deadline, self.go_on(settings, &recognised)).await;
        }
    }

    /// Sends a document.
    async fn begin(
        &mut self,
        settings: &SandboxSettings,
        request: &Request,
        document: Bytes,
    ) -> io::Result<Turn> {
        let header = Header {
            memory: settings.memory,
            seconds: settings.processor.as_secs().max(1),
            output: settings.output,
            pictures: settings.ocr.as_ref().map_or(0, |ocr| ocr.pictures),
            request,
        };
        self.send(&serde_json::to_vec(&header)?).await?;
        self.send(&document).await?;
        // The document is not kept in memory twice.
        drop(document);
        self.turn(settings).await
    }

    /// Sends the text of a picture.
    async fn go_on(
        &mut self,
        settings: &SandboxSettings,
        recognised: &Recognized,
    ) -> io::Result<Turn> {
        self.send(&serde_json::to_vec(recognised)?).await?;
        self.turn(settings).await
    }

    /// The next message of the process.
    async fn turn(&mut self, settings: &SandboxSettings) -> io::Result<Turn> {
        let frame = self.receive(ANSWER_BYTES).await?;
        let answer: Answer = if frame.len() > QUICK_BYTES {
            let parse = move || serde_json::from_slice(&frame);
            tokio::task::spawn_blocking(parse).await.map_err(io::Error::other)??
        } else {
            serde_json::from_slice(&frame)?
        };
        if matches!(answer, Answer::Picture) {
            return self.receive(PICTURE_BYTES).await.map(Turn::Picture);
        }
        let text =
            if answer.has_text() { self.receive(settings.output).await? } else { Vec::new() };
        let check = move || String::from_utf8(text).ok().and_then(|text| answer.with(text));
        let reply = tokio::task::spawn_blocking(check).await.map_err(io::Error::other)?;
        reply
            .map(|reply| Turn::Reply(Box::new(reply)))
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Reads a frame of at most `limit` bytes, using no more memory than its length.
    async fn receive(&mut self, limit: u32) -> io::Result<Vec<u8>> {
        let length = self.output.read_u32().await?;
        if length > limit {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut frame = vec![0; length];
        self.output.read_exact(&mut frame).await?;
        Ok(frame)
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.input.write_u32(length).await?;
        self.input.write_all(bytes).await?;
        self.input.flush().await
    }

    /// Why the process gave no answer.
    async fn post_mortem(mut self, error: &io::Error) -> Unreadable {
        drop(self.input);
        let Ok(Ok(status)) = tokio::time::timeout(END, self.child.wait()).await else {
            tracing::warn!(%error, "a reader sent a malformed answer");
            return end::crashed();
        };
        // All of its error output has arrived when its standard error is closed.
        let _ = tokio::time::timeout(END, self.listener).await;
        let said = String::from_utf8_lossy(&self.said.lock()).into_owned();
        let reason = end::of(status, &said);
        log(status, &reason);
        reason
    }
}

fn log(status: ExitStatus, reason: &Unreadable) {
    tracing::warn!(%status, reason = %reason, "a reader process ended while it read a document");
}

/// Keeps the end of a child's standard error. It is not logged: a panic's message may quote a document.
async fn listen(mut error: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut part = [0; 1_024];
    let mut is_told = false;
    // After an error of the pipe, nothing more arrives.
    while let Ok(count @ 1..) = error.read(&mut part).await {
        let mut said = said.lock();
        said.extend_from_slice(part.get(..count).unwrap_or_default());
        if !is_told && String::from_utf8_lossy(&said).contains(NO_FILTER) {
            tracing::warn!(
                "this system cannot filter the system calls of readers; their other limits apply"
            );
            is_told = true;
        }
        let surplus = said.len().saturating_sub(SAID_BYTES);
        said.drain(..surplus);
    }
}
