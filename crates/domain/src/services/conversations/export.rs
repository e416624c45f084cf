//! Export of an agent's conversations, piece by piece.

use std::sync::Arc;

use crate::access::Scope;
use crate::conversation::{Batch, ConversationFilter, PlacedMessage, ReadFrom};
use crate::error::Error;
use crate::fairness::{FairPermit, FairPool};
use crate::id::{Id, kind};
use crate::limits;
use crate::ports::ConversationStore;
use crate::services::conversations::Conversations;

/// Places of exports in progress, and as many in reserve for accounts that have fewer than their share.
#[derive(Debug, Clone)]
pub(super) struct Exports(FairPool<Id<kind::Account>>);

impl Default for Exports {
    fn default() -> Self {
        Self(FairPool::new(limits::EXPORTS, limits::EXPORTS))
    }
}

impl Exports {
    /// A place for an export of the account. Fails with [`Error::Overloaded`] beyond its share and beyond
    /// [`ACCOUNT_EXPORTS`](limits::ACCOUNT_EXPORTS).
    fn enter(&self, account: Id<kind::Account>) -> Result<FairPermit<Id<kind::Account>>, Error> {
        let permit = self.0.try_acquire(account, 1).ok_or(Error::Overloaded)?;
        // Counted with the place that was just taken, so that requests at the same time do not all pass.
        if self.0.held_by(account) > limits::ACCOUNT_EXPORTS {
            return Err(Error::Overloaded);
        }
        Ok(permit)
    }
}

/// An export in progress. It holds a place until it is dropped.
pub struct Export {
    store: Arc<dyn ConversationStore>,
    scope: Scope,
    agent: Id<kind::Agent>,
    filter: ConversationFilter,
    /// `None` after the last piece.
    from: Option<ReadFrom>,
    _place: FairPermit<Id<kind::Account>>,
}

impl Conversations {
    /// Starts an export of an agent's conversations that began before this moment.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`] if too many are in progress.
    pub fn export(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
    ) -> Result<Export, Error> {
        let now = self.clock.now();
        let before = filter.created_before.map_or(now, |before| before.min(now));
        Ok(Export {
            store: Arc::clone(&self.store),
            scope: scope.clone(),
            agent,
            filter: ConversationFilter { created_before: Some(before), ..filter },
            from: Some(ReadFrom::default()),
            _place: self.exports.enter(scope.account)?,
        })
    }
}

impl Export {
    /// The next piece, newest conversation first; `None` after the last one. Each is a consistent snapshot. A
    /// conversation that is deleted between two pieces is omitted or cut short.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn next(&mut self) -> Result<Option<Batch<PlacedMessage>>, Error> {
        let Some(from) = self.from.take() else { return Ok(None) };
        let filter = self.filter.clone();
        let batch = self.store.read_messages(&self.scope, self.agent, filter, from).await?;
        self.from.clone_from(&batch.next);
        Ok(Some(batch))
    }
}

#[cfg(test)]
mod tests {
    use super::Exports;
    use crate::{Id, SystemEntropy, limits};

    #[test]
    fn an_account_has_two_exports_at_once_and_all_together_a_bounded_number() {
        let exports = Exports::default();
        let account = Id::random(&SystemEntropy);
        let (one, two) = (exports.enter(account).unwrap(), exports.enter(account).unwrap());
        assert!(exports.enter(account).is_err());
        drop(one);
        let three = exports.enter(account).unwrap();
        drop((two, three));
        let places: Vec<_> =
            (0..100).map_while(|_| exports.enter(Id::random(&SystemEntropy)).ok()).collect();
        let most = usize::try_from(2 * limits::EXPORTS).unwrap();
        assert!(places.len() <= most && places.len() >= most / 2, "{}", places.len());
    }
}
