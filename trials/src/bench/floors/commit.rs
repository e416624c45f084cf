//! Commits of a question and an answer by SQLite alone, as durable as the server's: those that are asked for during a
//! commit are in the next one together.

use std::path::Path;
use std::sync::mpsc;

use anyhow::Context as _;
use diesel::connection::SimpleConnection as _;
use diesel::{
    Connection as _, ExpressionMethods as _, QueryResult, RunQueryDsl as _, SqliteConnection,
};
use tokio::sync::oneshot;

diesel::table! {
    messages (id) {
        id -> BigInt,
        turn -> BigInt,
        text -> Text,
    }
}

/// Turns in one commit at most.
const BATCH: usize = 256;

/// A turn that waits to be stored.
struct Turn {
    question: String,
    reply: String,
    stored: oneshot::Sender<Result<i64, String>>,
}

/// The thread that stores turns. It ends with this value.
pub(super) struct Writer(mpsc::Sender<Turn>);

impl Writer {
    /// Makes the database.
    pub(super) fn open(file: &Path) -> anyhow::Result<Self> {
        let name = file.to_str().context("a path that is not text")?;
        let mut connection = SqliteConnection::establish(name).context("opening a database")?;
        connection
            .batch_execute(
                "PRAGMA journal_mode = WAL;
                 PRAGMA synchronous = FULL;
                 PRAGMA wal_autocheckpoint = 16000;
                 CREATE TABLE messages (
                     id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, text TEXT NOT NULL
                 ) STRICT;",
            )
            .context("making a table")?;
        let (sender, turns) = mpsc::channel();
        std::thread::spawn(move || store(&mut connection, &turns));
        Ok(Self(sender))
    }

    /// Stores a turn, and returns its number when the disk has it.
    pub(super) async fn commit(&self, question: String, reply: String) -> anyhow::Result<i64> {
        let (stored, outcome) = oneshot::channel();
        let sent = self.0.send(Turn { question, reply, stored });
        sent.ok().context("the writer has ended")?;
        outcome.await.context("the writer has ended")?.map_err(anyhow::Error::msg)
    }
}

/// Stores turns until there is nobody left who could send one.
fn store(connection: &mut SqliteConnection, turns: &mpsc::Receiver<Turn>) {
    let mut last = 0;
    while let Ok(first) = turns.recv() {
        let mut batch = vec![first];
        batch.extend(turns.try_iter().take(BATCH - 1));
        let before = last;
        let outcome = connection.immediate_transaction(|connection| {
            for turn in &batch {
                last += 1;
                insert(connection, last, &turn.question)?;
                insert(connection, last, &turn.reply)?;
            }
            QueryResult::Ok(())
        });
        for (turn, number) in batch.into_iter().zip(before + 1..) {
            let outcome = outcome.as_ref().map(|()| number).map_err(ToString::to_string);
            // Whoever asked may have stopped waiting at the end of a measurement.
            let _ = turn.stored.send(outcome);
        }
    }
}

fn insert(connection: &mut SqliteConnection, turn: i64, text: &str) -> QueryResult<usize> {
    let values = (messages::turn.eq(turn), messages::text.eq(text));
    diesel::insert_into(messages::table).values(values).execute(connection)
}
