//! Updating the sources of an agent to match the named files.

use std::path::PathBuf;
use std::time::Duration;

use cicerone_domain::services::{NewSource, NewUpload};
use cicerone_domain::source::WebsiteUrl;
use cicerone_domain::upload::Filename;
use cicerone_domain::{Error, Id, Scope, SourceContent, SourceState, kind};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest as _, Sha256};

use super::files::{Found, FoundFile};
use super::manifest::{Entry, Manifest};
use crate::failure::Failure;
use crate::output;
use crate::wiring::Parts;

/// How often the state of a source is checked.
const LOOK: Duration = Duration::from_millis(10);

/// A file that is being read.
struct Waiting {
    path: PathBuf,
    source: Id<kind::Source>,
    name: String,
    is_named: bool,
}

/// An agent and its sources.
pub(super) struct Knowledge<'a> {
    pub(super) parts: &'a Parts,
    pub(super) scope: &'a Scope,
    pub(super) agent: Id<kind::Agent>,
    /// Whether the links of websites are followed.
    pub(super) crawl: bool,
}

impl Knowledge<'_> {
    /// Adds new files, replaces changed ones, removes those that a named folder no longer contains,
    /// fetches websites, and waits until all are trained. The manifest is up to date even after a
    /// failure.
    pub(super) async fn learn(&self, found: Found, manifest: &mut Manifest) -> Result<(), Failure> {
        let gone: Vec<PathBuf> = manifest
            .files
            .keys()
            .filter(|path| found.folders.iter().any(|folder| path.starts_with(folder)))
            .filter(|path| !found.files.contains_key(*path))
            .cloned()
            .collect();
        for path in gone {
            self.forget(manifest, &path).await?;
        }
        let websites = self.visit(&found.websites, manifest).await?;
        let progress = progress(found.files.len() + websites.len());
        let mut waiting = Vec::new();
        for (path, file) in found.files {
            progress.set_message(file.name.clone());
            let digest = hex(&Sha256::digest(&file.bytes));
            let known = manifest.files.get(&path);
            if known.is_some_and(|entry| entry.digest == digest && entry.name == file.name)
                && self.is_trained(known.and_then(Entry::source)).await?
            {
                progress.inc(1);
                continue;
            }
            self.forget(manifest, &path).await?;
            let (name, is_named) = (file.name.clone(), file.is_named);
            let source = self.add(file).await?;
            let entry = Entry { source: source.to_string(), name: name.clone(), digest };
            manifest.files.insert(path.clone(), entry);
            waiting.push(Waiting { path, source, name, is_named });
        }
        for Waiting { path, source, name, is_named } in waiting {
            progress.set_message(name.clone());
            if let Err(reason) = self.wait(source).await? {
                self.forget(manifest, &path).await?;
                let reason = format!("`{name}`: {reason}");
                if is_named {
                    return Err(Failure::new(reason));
                }
                output::note(&format!("skipped {reason}"))?;
            }
            progress.inc(1);
        }
        for (address, source) in websites {
            progress.set_message(address.clone());
            if let Err(reason) = self.wait(source).await? {
                return Err(Failure::new(format!("`{address}`: {reason}")));
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// Adds new websites, and refreshes known ones.
    async fn visit(
        &self,
        addresses: &[WebsiteUrl],
        manifest: &mut Manifest,
    ) -> Result<Vec<(String, Id<kind::Source>)>, Failure> {
        let mut websites = Vec::new();
        for address in addresses {
            let key =
                if self.crawl { format!("{address} with links") } else { address.to_string() };
            let known = manifest.websites.get(&key).and_then(|id| id.parse().ok());
            let refreshed = match known {
                Some(source) => self.refresh(source).await?,
                None => None,
            };
            let source = match refreshed {
                Some(source) => source,
                None => {
                    let content =
                        SourceContent::Website { url: address.clone(), crawl_subpages: self.crawl };
                    let new = NewSource {
                        agent_id: self.agent,
                        content,
                        guarded: false,
                        managed: None,
                        request_id: None,
                    };
                    self.parts.sources.create(self.scope, new, None).await?.id
                }
            };
            manifest.websites.insert(key, source.to_string());
            websites.push((address.to_string(), source));
        }
        Ok(websites)
    }

    /// Starts a refresh; `None` if the source no longer exists.
    async fn refresh(&self, source: Id<kind::Source>) -> Result<Option<Id<kind::Source>>, Failure> {
        match self.parts.sources.refresh(self.scope, source, None, None).await {
            // A source that is still being processed from an earlier call is waited for like a new
            // one.
            Ok(_) | Err(Error::Conflict(_)) => Ok(Some(source)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn add(&self, file: FoundFile) -> Result<Id<kind::Source>, Failure> {
        let name = Filename::clean_path(&file.name);
        let upload = NewUpload::parse(name, file.bytes, Some(file.content_type))?;
        let upload = self.parts.uploads.create(self.scope, upload, None).await?;
        let new = NewSource {
            agent_id: self.agent,
            content: SourceContent::File(upload.id),
            guarded: false,
            managed: None,
            request_id: None,
        };
        Ok(self.parts.sources.create(self.scope, new, None).await?.id)
    }

    async fn is_trained(&self, source: Option<Id<kind::Source>>) -> Result<bool, Failure> {
        let Some(source) = source else { return Ok(false) };
        match self.parts.sources.find(self.scope, source).await {
            Ok(source) => Ok(matches!(source.state, SourceState::Trained(_))),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the source of a file.
    async fn forget(&self, manifest: &mut Manifest, path: &PathBuf) -> Result<(), Failure> {
        let Some(entry) = manifest.files.remove(path) else { return Ok(()) };
        let Some(source) = entry.source() else { return Ok(()) };
        match self.parts.sources.delete(self.scope, source, None).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until a source is trained. Returns the reason if it fails.
    async fn wait(&self, source: Id<kind::Source>) -> Result<Result<(), String>, Failure> {
        loop {
            match self.parts.sources.find(self.scope, source).await?.state {
                SourceState::Trained(_) => return Ok(Ok(())),
                SourceState::Failed { message, .. } => return Ok(Err(message)),
                SourceState::Pending | SourceState::Processing { .. } => {
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }
}

/// A bar on standard error, shown on a terminal only.
fn progress(files: usize) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(files).unwrap_or(u64::MAX));
    let template = "{spinner} reading {pos}/{len} {wide_msg}";
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
