//! `cicerone read`: the text that the service reads from files, without a server.

use std::collections::HashMap;

use cicerone_domain::content::Warning;
use cicerone_ingestion::{Prepared, Readers};
use serde::Serialize;

use super::input::{self, InputFile};
use crate::cli::ReadArguments;
use crate::configuration::{Environment, load};
use crate::failure::Failure;
use crate::output;
use crate::shutdown::StopSignals;
use crate::telemetry;
use crate::wiring;

/// Reads files and prints what was read of each.
pub(crate) fn run(environment: &Environment, arguments: &ReadArguments) -> Result<(), Failure> {
    let configuration = load(environment)?;
    // The outcome of readers is printed. Logs appear only if `RUST_LOG` asks for them.
    let filter =
        if environment.contains_key("RUST_LOG") { &configuration.settings.log } else { "error" };
    telemetry::logs(&configuration.settings, filter, None)?;
    let runtime = wiring::runtime(1)?;
    let outcome = runtime.block_on(async {
        let settings = configuration.settings.sandbox();
        let reads_pictures = settings.ocr.is_some();
        let readers = Readers::new(settings);
        let mut signals = StopSignals::listen()?;
        tokio::select! {
            outcome = read_all(&readers, arguments, reads_pictures) => outcome,
            signal = signals.received() => Err(Failure::new(format!("stopped by {signal}"))),
        }
    });
    runtime.shutdown_background();
    outcome
}

/// Reads the files one after the other. If one cannot be read, the others are still read.
async fn read_all(
    readers: &Readers,
    arguments: &ReadArguments,
    reads_pictures: bool,
) -> Result<(), Failure> {
    let ReadArguments { json, files } = arguments;
    let mut failed = Vec::new();
    for (number, path) in files.iter().enumerate() {
        let outcome = match input::load(path, reads_pictures) {
            Ok(file) => read(readers, file).await,
            Err(reason) => Err(reason),
        };
        match outcome {
            Ok(file) if *json => output::line(&file.as_json()?)?,
            Ok(file) => {
                if files.len() > 1 {
                    let gap = if number > 0 { "\n" } else { "" };
                    output::line(&format!("{gap}==> {} <==", file.name))?;
                }
                output::line(&file.text.trim_end())?;
                for warning in &file.warnings {
                    output::note(&format!("warning: `{}`: {}", file.name, warning_line(warning)))?;
                }
            }
            Err(reason) => {
                if *json {
                    let file = path.display().to_string();
                    output::line(&serde_json::json!({ "file": file, "error": reason }))?;
                }
                failed.push(reason);
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        [only] if files.len() == 1 => Err(Failure::new(only)),
        several => {
            for reason in several {
                output::note(&format!("error: {reason}"))?;
            }
            let (count, all) = (several.len(), files.len());
            Err(Failure::new(format!("{count} of {all} files could not be read")))
        }
    }
}

/// Reads a file in a child process, as the service does.
async fn read(readers: &Readers, file: InputFile) -> Result<ReadFile, String> {
    let InputFile { name, content_type, bytes } = file;
    let prepared = readers.file(content_type, bytes, None).await;
    let prepared = prepared.map_err(|reason| format!("`{name}`: {reason}"))?;
    if prepared.text.trim().is_empty() {
        return Err(format!("`{name}`: the file contains no text"));
    }
    let language = language(&prepared);
    let Prepared { title, text, page_count, table_count, warnings, stretches, .. } = prepared;
    Ok(ReadFile {
        name,
        content_type: content_type.media_type(),
        title,
        language,
        page_count,
        character_count: text.chars().count(),
        table_count,
        passage_count: stretches.len(),
        warnings: warnings.into(),
        text,
    })
}

/// The language of most of the text.
fn language(prepared: &Prepared) -> Option<&'static str> {
    let mut bytes: HashMap<&'static str, usize> = HashMap::new();
    for stretch in &prepared.stretches {
        if let Some(language) = stretch.language {
            *bytes.entry(language).or_default() += stretch.range.len();
        }
    }
    bytes.into_iter().max_by_key(|(language, bytes)| (*bytes, *language)).map(|(code, _)| code)
}

/// What was read from a file.
struct ReadFile {
    name: String,
    content_type: &'static str,
    title: Option<String>,
    language: Option<&'static str>,
    page_count: Option<u32>,
    character_count: usize,
    table_count: u32,
    passage_count: usize,
    warnings: Vec<Warning>,
    text: String,
}

/// The form in which it is printed, with the names of the HTTP API.
#[derive(Serialize)]
struct FileView<'a> {
    file: &'a str,
    content_type: &'a str,
    title: Option<&'a str>,
    /// ISO 639-3.
    language: Option<&'a str>,
    page_count: Option<u32>,
    character_count: usize,
    table_count: u32,
    passage_count: usize,
    warnings: Vec<WarningView<'a>>,
    text: &'a str,
}

#[derive(Serialize)]
struct WarningView<'a> {
    code: &'static str,
    message: String,
    pages: &'a [u32],
    page_count: u32,
}

impl ReadFile {
    fn as_json(&self) -> Result<String, Failure> {
        let warnings = self.warnings.iter().map(|warning| WarningView {
            code: warning.reason.code(),
            message: warning.reason.to_string(),
            pages: &warning.pages,
            page_count: warning.page_count,
        });
        let view = FileView {
            file: &self.name,
            content_type: self.content_type,
            title: self.title.as_deref(),
            language: self.language,
            page_count: self.page_count,
            character_count: self.character_count,
            table_count: self.table_count,
            passage_count: self.passage_count,
            warnings: warnings.collect(),
            text: &self.text,
        };
        serde_json::to_string(&view)
            .map_err(|error| Failure::because("cannot write the JSON object", &error))
    }
}

/// The most pages that a line lists.
const PAGES_NAMED: usize = 10;

/// The text of a warning, on one line.
fn warning_line(warning: &Warning) -> String {
    let named: Vec<String> =
        warning.pages.iter().take(PAGES_NAMED).map(ToString::to_string).collect();
    let named = named.join(", ");
    let further = u64::from(warning.page_count).saturating_sub(PAGES_NAMED as u64);
    match (warning.page_count, further) {
        (0, _) => warning.reason.to_string(),
        (1, _) => format!("page {named}: {}", warning.reason),
        (_, 0) => format!("pages {named}: {}", warning.reason),
        (_, further) => format!("pages {named} and {further} more: {}", warning.reason),
    }
}
