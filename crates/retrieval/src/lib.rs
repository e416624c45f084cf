//! One small full-text index for each agent, kept up to date with the database by number.
//!
//! The database is authoritative, and an index is a projection of it. A commit of the index contains the generation of
//! the agent's content. A search first applies missing changes, and an index that is missing, damaged or of another
//! version is rebuilt. So an answer is never based on content older than the agent's row that was read for it, and
//! deleted text is absent from the next answer and from the disk.
//!
//! Invariant: this crate parses no query language; a question is always a set of words.

mod index;
mod likeness;
mod meaning;
mod search;
mod store;

pub use index::{Behind, Index, IndexConfig};
pub use likeness::WordLikeness;
pub use meaning::{MeaningConfig, MeaningPorts};
