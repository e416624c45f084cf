//! Figures that `docs/performance.md` shows: what was measured, when, on which machine and with which command.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use cicerone_domain::Timestamp;
use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::page;
use super::plot::Plot;

/// What a benchmark has measured.
pub(crate) trait Figures: Serialize + DeserializeOwned {
    /// The name of its files and of its section in the documentation.
    const NAME: &'static str;

    /// The figures as a table in Markdown, with a sentence about each thing that the table does not say.
    fn text(&self) -> String;

    /// A picture of the figures, if they have one.
    fn plot(&self) -> Option<Plot>;
}

/// Figures and their circumstances, as they are stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured<F> {
    /// The day, such as `2026-11-23`.
    pub(crate) day: String,
    pub(crate) machine: String,
    pub(crate) command: String,
    pub(crate) figures: F,
}

/// What happens to the figures.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Output {
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    /// Store the figures and their plot in `docs/performance`, and write them into `docs/performance.md`
    #[arg(long)]
    save: bool,
}

impl Output {
    /// Prints the figures, and stores them if that is wanted.
    pub(crate) fn publish<F: Figures>(self, figures: F) -> anyhow::Result<()> {
        let measured = Measured { day: today()?, machine: machine()?, command: command(), figures };
        if self.json {
            println!("{}", serde_json::to_string_pretty(&measured)?);
        } else {
            println!("{}", measured.figures.text());
        }
        if self.save { page::save(&measured) } else { Ok(()) }
    }
}

/// The day in UTC.
#[expect(clippy::disallowed_methods, reason = "figures have the day on which they were measured")]
fn today() -> anyhow::Result<String> {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is wrong")?;
    let now = Timestamp::from_millis(i64::try_from(elapsed.as_millis())?).to_string();
    Ok(now.split('T').next().unwrap_or_default().to_owned())
}

/// The processors and the memory of this machine.
fn machine() -> anyhow::Result<String> {
    let processors = std::thread::available_parallelism()?.get();
    let read =
        |path: &str| std::fs::read_to_string(path).with_context(|| format!("reading `{path}`"));
    let memory = read("/proc/meminfo")?;
    let kib =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next());
    let kib: f64 = kib.context("`/proc/meminfo` has no total")?.parse()?;
    let described = read("/proc/cpuinfo")?;
    let model =
        described.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or_else(String::new, |(_, model)| format!(" ({})", model.trim()));
    Ok(format!("{processors} virtual processors{model}, {:.0} GiB of memory", kib / 1_048_576.0))
}

/// The command line without the options that do not change the figures.
fn command() -> String {
    let mut command = "cargo trial".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" | "--save" => {}
            "--binary" => drop(arguments.next()),
            other if other.starts_with("--binary=") => {}
            other => {
                command.push(' ');
                command.push_str(other);
            }
        }
    }
    command
}

/// The median; zero if there are no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

/// A number with as many digits as are meant, and thousands in groups.
pub(crate) fn shown(value: f64) -> String {
    match value.abs() {
        1_000.0.. => grouped(value.round()),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A whole number, its thousands in groups.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::with_capacity(digits.len() + 4);
    for (index, digit) in digits.chars().enumerate() {
        let is_group = (digits.len() - index).is_multiple_of(3);
        if index > 0 && is_group && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_are_meant() {
        let numbers = [0.5, 12.34, 999.96, 1_234.6, 1_234_567.0];
        assert_eq!(numbers.map(shown), ["0.50", "12.3", "1000.0", "1,235", "1,234,567"]);
        assert_eq!(grouped(100.0), "100");
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median([]).abs() < 1e-9);
    }
}
