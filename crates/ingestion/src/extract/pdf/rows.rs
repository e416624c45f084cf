//! Rows: the runs on one line of a page.

use super::runs::Run;

/// Runs whose levels differ by less than this fraction of their size are on one line.
const SAME_LEVEL: f64 = 0.35;
/// Runs on one line overlap by at most this fraction of their size.
const OVERLAP: f64 = 0.5;
/// Runs this close, relative to their size, are parts of one cell.
const SAME_CELL: f64 = 1.5;
/// ... and this close, they are parts of one word.
const SAME_WORD: f64 = 0.15;
/// A row has at most this many runs: lines have fewer.
const MOST_RUNS: usize = 500;
/// Directions with a lower cosine are different.
const SAME_DIRECTION: f64 = 0.97;

/// The runs on one line, from left to right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) cells: Vec<Run>,
}

impl Row {
    pub(super) fn size(&self) -> f64 {
        self.cells.iter().map(|run| run.size).fold(0.0, f64::max)
    }

    pub(super) fn level(&self) -> f64 {
        self.cells.first().map_or(0.0, |run| run.level)
    }

    pub(super) fn from(&self) -> f64 {
        self.cells.iter().map(|run| run.from).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn is_right_to_left(&self) -> bool {
        2 * self.cells.iter().filter(|run| run.is_right_to_left).count() > self.cells.len()
    }

    pub(super) fn is_bold(&self) -> bool {
        self.cells.iter().all(|run| run.is_bold)
    }

    /// Whether the other row runs in the same direction.
    pub(super) fn is_parallel(&self, other: &Self) -> bool {
        match (self.cells.first(), other.cells.first()) {
            (Some(one), Some(other)) => one.along.dot(other.along) >= SAME_DIRECTION,
            _ => true,
        }
    }

    /// The texts of the cells in reading order.
    pub(super) fn texts(&self) -> Vec<&str> {
        let texts = self.cells.iter().map(|run| run.text.trim()).filter(|text| !text.is_empty());
        if self.is_right_to_left() { texts.rev().collect() } else { texts.collect() }
    }

    fn takes(&self, run: &Run) -> bool {
        self.cells.len() < MOST_RUNS
            && self.cells.iter().all(|cell| {
                let size = cell.size.max(run.size);
                let overlap = cell.to.min(run.to) - cell.from.max(run.from);
                cell.along.dot(run.along) >= SAME_DIRECTION
                    && (cell.level - run.level).abs() < SAME_LEVEL * size
                    && overlap < OVERLAP * size
            })
    }

    fn add(&mut self, run: Run) {
        let place = self.cells.partition_point(|cell| cell.from <= run.from);
        self.cells.insert(place, run);
    }

    /// Joins adjacent runs.
    fn join(mut self) -> Self {
        let mut cells: Vec<Run> = Vec::with_capacity(self.cells.len());
        for run in self.cells.drain(..) {
            match cells.last_mut() {
                Some(last) if run.from - last.to < SAME_CELL * last.size.max(run.size) => {
                    append(last, run);
                }
                _ => cells.push(run),
            }
        }
        Self { cells }
    }
}

/// The rows of a page: consecutive runs on one line.
pub(super) fn of(runs: Vec<Run>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        match rows.last_mut() {
            Some(row) if row.takes(&run) => row.add(run),
            _ => rows.push(Row { cells: vec![run] }),
        }
    }
    rows.into_iter().map(Row::join).collect()
}

fn append(last: &mut Run, run: Run) {
    let gap = run.from - last.to;
    let (first, second) = match run.is_right_to_left && last.is_right_to_left {
        true => (run.text, std::mem::take(&mut last.text)),
        false => (std::mem::take(&mut last.text), run.text),
    };
    last.text = first;
    if gap > SAME_WORD * last.size.max(run.size) {
        last.text.push(' ');
    }
    last.text.push_str(&second);
    last.to = last.to.max(run.to);
    last.size = last.size.max(run.size);
    last.is_bold &= run.is_bold;
    last.is_right_to_left |= run.is_right_to_left;
}
