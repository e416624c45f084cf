//! All plots of `docs/performance.md` in one run.

use cicerone_tests::process::Program;
use clap::Args;

use super::agents::{self, Agents};
use super::connections::{self, Connections};
use super::figures::Output;
use super::gateways::Gateways;
use super::page;
use super::searches::Searches;
use super::steady::{self, Steady};
use super::while_learning::{self, WhileLearning};
use crate::overload::Overload;

/// The most time for creating agents in a short measurement, at each of their numbers.
const QUICK_CREATION_SECONDS: u64 = 240;

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Shorter loads, a minute instead of an hour of memory, and 100,000 agents only if they can be created in four
    /// minutes: about 8 minutes instead of 75
    #[arg(long)]
    quick: bool,
}

/// Measures and publishes one thing after the other, so that what is measured is kept if a later one fails.
pub(super) async fn run(program: &Program, extent: Extent, output: Output) -> anyhow::Result<()> {
    let quick = extent.quick;
    let connections =
        if quick { connections::Extent::quick() } else { connections::Extent::full() };
    output.publish(connections::measure(program, connections).await?)?;
    let learning = while_learning::Extent::usual();
    output.publish(while_learning::measure(program, learning).await?)?;
    let minutes = if quick { 1.0 } else { 60.0 };
    output.publish(steady::measure(program, steady::Extent::of(minutes)).await?)?;
    let agents = if quick {
        agents::Extent::of(3, Some(QUICK_CREATION_SECONDS))
    } else {
        agents::Extent::of(5, None)
    };
    output.publish(agents::measure(program, agents).await?)
}

/// Rewrites the stored figures and their plots, without measuring.
pub(super) fn show() -> anyhow::Result<()> {
    page::refresh::<Connections>()?;
    page::refresh::<Agents>()?;
    page::refresh::<WhileLearning>()?;
    page::refresh::<Steady>()?;
    page::refresh::<Gateways>()?;
    page::refresh::<Searches>()?;
    page::refresh::<Overload>()
}
