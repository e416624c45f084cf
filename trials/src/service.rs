//! Sends public collections through the whole service: adds sources over the API of the release
//! binary, asks questions in conversations, and compares the first source with the right one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::{Program, Server};
use clap::Args;
use serde_json::Value;

use crate::program;

/// The folder of the collections.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// The folder that holds `qa/pubmedqa` and `qa/xquad`
    #[arg(long)]
    data: PathBuf,
}

/// A set of texts, and questions that each belong to one of them.
struct Collection {
    name: String,
    texts: Vec<String>,
    /// The question, and the position of its text.
    questions: Vec<(String, usize)>,
}

/// Sends each collection through a separate server and prints how many replies are based on the
/// right source first, at all, or on none.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let qa = arguments.data.join("qa");
    let mut collections = vec![pubmedqa(&qa.join("pubmedqa/data/ori_pqal.json"))?];
    for language in ["es", "zh", "ar", "hi"] {
        collections.push(xquad(&qa.join(format!("xquad/xquad.{language}.json")), language)?);
    }
    println!(
        "{:<10} {:>7} {:>9} {:>12} {:>9} {:>9} {:>12}",
        "set", "texts", "questions", "right first", "cited", "nothing", "trained in"
    );
    for collection in collections {
        measure(&program, &collection).await?;
    }
    Ok(())
}

async fn measure(program: &Program, collection: &Collection) -> anyhow::Result<()> {
    let server = Server::of(program).start();
    let client = server.client();
    let agent = client.agent().await;
    let start = Instant::now();
    let mut sources = Vec::with_capacity(collection.texts.len());
    for text in &collection.texts {
        sources.push(client.source(&agent, "text", text).await);
    }
    all_trained(&client, &agent).await?;
    let trained = start.elapsed();
    let (mut first, mut cited, mut nothing) = (0_usize, 0_usize, 0_usize);
    for (question, text) in &collection.questions {
        let right = sources.get(*text).context("a question without its text")?;
        let answer = client.ask(&agent, question).await;
        let used = answer["sources_used"].as_array().context("no `sources_used`")?;
        first += usize::from(used.first().is_some_and(|source| source["id"] == right.as_str()));
        cited += usize::from(used.iter().any(|source| source["id"] == right.as_str()));
        nothing += usize::from(used.is_empty());
    }
    let questions = collection.questions.len();
    let share = |count: usize| count as f64 / questions.max(1) as f64;
    println!(
        "{:<10} {:>7} {:>9} {:>12.3} {:>9.3} {:>9.3} {:>10.1} s",
        collection.name,
        sources.len(),
        questions,
        share(first),
        share(cited),
        share(nothing),
        trained.as_secs_f64(),
    );
    Ok(())
}

async fn all_trained(client: &Client, agent: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(600);
    for status in ["pending", "processing", "failed"] {
        loop {
            let path = format!("/v1/agents/{agent}/sources?page_size=1&status={status}");
            let list = client.get(&path).await.expect(200);
            if list["data"].as_array().is_some_and(Vec::is_empty) {
                break;
            }
            ensure!(status != "failed", "a source failed: {list}");
            ensure!(Instant::now() < deadline, "sources are still {status}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

fn pubmedqa(path: &Path) -> anyhow::Result<Collection> {
    let papers = read(path)?;
    let mut collection =
        Collection { name: "pubmedqa".to_owned(), texts: Vec::new(), questions: Vec::new() };
    for paper in papers.as_object().context("not an object")?.values() {
        let paragraphs = paper["CONTEXTS"].as_array().context("no `CONTEXTS`")?;
        let paragraphs: Vec<&str> = paragraphs.iter().filter_map(Value::as_str).collect();
        let question = paper["QUESTION"].as_str().context("no `QUESTION`")?;
        collection.questions.push((question.to_owned(), collection.texts.len()));
        collection.texts.push(paragraphs.join("\n\n"));
    }
    Ok(collection)
}

fn xquad(path: &Path, language: &str) -> anyhow::Result<Collection> {
    let set = read(path)?;
    let mut collection =
        Collection { name: format!("xquad-{language}"), texts: Vec::new(), questions: Vec::new() };
    let articles = set["data"].as_array().context("no `data`")?;
    for paragraph in
        articles.iter().filter_map(|article| article["paragraphs"].as_array()).flatten()
    {
        for question in paragraph["qas"].as_array().context("no `qas`")? {
            let question = question["question"].as_str().context("no `question`")?;
            collection.questions.push((question.to_owned(), collection.texts.len()));
        }
        collection.texts.push(paragraph["context"].as_str().context("no `context`")?.to_owned());
    }
    Ok(collection)
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", path.display()))
}
