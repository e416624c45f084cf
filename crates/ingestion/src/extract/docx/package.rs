//! The ZIP archive of a DOCX, read with limits.

use std::collections::HashMap;
#[cfg(feature = "office")]
use std::io::{BufRead, BufReader};
use std::io::{Cursor, Read as _};

use encoding_rs::Encoding;
use zip::ZipArchive;
use zip::result::ZipError;

use super::element::Element;
use crate::extract::Unreadable;

/// The largest part, decompressed.
const PART_BYTES: u64 = 32 * 1024 * 1024;
/// The maximum total size of all parts that are read, decompressed.
const TOTAL_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum total declared size of all parts of an archive.
#[cfg(feature = "office")]
const DECLARED_BYTES: u64 = 256 * 1024 * 1024;
/// Parts below this size may have any compression ratio.
const RATIO_FREE_BYTES: u64 = 4 * 1024 * 1024;
/// The maximum compression ratio of a part: real ones stay below 100, bombs reach 1,000.
const RATIO: u64 = 400;
/// How an OLE compound file begins: an old `.doc`, or a DOCX with a password.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// The stream of an OLE file that holds an encrypted DOCX, as UTF-16 ([MS-OFFCRYPTO] 1.3.2).
const ENCRYPTED: &str = "EncryptedPackage";

/// An open archive.
pub(in crate::extract) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// The place of each part; part names do not distinguish case (ECMA-376, part 2, 6.2.2.3).
    names: HashMap<String, usize>,
    /// How many bytes may still be inflated.
    left: u64,
}

/// A relationship of a part.
#[derive(Debug)]
pub(in crate::extract) struct Relationship {
    /// What refers to it.
    pub(in crate::extract) id: String,
    /// The last word of its type, which the strict and the transitional form share.
    pub(in crate::extract) kind: String,
    /// The name of the part.
    pub(in crate::extract) target: String,
}

impl<'a> Package<'a> {
    pub(in crate::extract) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        if bytes.starts_with(OLE) {
            return Err(ole(bytes));
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        let mut names = HashMap::new();
        for (name, index) in archive.file_names().zip(0..) {
            // No part refers to a name that cannot be decoded.
            if let Ok(name) = name {
                names.entry(canonical(&name)).or_insert(index);
            }
        }
        Ok(Self { archive, names, left: TOTAL_BYTES })
    }

    /// The name of the main part, by the relationship that declares it.
    pub(in crate::extract) fn main_part(&mut self) -> Result<String, Unreadable> {
        let declared =
            self.relationships("")?.into_iter().find(|link| link.kind == "officeDocument");
        Ok(declared.map_or_else(|| "word/document.xml".to_owned(), |link| link.target))
    }

    /// The title in the document's properties.
    pub(in crate::extract) fn title(&mut self) -> Result<Option<String>, Unreadable> {
        let links = self.relationships("")?;
        let Some(link) = links.into_iter().find(|link| link.kind == "core-properties") else {
            return Ok(None);
        };
        let Some(part) = self.part(&link.target)? else { return Ok(None) };
        let tree = Element::parse(&part)?;
        let title = tree.elements().next().and_then(|root| root.child("title"));
        Ok(title.map(|title| title.text().collect()))
    }

    /// The references of a part within the package; the package itself has no name.
    pub(in crate::extract) fn relationships(
        &mut self,
        part: &str,
    ) -> Result<Vec<Relationship>, Unreadable> {
        self.references(part, false)
    }

    /// The addresses outside the package that a part refers to.
    pub(in crate::extract) fn addresses(
        &mut self,
        part: &str,
    ) -> Result<Vec<Relationship>, Unreadable> {
        self.references(part, true)
    }

