//! Text files.

use super::{Reading, Unreadable, decode};

/// Reads a text file: its text as it is.
///
/// This is done in the process itself: it takes time and memory by the length of the file alone, in
/// code without recursion or unsafe parts of our own.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    decode(bytes).map(Reading::plain)
}
