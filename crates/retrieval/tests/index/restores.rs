//! After the database was restored to an earlier state, only its content is found, whatever index
//! exists.

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::Query;

use crate::feed::{Backup, World, passage};

/// Content of which a backup was taken, with changes after the backup: a changed source, a new one,
/// and a deleted one.
async fn went_on() -> (World, Backup) {
    let world = World::new();
    world.put("hours", vec![passage(0, "The museum opens at nine in the morning.")]);
    world.put("dinner", vec![passage(0, "The restaurant serves dinner until ten.")]);
    world.put("parking", vec![passage(0, "Parking is free for visitors.")]);
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    let backup = world.rows.backup();
    world.put("hours", vec![passage(0, "The museum opens at eleven on zeppelin days.")]);
    world.put("zoo", vec![passage(0, "The zoo has an elephant.")]);
    world.rows.delete(world.agent, "parking");
    assert_eq!(world.ask("elephant").await.hits.len(), 1);
    assert_eq!(world.ask("zeppelin").await.hits.len(), 1);
    (world, backup)
}

/// Checks that nothing from after the backup is found, and everything from before is.
async fn holds_what_was_restored(world: &World) {
    for gone in ["elephant", "zeppelin"] {
        assert!(world.ask(gone).await.hits.is_empty(), "{gone}");
    }
    assert_eq!(world.ask("nine in the morning").await.hits.len(), 1);
    assert_eq!(world.ask("free parking").await.hits.len(), 1);
}

#[tokio::test]
async fn an_index_ahead_of_the_rows_is_not_answered_from() {
    for is_restarted in [false, true] {
        let (mut world, backup) = went_on().await;
        world.rows.restore(&backup);
        if is_restarted {
            world.restart();
        }
        holds_what_was_restored(&world).await;
    }
}

#[tokio::test]
async fn generations_of_two_histories_that_count_alike_are_not_taken_for_one() {
    for changes in 1..6 {
        for is_restarted in [false, true] {
            let (mut world, backup) = went_on().await;
            world.rows.restore(&backup);
            // The old index is at the sixth change of another history.
            for change in 0..changes {
                let text = format!("Change {change} tells of bicycles.");
                world.put("news", vec![passage(0, &text)]);
            }
            if is_restarted {
                world.restart();
            }
            holds_what_was_restored(&world).await;
            let last = format!("Change {}", changes - 1);
            assert!(world.ask("bicycles").await.hits[0].text.starts_with(&last));
        }
    }
}

#[tokio::test]
async fn one_source_that_both_histories_changed_is_that_of_the_rows() {
    for is_restarted in [false, true] {
        let (mut world, backup) = went_on().await;
        world.rows.restore(&backup);
        world.put("hours", vec![passage(0, "The museum is closed for good.")]);
        world.put("zoo", vec![passage(0, "The zoo has a giraffe.")]);
        world.rows.delete(world.agent, "dinner");
        if is_restarted {
            world.restart();
        }
        for gone in ["elephant", "zeppelin", "nine in the morning", "dinner"] {
            assert!(world.ask(gone).await.hits.iter().all(|hit| !hit.is_relevant), "{gone}");
        }
        assert_eq!(world.ask("giraffe").await.hits.len(), 1);
        assert_eq!(world.ask("closed for good").await.hits.len(), 1);
    }
}

#[tokio::test]
async fn an_index_that_is_rightly_ahead_of_its_caller_is_used_as_it_is() {
    let world = World::new();
    world.put("hours", vec![passage(0, "The museum opens at nine in the morning.")]);
    let before = world.rows.version(world.agent);
    world.put("zoo", vec![passage(0, "The zoo has an elephant.")]);
    assert_eq!(world.ask("elephant").await.hits.len(), 1);
    let work = world.rows.work();
    let query = Query { text: "elephant".to_owned(), ..Query::default() };
    let found = world.index.search(before, &query, 5).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert_eq!(world.rows.work(), work, "nothing is read again");
}
