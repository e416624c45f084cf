//! A file that is being received.

use std::fmt;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::limits;
use crate::ports::SpooledFile;

/// A file that arrives piece by piece: kept outside of memory, counted and hashed on the way.
///
/// If it is dropped, nothing of it is kept.
pub struct IncomingFile {
    spooled: Box<dyn SpooledFile>,
    length: usize,
    hash: Option<Sha256>,
}

impl IncomingFile {
    /// An empty one that is kept in `spooled`.
    pub(super) fn new(spooled: Box<dyn SpooledFile>) -> Self {
        Self { spooled, length: 0, hash: None }
    }

    /// The same, hashed as it arrives. Nothing may have arrived yet.
    #[must_use]
    pub fn hashed(self) -> Self {
        Self { hash: Some(Sha256::new()), ..self }
    }

    /// Adds the next piece.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] as soon as the file is over 10 MiB: the rest is not kept anywhere. [`Error::Unavailable`]
    /// if there is no space.
    pub async fn append(&mut self, piece: Bytes) -> Result<(), Error> {
        self.length = self.length.saturating_add(piece.len());
        if self.length > limits::FILE_BYTES {
            let message = format!("must be at most {} bytes (10 MiB)", limits::FILE_BYTES);
            return Err(Error::validation("file", message));
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&piece);
        }
        self.spooled.append(piece).await
    }

    /// SHA-256 of what has arrived; `None` if it is not [hashed](Self::hashed).
    pub fn digest(&self) -> Option<[u8; 32]> {
        self.hash.clone().map(|hash| hash.finalize().into())
    }

    /// Reads the bytes that have arrived into memory.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn into_bytes(self) -> Result<Bytes, Error> {
        self.spooled.into_bytes().await
    }
}

impl fmt::Debug for IncomingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingFile").field("length", &self.length).finish_non_exhaustive()
    }
}
