//! `cargo trial eval manuals`: questions about manuals, as people ask them, answered by the embedded answerer.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use cicerone_domain::Passage;
use cicerone_domain::limits;
use cicerone_domain::ports::{ReplyRequest, Stages};
use cicerone_domain::retrieval::{Found, Hit};
use cicerone_ingestion::read_page;
use cicerone_llm::Extractive;
use serde::Deserialize;
use url::Url;

use super::collection::Question;
use super::files;
use super::profile::profile;
use super::runtime;
use super::table::Table;
use super::trial::Trial;

/// The questions about each manual. Those whose `is_held_out` is set are held out: nothing is tuned on them.
const MANUALS: [&str; 12] = [
    include_str!("../../data/manuals/cargo.json"),
    include_str!("../../data/manuals/postgresql.json"),
    include_str!("../../data/manuals/git.json"),
    include_str!("../../data/manuals/git-second.json"),
    include_str!("../../data/manuals/sqlite.json"),
    include_str!("../../data/manuals/apache.json"),
    include_str!("../../data/manuals/gnucash.json"),
    include_str!("../../data/manuals/python.json"),
    include_str!("../../data/manuals/git-third.json"),
    include_str!("../../data/manuals/node.json"),
    include_str!("../../data/manuals/git-fourth.json"),
    include_str!("../../data/manuals/gimp.json"),
];

/// The number of hits among which the right page must be.
const FIRST: usize = 3;

/// A manual in HTML, and questions about it.
#[derive(Deserialize)]
pub(super) struct Manual {
    pub(super) name: String,
    /// Its folder below a folder of documentation, as packages install it.
    folder: String,
    /// If not empty, only pages whose paths begin with one of these are read.
    #[serde(default)]
    begins: Vec<String>,
    /// Pages whose paths begin with one of these are skipped: single-page versions, and lists of changes.
    #[serde(default)]
    leaves_out: Vec<String>,
    /// Its misses are not printed, so that nothing is tuned on them.
    #[serde(default)]
    is_held_out: bool,
    questions: Vec<Asked>,
    /// Questions that it does not answer.
    strange: Vec<String>,
}

#[derive(Deserialize)]
struct Asked {
    ask: String,
    /// The parts that the reply must contain, each in one of the spellings separated by `|`.
    holds: Vec<String>,
    /// The pages that answer it, or folders ending with `/`.
    pages: Vec<String>,
}

#[derive(Default)]
struct Outcome {
    held: usize,
    found: usize,
    refused: usize,
    characters: usize,
}

/// Answers the questions about each manual that is in one of the `folders`, or in the installed
/// Rust.
pub(super) fn measure(folders: &[PathBuf], misses: bool, table: &mut Table) -> anyhow::Result<()> {
    let runtime = runtime()?;
    for (manual, pages, passages) in installed(folders)? {
        let trial = Trial::new(&runtime, &passages)?;
        let search = |question: &Question| trial.ask(&runtime, question, limits::REPLY_PASSAGES);
        let outcome = manual.ask(&search, misses && !manual.is_held_out)?;
        let asked = manual.questions.len();
        let characters = outcome.characters / asked.max(1);
        let note = format!("{} of {asked}, {pages} pages, {characters} characters", outcome.held);
        table.add(&manual.name, "reply holds", asked, share(outcome.held, asked), &note);
        table.add(&manual.name, "page in three", asked, share(outcome.found, asked), "");
        let strange = manual.strange.len();
        let refused = share(outcome.refused, strange);
        table.add(&manual.name, "strange refused", strange, refused, "");
    }
    Ok(())
}

fn share(count: usize, all: usize) -> f64 {
    count as f64 / all.max(1) as f64
}

/// The manuals that are in one of the `folders`, or in the installed Rust, with the numbers of their pages and their
/// passages.
pub(super) fn installed(folders: &[PathBuf]) -> anyhow::Result<Vec<(Manual, usize, Vec<Passage>)>> {
    let mut folders = folders.to_vec();
    folders.extend([PathBuf::from("/usr/share/doc"), rust_documentation()?]);
    let mut all = Vec::new();
    for manual in MANUALS {
        let manual: Manual = serde_json::from_str(manual)?;
        let folder = folders.iter().map(|folder| folder.join(&manual.folder)).find(|f| f.is_dir());
        let Some(folder) = folder else {
            println!(
                "{:12} there is no folder `{}` (--manuals FOLDER)",
                manual.name, manual.folder
            );
            continue;
        };
        let (pages, passages) = manual.read(&folder)?;
        if pages == 0 {
            println!("{:12} there are no pages in `{}`", manual.name, folder.display());
            continue;
        }
        all.push((manual, pages, passages));
    }
    Ok(all)
}

/// The folder of the documentation that comes with Rust.
fn rust_documentation() -> anyhow::Result<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    if !output.status.success() {
        bail!("`rustc --print sysroot` failed");
    }
    Ok(Path::new(String::from_utf8(output.stdout)?.trim()).join("share/doc"))
}

