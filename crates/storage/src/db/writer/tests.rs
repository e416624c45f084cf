use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::{Error, Id, SystemEntropy};
use diesel::RunQueryDsl as _;
use diesel::connection::SimpleConnection as _;
use diesel::dsl::sql;
use diesel::sql_types::BigInt;
use tokio::sync::oneshot;

use super::super::Party;
use super::super::kept::keeping;
use super::{Delivered, Line, Purpose, Unit, Writer, commit_together, expected_after};
use crate::connection::{Access, AnyConnection, connect};
use crate::error::TransactionError;
use crate::reserve::Reserve;
use crate::url::DatabaseUrl;

const LIMIT: Duration = Duration::from_secs(60);

/// A unit with this work, and the receiver of its outcome.
fn unit(
    work: impl FnMut(&mut AnyConnection) -> Result<(), TransactionError> + Send + 'static,
) -> (Unit, oneshot::Receiver<Delivered>) {
    let (reply, outcome) = oneshot::channel();
    let queued = Instant::now();
    let (deadline, limit, _place, outcome_of) = (None, LIMIT, None, outcome);
    let (party, purpose, reserve, outcome) = (None, Purpose::Change, None, None);
    let work = Box::new(work);
    let unit =
        Unit { party, queued, deadline, limit, purpose, reserve, work, outcome, _place, reply };
    (unit, outcome_of)
}

/// The value of `work` after the writer has committed it.
async fn run<T: Send + 'static>(
    writer: &Writer,
    party: Party,
    purpose: Purpose,
    work: impl FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
) -> Result<T, Error> {
    let (work, value) = keeping(work);
    value.after(writer.run(party, purpose, work).await)
}

#[test]
fn a_refusal_beside_changes_that_were_rolled_back_is_not_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("refusal.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").unwrap();
    let mut runs = 0;
    let (one, of_one) = unit(move |c| {
        runs += 1;
        // The second run ends the transaction, as SQLite does on a full disk.
        let sql = if runs == 1 { "INSERT INTO t VALUES (1)" } else { "ROLLBACK" };
        Ok(c.batch_execute(sql)?)
    });
    let (other, of_other) = unit(|c| {
        let found: i64 = diesel::select(sql::<BigInt>("(SELECT count(*) FROM t)")).get_result(c)?;
        if found > 0 { Err(Error::Conflict("taken".to_owned()).into()) } else { Ok(()) }
    });
    let (mut line, mut batch) = (Line::default(), Vec::new());
    line.push(one);
    line.push(other);
    let committed = commit_together(&mut connection, &mut line, &mut batch);
    assert!(committed.is_err() && line.is_empty(), "{committed:?}");
    for unit in batch {
        unit.deliver(committed.as_ref().copied().map_err(String::as_str));
    }
    for outcome in [of_one, of_other] {
        let outcome = outcome.blocking_recv().unwrap().outcome;
        assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
    }
}

#[test]
fn a_commit_waits_for_as_many_changes_as_recent_ones_had() {
    assert_eq!([expected_after(1, 0), expected_after(1, 1), expected_after(2, 1)], [1, 1, 2]);
    // One of two callers has gone: only one commit waits for it.
    assert_eq!(expected_after(1, 2), 1);
    let mut expected = 64;
    let commits = (0..).take_while(|_| {
        expected = expected_after(4, expected);
        expected > 4
    });
    assert!(commits.count() < 30);
}

#[tokio::test]
async fn a_change_that_takes_too_long_ends_and_the_next_one_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("slow.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (x INTEGER)").unwrap();
    let limit = Duration::from_millis(300);
    let writer = Writer::start(connection, url.clone(), limit, None).unwrap();
    let slow = "INSERT INTO t WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                SELECT x FROM n WHERE x < 0";
    for _ in 0..2 {
        let outcome =
            run(&writer, None, Purpose::Change, move |c| Ok(c.batch_execute(slow)?)).await;
        assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
        run(&writer, None, Purpose::Change, |c| Ok(c.batch_execute("INSERT INTO t VALUES (1)")?))
            .await
            .unwrap();
    }
    writer.close().await;
}

