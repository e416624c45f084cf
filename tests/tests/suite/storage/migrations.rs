//! Migrations: applied, reverted, and refused.

use cicerone_domain::Error;
use cicerone_domain::ports::{Health as _, PassageFeed as _};
use cicerone_storage::{DatabaseUrl, OpenError, Storage, StorageOptions, migrations};
use cicerone_tests::postgres::Cluster;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::fixture::{on_each, website};

/// A new database of each kind, without tables, with the folder that contains it.
fn empty() -> Vec<(DatabaseUrl, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = DatabaseUrl::sqlite(folder.path().join("empty.db"));
    let postgres = Cluster::shared().map(|cluster| (cluster.empty_database(), None));
    [(sqlite, Some(folder))].into_iter().chain(postgres).collect()
}

#[test]
fn migrations_are_applied_once_taken_back_and_applied_again() {
    for (url, _folder) in empty() {
        let statuses = migrations::status(&url).unwrap();
        assert!(!statuses.is_empty() && statuses.iter().all(|status| !status.is_applied));
        let names: Vec<String> = statuses.into_iter().map(|status| status.name).collect();
        assert_eq!(migrations::run(&url).unwrap(), names);
        assert!(migrations::run(&url).unwrap().is_empty());
        assert!(migrations::status(&url).unwrap().iter().all(|status| status.is_applied));
        assert_eq!(migrations::redo(&url).unwrap().as_ref(), names.last());
        for name in names.iter().rev() {
            assert_eq!(migrations::revert(&url).unwrap().as_ref(), Some(name));
        }
        assert_eq!(migrations::revert(&url).unwrap(), None);
        assert_eq!(migrations::redo(&url).unwrap(), None);
        assert_eq!(migrations::run(&url).unwrap(), names, "nothing was left behind");
    }
}

/// If two columns have different collations, an index of one does not serve a join with the other.
#[test]
fn all_ids_have_the_same_collation() {
    #[derive(QueryableByName)]
    struct Column {
        #[diesel(sql_type = Text)]
        name: String,
        #[diesel(sql_type = Text)]
        collation: String,
    }
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.migrated_database();
    let ids = "SELECT table_name || '.' || column_name AS name, \
               coalesce(collation_name, 'default') AS collation FROM information_schema.columns \
               WHERE table_schema = 'public' AND data_type = 'text' \
               AND (column_name = 'id' OR column_name LIKE '%\\_id') ORDER BY 1";
    let mut connection = PgConnection::establish(&url.to_string()).unwrap();
    let ids: Vec<Column> = diesel::sql_query(ids).load(&mut connection).unwrap();
    assert!(ids.len() > 50, "{} ids", ids.len());
    let others: Vec<_> = ids.iter().filter(|column| column.collation != "C").collect();
    let others: Vec<_> = others.iter().map(|column| &column.name).collect();
    assert_eq!(others, [""; 0]);
}

#[test]
fn servers_that_start_together_migrate_once() {
    for (url, _folder) in empty() {
        let starts: Vec<_> = (0..6)
            .map(|_| {
                let url = url.clone();
                std::thread::spawn(move || migrations::run(&url).unwrap().len())
            })
            .collect();
        let applied: usize = starts.into_iter().map(|start| start.join().unwrap()).sum();
        assert_eq!(applied, migrations::status(&url).unwrap().len());
    }
}

#[test]
fn a_database_that_was_not_migrated_is_refused() {
    for (url, _folder) in empty() {
        let error = Storage::open(&url, &StorageOptions::default()).unwrap_err();
        assert!(matches!(error, OpenError::Pending { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_database_that_is_newer_than_the_program_is_refused() {
    on_each(async |world| {
        assert!(world.storage.check().await.is_ok());
        world.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000')");
        for result in [
            Storage::open(&world.url, &StorageOptions::default()).map(|_| ()),
            migrations::run(&world.url).map(|_| ()),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, OpenError::Newer { .. }), "{error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
        let unhealthy = world.storage.check().await;
        assert!(matches!(unhealthy, Err(Error::Unavailable(_))), "{unhealthy:?}");
    })
    .await;
}

#[test]
fn an_unreachable_database_is_named_with_its_own_message() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let url = DatabaseUrl::parse(&format!("postgres://ann:s3cret@127.0.0.1:{port}/c")).unwrap();
    let error = migrations::run(&url).unwrap_err().to_string();
    assert!(error.contains("Connection refused") && !error.contains("s3cret"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::sqlite(folder.path().join("missing").join("c.db"));
    let error = migrations::run(&url).unwrap_err().to_string();
    assert!(error.contains("unable to open") && error.contains("missing/c.db"), "{error}");
}

#[tokio::test]
async fn what_was_extracted_before_documents_had_versions_is_carried_over() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "Rome").await;
        let pair = |position: i64, question: &str, text: &str| {
            world.execute(&format!(
                "INSERT INTO passages (source_id, position, account_id, title, text, is_pair)
                 VALUES ('{}', {position}, '{}', '{question}', '{text}', TRUE)",
                source.id, world.account
            ));
        };
        while migrations::revert(&world.url).unwrap().is_some_and(|name| !name.contains("crawls")) {
        }
        // Pairs, the first of which has two passages and the last two of which have the same
        // question.
        for (position, question) in ["a", "b", "c", "c"].iter().enumerate() {
            world.execute(&format!(
                "INSERT INTO documents (source_id, position, account_id, title, text, is_pair)
                 VALUES ('{}', {}, '{}', '{question}', 'wörd', TRUE)",
                source.id,
                position + 1,
                world.account
            ));
        }
        pair(2, "a", "wö");
        pair(3, "a", "rd");
        pair(4, "b", "wörd");
        pair(5, "c", "wörd");
        migrations::run(&world.url).unwrap();
        assert_eq!(world.documents(&source).await, [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(
            world.texts(&source).await[..2],
            [(0, "Rome".to_owned()), (1, "wörd".to_owned())]
        );
        assert_eq!(world.count_where("documents", "character_count = 5"), 4);
        let version = source.state.searchable().unwrap().version;
        let passages = world
            .storage
            .passages(source.id, version, &[0, 1, 2, 3, 4], None)
            .await
            .unwrap()
            .unwrap();
        let documents: Vec<i64> = passages.into_iter().map(|(document, _)| document).collect();
        assert_eq!(documents, [0, 0, 1, 1, 2, 4]);
        migrations::redo(&world.url).unwrap();
        assert_eq!(world.texts(&source).await.len(), 5);
    })
    .await;
}
