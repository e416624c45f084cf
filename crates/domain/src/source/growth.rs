//! Adding pairs to a source.

use super::{PairsText, QaPair, Source, SourceContent, SourceState, SourceType};
use crate::error::Error;

impl Source {
    /// Adds pairs. Until they are processed, questions are answered from the previous content.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] if the source does not contain pairs; [`Error::Validation`] if it would contain too
    /// many; [`Error::Busy`] while it is being processed.
    pub fn add_pairs(self, pairs: &[QaPair]) -> Result<Self, Error> {
        let content = match &self.content {
            SourceContent::Qa(before) => before.with(pairs)?,
            other => return Err(no_pairs(other.source_type())),
        };
        self.grow(content)
    }

    /// Sets `content`, which is the previous pairs and further ones. The previous pairs need not be loaded.
    ///
    /// # Errors
    ///
    /// As [`Self::add_pairs`], except for the number of pairs.
    pub fn grow(self, content: PairsText) -> Result<Self, Error> {
        if self.content.source_type() != SourceType::Qa {
            return Err(no_pairs(self.content.source_type()));
        }
        let content = SourceContent::Qa(content);
        let state = match self.state {
            SourceState::Trained(trained) => SourceState::Processing { last: Some(trained) },
            SourceState::Failed { last, .. } => SourceState::Processing { last },
            SourceState::Pending | SourceState::Processing { .. } => {
                let message = "the source is being processed; try again when it is done";
                return Err(Error::Busy(message.to_owned()));
            }
        };
        Ok(Self { content, state, progress: None, ..self })
    }

    /// Whether the source holds pairs, and these fit in.
    ///
    /// # Errors
    ///
    /// As [`PairsText::has_room_for`].
    pub fn has_room_for(&self, pairs: &[QaPair]) -> Result<bool, Error> {
        let SourceContent::Qa(before) = &self.content else { return Ok(false) };
        before.has_room_for(pairs)
    }
}

fn no_pairs(source_type: SourceType) -> Error {
    let name = source_type.name();
    Error::InvalidOperation(format!(
        "pairs can be added only to a source of the type qa; this one has the type {name}"
    ))
}