#[tokio::test]
async fn on_a_full_disk_exactly_what_was_acknowledged_is_stored_and_the_writer_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("full.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    let setup = "CREATE TABLE t (x BLOB); PRAGMA max_page_count = 10";
    connection.batch_execute(setup).unwrap();
    let writer = Writer::start(connection, url.clone(), LIMIT, None).unwrap();
    let insert = async |bytes: usize| {
        let sql = format!("INSERT INTO t VALUES (zeroblob({bytes}))");
        run(&writer, None, Purpose::Change, move |c| Ok(c.batch_execute(&sql)?)).await
    };
    let mut acknowledged = 0;
    for _ in 0..3 {
        let (before, large, after) = tokio::join!(insert(10), insert(1_000_000), insert(10));
        assert!(matches!(large, Err(Error::Unavailable(_))), "{large:?}");
        acknowledged += i64::from(before.is_ok()) + i64::from(after.is_ok());
        insert(10).await.unwrap();
        acknowledged += 1;
    }
    writer.close().await;
    assert!(insert(10).await.is_err());

    let mut connection = connect(&url, Access::Read).unwrap();
    let stored: i64 = diesel::select(sql::<BigInt>("(SELECT count(*) FROM t)"))
        .get_result(&mut connection)
        .unwrap();
    assert_eq!(stored, acknowledged);
}

#[tokio::test]
async fn what_fails_leaves_no_trace_in_what_is_committed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("batch.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").unwrap();
    let writer = Writer::start(connection, url.clone(), LIMIT, None).unwrap();
    let insert = async |writer: &Writer, number: usize| {
        let is_refused = number.is_multiple_of(5);
        let sql = format!("INSERT INTO t VALUES ({number})");
        let work = move |c: &mut AnyConnection| {
            c.batch_execute(&sql)?;
            if is_refused { Err(Error::ClaimLost.into()) } else { Ok(number) }
        };
        run(writer, None, Purpose::Change, work).await
    };
    let mut tasks = tokio::task::JoinSet::new();
    let writer = std::sync::Arc::new(writer);
    for number in 1..=200 {
        let writer = std::sync::Arc::clone(&writer);
        tasks.spawn(async move { (number, insert(&writer, number).await) });
    }
    for (number, outcome) in tasks.join_all().await {
        assert_eq!(outcome.is_ok(), !number.is_multiple_of(5), "{number}: {outcome:?}");
    }
    writer.close().await;
    let mut connection = connect(&url, Access::Read).unwrap();
    let stored = diesel::select(sql::<diesel::sql_types::Text>(
        "(SELECT count(*) || ' ' || coalesce(sum(x % 5 = 0), 0) FROM t)",
    ));
    assert_eq!(stored.get_result::<String>(&mut connection).unwrap(), "160 0");
}

#[tokio::test]
async fn a_flood_of_changes_lets_another_party_s_pass() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("flood.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (party TEXT)").unwrap();
    let writer = std::sync::Arc::new(Writer::start(connection, url.clone(), LIMIT, None).unwrap());
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = parking_lot::Mutex::new(wait);
    let insert = |party: Party, name: &'static str| {
        let writer = std::sync::Arc::clone(&writer);
        tokio::spawn(async move {
            let sql = format!("INSERT INTO t VALUES ('{name}')");
            run(&writer, party, Purpose::Change, move |c| Ok(c.batch_execute(&sql)?)).await
        })
    };
    // The writer is blocked until all of them wait.
    let still = {
        let writer = std::sync::Arc::clone(&writer);
        let work = move |_: &mut AnyConnection| {
            // An error means that all of them wait.
            let _ = wait.lock().recv();
            // The batch that contains this unit accepts no further one.
            std::thread::sleep(2 * super::SLICE);
            Ok(())
        };
        tokio::spawn(async move { run(&writer, None, Purpose::Change, work).await })
    };
    let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
    let mut changes: Vec<_> = (0..1_000).map(|_| insert(Some(flood), "flood")).collect();
    let under_way = async |count: u64| {
        while writer.places.in_use() < count {
            tokio::task::yield_now().await;
        }
    };
    under_way(super::UNDER_WAY).await;
    changes.push(insert(Some(other), "other"));
    under_way(super::UNDER_WAY + 1).await;
    drop(go);
    still.await.unwrap().unwrap();
    for change in changes {
        change.await.unwrap().unwrap();
    }
    writer.close().await;
    let mut connection = connect(&url, Access::Read).unwrap();
    let before =
        "(SELECT count(*) FROM t WHERE rowid < (SELECT rowid FROM t WHERE party = 'other'))";
    let before: i64 = diesel::select(sql::<BigInt>(before)).get_result(&mut connection).unwrap();
    assert!(before <= 1, "behind {before} others");
}

