//! `cargo trial eval`: how well passages are found and questions answered, on public question sets and manuals.

mod answers;
pub(crate) mod collection;
mod docx;
mod feed;
pub(crate) mod files;
mod floor;
mod formats;
mod gaps;
mod html;
mod hybrid;
mod manuals;
mod measures;
mod pdf;
pub(crate) mod profile;
mod sets;
mod silence;
mod table;
pub(crate) mod trial;
mod words;

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use collection::Collection;
use measures::Measure;
use table::Table;
use tokio::runtime::Runtime;
use trial::Trial;

/// What to measure, and on which data.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// The folder with the question sets
    #[arg(long)]
    data: PathBuf,
    /// Only these sets, or `floor`: which questions pass the floor; `silence`: whether questions
    /// without an answer are refused; `answers`: the chosen sentences; `manuals`: questions about
    /// manuals, with replies; `gaps`: whether alike questions are grouped. All of them if none is named. `docx`, `formats`, `html` or `pdf`
    /// alone: how well such files are read. `hybrid` and sets, `languages`, `silence` (of the named sets) or `manuals`: by words, by meaning
    /// and by both
    sets: Vec<String>,
    /// The file of the figures, which are shown beside those of the next run
    #[arg(long, default_value = "target/eval.tsv")]
    figures: PathBuf,
    /// Print the questions for which the right passage was not first
    #[arg(long)]
    misses: bool,
    /// Folders with documentation as packages install it, in addition to /usr/share/doc, for
    /// `manuals`
    #[arg(long)]
    manuals: Vec<PathBuf>,
    /// The base URL of an embeddings upstream for `hybrid`, instead of the embedder of the tests
    #[arg(long)]
    embeddings: Option<String>,
    /// The name of its model
    #[arg(long)]
    model: Option<String>,
    /// What is put before a question for it
    #[arg(long, default_value = "")]
    question_prefix: String,
    /// What is put before a passage for it
    #[arg(long, default_value = "")]
    passage_prefix: String,
}

/// One line of the table: a set, a measure, and the result of public tools on the same files.
struct Line {
    set: &'static str,
    measure: Measure,
    reference: Option<(f64, &'static str)>,
}

const LINES: [Line; 16] = [
    line("xquad-es", Measure::First, None),
    line("xquad-zh", Measure::First, Some((0.862, "bigrams"))),
    line("xquad-ar", Measure::First, Some((0.903, "4-grams"))),
    line("xquad-hi", Measure::First, Some((0.874, "4-grams"))),
    line("stackfaq", Measure::First, Some((0.709, "bm25s"))),
    line("stackfaq", Measure::InFive, Some((0.928, "bm25s"))),
    line("covid-faq", Measure::First, Some((1.0, "exact"))),
    line("covid-short", Measure::First, None),
    line("covid-short", Measure::InFive, None),
    line("covid-papers", Measure::First, None),
    line("covid-papers", Measure::InFive, None),
    line("pubmedqa", Measure::First, None),
    line("cranfield", Measure::Ndcg10, Some((0.385, "bm25s"))),
    line("cranfield", Measure::AveragePrecision, None),
    line("vaswani", Measure::AveragePrecision, Some((0.285, "tantivy"))),
    line("vaswani", Measure::Ndcg10, None),
];

const fn line(set: &'static str, measure: Measure, reference: Option<(f64, &'static str)>) -> Line {
    Line { set, measure, reference }
}

/// Measures and prints the tables.
pub(crate) fn run(args: EvalArgs) -> anyhow::Result<()> {
    if pdf::is_child(&args.sets)? {
        return Ok(());
    }
    if args.sets == ["pdf"] {
        return pdf::run(&args.data);
    }
    if args.sets == ["docx"] {
        return docx::run(&args.data);
    }
    if args.sets == ["formats"] {
        return formats::run(&args.data);
    }
    if args.sets == ["html"] {
        return html::run(&args.data);
    }
    if let Some(("hybrid", sets)) =
        args.sets.split_first().map(|(name, sets)| (name.as_str(), sets))
    {
        let upstream = hybrid::Upstream {
            url: args.embeddings.clone(),
            model: args.model.clone(),
            question_prefix: args.question_prefix.clone(),
            passage_prefix: args.passage_prefix.clone(),
        };
        return hybrid::run(&args.data, sets, &upstream, &args.manuals);
    }
    let wanted = |set: &str| args.sets.is_empty() || args.sets.iter().any(|name| name == set);
    let names = || sets::NAMES.into_iter().chain(OTHERS);
    if let Some(unknown) = args.sets.iter().find(|set| !names().any(|name| name == *set)) {
        let names: Vec<&str> = names().collect();
        bail!("there is no set `{unknown}`; there are {}", names.join(", "));
    }
    let mut table = Table::open(&args.figures)?;
    rank(&args, &wanted, &mut table)?;
    if wanted("floor") {
        floor::measure(&args.data, &mut table)?;
    }
    if wanted("silence") {
        silence::measure(&args.data, &mut table)?;
    }
    if wanted("answers") {
        answers::measure(&args.data, &mut table)?;
    }
    if wanted("manuals") {
        manuals::measure(&args.manuals, args.misses, &mut table)?;
    }
    if wanted("gaps") {
        gaps::measure(&args.data, &mut table)?;
    }
    table.keep()
}

/// What is measured in addition to the sets.
const OTHERS: [&str; 5] = ["floor", "silence", "answers", "manuals", "gaps"];

/// Measures the rankings of each wanted set.
fn rank(args: &EvalArgs, wanted: &dyn Fn(&str) -> bool, table: &mut Table) -> anyhow::Result<()> {
    let runtime = runtime()?;
    for name in sets::NAMES.into_iter().filter(|name| wanted(name)) {
        let collection = sets::load(&args.data, name)?;
        let trial = Trial::new(&runtime, &collection.passages)?;
        let depth = if LINES.iter().any(|line| line.set == name && line.measure.is_deep()) {
            1_000
        } else {
            10
        };
        let rankings = trial.rank(&runtime, &collection.questions, depth)?;
        for line in LINES.iter().filter(|line| line.set == name) {
            let value = line.measure.mean(&collection.questions, &rankings);
            let reference = line
                .reference
                .map(|(value, tool)| format!("{value:.3} {tool}"))
                .unwrap_or_default();
            table.add(name, line.measure.name(), rankings.len(), value, &reference);
        }
        if args.misses {
            print_misses(&collection, &rankings);
        }
    }
    Ok(())
}

/// One thread: the index has its own.
fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn print_misses(collection: &Collection, rankings: &[Vec<usize>]) {
    for (question, ranking) in collection.questions.iter().zip(rankings) {
        let first = ranking.first();
        if !first.is_some_and(|first| question.relevant.contains(first)) {
            println!("  {} -> {first:?}, not {:?}", question.text, question.relevant);
        }
    }
}
