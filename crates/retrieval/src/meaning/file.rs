//! The files of an agent's vectors.
//!
//! `vectors` has a row for each passage: its position, a scale, and its numbers with 8 bits each.
//! It ends with a description of the whole file as JSON, the length of the description, and a
//! checksum of everything before. `vectors.exact` has the original numbers, in the same order.
//! Neither file is synced to the disk: if a power failure damaged one, its checksum does not match,
//! and it is made again from the database.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::SourceVectors;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use tantivy::directory::{Directory as _, MmapDirectory, OwnedBytes};

use super::vectors::{Vectors, quantised};

/// The file of rows in 8 bits.
const CODES: &str = "vectors";
/// The file of rows in 32 bits.
const EXACT: &str = "vectors.exact";
/// Bytes of a row before its numbers: position and scale.
pub(super) const ROW_HEAD: usize = 12;
/// Raised whenever the files change.
const VERSION: u32 = 2;
/// Bytes at the end: the length of the description and the checksum.
const TAIL: usize = 8;

/// The description of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    version: u32,
    pub(super) space: i64,
    pub(super) dimension: usize,
    /// The sources in the order of their rows.
    pub(super) sources: Vec<HeldSource>,
    /// The checksum of the exact numbers.
    exact_crc: u32,
}

impl Held {
    /// No sources yet.
    pub(super) fn none(space: i64, dimension: usize) -> Self {
        Self { version: VERSION, space, dimension, sources: Vec::new(), exact_crc: 0 }
    }

    /// Whether the vectors belong to this space.
    pub(super) fn is_of(&self, space: &Space) -> bool {
        self.space == space.id && self.dimension == space.dimension
    }
}

/// The rows of a source, in order of their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldSource {
    pub(super) of: SourceVectors,
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// Files that are being written. They replace the current ones when they are complete.
pub(super) struct Draft {
    folder: PathBuf,
    codes: Checked,
    exact: Checked,
    held: Held,
    rows: usize,
}

/// A file whose checksum is computed while it is written.
struct Checked {
    file: BufWriter<File>,
    crc: Hasher,
}

impl Checked {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?), crc: Hasher::new() })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.file.write_all(bytes)
    }
}

fn draft_of(name: &str) -> String {
    format!(".{name}.new")
}

impl Draft {
    /// Begins files in `folder`, which is created if it is missing.
    pub(super) fn begin(folder: &Path, space: i64, dimension: usize) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            codes: Checked::create(&folder.join(draft_of(CODES)))?,
            exact: Checked::create(&folder.join(draft_of(EXACT)))?,
            held: Held::none(space, dimension),
            rows: 0,
        })
    }

    /// Begins the rows of a source.
    pub(super) fn source(&mut self, of: SourceVectors) {
        self.held.sources.push(HeldSource { of, first: self.rows, rows: 0 });
    }

    /// Adds a row to the source that was begun last.
    pub(super) fn row(&mut self, position: i64, vector: &Vector) -> io::Result<()> {
        if vector.dimension() != self.held.dimension {
            return Err(io::Error::other("a vector has another dimension than its space"));
        }
        let (codes, scale) = quantised(vector.numbers());
        self.codes.write(&position.to_le_bytes())?;
        self.codes.write(&scale.to_le_bytes())?;
        self.codes.write(bytemuck::cast_slice(&codes))?;
        self.exact.write(&vector.to_bytes())?;
        self.count(1);
        Ok(())
    }

    /// Copies the rows of a source from other files.
    pub(super) fn copy(&mut self, vectors: &Vectors, source: &HeldSource) -> io::Result<()> {
        let (codes, exact) = vectors.rows_of(source).ok_or_else(damaged)?;
        self.codes.write(codes)?;
        self.exact.write(exact)?;
        self.count(source.rows);
        Ok(())
    }

    fn count(&mut self, rows: usize) {
        self.rows += rows;
        if let Some(source) = self.held.sources.last_mut() {
            source.rows += rows;
        }
    }

    /// Replaces the current files, and opens the new ones.
    pub(super) fn finish(mut self, generation: u64) -> io::Result<Vectors> {
        self.held.exact_crc = self.exact.crc.finalize();
        self.exact.file.flush()?;
        let description = serde_json::to_vec(&self.held)?;
        self.codes.write(&description)?;
        let length = u32::try_from(description.len()).map_err(io::Error::other)?;
        self.codes.write(&length.to_le_bytes())?;
        let crc = self.codes.crc.finalize();
        self.codes.file.write_all(&crc.to_le_bytes())?;
        self.codes.file.flush()?;
        drop((self.codes.file, self.exact.file));
        for name in [EXACT, CODES] {
            std::fs::rename(self.folder.join(draft_of(name)), self.folder.join(name))?;
        }
        open(&self.folder, generation)
    }
}

/// The parts of the file of rows in 8 bits.
struct Parts<'a> {
    rows: &'a [u8],
    description: &'a [u8],
    /// Everything that the checksum covers.
    checked: &'a [u8],
    crc: u32,
}

impl<'a> Parts<'a> {
    fn of(file: &'a [u8]) -> io::Result<Self> {
        let end = file.len().checked_sub(TAIL).ok_or_else(damaged)?;
        let (before, tail) = file.split_at_checked(end).ok_or_else(damaged)?;
        let (length, crc) = tail.split_at_checked(4).ok_or_else(damaged)?;
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).map_err(|_| damaged());
        let checked = file.get(..end + length.len()).ok_or_else(damaged)?;
        let crc = number(crc)?;
        let length = usize::try_from(number(length)?).map_err(|_| damaged())?;
        let begin = end.checked_sub(length).ok_or_else(damaged)?;
        let (rows, description) = before.split_at_checked(begin).ok_or_else(damaged)?;
        Ok(Self { rows, description, checked, crc })
    }
}

/// The description of the files of a folder, which are not read otherwise.
pub(super) fn description(folder: &Path) -> io::Result<Held> {
    let codes = map(folder, CODES)?;
    let held: Held = serde_json::from_slice(Parts::of(&codes)?.description)?;
    if held.version == VERSION { Ok(held) } else { Err(damaged()) }
}

/// Opens the files of a folder, after verifying their checksums.
pub(super) fn open(folder: &Path, generation: u64) -> io::Result<Vectors> {
    let (codes, exact) = (map(folder, CODES)?, map(folder, EXACT)?);
    let Parts { rows, description, checked, crc } = Parts::of(&codes)?;
    if crc32fast::hash(checked) != crc {
        return Err(damaged());
    }
    let held: Held = serde_json::from_slice(description).map_err(io::Error::other)?;
    let count = held.sources.last().map_or(0, |last| last.first + last.rows);
    let is_whole = held.version == VERSION
        && rows.len() == count * (ROW_HEAD + held.dimension)
        && exact.len() == count * held.dimension * 4
        && crc32fast::hash(&exact) == held.exact_crc;
    if is_whole { Ok(Vectors::new(generation, held, codes, exact)) } else { Err(damaged()) }
}

fn map(folder: &Path, name: &str) -> io::Result<OwnedBytes> {
    if std::fs::metadata(folder.join(name))?.len() == 0 {
        return Ok(OwnedBytes::empty());
    }
    let directory = MmapDirectory::open(folder).map_err(io::Error::other)?;
    let handle = directory.get_file_handle(Path::new(name)).map_err(io::Error::other)?;
    let length = handle.len();
    handle.read_bytes(0..length)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the files of an agent's vectors are damaged")
}
