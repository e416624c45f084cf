//! Reads the question sets, each in its authors' format.

mod abstracts;
mod faq;
mod squad;

use std::path::Path;

use anyhow::{Context as _, bail};

use super::collection::Collection;

pub(crate) const NAMES: [&str; 11] = [
    "xquad-es",
    "xquad-zh",
    "xquad-ar",
    "xquad-hi",
    "stackfaq",
    "covid-faq",
    "covid-short",
    "covid-papers",
    "pubmedqa",
    "cranfield",
    "vaswani",
];

/// Short questions about the pairs of `covid-faq`.
const COVID_SHORT: &str = include_str!("../../data/faq/covid-short.txt");

/// Reads the set with that name from the data folder.
pub(crate) fn load(data: &Path, name: &'static str) -> anyhow::Result<Collection> {
    let collection = match name {
        "xquad-es" | "xquad-zh" | "xquad-ar" | "xquad-hi" => {
            let code = name.trim_start_matches("xquad-");
            squad::paragraphs(name, &read(&data.join(format!("qa/xquad/xquad.{code}.json")))?)
        }
        "covid-papers" => {
            squad::papers(name, &read(&data.join("qa/covid-qa/200423_covidQA.json"))?)
        }
        "stackfaq" => {
            faq::stackfaq(name, &read(&data.join("faq/stackfaq/stackExchange-FAQ.json"))?)
        }
        "covid-faq" => faq::covid(name, &read(&data.join("qa/covid-qa/faq_covidbert.csv"))?),
        "covid-short" => {
            faq::covid_short(name, &read(&data.join("qa/covid-qa/faq_covidbert.csv"))?, COVID_SHORT)
        }
        "pubmedqa" => {
            abstracts::pubmedqa(name, &read(&data.join("qa/pubmedqa/data/ori_pqal.json"))?)
        }
        "cranfield" => {
            let folder = data.join("retrieval/cranfield");
            abstracts::cranfield(
                name,
                &read(&folder.join("cran.all.1400"))?,
                &read(&folder.join("cran.qry"))?,
                &read(&folder.join("cranqrel"))?,
            )
        }
        "vaswani" => {
            let folder = data.join("retrieval/vaswani-npl");
            abstracts::vaswani(
                name,
                &read(&folder.join("corpus/doc-text.trec"))?,
                &read(&folder.join("query-text.trec"))?,
                &read(&folder.join("qrels"))?,
            )
        }
        unknown => bail!("there is no set `{unknown}`"),
    };
    collection.with_context(|| format!("reading `{name}`"))
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))
}
