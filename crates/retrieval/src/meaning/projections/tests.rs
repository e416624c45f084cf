//! Files that are brought up to date without a question.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::fairness::Urgency;
use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::{AgentVectors, PassageAt, SourceVectors, VectorFeed};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind};
use parking_lot::Mutex;

use super::Projections;
use crate::index::Folders;
use crate::meaning::file;

const ONE: &str = "src_aaaaaaaaaa";
const OTHER: &str = "src_bbbbbbbbbb";

/// The rows of one agent, each of whose sources has a passage.
#[derive(Default)]
struct Rows(Mutex<Option<AgentVectors>>);

impl Rows {
    /// Gives the agent these sources.
    fn set(&self, generation: u64, sources: &[&str]) {
        let source =
            |id: &&str| SourceVectors { id: id.parse().unwrap(), version: 1, is_complete: true };
        let sources = sources.iter().map(source).collect();
        *self.0.lock() = Some(AgentVectors { generation, sources });
    }
}

#[async_trait]
impl VectorFeed for Rows {
    async fn agent_vectors(
        &self,
        _: Id<kind::Agent>,
        _: i64,
    ) -> Result<Option<AgentVectors>, Error> {
        Ok(self.0.lock().clone())
    }

    async fn vectors(
        &self,
        _: Id<kind::Source>,
        _: u64,
        _: i64,
        _: Option<i64>,
    ) -> Result<Option<Vec<(i64, Option<Vector>)>>, Error> {
        Ok(Some(vec![(0, Some(vector()))]))
    }

    async fn passages_at(
        &self,
        _: Id<kind::Account>,
        _: &[PassageAt],
    ) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, Error> {
        Ok(Vec::new())
    }
}

fn vector() -> Vector {
    Vector::new(vec![0.6, 0.8]).unwrap()
}

fn space(id: i64) -> Space {
    let (model, settings) = ("m".to_owned(), String::new());
    let probe = vector();
    Space { id, model, settings, dimension: 2, probe, chance: 0.1, reach: 0.3, floor: None }
}

fn version(generation: u64) -> AgentVersion {
    let (id, account_id) = ("agent_aaaaaaaaaa", "acct_aaaaaaaaaa");
    AgentVersion { id: id.parse().unwrap(), account_id: account_id.parse().unwrap(), generation }
}

/// The projections under a folder, as after a start.
fn open(folder: &Path, rows: &Arc<Rows>) -> Arc<Projections> {
    let folders = Folders::open(folder.to_path_buf()).unwrap();
    Arc::new(Projections::new(Arc::clone(rows) as Arc<dyn VectorFeed>, folders, 4))
}

/// Files with both sources at generation 1, after a restart.
async fn made(folder: &Path) -> (Arc<Rows>, Arc<Projections>) {
    let rows = Arc::new(Rows::default());
    rows.set(1, &[ONE, OTHER]);
    let projections = open(folder, &rows);
    projections.in_step(version(1), &space(1), Urgency::Learning).await.unwrap();
    assert_eq!(sources(&projections), [ONE, OTHER]);
    (Arc::clone(&rows), open(folder, &rows))
}

/// The sources in the files.
fn sources(projections: &Projections) -> Vec<String> {
    let held = file::description(&projections.folders.of(version(0).id)).unwrap();
    held.sources.iter().map(|source| source.of.id.to_string()).collect()
}

#[tokio::test]
async fn files_that_are_up_to_date_are_not_opened_and_none_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, projections) = made(folder.path()).await;
    assert!(!projections.renew(version(1), Some(&space(1))).await.unwrap());
    assert!(!projections.renew(version(1), None).await.unwrap());
    assert!(projections.open.get(version(1).id).is_none());
    rows.set(2, &[ONE, OTHER]);
    assert!(!projections.renew(version(2), Some(&space(1))).await.unwrap(), "they hold the same");

    let empty = tempfile::tempdir().unwrap();
    let projections = open(empty.path(), &rows);
    assert!(!projections.renew(version(2), Some(&space(1))).await.unwrap());
    assert!(projections.agents().await.unwrap().is_empty());
}

#[tokio::test]
async fn vectors_of_deleted_sources_leave_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, projections) = made(folder.path()).await;
    rows.set(2, &[OTHER]);
    assert!(projections.renew(version(2), Some(&space(1))).await.unwrap());
    assert_eq!(sources(&projections), [OTHER]);
    assert!(!projections.renew(version(2), Some(&space(1))).await.unwrap());
    rows.set(3, &[]);
    assert!(projections.renew(version(3), Some(&space(1))).await.unwrap());
    assert!(projections.agents().await.unwrap().is_empty());
}

#[tokio::test]
async fn they_leave_the_files_too_while_the_model_does_not_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, projections) = made(folder.path()).await;
    rows.set(2, &[OTHER]);
    assert!(projections.renew(version(2), None).await.unwrap());
    assert!(projections.agents().await.unwrap().is_empty());
}

#[tokio::test]
async fn files_of_another_space_or_with_damage_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, projections) = made(folder.path()).await;
    assert!(projections.renew(version(1), Some(&space(2))).await.unwrap());
    assert_eq!(sources(&projections), [ONE, OTHER]);
    let codes = projections.folders.of(version(1).id).join("vectors");
    // It has mapped the file.
    drop(projections);
    let projections = open(folder.path(), &rows);
    std::fs::write(codes, "{").unwrap();
    assert!(projections.renew(version(1), Some(&space(2))).await.unwrap());
    assert_eq!(sources(&projections), [ONE, OTHER]);
}