    fn references(&mut self, part: &str, outside: bool) -> Result<Vec<Relationship>, Unreadable> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let Some(text) = self.part(&format!("{folder}/_rels/{file}.rels"))? else {
            return Ok(Vec::new());
        };
        let tree = Element::parse(&text)?;
        let links = tree.elements().flat_map(Element::elements);
        let is_outside =
            |link: &&Element<'_>| link.attribute("TargetMode").as_deref() == Some("External");
        Ok(links
            .filter(|link| is_outside(link) == outside)
            .filter_map(|link| {
                let kind = link.attribute("Type")?.rsplit('/').next()?.to_owned();
                let id = link.attribute("Id").unwrap_or_default().into_owned();
                let target = link.attribute("Target")?;
                let target = if outside { target.into_owned() } else { resolve(folder, &target) };
                Some(Relationship { id, kind, target })
            })
            .collect())
    }

    /// Checks the declared sizes of all parts of the archive, for readers that bypass this module: neither the sizes
    /// nor the compression ratios may exceed the limits.
    #[cfg(feature = "office")]
    pub(in crate::extract) fn check(&mut self) -> Result<(), Unreadable> {
        let mut total = 0_u64;
        for index in 0..self.archive.len() {
            let part = self.archive.by_index_raw(index).map_err(|error| damaged(&error))?;
            let (declared, compressed) = (part.size(), part.compressed_size());
            total = total.saturating_add(declared);
            let is_bomb = declared > RATIO_FREE_BYTES && declared / compressed.max(1) > RATIO;
            if is_bomb || total > DECLARED_BYTES {
                return Err(too_large());
            }
        }
        Ok(())
    }

    /// The bytes of a part, as a stream. `None` if there is no such part.
    #[cfg(feature = "office")]
    pub(in crate::extract) fn stream(
        &mut self,
        name: &str,
    ) -> Result<Option<impl BufRead + '_>, Unreadable> {
        let Some(index) = self.names.get(&canonical(name)) else { return Ok(None) };
        let part = self.archive.by_index(*index).map_err(|error| damaged(&error))?;
        Ok(Some(BufReader::new(part.take(DECLARED_BYTES))))
    }

    /// The text of a part. `None` if there is no such part.
    ///
    /// The declared size is not trusted: bytes are counted while inflating, and a part with a different size is
    /// refused.
    pub(in crate::extract) fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let Some(index) = self.names.get(&canonical(name)) else { return Ok(None) };
        let part = self.archive.by_index(*index).map_err(|error| damaged(&error))?;
        let (declared, compressed) = (part.size(), part.compressed_size());
        let limit = PART_BYTES.min(self.left);
        if declared > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let read = part.take(declared + 1).read_to_end(&mut bytes);
        read.map_err(|error| Unreadable::new(format!("the file is damaged: {error}")))?;
        let length = bytes.len() as u64;
        if length != declared {
            return Err(Unreadable::new(format!(
                "the file declares a wrong size for its part `{name}`"
            )));
        }
        if length > RATIO_FREE_BYTES && length / compressed.max(1) > RATIO {
            return Err(too_large());
        }
        self.left -= length;
        Ok(Some(decoded(&bytes)))
    }
}

/// The package contains no document.
pub(in crate::extract) fn no_document() -> Unreadable {
    Unreadable::new("the file holds no Word document")
}

/// The XML's text: by its byte order mark, else UTF-16 if its first `<` has two bytes, else by its declaration, else
/// UTF-8.
fn decoded(bytes: &[u8]) -> String {
    let encoding = match bytes {
        [b'<', 0, ..] => encoding_rs::UTF_16LE,
        [0, b'<', ..] => encoding_rs::UTF_16BE,
        _ => declared_encoding(bytes).unwrap_or(encoding_rs::UTF_8),
    };
    encoding.decode(bytes).0.into_owned()
}

fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned();
    let declaration = start.strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|char| matches!(char, '"' | '\''))?;
    Encoding::for_label(value.split(quote).nth(1)?.as_bytes())
}

/// A reference resolved against the folder of its part.
fn resolve(folder: &str, target: &str) -> String {
    let mut path: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').collect(),
    };
    for step in target.split('/') {
        match step {
            ".." => drop(path.pop()),
            "." | "" => {}
            step => path.push(step),
        }
    }
    path.join("/")
}

fn canonical(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_lowercase()
}

/// Whether a file is a password-protected document.
pub(in crate::extract) fn is_protected(bytes: &[u8]) -> bool {
    let name: Vec<u8> = ENCRYPTED.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.starts_with(OLE) && bytes.windows(name.len()).any(|window| window == name)
}

fn ole(bytes: &[u8]) -> Unreadable {
    Unreadable::new(match is_protected(bytes) {
        true => PROTECTED,
        false => "the file is in the format of Word before 2007; save it as DOCX and upload that",
    })
}

const PROTECTED: &str = "the document is protected by a password; remove it and upload again";

fn too_large() -> Unreadable {
    Unreadable::new(
        "the document expands to far more data than is allowed; split it and upload its parts",
    )
}

fn damaged(error: &ZipError) -> Unreadable {
    Unreadable::new(match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => PROTECTED.to_owned(),
        error => format!("the file is damaged: {error}"),
    })
}