#[tokio::test]
async fn slow_changes_of_a_flood_do_not_share_the_commit_of_another_party() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("slow.db"));
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (x INTEGER)").unwrap();
    let writer = Arc::new(Writer::start(connection, url.clone(), LIMIT, None).unwrap());
    let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
    let insert = |party: Party, takes: Duration| {
        let writer = Arc::clone(&writer);
        tokio::spawn(async move {
            let work = move |c: &mut AnyConnection| {
                std::thread::sleep(takes);
                Ok(c.batch_execute("INSERT INTO t VALUES (1)")?)
            };
            run(&writer, party, Purpose::Change, work).await
        })
    };
    let slow: Vec<_> = (0..40).map(|_| insert(Some(flood), 4 * super::SLICE)).collect();
    while writer.places.in_use() < 40 {
        tokio::task::yield_now().await;
    }
    insert(Some(other), Duration::ZERO).await.unwrap().unwrap();
    let mut connection = connect(&url, Access::Read).unwrap();
    let stored = diesel::select(sql::<BigInt>("(SELECT count(*) FROM t)"));
    let stored: i64 = stored.get_result(&mut connection).unwrap();
    assert!(stored <= 20, "{stored} changes came before it or with it");
    for change in slow {
        change.await.unwrap().unwrap();
    }
    writer.close().await;
}

#[tokio::test]
async fn the_log_is_carried_over_while_changes_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    let url = DatabaseUrl::sqlite(&path);
    let mut connection = connect(&url, Access::Write).unwrap();
    connection.batch_execute("CREATE TABLE t (x BLOB)").unwrap();
    let writer = Writer::start(connection, url.clone(), LIMIT, None).unwrap();
    let insert = "INSERT INTO t VALUES (randomblob(200000))";
    for _ in 0..1_000 {
        run(&writer, None, Purpose::Change, move |c| Ok(c.batch_execute(insert)?)).await.unwrap();
    }
    let log = folder.path().join("log.db-wal").metadata().unwrap().len();
    // SQLite's own checkpoint, within a commit, would come at 64 MB.
    assert!(log < 60_000_000, "a log of {log} bytes after 200 MB of changes");
    let file = path.metadata().unwrap().len();
    assert!(file > 100_000_000, "{file} bytes are in the file");
    writer.close().await;
    assert!(!folder.path().join("log.db-wal").exists(), "a closed database has no log");
}

#[tokio::test]
async fn on_a_full_disk_only_deletions_are_carried_out_in_the_space_held_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reserve.db");
    let url = DatabaseUrl::sqlite(&path);
    let mut connection = connect(&url, Access::Write).unwrap();
    let setup = "CREATE TABLE t (x BLOB); PRAGMA max_page_count = 10";
    connection.batch_execute(setup).unwrap();
    let reserve = Arc::new(Reserve::hold(&path, 100_000));
    let writer = Writer::start(connection, url.clone(), LIMIT, Some(Arc::clone(&reserve))).unwrap();
    // The disk is full for as long as the space is held.
    let insert = async |purpose: Purpose| {
        let reserve = Arc::clone(&reserve);
        let work = move |c: &mut AnyConnection| {
            let bytes = if reserve.is_held() { 1_000_000 } else { 10 };
            Ok(c.batch_execute(&format!("INSERT INTO t VALUES (zeroblob({bytes}))"))?)
        };
        run(&writer, None, purpose, work).await
    };
    let refused = insert(Purpose::Change).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(reserve.is_held(), "a change does not get it");
    let (change, deletion) = tokio::join!(insert(Purpose::Change), insert(Purpose::Deletion));
    assert!(matches!(change, Err(Error::Unavailable(_))), "{change:?}");
    deletion.unwrap();
    assert!(!reserve.is_held());
    let refused = insert(Purpose::Change).await.unwrap_err();
    let Error::Unavailable(cause) = refused else { panic!("{refused:?}") };
    assert!(cause.to_string().contains("only deletions"), "{cause}");
    // As soon as there is room, the space is reserved again and changes are carried out.
    let deadline = Instant::now() + LIMIT;
    while !reserve.is_held() {
        assert!(Instant::now() < deadline);
        // Refused in either case: the writer checks for room at every change.
        insert(Purpose::Change).await.unwrap_err();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    run(&writer, None, Purpose::Change, |c| Ok(c.batch_execute("DELETE FROM t")?)).await.unwrap();
}
