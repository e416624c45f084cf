//! Regular removal of data that is no longer needed.

use cicerone_domain::SourceContent;
use cicerone_domain::ports::{Housekeeping as _, UploadStore as _};
use cicerone_domain::upload::ObjectKey;

use super::fixture::on_each;

#[tokio::test]
async fn notes_are_given_oldest_first_and_forgotten() {
    on_each(async |world| {
        let mut keys: Vec<ObjectKey> = (0..3).map(|_| world.new_upload().object_key()).collect();
        keys.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        for key in &keys {
            world.storage.expect_object(key, world.now()).await.unwrap();
        }
        let now = world.now();
        assert_eq!(world.storage.discarded_objects(now, 2).await.unwrap(), keys[..2]);
        world.storage.forget_objects(&keys[..2]).await.unwrap();
        assert_eq!(world.storage.discarded_objects(now, 2).await.unwrap(), keys[2..]);
        world.storage.forget_objects(&[]).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn old_files_that_no_source_uses_are_removed() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (old, used) = (world.upload().await, world.upload().await);
        world.source(&agent, SourceContent::File(used.id)).await;
        let limit = world.now();
        let new = world.upload().await;
        let now = world.now();
        assert_eq!(world.storage.expire_uploads(limit, now).await.unwrap(), 1);
        assert_eq!(world.storage.expire_uploads(limit, now).await.unwrap(), 0);
        let keys = world.storage.discarded_objects(now, 10).await.unwrap();
        assert_eq!(keys, [old.object_key()]);
        let scope = world.scope();
        for (upload, is_there) in [(old, false), (used, true), (new, true)] {
            let found = world.storage.find_upload(&scope, upload.id).await.unwrap();
            assert_eq!(found.is_some(), is_there);
        }
    })
    .await;
}
