//! The table of an evaluation: each figure beside that of the previous run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

/// A figure that falls by more than this is marked.
const FALL: f64 = 0.003;
/// The separator of set, measure and value in the file.
const TAB: char = '\t';

/// The figures of this run and of the previous one.
#[derive(Debug)]
pub(super) struct Table {
    file: PathBuf,
    /// By set and measure.
    figures: BTreeMap<(String, String), f64>,
    fallen: usize,
}

impl Table {
    /// Reads the previous figures from `file`, if there is one, and prints the names of the columns.
    pub(super) fn open(file: &Path) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("reading `{}`", file.display()));
            }
        };
        let figures = parse(&text).with_context(|| format!("reading `{}`", file.display()))?;
        println!(
            "{:13} {:17} {:>6} {:>7} {:>7} {:>7}",
            "set", "measure", "asked", "now", "before", "change"
        );
        Ok(Self { file: file.to_owned(), figures, fallen: 0 })
    }

    /// Prints a figure, and keeps it for the next run. Larger is better. `note` is additional
    /// information.
    pub(super) fn add(&mut self, set: &str, measure: &str, asked: usize, value: f64, note: &str) {
        let before = self.figures.insert((set.to_owned(), measure.to_owned()), value);
        let compared = before.map_or_else(
            || format!("{:>7} {:>7}", "", ""),
            |before| format!("{before:>7.3} {:>+7.3}", value - before),
        );
        let has_fallen = before.is_some_and(|before| value < before - FALL);
        self.fallen += usize::from(has_fallen);
        let mark = if has_fallen { "fell" } else { "" };
        let line =
            format!("{set:13} {measure:17} {asked:>6} {value:>7.3} {compared} {mark:4} {note}");
        println!("{}", line.trim_end());
    }

    /// Writes the figures for the next run. Figures that this run did not measure are kept.
    pub(super) fn keep(self) -> anyhow::Result<()> {
        let lines = self.figures.iter();
        let text: String = lines
            .map(|((set, measure), value)| format!("{set}{TAB}{measure}{TAB}{value:.4}\n"))
            .collect();
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let name = self.file.display();
        std::fs::write(&self.file, text).with_context(|| format!("writing `{name}`"))?;
        println!("{} figures fell by more than {FALL}; all are kept in `{name}`", self.fallen);
        Ok(())
    }
}

fn parse(text: &str) -> anyhow::Result<BTreeMap<(String, String), f64>> {
    let mut figures = BTreeMap::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split(TAB).collect();
        ensure!(columns.len() == 3, "`{line}` is not a set, a measure and a value");
        if let [set, measure, value] = columns.as_slice() {
            let value = value.parse().with_context(|| format!("`{line}`"))?;
            figures.insert(((*set).to_owned(), (*measure).to_owned()), value);
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn figures_are_compared_with_those_of_the_run_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below").join("figures.tsv");
        let mut first = Table::open(&file).unwrap();
        first.add("set", "R@1", 10, 0.9, "");
        first.add("set", "R@5", 10, 0.95, "");
        assert_eq!(first.fallen, 0);
        first.keep().unwrap();
        let mut second = Table::open(&file).unwrap();
        second.add("set", "R@1", 10, 0.89, "");
        second.add("other", "R@1", 10, 0.1, "");
        assert_eq!(second.fallen, 1);
        second.keep().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "other\tR@1\t0.1000\nset\tR@1\t0.8900\nset\tR@5\t0.9500\n");
        std::fs::write(&file, "nonsense").unwrap();
        assert!(Table::open(&file).is_err());
    }
}
