//! The setting of a siege: a server with another account on it, and the size of the siege.

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::client::Client;
use cicerone_tests::process::{Builder, Program, Server};
use tokio::time::sleep;

use super::report::Report;
use super::victim::{Seen, Victim};
use super::watch::{Held, Watch};
use crate::bench::memory;
use crate::database;

/// The arguments of every siege.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The server to attack.
    pub(super) program: Program,
    /// Its kind of database.
    pub(super) database: database::Choice,
    /// The seed of everything random.
    pub(super) seed: u64,
    /// Whether this is a smoke run: fewer attackers and shorter waits.
    pub(super) is_quick: bool,
}

impl Field {
    /// A server on a new database, to be started.
    pub(super) fn server(&self) -> anyhow::Result<Builder> {
        let server = Server::of(&self.program).env("RUST_LOG", "warn");
        Ok(self.database.open()?.under(server))
    }

    /// The full number, or a smaller one in a smoke run.
    pub(super) const fn count(&self, full: usize, quick: usize) -> usize {
        if self.is_quick { quick } else { full }
    }

    /// The full time in seconds, or a shorter one in a smoke run.
    pub(super) const fn seconds(&self, full: u64, quick: u64) -> Duration {
        Duration::from_secs(if self.is_quick { quick } else { full })
    }
}

/// A server, and the account that must not notice the attack.
pub(super) struct Arena {
    pub(super) server: Server,
    /// The account.
    pub(super) victim: Victim,
    quiet: Seen,
    rest: Duration,
}

impl Arena {
    /// Starts a server and measures the account without an attack.
    pub(super) async fn open(field: &Field, server: Builder) -> anyhow::Result<Self> {
        let server = server.start();
        let victim = Victim::prepare(&server).await?;
        let quiet = victim.alone(field.seconds(10, 4)).await?;
        Ok(Self { server, victim, quiet, rest: field.seconds(60, 20) })
    }

    /// A client of a new account.
    pub(super) fn attacker(&self, name: &str) -> Client {
        self.server.account(name)
    }

    /// Runs an attack while the account is being served. It may raise memory by this many MiB.
    pub(super) async fn besiege<T>(
        &self,
        report: &mut Report,
        rise: f64,
        attack: impl Future<Output = T>,
    ) -> anyhow::Result<T> {
        let (attacked, held) = self.watched(report, attack).await?;
        report.memory_rose(held, rise);
        Ok(attacked)
    }

    /// The same, with a limit of the total memory in MiB.
    pub(super) async fn besiege_below<T>(
        &self,
        report: &mut Report,
        most: f64,
        attack: impl Future<Output = T>,
    ) -> anyhow::Result<T> {
        let (attacked, held) = self.watched(report, attack).await?;
        report.memory_below(held, most);
        Ok(attacked)
    }

    async fn watched<T>(
        &self,
        report: &mut Report,
        attack: impl Future<Output = T>,
    ) -> anyhow::Result<(T, Held)> {
        let watch = Watch::begin(self.server.pid())?;
        let (attacked, during) = self.victim.during(attack).await?;
        let held = watch.end().with_context(|| report.said())?;
        report.victim(&self.quiet, during);
        Ok((attacked, held))
    }

    /// Waits for a while after the attackers have stopped, and checks the remaining memory.
    pub(super) async fn rest(&self, report: &mut Report) -> anyhow::Result<()> {
        sleep(self.rest).await;
        report.after(memory::of(self.server.pid())?.resident_mib(), self.rest);
        Ok(())
    }
}
