//! `cargo trial eval`: how well passages are found, on public question sets.

mod collection;
mod docx;
mod feed;
pub(crate) mod files;
mod floor;
mod formats;
mod html;
mod hybrid;
mod manuals;
mod measures;
mod pdf;
pub(crate) mod profile;
mod sets;
mod silence;
mod trial;
mod words;

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use collection::Collection;
use measures::Measure;
use trial::Trial;

/// What is measured, and on which data.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// The folder with the question sets
    #[arg(long)]
    data: PathBuf,
    /// Only these sets; all of them if none is named. `docx`, `formats`, `html` or `pdf` alone: how well such files are read.
    /// `manuals` alone: questions about manuals, with replies; `silence` alone: whether what has no answer is refused;
    /// `hybrid` and sets: by words, by meaning and by both
    sets: Vec<String>,
    /// Questions of which the right passage was not first are printed
    #[arg(long)]
    misses: bool,
    /// Folders with documentation as packages install it, beside /usr/share/doc, for `manuals`
    #[arg(long)]
    manuals: Vec<PathBuf>,
    /// The base URL of an embeddings upstream for `hybrid`, instead of the embedder of the tests
    #[arg(long)]
    embeddings: Option<String>,
    /// The name of its model
    #[arg(long)]
    model: Option<String>,
}

/// One line of the table: a set, a measure, and what public tools reach on the same files.
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
    if args.sets == ["manuals"] {
        return manuals::run(&args.manuals, args.misses);
    }
    if args.sets == ["silence"] {
        return silence::run(&args.data);
    }
    if let Some(("hybrid", sets)) =
        args.sets.split_first().map(|(name, sets)| (name.as_str(), sets))
    {
        let upstream = hybrid::Upstream { url: args.embeddings, model: args.model };
        return hybrid::run(&args.data, sets, &upstream);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wanted = |set: &str| args.sets.is_empty() || args.sets.iter().any(|name| name == set);
    if let Some(unknown) = args.sets.iter().find(|name| !sets::NAMES.contains(&name.as_str())) {
        bail!("there is no set `{unknown}`; there are {}", sets::NAMES.join(", "));
    }
    let mut collections: Vec<Collection> = Vec::new();
    println!("{:14} {:>6} {:8} {:>7}  reference", "set", "asked", "measure", "");
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
            println!(
                "{name:14} {:>6} {:8} {value:>7.3}  {reference}",
                rankings.len(),
                line.measure.name(),
            );
        }
        if args.misses {
            print_misses(&collection, &rankings);
        }
        collections.push(collection);
    }
    floor::print(&runtime, &collections)
}

fn print_misses(collection: &Collection, rankings: &[Vec<usize>]) {
    for (question, ranking) in collection.questions.iter().zip(rankings) {
        let first = ranking.first();
        if !first.is_some_and(|first| question.relevant.contains(first)) {
            println!("  {} -> {first:?}, not {:?}", question.text, question.relevant);
        }
    }
}
