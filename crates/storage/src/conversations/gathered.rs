//! Turns that are stored together on PostgreSQL: turns of one account wait for each other at the rows that count its
//! usage.

use std::sync::Arc;

use cicerone_domain::conversation::Turn;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use super::turn::{self, Rows, Stored};
use crate::connection::AnyConnection;
use crate::db::{Gather, Gathered};
use crate::error::TransactionError;
use crate::storage::Storage;
use crate::usage::Counted;

/// The turns that wait, by account.
pub(crate) type GatheredTurns = Gathered<Id<kind::Account>, Turn>;

impl Gather for Turn {
    type Stored = Stored;

    fn bytes(&self) -> usize {
        self.question.content.len() + self.reply.content.len()
    }

    fn store(&self, c: &mut AnyConnection) -> Result<Stored, TransactionError> {
        turn::append(c, self)
    }

    fn store_all(
        c: &mut AnyConnection,
        all: &[Self],
    ) -> Result<Vec<Result<Stored, Error>>, TransactionError> {
        turn::append_all(c, all)
    }
}

impl Storage {
    /// Stores a turn.
    pub(super) async fn append(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        let account = turn.conversation.account_id;
        if completion.is_none() && self.db.commits_apart() && turn::can_be_gathered(&turn) {
            let stored = self.gathered.store(self.db.of(account), account, turn).await;
            return stored.map(|(turn, stored)| stored.of(turn));
        }
        let counted = Counted::of(&turn);
        let rows = if self.db.commits_apart() { None } else { Some(Rows::of(&turn)?) };
        let turn = Arc::new(turn);
        let whole = Arc::clone(&turn);
        let completion = completion.map(|completion| {
            completion.over(move |stored: &Stored| stored.of(Turn::clone(&whole)))
        });
        let to_store = Arc::clone(&turn);
        let append = move |c: &mut AnyConnection| match &rows {
            Some(rows) => turn::append_rows(c, &to_store, rows),
            None => turn::append(c, &to_store),
        };
        let stored = self.db.of(account).write_turn(counted, completion, append).await?;
        // The work is done, and has been dropped.
        Ok(stored.of(Arc::unwrap_or_clone(turn)))
    }
}
