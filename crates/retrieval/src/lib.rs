//! One small full-text index for each agent, kept up to date with the rows by number.
//!
//! The rows are the truth and an index is a projection of them. A commit of the index names the
//! generation of the agent's content, a search first applies what is missing, and an index that is
//! missing, damaged or of another version is rebuilt. So an answer never rests on content older than the
//! agent's row that was read for it, and deleted text is gone from the next answer and from the disk.
//!
//! Invariant: nothing here parses a query language; a question is only ever a set of words.

mod index;
mod meaning;
mod search;
mod store;

pub use index::{Index, IndexConfig};
pub use meaning::{MeaningConfig, MeaningPorts};
