//! Shows what becomes of a file: its type, its documents and its passages.
//!
//! ```sh
//! cargo run --package cicerone-ingestion --example extract -- README.md
//! ```

use std::error::Error;
use std::io::Write as _;

use cicerone_ingestion::{Material, detect_upload_type, extract};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: extract FILE")?;
    let bytes = std::fs::read(&path)?;
    let content_type =
        detect_upload_type(&bytes).ok_or_else(|| format!("`{path}` is no PDF, DOCX or text"))?;
    let extracted = extract(Material::File { name: &path, content_type, bytes: &bytes })?;

    let mut out = std::io::stdout().lock();
    for document in &extracted.documents {
        let title = document.title.as_deref().unwrap_or("untitled");
        writeln!(out, "{title}: {} characters", document.text.chars().count())?;
    }
    for passage in &extracted.passages {
        let heading = passage.heading.as_deref().unwrap_or("-");
        let language = passage.language.as_deref().unwrap_or("?");
        writeln!(out, "\n[{}] {heading} ({language})\n{}", passage.position, passage.text)?;
    }
    Ok(())
}