impl Manual {
    /// The number of the manual's pages, and their passages.
    fn read(&self, folder: &Path) -> anyhow::Result<(usize, Vec<Passage>)> {
        let mut passages = Vec::new();
        let mut pages = 0;
        let begins = |path: &str, all: &[String]| all.iter().any(|begin| path.starts_with(begin));
        for file in files::with_extension(folder, "html")? {
            let path = file.strip_prefix(folder)?.to_string_lossy().into_owned();
            let is_wanted = self.begins.is_empty() || begins(&path, &self.begins);
            if !is_wanted || begins(&path, &self.leaves_out) {
                continue;
            }
            let url = Url::parse("https://manual.example/")?.join(&path)?;
            let bytes = std::fs::read(&file).with_context(|| format!("reading `{path}`"))?;
            let Ok(page) = read_page(&bytes, None, &url) else { continue };
            let Ok(page) = page.reading.cut(limits::DOCUMENT_TEXT_BYTES) else { continue };
            pages += 1;
            for stretch in &page.stretches {
                passages.push(Passage {
                    position: i64::try_from(passages.len())?,
                    title: page.title.clone(),
                    heading: stretch.heading.as_deref().map(str::to_owned),
                    url: Some(url.to_string()),
                    page: None,
                    text: page.text.get(stretch.range.clone()).unwrap_or_default().to_owned(),
                    is_pair: false,
                    language: stretch.language.map(str::to_owned),
                });
            }
        }
        Ok((pages, passages))
    }

    /// A line about what is held, found and refused.
    pub(super) fn line(
        &self,
        search: &dyn Fn(&Question) -> anyhow::Result<Found>,
    ) -> anyhow::Result<String> {
        let outcome = self.ask(search, false)?;
        let asked = self.questions.len();
        Ok(format!(
            "reply holds {:.3}, page in three {:.3}, strange refused {:.3}",
            share(outcome.held, asked),
            share(outcome.found, asked),
            share(outcome.refused, self.strange.len())
        ))
    }

    fn ask(
        &self,
        search: &dyn Fn(&Question) -> anyhow::Result<Found>,
        misses: bool,
    ) -> anyhow::Result<Outcome> {
        let answerer = Extractive::default();
        let mut outcome = Outcome::default();
        let reply = |question: &str| -> anyhow::Result<(Vec<Hit>, String, bool)> {
            let question = Question { text: question.to_owned(), relevant: [].into() };
            let found = search(&question)?;
            let request = ReplyRequest {
                profile: profile(),
                history: Vec::new(),
                question: question.text,
                passages: found.hits.iter().filter(|hit| hit.is_relevant).cloned().collect(),
                terms: found.terms,
                result: found.id,
                language: found.language,
                stages: Stages::default(),
            };
            let reply = answerer.answer(&request, None);
            Ok((found.hits, reply.text, reply.cited.is_empty()))
        };
        for asked in &self.questions {
            let (hits, text, is_refused) = reply(&asked.ask)?;
            let is_held = !is_refused && asked.is_held_by(&text);
            let is_found = hits.iter().take(FIRST).any(|hit| asked.is_answered_on(hit));
            outcome.held += usize::from(is_held);
            outcome.found += usize::from(is_found);
            outcome.characters += text.chars().count();
            if misses && !(is_held && is_found) {
                println!("? {} ({:?} on {:?})", asked.ask, asked.holds, asked.pages);
                for hit in hits.iter().take(FIRST) {
                    let (url, heading) = (hit.url.as_deref(), hit.heading.as_deref());
                    println!("    {:.2} {:.2} {url:?} {heading:?}", hit.score, hit.coverage);
                }
                println!("    = {is_held} {}", text.replace('\n', "\n      "));
            }
        }
        for question in &self.strange {
            let (_, text, is_refused) = reply(question)?;
            outcome.refused += usize::from(is_refused);
            if misses && !is_refused {
                println!("! {question}\n    = {text}");
            }
        }
        Ok(outcome)
    }
}

impl Asked {
    fn is_held_by(&self, reply: &str) -> bool {
        let squeeze = |text: &str| -> String {
            // The ends of paragraphs stay, so that nothing is found across them.
            let text = text.replace("\n\n", "\u{2029}");
            let kept = text.chars().filter(|c| !c.is_whitespace() || *c == '\u{2029}');
            kept.flat_map(char::to_lowercase).collect()
        };
        let reply = squeeze(reply);
        self.holds
            .iter()
            .all(|spellings| spellings.split('|').any(|text| reply.contains(&squeeze(text))))
    }

    fn is_answered_on(&self, hit: &Hit) -> bool {
        let path = hit.url.as_deref().unwrap_or_default();
        let path = path.strip_prefix("https://manual.example/").unwrap_or_default();
        self.pages
            .iter()
            .any(|page| path == page || (page.ends_with('/') && path.starts_with(page)))
    }
}
