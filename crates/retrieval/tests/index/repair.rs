//! An index that is missing, damaged or of another version is rebuilt from the database.

use std::path::PathBuf;

use crate::feed::{World, passage};

async fn world_with_content() -> World {
    let world = World::new();
    world.put("a", vec![passage(0, "The museum opens at nine in the morning.")]);
    world.put("b", vec![passage(0, "The restaurant serves dinner until ten.")]);
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    world
}

fn files(world: &World, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(world.folder()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[tokio::test]
async fn a_folder_that_is_deleted_while_open_comes_back() {
    let world = world_with_content().await;
    std::fs::remove_dir_all(world.directory.path()).unwrap();
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    assert!(world.folder().join("meta.json").exists());
    world.put("c", vec![passage(0, "The library closes at eight.")]);
    assert_eq!(world.ask("library").await.hits.len(), 1);
}

#[tokio::test]
async fn a_restart_uses_what_is_there() {
    let mut world = world_with_content().await;
    let reads = world.rows.reads.load(std::sync::atomic::Ordering::Relaxed);
    world.restart();
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    assert_eq!(world.rows.reads.load(std::sync::atomic::Ordering::Relaxed), reads);
}

#[tokio::test]
async fn a_changed_byte_in_any_file_is_found_and_repaired() {
    for extension in ["store", "term", "idx", "fieldnorm"] {
        let mut world = world_with_content().await;
        for path in files(&world, extension) {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[0] ^= 0xFF;
            std::fs::write(&path, bytes).unwrap();
        }
        world.restart();
        assert_eq!(world.ask("museum").await.hits.len(), 1, "{extension}");
    }
}

#[tokio::test]
async fn truncated_and_missing_files_are_repaired() {
    for extension in ["store", "term", "idx", "json"] {
        for length in [0, 5] {
            let mut world = world_with_content().await;
            for path in files(&world, extension) {
                let bytes = std::fs::read(&path).unwrap();
                std::fs::write(&path, &bytes[..length]).unwrap();
            }
            world.restart();
            assert_eq!(world.ask("dinner").await.hits.len(), 1, "{extension} {length}");
        }
        let mut world = world_with_content().await;
        for path in files(&world, extension) {
            std::fs::remove_file(path).unwrap();
        }
        world.restart();
        assert_eq!(world.ask("dinner").await.hits.len(), 1, "{extension}");
    }
}

#[tokio::test]
async fn an_index_of_another_schema_is_made_again() {
    let mut world = world_with_content().await;
    let meta = world.folder().join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    let other = text.replace(r#"\"schema\":"#, r#"\"schema\":9"#);
    assert_ne!(text, other);
    std::fs::write(&meta, other).unwrap();
    let reads = world.rows.reads.load(std::sync::atomic::Ordering::Relaxed);
    world.restart();
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    assert!(world.rows.reads.load(std::sync::atomic::Ordering::Relaxed) > reads);
}
