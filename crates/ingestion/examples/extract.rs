//! Extracts a file of any type that is read to standard output: what it is, its text, and the passages that a search
//! would find.
//!
//! ```sh
//! cargo run --package cicerone-ingestion --example extract -- report.docx
//! ```

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use cicerone_ingestion::domain::UploadType;
use cicerone_ingestion::{
    Material, Prepared, Readers, SandboxSettings, detect_upload_type, extract, serve_reader,
};

/// The argument with which this program starts itself to read a document.
const READ: &str = "--read";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: extract FILE")?;
    if path == READ {
        return Ok(serve_reader());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(show(&path))?;
    Ok(ExitCode::SUCCESS)
}

async fn show(path: &str) -> Result<(), Box<dyn Error>> {
    let bytes = tokio::fs::read(path).await?;
    let readers = Readers::new(SandboxSettings {
        arguments: vec![READ.into()],
        ..SandboxSettings::default()
    });
    let kind =
        detect_upload_type(&bytes).ok_or_else(|| format!("`{path}` is of no type that is read"))?;
    let prepared = readers.file(kind, bytes.into(), None).await?;
    print(path, kind, prepared)
}

fn print(path: &str, kind: UploadType, prepared: Prepared) -> Result<(), Box<dyn Error>> {
    let (stated, pages) = (prepared.title.clone(), prepared.page_count);
    let extracted = extract(Material::File { name: path, prepared })?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "type: {}", kind.media_type())?;
    writeln!(out, "title: {}", stated.as_deref().unwrap_or("-"))?;
    if let Some(pages) = pages {
        writeln!(out, "pages: {pages}")?;
    }
    for cut in &extracted.documents {
        writeln!(out, "\n{}", cut.document.text)?;
    }
    for (_, passage) in extracted.passages() {
        let heading = passage.heading.as_deref().unwrap_or("-");
        let language = passage.language.as_deref().unwrap_or("?");
        let page = passage.page.map_or_else(String::new, |page| format!(", page {page}"));
        let length = passage.text.chars().count();
        let position = passage.position;
        writeln!(out, "[{position}] {heading} ({language}{page}): {length} characters")?;
    }
    Ok(())
}
