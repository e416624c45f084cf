//! Signals that ask the program to stop.

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// The status of a process that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// The signals that stop the program, received since [`StopSignals::listen`].
pub(crate) struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignals {
    /// Starts to listen. Needs a runtime.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let open = |kind| {
            signal(kind).map_err(|error| Failure::because("cannot listen to signals", &error))
        };
        Ok(Self {
            terminate: open(SignalKind::terminate())?,
            interrupt: open(SignalKind::interrupt())?,
        })
    }

    /// Waits for SIGTERM or SIGINT, and returns its name.
    pub(crate) async fn received(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Ends the process at the next signal, even if work is in progress.
    pub(crate) async fn exit_at_next(mut self) -> std::convert::Infallible {
        let name = self.received().await;
        tracing::warn!(signal = name, "received a second signal; stopping at once");
        std::process::exit(INTERRUPTED)
    }
}
