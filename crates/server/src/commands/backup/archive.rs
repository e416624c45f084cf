//! The file of a backup: a compressed tar archive of the database and the uploads.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use cicerone_domain::upload::ObjectKey;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::cannot_write;
use crate::failure::Failure;

/// The name of the first entry, which identifies the archive.
const MARK: &str = "cicerone-backup";
/// The content of the first entry: the version of the format.
const VERSION: &str = "1\n";
/// The entry of the database.
const DATABASE: &str = "cicerone.db";
/// The last entry, which shows that the archive is complete.
const END: &str = "end";

/// Writes a backup.
pub(super) struct Writer {
    path: PathBuf,
    archive: tar::Builder<GzEncoder<BufWriter<File>>>,
}

impl Writer {
    /// Begins an archive in `file`, which will be at `path`.
    pub(super) fn begin(file: File, path: &Path) -> Result<Self, Failure> {
        let archive = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::fast()));
        let mut writer = Self { path: path.to_owned(), archive };
        writer.entry(MARK, VERSION.as_bytes())?;
        Ok(writer)
    }

    /// Adds the database.
    pub(super) fn database(&mut self, mut file: File) -> Result<(), Failure> {
        let appended = self.archive.append_file(DATABASE, &mut file);
        appended.map_err(|error| cannot_write(&self.path, &error))
    }

    /// Adds an upload.
    pub(super) fn upload(&mut self, key: &ObjectKey, bytes: &[u8]) -> Result<(), Failure> {
        self.entry(key.as_str(), bytes)
    }

    /// Completes the file and syncs it to the disk.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.entry(END, b"")?;
        let written = self.archive.into_inner().and_then(GzEncoder::finish).and_then(|mut file| {
            file.flush()?;
            file.get_ref().sync_all()
        });
        written.map_err(|error| cannot_write(&self.path, &error))
    }

    fn entry(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        let appended = self.archive.append_data(&mut header, name, bytes);
        appended.map_err(|error| cannot_write(&self.path, &error))
    }
}

/// Reads a backup, entry by entry.
pub(crate) struct Reader {
    path: PathBuf,
    archive: tar::Archive<GzDecoder<BufReader<File>>>,
}

pub(crate) enum Entry<'a> {
    Database(&'a mut dyn Read),
    /// The bytes of an upload.
    Upload(ObjectKey, &'a mut dyn Read),
}

impl Reader {
    /// Opens the file.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| {
            Failure::because(&format!("cannot read `{}`", path.display()), &error)
        })?;
        let archive = tar::Archive::new(GzDecoder::new(BufReader::new(file)));
        Ok(Self { path: path.to_owned(), archive })
    }

    /// Passes each entry to `take`. Fails if the file is not a backup, is incomplete, or was
    /// changed. The latter may be noticed only after all entries were passed.
    pub(crate) fn each(
        mut self,
        mut take: impl FnMut(Entry<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = self.path.display().to_string();
        let damaged = |error: &std::io::Error| {
            Failure::because(&format!("`{path}` is not a backup, or is damaged"), error)
        };
        let foreign =
            |what: &str| Failure::new(format!("`{path}` is not a backup of this program: {what}"));
        let (mut is_marked, mut is_whole) = (false, false);
        for entry in self.archive.entries().map_err(|error| damaged(&error))? {
            let mut entry = entry.map_err(|error| damaged(&error))?;
            let name = entry.path().map_err(|error| damaged(&error))?.display().to_string();
            match name.as_str() {
                MARK => {
                    let mut version = String::new();
                    entry.read_to_string(&mut version).map_err(|error| damaged(&error))?;
                    if version != VERSION {
                        let version = version.trim();
                        return Err(foreign(&format!("its format `{version}` is not known")));
                    }
                    is_marked = true;
                }
                _ if !is_marked => return Err(foreign("it does not begin as one")),
                DATABASE => take(Entry::Database(&mut entry))?,
                END => is_whole = true,
                other => {
                    let key = ObjectKey::parse(other)
                        .ok_or_else(|| foreign(&format!("it holds `{other}`")))?;
                    take(Entry::Upload(key, &mut entry))?;
                }
            }
        }
        // The checksum of the whole file is at its end, after the last entry.
        let mut rest = self.archive.into_inner();
        io::copy(&mut rest, &mut io::sink()).map_err(|error| damaged(&error))?;
        if is_whole { Ok(()) } else { Err(foreign("its end is missing")) }
    }
}
