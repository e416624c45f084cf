//! `cicerone import`: sources from pairs, folders, sitemaps and exports of other services.

mod csv_pairs;
mod earlier;
mod folder;
mod found;
mod json;
mod report;
mod sitemap;

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::api_client::{ApiClient, ApiError, Body, text};
use crate::cli::ImportArguments;
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::{output, wiring};
use earlier::Earlier;
pub(super) use earlier::SET;
use found::{Found, Item};
use report::{Report, Taken};

/// The largest file of pairs or of an export, in bytes (64 MiB).
const INPUT_BYTES: u64 = 64 * 1_024 * 1_024;
/// The pause between two looks at the sources.
const PAUSE: Duration = Duration::from_millis(500);

/// Imports the inputs and prints the report.
pub(crate) fn run(environment: &Environment, arguments: &ImportArguments) -> Result<(), Failure> {
    let api = ApiClient::new(environment, arguments.server.as_deref())?;
    wiring::runtime(2)?.block_on(async {
        let mut found = Found::default();
        for input in &arguments.inputs {
            output::note(&format!("reading {input}"))?;
            read(environment, input, arguments.pages, &mut found).await?;
        }
        let mut report = Report::new(std::mem::take(&mut found.refused));
        let items = found.into_items();
        if arguments.dry_run {
            for item in items {
                report.taken.push(Taken::of(&item, String::new()));
            }
            return report.print(arguments.json);
        }
        let stopped = send(&api, &arguments.agent, items, &mut report).await?;
        if !arguments.no_wait {
            wait(&api, Duration::from_secs(arguments.timeout_seconds), &mut report).await?;
        }
        report.print(arguments.json)?;
        match stopped {
            Some(reason) => Err(Failure::new(format!("the import stopped: {reason}"))),
            None if report.taken.is_empty() && report.there.is_empty() => {
                Err(Failure::new("nothing was taken"))
            }
            None => Ok(()),
        }
    })
}

/// Reads an input.
async fn read(
    environment: &Environment,
    input: &str,
    pages: usize,
    found: &mut Found,
) -> Result<(), Failure> {
    if input.contains("://") {
        return sitemap::fetch(environment, input, pages, found).await;
    }
    let path = Path::new(input);
    if path.is_dir() {
        folder::add(path, found);
        return Ok(());
    }
    let name = input.to_ascii_lowercase();
    let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if is(&[".csv"]) {
        csv_pairs::add(input, &bytes(path)?, found);
    } else if is(&[".json"]) {
        json::add(input, &bytes(path)?, found);
    } else if is(&[".xml", ".xml.gz"]) {
        sitemap::add_file(environment, input, &bytes(path)?, pages, found).await?;
    } else {
        folder::add_file(path, found);
    }
    Ok(())
}

/// The bytes of an input that is read completely.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::because(&format!("cannot read `{}`", path.display()), &error);
    let mut bytes = Vec::new();
    // A pipe or a device has no length, so the bytes are counted.
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(INPUT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT_BYTES {
        return Err(Failure::new(format!("`{}` is larger than 64 MiB; divide it", path.display())));
    }
    Ok(bytes)
}

/// Adds the sources. Returns why it stopped before the end, if it did.
async fn send(
    api: &ApiClient,
    agent: &str,
    items: Vec<Item>,
    report: &mut Report,
) -> Result<Option<String>, Failure> {
    let count = items.len();
    let mut stopped: Option<String> = None;
    let earlier = match Earlier::of(api, agent).await {
        Ok(earlier) => earlier,
        Err(Refused::Item(reason) | Refused::All(reason)) => {
            stopped = Some(reason);
            Earlier::default()
        }
    };
    for (index, item) in items.into_iter().enumerate() {
        if let Some(reason) = &stopped {
            report.refuse(item.name(), format!("not sent: {reason}"));
            continue;
        }
        output::note(&format!("{}/{count} {}", index + 1, item.name()))?;
        match add(api, agent, &item, &earlier).await {
            Ok(Added::New(id)) => report.taken.push(Taken::of(&item, id)),
            Ok(Added::Earlier) => report.there.push(item.name()),
            Err(Refused::Item(reason)) => report.refuse(item.name(), reason),
            Err(Refused::All(reason)) => {
                report.refuse(item.name(), reason.clone());
                stopped = Some(reason);
            }
        }
    }
    Ok(stopped)
}

