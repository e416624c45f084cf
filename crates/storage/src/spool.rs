//! Incoming files, and answers that wait for their clients: nameless files in a folder.

use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::Error;
use cicerone_domain::ports::{PutAside, Spool, SpooledFile};
use memmap2::MmapMut;
use tokio::runtime::Handle;

/// The bytes that are collected in memory before they are written; a smaller file never reaches the
/// disk.
const GATHERED_BYTES: usize = 64 * 1_024;

/// A folder for files without a name. Their names are removed as soon as they are open, so that the
/// system frees them with their last handle, even after a crash.
#[derive(Debug, Clone)]
pub struct SpoolFolder {
    folder: Arc<Path>,
    runtime: Handle,
}

impl SpoolFolder {
    /// Files in `folder`, which must exist. They are written on the blocking threads of the tokio
    /// runtime in which this is called.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().into(), runtime: Handle::current() }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let outcome = self.runtime.spawn_blocking(work).await.map_err(Error::internal)?;
        outcome.map_err(Error::unavailable)
    }
}

#[async_trait]
impl Spool for SpoolFolder {
    fn file(&self) -> Box<dyn SpooledFile> {
        Box::new(Spooled { spool: self.clone(), gathered: Vec::new(), file: None, length: 0 })
    }

    async fn put_aside(&self, bytes: Bytes) -> Result<Box<dyn PutAside>, Error> {
        let folder = Arc::clone(&self.folder);
        let work = move || {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(&bytes)?;
            file.rewind()?;
            Ok(file)
        };
        let file = self.blocking(work).await?;
        Ok(Box::new(Aside { spool: self.clone(), file: Some(file) }))
    }
}

struct Aside {
    spool: SpoolFolder,
    /// `None` after a failure.
    file: Option<File>,
}

#[async_trait]
impl PutAside for Aside {
    async fn next(&mut self, most: usize) -> Result<Bytes, Error> {
        let lost = || Error::internal("nothing is read after a failure");
        let mut file = self.file.take().ok_or_else(lost)?;
        let read = move || {
            let mut piece = Vec::with_capacity(most);
            let limit = u64::try_from(most).unwrap_or(u64::MAX);
            Read::take(&mut file, limit).read_to_end(&mut piece)?;
            Ok((Bytes::from(piece), file))
        };
        let (piece, file) = self.spool.blocking(read).await?;
        self.file = Some(file);
        Ok(piece)
    }
}

struct Spooled {
    spool: SpoolFolder,
    gathered: Vec<u8>,
    /// `None` until something is written, and after a failure.
    file: Option<File>,
    /// Bytes in the file.
    length: usize,
}

impl Spooled {
    /// Writes the collected bytes, and returns the file.
    async fn write(&mut self) -> Result<File, Error> {
        let (gathered, file) = (std::mem::take(&mut self.gathered), self.file.take());
        let folder = Arc::clone(&self.spool.folder);
        self.length += gathered.len();
        let work = move || {
            let mut file = file.map_or_else(|| tempfile::tempfile_in(folder), Ok)?;
            file.write_all(&gathered)?;
            Ok(file)
        };
        self.spool.blocking(work).await
    }
}

#[async_trait]
impl SpooledFile for Spooled {
    async fn append(&mut self, piece: Bytes) -> Result<(), Error> {
        self.gathered.extend_from_slice(&piece);
        if self.gathered.len() >= GATHERED_BYTES {
            self.file = Some(self.write().await?);
        }
        Ok(())
    }

    async fn into_bytes(mut self: Box<Self>) -> Result<Bytes, Error> {
        if self.file.is_none() {
            return Ok(Bytes::from(self.gathered));
        }
        let mut file = self.write().await?;
        let length = self.length;
        let read = move || {
            // A separate mapping, which returns to the system immediately: an allocator from which every thread
            // requests megabytes keeps them for every thread.
            let mut bytes = MmapMut::map_anon(length)?;
            file.rewind()?;
            file.read_exact(&mut bytes)?;
            Ok(Bytes::from_owner(bytes))
        };
        self.spool.blocking(read).await
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use cicerone_domain::ports::Spool as _;

    use super::{GATHERED_BYTES, SpoolFolder};

    #[tokio::test]
    async fn what_is_written_in_pieces_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFolder::new(folder.path());
        for pieces in
            [vec![], vec![5], vec![GATHERED_BYTES], vec![GATHERED_BYTES - 1, 2, 70_000, 3]]
        {
            let (mut file, mut expected) = (spool.file(), Vec::new());
            for (mark, length) in (b'a'..).zip(pieces) {
                let piece = vec![mark; length];
                expected.extend_from_slice(&piece);
                file.append(Bytes::from(piece)).await.unwrap();
            }
            assert!(file.into_bytes().await.unwrap() == expected, "{} bytes", expected.len());
        }
    }

    #[tokio::test]
    async fn a_file_has_no_name_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpoolFolder::new(folder.path()).file();
        file.append(Bytes::from(vec![b'x'; 10 * GATHERED_BYTES])).await.unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_is_put_aside_comes_back_in_pieces_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFolder::new(folder.path());
        let bytes = Bytes::from((0..20_001_u32).map(|n| n as u8).collect::<Vec<_>>());
        let mut aside = spool.put_aside(bytes.clone()).await.unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut read = Vec::new();
        loop {
            let piece = aside.next(8_000).await.unwrap();
            assert!(piece.len() <= 8_000);
            if piece.is_empty() {
                break;
            }
            read.extend_from_slice(&piece);
        }
        assert!(read == bytes);
        assert!(aside.next(1).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_to_is_a_fault_of_storage() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpoolFolder::new(folder.path().join("gone")).file();
        let error = file.append(Bytes::from(vec![b'x'; GATHERED_BYTES])).await.unwrap_err();
        assert!(matches!(error, cicerone_domain::Error::Unavailable(_)), "{error:?}");
    }
}
