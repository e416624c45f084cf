//! Uploaded files: their rows.

use cicerone_domain::ports::{Housekeeping as _, UploadStore as _};
use cicerone_domain::{Error, SourceContent};

use super::fixture::{assert_conflict, assert_not_found, new_id, on_each};

#[tokio::test]
async fn an_upload_reads_back_as_it_was_written() {
    on_each(async |world| {
        let upload = world.upload().await;
        let found = world.storage.find_upload(&world.scope(), upload.id).await.unwrap();
        assert_eq!(found, Some(upload));
        assert_eq!(world.storage.find_upload(&world.scope(), new_id()).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn an_upload_of_another_account_does_not_exist() {
    on_each(async |world| {
        let upload = world.upload().await;
        let theirs = &world.outside().await[0];
        assert_eq!(world.storage.find_upload(theirs, upload.id).await.unwrap(), None);
        let delete = world.storage.delete_upload(theirs, upload.id, world.now(), None).await;
        assert_not_found(delete, "file");
        assert_eq!(world.count("uploads"), 1);
    })
    .await;
}

#[tokio::test]
async fn an_object_without_its_row_is_discarded_at_its_deadline() {
    on_each(async |world| {
        let key = world.new_upload().object_key();
        let deadline = world.now();
        world.storage.expect_object(&key, deadline).await.unwrap();
        let early = deadline.plus_millis(-1);
        assert_eq!(world.storage.discarded_objects(early, 10).await.unwrap(), []);
        assert_eq!(world.storage.discarded_objects(deadline, 10).await.unwrap(), [key]);
    })
    .await;
}

#[tokio::test]
async fn a_row_takes_the_note_about_its_object_back() {
    on_each(async |world| {
        world.upload().await;
        let later = world.now().plus_millis(10_000_000);
        assert_eq!(world.storage.discarded_objects(later, 10).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_row_whose_object_was_discarded_meanwhile_is_refused() {
    on_each(async |world| {
        let upload = world.new_upload();
        world.storage.expect_object(&upload.object_key(), world.now()).await.unwrap();
        world.storage.forget_objects(&[upload.object_key()]).await.unwrap();
        let insert = world.storage.insert_upload(upload, None).await;
        assert!(matches!(insert, Err(Error::Unavailable(_))), "{insert:?}");
        assert_eq!(world.count("uploads"), 0);
    })
    .await;
}

#[tokio::test]
async fn deleting_an_upload_notes_its_object() {
    on_each(async |world| {
        let upload = world.upload().await;
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_upload(&scope, upload.id, now, None).await.unwrap();
        let keys = world.storage.discarded_objects(now, 10).await.unwrap();
        assert_eq!(keys, [upload.object_key()]);
        let again = world.storage.delete_upload(&scope, upload.id, now, None).await;
        assert_not_found(again, "file");
    })
    .await;
}

#[tokio::test]
async fn a_file_that_a_source_uses_is_not_deleted() {
    on_each(async |world| {
        let agent = world.agent().await;
        let upload = world.upload().await;
        world.source(&agent, SourceContent::File(upload.id)).await;
        let (scope, now) = (world.scope(), world.now());
        assert_conflict(world.storage.delete_upload(&scope, upload.id, now, None).await);
        assert_eq!((world.count("uploads"), world.count("discarded_objects")), (1, 0));
    })
    .await;
}