/// The outcome for an item that was not refused.
enum Added {
    /// It is a source now, with this id.
    New(String),
    /// It was imported before.
    Earlier,
}

/// Why an item was not taken.
enum Refused {
    /// The item itself is the reason.
    Item(String),
    /// Every other would be refused as well.
    All(String),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused(refusal) if [400, 409, 413, 422].contains(&refusal.status) => {
                Self::Item(refusal.message)
            }
            ApiError::Refused(refusal) => Self::All(refusal.message),
            ApiError::Failed(message) => Self::All(message),
        }
    }
}

/// Adds an item, unless the agent already has it.
async fn add(
    api: &ApiClient,
    agent: &str,
    item: &Item,
    earlier: &Earlier,
) -> Result<Added, Refused> {
    let file = match item {
        Item::File(path) => Some(super::input::load(path, false).map_err(Refused::Item)?),
        Item::Pairs { .. } | Item::Text { .. } | Item::Website(_) => None,
    };
    let hash = earlier::hash(item, file.as_ref().map(|file| file.bytes.as_ref()));
    if earlier.has(&hash) {
        return Ok(Added::Earlier);
    }
    let mut body = match item {
        Item::Pairs { content, .. } => json!({ "type": "qa", "content": content }),
        Item::Text { text, .. } => json!({ "type": "text", "content": text }),
        Item::Website(url) => json!({ "type": "website", "content": url }),
        Item::File(path) => {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let file = file.as_ref().ok_or_else(|| Refused::Item("it was not read".to_owned()))?;
            let body = Body::File(name.as_deref().unwrap_or(&file.name), &file.bytes);
            let uploaded = api.create("/v1/files", body).await?;
            json!({ "type": "file", "content": text(&uploaded, "id") })
        }
    };
    let path = format!("/v1/agents/{agent}/sources");
    if let Some(fields) = body.as_object_mut() {
        fields.insert("managed".to_owned(), earlier::identity(&hash));
    }
    match api.create(&path, Body::Json(&body)).await {
        Ok(source) => Ok(Added::New(text(&source, "id").to_owned())),
        // Another import adds it at the same time.
        Err(error) if error.is(409) => Ok(Added::Earlier),
        Err(error) => Err(error.into()),
    }
}

/// Waits until every source is trained or has failed. Those that failed were not taken.
async fn wait(api: &ApiClient, patience: Duration, report: &mut Report) -> Result<(), Failure> {
    let end = Instant::now() + patience;
    let count = report.taken.len();
    let waiting = std::mem::take(&mut report.taken);
    for (index, taken) in waiting.into_iter().enumerate() {
        loop {
            let source = match api.get(&format!("/v1/sources/{}", taken.id)).await {
                Ok(source) => source,
                Err(error) if error.is(404) => {
                    report.refuse(taken.name.clone(), "the source has been deleted".to_owned());
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            match text(&source, "status") {
                "failed" => {
                    report.refuse(taken.name.clone(), text(&source, "error_message").to_owned());
                    break;
                }
                "trained" => {
                    let reason = source.pointer("/partially_read/reason").and_then(|r| r.as_str());
                    let partial = reason.map(str::to_owned);
                    report.taken.push(Taken { partially_read: partial, ..taken });
                    break;
                }
                status if Instant::now() > end => {
                    report.refuse(
                        taken.name.clone(),
                        format!("still {status} when the time limit was reached"),
                    );
                    break;
                }
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
        if (index + 1) % 100 == 0 {
            output::note(&format!("{} of {count} sources are processed", index + 1))?;
        }
    }
    Ok(())
}
