//! The content of a declared source: its origin and its hash.

use std::path::{Path, PathBuf};

use cicerone_domain::limits;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::manifest::{Pair, Pairs, PairsFrom, SourceEntry, TextFrom};
use crate::api_client::hex;
use crate::failure::Failure;

/// The largest file of a text, in bytes: its longest text in characters of four bytes.
const TEXT_BYTES: u64 = 4 * limits::TEXT_SOURCE_CHARS as u64;
/// The largest file of pairs, in bytes.
const PAIRS_BYTES: u64 = 8 * 1_024 * 1_024;

/// The content of a source, which is read from its file when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Website { url: String, crawl_subpages: bool },
    Text(String),
    TextFile(PathBuf),
    Upload { path: PathBuf, filename: String },
    Pairs(Pairs),
    PairsFile(PathBuf),
}

/// The content as it is sent.
pub(super) enum Loaded {
    /// The fields of a source.
    Fields(Value),
    /// A file to upload.
    File { filename: String, bytes: Vec<u8> },
}

impl Content {
    /// The content of an entry. Paths are relative to `folder`.
    pub(super) fn of(entry: SourceEntry, folder: &Path) -> Result<Self, String> {
        let SourceEntry { website, crawl_subpages, guarded, upload, filename, text, qa } = entry;
        let given =
            [website.is_some(), upload.is_some(), text.is_some(), qa.is_some()].map(usize::from);
        if given.iter().sum::<usize>() != 1 {
            return Err("must have exactly one of `website`, `upload`, `text` and `qa`".to_owned());
        }
        if crawl_subpages.is_some() && website.is_none() {
            return Err("`crawl_subpages` belongs to `website`".to_owned());
        }
        if guarded.is_some() && website.is_none() {
            return Err("`guarded` belongs to `website`".to_owned());
        }
        if filename.is_some() && upload.is_none() {
            return Err("`filename` belongs to `upload`".to_owned());
        }
        if let Some(url) = website {
            return Ok(Self::Website { url, crawl_subpages: crawl_subpages.unwrap_or_default() });
        }
        if let Some(path) = upload {
            let path = folder.join(path);
            let own = path.file_name().map(|name| name.to_string_lossy().into_owned());
            return Ok(Self::Upload { filename: filename.or(own).unwrap_or_default(), path });
        }
        Ok(match (text, qa) {
            (Some(TextFrom::Inline(text)), _) => Self::Text(text),
            (Some(TextFrom::File(path)), _) => Self::TextFile(folder.join(path)),
            (None, Some(PairsFrom::Inline(pairs))) => Self::Pairs(pairs),
            (None, Some(PairsFrom::File(path))) => Self::PairsFile(folder.join(path)),
            (None, None) => return Err("has no content".to_owned()),
        })
    }

    /// Reads the content.
    pub(super) fn load(&self) -> Result<Loaded, Failure> {
        let fields = |kind: &str, content: String| {
            Loaded::Fields(json!({ "type": kind, "content": content }))
        };
        Ok(match self {
            Self::Website { url, crawl_subpages } => {
                let mut website = json!({ "type": "website", "content": url });
                if *crawl_subpages && let Some(website) = website.as_object_mut() {
                    website.insert("crawl_subpages".to_owned(), Value::Bool(true));
                }
                Loaded::Fields(website)
            }
            Self::Text(text) => fields("text", text.clone()),
            Self::TextFile(path) => fields("text", text_file(path)?),
            Self::Upload { path, filename } => {
                let bytes = bounded(path, limits::FILE_BYTES as u64)?;
                Loaded::File { filename: filename.clone(), bytes }
            }
            Self::Pairs(pairs) => fields("qa", pairs_content(pairs)),
            Self::PairsFile(path) => fields("qa", pairs_content(&pairs_file(path)?)),
        })
    }
}

impl Loaded {
    /// SHA-256 of the content.
    pub(super) fn hash(&self) -> String {
        match self {
            Self::Fields(fields) => hash_of(&[b"fields", fields.to_string().as_bytes()]),
            Self::File { filename, bytes } => hash_of(&[b"file", filename.as_bytes(), bytes]),
        }
    }
}

/// SHA-256 of some parts, each with its length.
pub(super) fn hash_of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Pairs as the content of a source.
pub(super) fn pairs_content(pairs: &[Pair]) -> String {
    let pairs = pairs
        .iter()
        .map(|Pair { question, answer }| json!({ "question": question, "answer": answer }));
    Value::Array(pairs.collect()).to_string()
}

pub(super) fn text_file(path: &Path) -> Result<String, Failure> {
    String::from_utf8(bounded(path, TEXT_BYTES)?)
        .map_err(|_| Failure::new(format!("`{}` is not UTF-8", path.display())))
}

/// The pairs of a CSV or JSON file.
fn pairs_file(path: &Path) -> Result<Pairs, Failure> {
    let bytes = bounded(path, PAIRS_BYTES)?;
    let shown = path.display();
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("`{shown}`: {error}"));
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_slice(&bytes).map_err(|error| failed(&error)),
        Some("csv") => {
            let mut reader = csv::Reader::from_reader(bytes.as_slice());
            let pairs: Result<Pairs, csv::Error> = reader.deserialize().collect();
            pairs.map_err(|error| failed(&error))
        }
        _ => Err(failed(&"the name of a file of pairs must end with .csv or .json")),
    }
}

/// The bytes of a file, if there are at most `most`.
pub(super) fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let failed = |error| Failure::because(&format!("cannot read `{shown}`"), &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(Failure::new(format!("`{shown}` is not a file")));
    }
    if metadata.len() > most {
        return Err(Failure::new(format!("`{shown}` is larger than {most} bytes")));
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Content, hash_of};
    use crate::commands::declared::manifest::SourceEntry;

    fn content(yaml: &str) -> Result<Content, String> {
        let entry: SourceEntry = serde_saphyr::from_str(yaml).unwrap();
        Content::of(entry, Path::new("/folder"))
    }

    #[test]
    fn an_entry_has_one_content() {
        assert!(content("{text: a}").is_ok() && content("{website: 'https://a'}").is_ok());
        for yaml in [
            "{}",
            "{text: a, qa: []}",
            "{text: a, crawl_subpages: true}",
            "{text: a, guarded: true}",
            "{text: a, filename: b}",
        ] {
            assert!(content(yaml).is_err(), "{yaml}");
        }
    }

    #[test]
    fn different_contents_have_different_hashes() {
        let hash = |yaml: &str| content(yaml).unwrap().load().unwrap().hash();
        let all = [
            "{text: a}",
            "{text: b}",
            "{website: a}",
            "{website: a, crawl_subpages: true}",
            "{qa: [{question: a, answer: b}]}",
        ];
        let hashes: std::collections::BTreeSet<String> = all.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(hash("{website: a, crawl_subpages: false}"), hash("{website: a}"));
        assert_eq!(hash("{website: a, guarded: true}"), hash("{website: a}"), "a setting");
        assert_ne!(hash_of(&[b"ab", b"c"]), hash_of(&[b"a", b"bc"]));
    }
}
