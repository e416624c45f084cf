//! `GET /v1/files/{file_id}/content`.

use std::fs;

use cicerone_tests::Server;
use cicerone_tests::scenario::id;

use crate::coverage::Covers;
use crate::world::{NO_FILE, client, program};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/files/{file_id}/content",
    cases: &[
        ("200", a_file_is_returned_byte_by_byte),
        ("404 resource_not_found", a_file_that_was_deleted_is_not_found),
    ],
};

#[tokio::test]
async fn a_file_is_returned_byte_by_byte() {
    let client = client();
    for (name, type_, bytes) in [
        ("hours.txt", "text/plain", b"The museum opens at nine.\r\n".to_vec()),
        ("page.html", "text/html", b"<!doctype html><html><body><p>Hello".to_vec()),
        ("large.txt", "text/plain", "The museum. ".repeat(800_000).into_bytes()),
    ] {
        let file = id(&client.upload(name, bytes.clone()).await.expect(201));
        let answer = client.get(&format!("/v1/files/{file}/content")).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body, bytes, "{name}");
        assert_eq!(answer.header("content-type"), Some(type_));
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(answer.header("content-disposition"), Some(&*disposition));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn a_name_of_any_characters_is_sent() {
    let client = client();
    let file = client.upload("öffnung\u{201c};.txt", "The museum.").await.expect(201);
    let answer = client.get(&format!("/v1/files/{}/content", id(&file))).await;
    assert_eq!(answer.status, 200);
    let expected =
        "attachment; filename=\"_ffnung_;.txt\"; filename*=UTF-8''%C3%B6ffnung%E2%80%9C%3B.txt";
    assert_eq!(answer.header("content-disposition"), Some(expected));
}

#[tokio::test]
async fn a_file_that_was_deleted_is_not_found() {
    let client = client();
    let file = id(&client.upload("hours.txt", "The museum.").await.expect(201));
    client.delete(&format!("/v1/files/{file}")).await.expect_nothing();
    for file in [&*file, NO_FILE, "hours.txt"] {
        client.get(&format!("/v1/files/{file}/content")).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_file_that_is_damaged_where_it_is_stored_is_neither_returned_nor_learned() {
    let server = Server::of(&program()).start();
    let client = server.client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    fs::write(server.data().join("objects/uploads").join(&file), "The museum").unwrap();

    let content = client.get(&format!("/v1/files/{file}/content")).await;
    content.refused(503, "service_unavailable");
    let damage = "the uploaded file is damaged in the object store: it had 25 bytes and has 10";
    server.log_with(damage).await;

    let source = client.source(&agent, "file", &file).await;
    let failed = client.failed(&source).await;
    let expected = format!("{damage}; upload it and add it again");
    assert_eq!(failed["error_message"], expected.as_str(), "{failed}");
}

#[tokio::test]
async fn a_file_whose_content_the_object_store_has_lost_is_told_from_one_that_does_not_exist() {
    let server = Server::of(&program()).start();
    let client = server.client();
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    fs::remove_file(server.data().join("objects/uploads").join(&file)).unwrap();
    let content = client.get(&format!("/v1/files/{file}/content")).await;
    assert!(content.text().contains("is missing from the object store"), "{}", content.text());
    content.refused(503, "service_unavailable");
    server
        .log_with(&format!("the content of the file `{file}` is missing from the object store"))
        .await;
    client.get(&format!("/v1/files/{file}")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_waits_while_the_folder_of_the_uploads_is_missing() {
    let mut server = Server::of(&program()).start();
    let client = server.client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let (folder, away) = (server.data().join("objects"), server.data().join("away"));
    fs::rename(&folder, &away).unwrap();
    server.restart();
    server.log_with("the object store has none of the files that were uploaded last").await;
    let client = server.client();
    let source = client.source(&agent, "file", &file).await;
    server.log_with("is missing from the object store").await;
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    client.trained(&source).await;
}
