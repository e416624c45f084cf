//! Files are brought up to date without a question, as those of an agent that another machine changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use cicerone_domain::ports::PassageIndex as _;
use cicerone_retrieval::Behind;

use crate::feed::{MEMORY_BYTES, World, open, passage};

/// A word of the source `a`, and of nothing else.
const CANARY: &str = "zyxcanary";

async fn world_with_content() -> World {
    let world = World::new();
    world.put("a", vec![passage(0, &format!("The {CANARY} museum is open on Sundays."))]);
    world.put("b", vec![passage(0, "The restaurant serves dinner until ten.")]);
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    assert!(!holding(&world.folder()).is_empty());
    world
}

/// Brings the files up to date. Returns whether there was something to do.
async fn renew(world: &World) -> bool {
    world.index.renew(world.rows.version(world.agent)).await.unwrap()
}

/// All files of a folder, with their content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The files that contain the word.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let holds =
        |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    let found = files(folder).into_iter().filter(|(_, bytes)| holds(bytes));
    found.map(|(path, _)| path).collect()
}

#[tokio::test]
async fn what_is_deleted_leaves_the_files_of_a_closed_index_which_stays_closed() {
    let mut world = world_with_content().await;
    world.restart();
    world.rows.delete(world.agent, "a");
    assert!(renew(&world).await);
    assert_eq!(holding(&world.folder()), Vec::<PathBuf>::new());
    assert_eq!(world.index.open_agents(), 0);
    assert!(!renew(&world).await, "there is nothing more to do");
    assert_eq!(world.ask("dinner").await.hits.len(), 1);
    assert!(!renew(&world).await, "nor if it is open");
}

#[tokio::test]
async fn an_open_index_stays_open() {
    let world = world_with_content().await;
    world.rows.delete(world.agent, "a");
    assert!(renew(&world).await);
    assert_eq!(holding(&world.folder()), Vec::<PathBuf>::new());
    assert_eq!(world.index.open_agents(), 1);
}

#[tokio::test]
async fn what_is_up_to_date_is_not_opened_and_what_is_not_there_is_not_made() {
    let mut world = world_with_content().await;
    world.restart();
    let reads = world.rows.reads.load(Ordering::Relaxed);
    assert!(!renew(&world).await);
    assert_eq!(world.index.open_agents(), 0);
    assert_eq!(world.rows.reads.load(Ordering::Relaxed), reads);
    world.remove_folder();
    world.put("c", vec![passage(0, "The library closes at eight.")]);
    assert!(!renew(&world).await);
    assert!(!world.folder().exists());
}

#[tokio::test]
async fn an_agent_that_became_small_leaves_the_disk() {
    let mut world = World::new();
    world.index = open(&world.directory, &world.rows, 16, MEMORY_BYTES);
    let long = "The lighthouse keeper counts the ships that pass. ".repeat(1_500);
    world.put("large", vec![passage(0, &long)]);
    world.put("small", vec![passage(0, "The harbour has two piers.")]);
    world.index.synchronise(world.rows.version(world.agent)).await.unwrap();
    assert!(world.folder().exists());
    world.index = open(&world.directory, &world.rows, 16, MEMORY_BYTES);
    world.rows.delete(world.agent, "large");
    assert!(renew(&world).await);
    assert!(!world.folder().exists());
    assert_eq!(world.index.open_agents(), 0);
}

#[tokio::test]
async fn files_that_cannot_be_read_are_removed() {
    for name in ["meta.json", ".managed.json"] {
        let mut world = world_with_content().await;
        fs::write(world.folder().join(name), "{").unwrap();
        world.restart();
        assert!(renew(&world).await, "{name}");
        assert!(!world.folder().exists(), "{name}");
        assert_eq!(world.ask("museum").await.hits.len(), 1, "{name}");
    }
}

/// Puts files that a change removed into the folder again, as if the process had been killed before it removed them.
fn leave(folder: &Path, before: &[(PathBuf, Vec<u8>)]) {
    let list = folder.join(".managed.json");
    let names = |bytes: &[u8]| -> BTreeSet<String> { serde_json::from_slice(bytes).unwrap() };
    let mut known = names(&fs::read(&list).unwrap());
    for (path, bytes) in before {
        if *path == list {
            known.extend(names(bytes));
        } else if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    }
    fs::write(list, serde_json::to_vec(&known).unwrap()).unwrap();
}

#[tokio::test]
async fn what_an_interrupted_change_left_is_removed_by_the_next_look_and_by_the_next_question() {
    for is_asked in [false, true] {
        let mut world = world_with_content().await;
        let before = files(&world.folder());
        world.rows.delete(world.agent, "a");
        world.index.synchronise(world.rows.version(world.agent)).await.unwrap();
        assert_eq!(holding(&world.folder()), Vec::<PathBuf>::new());
        leave(&world.folder(), &before);
        assert!(!holding(&world.folder()).is_empty());
        world.restart();
        if is_asked {
            assert_eq!(world.ask("dinner").await.hits.len(), 1);
        } else {
            assert!(renew(&world).await);
        }
        assert_eq!(holding(&world.folder()), Vec::<PathBuf>::new());
        assert!(!renew(&world).await);
    }
}

#[tokio::test]
async fn agents_whose_files_are_behind_are_listed_until_they_were_looked_at() {
    let mut world = world_with_content().await;
    let foreign = world.directory.path().join("not-an-agent");
    fs::create_dir(&foreign).unwrap();
    let behind = async |world: &World| world.index.behind().await.unwrap();
    let changed = |world: &World| Behind {
        changed: vec![world.rows.version(world.agent)],
        ..Behind::default()
    };
    for _ in 0..2 {
        assert_eq!(behind(&world).await, changed(&world));
        assert!(!renew(&world).await);
        assert_eq!(behind(&world).await, Behind::default());
        world.restart();
    }
    assert!(!renew(&world).await);
    world.rows.delete(world.agent, "a");
    assert_eq!(behind(&world).await, changed(&world));
    assert!(renew(&world).await);
    assert_eq!(behind(&world).await, changed(&world), "what was changed is looked at once more");
    assert!(!renew(&world).await);
    assert_eq!(behind(&world).await, Behind::default());

    world.rows.delete_agent(world.agent);
    let gone = Behind { gone: vec![world.agent], ..Behind::default() };
    assert_eq!(behind(&world).await, gone);
    world.index.remove(world.agent).await.unwrap();
    assert_eq!(behind(&world).await, Behind::default());
    assert!(foreign.exists());
    fs::remove_dir_all(world.directory.path()).unwrap();
    assert_eq!(behind(&world).await, Behind::default());
}
