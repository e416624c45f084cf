//! Uploaded files: their bytes.

use bytes::Bytes;
use cicerone_domain::ports::ObjectStore as _;
use cicerone_domain::upload::ObjectKey;
use cicerone_storage::{OpenObjectsError, UploadObjects};

#[tokio::test]
async fn an_object_is_written_replaced_read_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("not yet there");
    for url in [place.display().to_string(), format!("file:{}", place.display())] {
        let objects = UploadObjects::open(&url).unwrap();
        let key = ObjectKey::parse("uploads/file_0123456789").unwrap();
        assert_eq!(objects.get(&key).await.unwrap(), None);
        for text in ["first", "second, longer"] {
            objects.put(&key, Bytes::from_static(text.as_bytes())).await.unwrap();
            assert_eq!(objects.get(&key).await.unwrap().unwrap(), text.as_bytes());
        }
        objects.delete(&key).await.unwrap();
        objects.delete(&key).await.unwrap();
        assert_eq!(objects.get(&key).await.unwrap(), None);
    }
}

#[tokio::test]
async fn what_an_interrupted_write_left_goes_with_its_object() {
    let folder = tempfile::tempdir().unwrap();
    let objects = UploadObjects::open(&folder.path().display().to_string()).unwrap();
    let key = ObjectKey::parse("uploads/file_0123456789").unwrap();
    // The state after a kill: the temporary file, with and without the object.
    for is_stored in [false, true] {
        if is_stored {
            objects.put(&key, Bytes::from_static(b"text")).await.unwrap();
        }
        std::fs::create_dir_all(folder.path().join("uploads")).unwrap();
        let staged = folder.path().join("uploads/file_0123456789#1");
        std::fs::write(&staged, "te").unwrap();
        assert_eq!(objects.get(&key).await.unwrap().is_some(), is_stored);
        objects.delete(&key).await.unwrap();
        assert!(!staged.exists());
    }
}

#[test]
fn an_object_store_of_another_kind_is_refused() {
    let error = UploadObjects::open("gs://bucket").unwrap_err();
    assert!(matches!(&error, OpenObjectsError::Scheme { scheme } if scheme == "gs"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let place = file.path().join("inside");
    let error = UploadObjects::open(&place.display().to_string()).unwrap_err();
    assert!(error.to_string().contains("inside"), "{error}");
}
