//! Random sources that are large in one dimension each: headings, cells, links, lines, pairs,
//! names, attributes, pages, nesting, fonts or languages. The server's process survives, and
//! processing of every source ends.

mod html;
mod markdown;
mod pairs;
mod pdf;
mod word;

use std::collections::BTreeMap;
use std::time::Duration;

use cicerone_tests::client::Client;
use cicerone_tests::site::{Resource, Site};
use tokio::task::JoinSet;

use super::arena::{Arena, Field};
use super::documents::docx;
use super::report::Report;
use super::sources::{Material, carry_through};
use crate::bench::corpus::Numbers;

/// The number of sources, and how many are in progress at the same time.
const SOURCES: usize = 300;
const PARALLEL: usize = 6;
/// The longest that a source may take, including those before it in the queue.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most memory that the server's own process may use, in MiB.
const MOST_MIB: f64 = 250.0;
/// The most characters of a text.
const TEXT_CHARS: usize = 100_000;
/// The largest file, in bytes, and the largest page.
const FILE_BYTES: usize = 10 * 1_024 * 1_024;
const PAGE_BYTES: usize = 4_000_000;

/// The dimension in which a source is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dimension {
    Headings,
    Cells,
    Links,
    Lines,
    Pairs,
    Names,
    Attributes,
    Pages,
    Nesting,
    Fonts,
    Languages,
}

const DIMENSIONS: [Dimension; 11] = [
    Dimension::Headings,
    Dimension::Cells,
    Dimension::Links,
    Dimension::Lines,
    Dimension::Pairs,
    Dimension::Names,
    Dimension::Attributes,
    Dimension::Pages,
    Dimension::Nesting,
    Dimension::Fonts,
    Dimension::Languages,
];

/// The form of a source.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    TextFile,
    HtmlFile,
    Docx,
    Pdf,
    Page,
    Pairs,
}

const FORMS: [Form; 7] =
    [Form::Text, Form::TextFile, Form::HtmlFile, Form::Docx, Form::Pdf, Form::Page, Form::Pairs];

/// A dimension with two sizes: `count` things of `chars` characters each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) dimension: Dimension,
    pub(super) count: usize,
    pub(super) chars: usize,
}

impl Shape {
    /// A random shape of about `total` characters: from a few long things to many short ones.
    fn random(numbers: &mut Numbers, dimension: Dimension, total: usize) -> Self {
        // Uniform over orders of magnitude.
        let share = numbers.below(1_000) as f64 / 1_000.0;
        let count = (total as f64).powf(share).max(1.0) as usize;
        Self { dimension, count, chars: (total / count).max(1) }
    }
}

/// Words of `chars` characters in total.
pub(super) fn words(chars: usize) -> String {
    "museum hall ".chars().cycle().take(chars).collect()
}

/// One sentence in each of several languages and scripts, with and without spaces.
pub(super) const SENTENCES: [&str; 10] = [
    "The hall opens at nine. ",
    "Der Saal öffnet um neun Uhr. ",
    "Зал открывается в девять. ",
    "大厅九点开门。",
    "ホールは九時に開きます。",
    "ห้องโถงเปิดเวลาเก้าโมง",
    "تفتح القاعة في التاسعة. ",
    "हॉल नौ बजे खुलता है। ",
    "האולם נפתח בתשע. ",
    "홀은 아홉 시에 엽니다. ",
];

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
    let arena = Arena::open(&field, server).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let site = Site::start().await;
    let count = field.count(SOURCES, 42);
    let mut report = Report::default();
    let attack = flood(&attacker, &agent, &site, field.seed, count);
    let ends = arena.besiege_below(&mut report, MOST_MIB, attack).await??;
    let ends: Vec<_> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
    report.attempted(format!("{count} sources from seed {}: {}", field.seed, ends.join(", ")));
    arena.rest(&mut report).await?;
    Ok(report)
}

/// Adds the sources, some of them at the same time. Returns how they ended.
async fn flood(
    client: &Client,
    agent: &str,
    site: &Site,
    seed: u64,
    count: usize,
) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut ends = BTreeMap::new();
    let mut under_way = JoinSet::new();
    for number in 0..count {
        if under_way.len() >= PARALLEL {
            note(&mut ends, under_way.join_next().await)?;
        }
        let (what, material) = material(site, seed, number)?;
        let (client, agent) = (client.clone(), agent.to_owned());
        under_way.spawn(async move {
            let end = carry_through(&client, &agent, material, PATIENCE).await;
            end.map(|end| end.word()).map_err(|error| error.context(what))
        });
    }
    while let Some(ended) = under_way.join_next().await {
        note(&mut ends, Some(ended))?;
    }
    Ok(ends)
}

type Ended = Result<anyhow::Result<String>, tokio::task::JoinError>;

fn note(ends: &mut BTreeMap<String, usize>, ended: Option<Ended>) -> anyhow::Result<()> {
    if let Some(ended) = ended {
        *ends.entry(ended??).or_default() += 1;
    }
    Ok(())
}

/// The source with this number for a seed, and its name.
fn material(site: &Site, seed: u64, number: usize) -> anyhow::Result<(String, Material)> {
    let mut numbers = Numbers::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    let form = FORMS[number % FORMS.len()];
    let dimension = DIMENSIONS[numbers.below(DIMENSIONS.len() as u64) as usize];
    let most = match form {
        Form::Text => TEXT_CHARS,
        Form::Page => PAGE_BYTES,
        Form::Pairs => PAGE_BYTES + PAGE_BYTES / 2,
        Form::TextFile | Form::HtmlFile | Form::Docx | Form::Pdf => FILE_BYTES / 2,
    };
    let total = most / (1 + numbers.below(8) as usize);
    let shape = Shape::random(&mut numbers, dimension, total);
    let what = format!("source {number}: {form:?} of {shape:?}");
    let material = match form {
        Form::Text => Material::Text(markdown::text(shape).chars().take(TEXT_CHARS).collect()),
        Form::TextFile => Material::File("large.md", cut(markdown::text(shape).into_bytes())),
        Form::HtmlFile => Material::File("large.html", cut(html::page(shape).into_bytes())),
        Form::Docx => Material::File("large.docx", cut(docx(&word::body(shape))?)),
        Form::Pdf => Material::File("large.pdf", cut(pdf::file(shape)?)),
        Form::Pairs => Material::Pairs(pairs::content(shape)),
        Form::Page => {
            let path = format!("/{number}/");
            site.put(&path, Resource::html(html::page(shape)));
            Material::Website(site.url(&path))
        }
    };
    Ok((what, material))
}

/// A file, cut to the largest size that is accepted.
fn cut(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(FILE_BYTES);
    bytes
}
