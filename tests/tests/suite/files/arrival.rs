//! `POST /v1/files` while the file arrives: when the transfer is cut off, and that a failed upload
//! leaves nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cicerone_tests::raw::Connection;
use cicerone_tests::{Client, Server};
use diesel::connection::Connection as _;
use diesel::prelude::{QueryableByName, RunQueryDsl as _, SqliteConnection};
use diesel::sql_types::BigInt;

use crate::world::{account, client, own_server, program, server};

/// The largest file, in bytes.
const LIMIT: usize = 10 * 1_024 * 1_024;
/// Bytes that are sent at once.
const PIECE: usize = 64 * 1_024;
/// Bytes that client, network and server may buffer beyond the limit when the server stops reading.
const SLACK: usize = 32 * 1_024 * 1_024;

/// The head of an upload, up to the start of the file.
fn head(client: &Client, framing: &str) -> String {
    let key = client.key().unwrap();
    format!(
        "POST /v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: multipart/form-data; boundary=x\r\n{framing}\r\n\r\n"
    )
}

/// The beginning of a file that is refused: a PNG image.
const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

/// The header of the part.
const PART: &str =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";

/// A server that accepts one upload at a time, with further settings of the section `http`.
fn narrow_server(folder: &Path, section: &str) -> Server {
    let file = folder.join("cicerone.toml");
    fs::write(&file, format!("[http]\nuploads_at_once = 1\n{section}")).unwrap();
    Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap()).start()
}

/// Begins an upload on a server that accepts one at a time.
async fn begin(server: &Server) -> Connection {
    let client = server.client();
    let mut connection = Connection::open(server.address()).await;
    connection.send(head(&client, &format!("Content-Length: {}", 2 * LIMIT))).await;
    connection.send(PART).await;
    connection.send("x".repeat(LIMIT / 2)).await;
    // More than the network buffers can take: the server has begun to read, and accepts no other
    // upload.
    client.upload("a.png", IMAGE).await.refused(503, "service_unavailable");
    connection
}

/// Every file below a folder, except those of the index and the database.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "index" {
            found.extend(files(&path));
        } else if !path.is_dir()
            && !name.starts_with("cicerone.db")
            && !matches!(name, "lock" | "copies.lock")
        {
            found.push(path);
        }
    }
    found
}

/// The number of rows in a table of the server's database.
fn rows(server: &Server, table: &str) -> i64 {
    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        count: i64,
    }
    let path = server.data().join("cicerone.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut connection).unwrap();
    let query = diesel::sql_query(format!("SELECT count(*) AS count FROM {table}"));
    query.get_result::<Count>(&mut connection).unwrap().count
}

/// Checks that uploads have left nothing behind.
fn assert_nothing_is_left(server: &Server) {
    assert_eq!(files(server.data()), Vec::<PathBuf>::new());
    assert_eq!((rows(server, "uploads"), rows(server, "discarded_objects")), (0, 0));
}

#[tokio::test]
async fn an_endless_file_is_cut_off_soon_after_the_limit() {
    let piece = vec![b'x'; PIECE];
    let chunk = [format!("{PIECE:x}\r\n").as_bytes(), &piece, b"\r\n"].concat();
    let part = format!("{:x}\r\n{PART}\r\n", PART.len());
    let bodies = [
        ("Content-Length: 1000000000000", PART, piece),
        ("Transfer-Encoding: chunked", part.as_str(), chunk),
    ];
    for (framing, part, piece) in bodies {
        let mut connection = Connection::open(server().address()).await;
        connection.send(head(&client(), framing)).await;
        connection.send(part).await;
        let (sent, answer) = connection.flood(&piece, 100 * LIMIT).await;
        assert!(answer.starts_with("HTTP/1.1 422 "), "{framing}: {answer}");
        assert!(answer.contains("\"validation_error\""), "{framing}: {answer}");
        assert!(answer.contains("at most 10485760 bytes"), "{framing}: {answer}");
        assert!((LIMIT..LIMIT + SLACK).contains(&sent), "{framing}: {sent} bytes were sent");
    }
}

#[tokio::test]
async fn an_endless_body_that_nobody_reads_is_cut_off_soon() {
    let piece = [format!("{PIECE:x}\r\n").as_bytes(), &vec![b'x'; PIECE], b"\r\n"].concat();
    let heads = [
        (401, head(&client().with_key("ck_wrong"), "Transfer-Encoding: chunked")),
        (404, "POST /v1/nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".into()),
        (401, head(&client().with_key("ck_wrong"), "Content-Length: 1000000000000")),
    ];
    for (status, head) in heads {
        let mut connection = Connection::open(server().address()).await;
        connection.send(head).await;
        let (sent, answer) = connection.flood(&piece, 100 * LIMIT).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(sent < SLACK, "{status}: {sent} bytes were sent");
    }
}

#[tokio::test]
async fn a_refused_file_leaves_nothing() {
    let server = own_server();
    let client = server.client();
    let mut image = IMAGE.to_vec();
    image.resize(LIMIT / 2, 0);
    for bytes in [Vec::new(), image, vec![b'x'; LIMIT + 1]] {
        client.upload("a.txt", bytes).await.refused(422, "validation_error");
    }
    assert_nothing_is_left(&server);
}

#[tokio::test]
async fn a_caller_that_goes_away_in_the_middle_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = narrow_server(folder.path(), "");
    drop(begin(&server).await);
    // The first one has ended when another upload is accepted; that one leaves nothing behind
    // either.
    while server.client().upload("a.png", IMAGE).await.status != 422 {}
    assert_nothing_is_left(&server);
}

#[tokio::test]
async fn a_file_that_stalls_is_given_up_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = narrow_server(folder.path(), "body_seconds = 1\n");
    let mut connection = begin(&server).await;
    let answer = connection.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("did not arrive in time"), "{answer}");
    assert_nothing_is_left(&server);
}

#[tokio::test]
async fn an_upload_that_takes_long_refuses_no_other_account() {
    let folder = tempfile::tempdir().unwrap();
    let server = narrow_server(folder.path(), "");
    let other = server.account("other");
    let _slow = begin(&server).await;
    other.upload("a.txt", "The museum.").await.expect(201);
}

#[tokio::test]
async fn a_kill_in_the_middle_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = narrow_server(folder.path(), "");
    let _connection = begin(&server).await;
    server.kill();
    assert_nothing_is_left(&server);
    server.restart();
    server.client().upload("a.txt", "The museum.").await.expect(201);
}

#[tokio::test]
async fn a_stored_file_is_its_owner_s_alone() {
    let server = own_server();
    let bytes = "The museum opens at nine.\n".repeat(40_000).into_bytes();
    let file = server.client().upload("a.txt", bytes.clone()).await.expect(201);
    let stored = files(server.data());
    assert_eq!(stored.len(), 1, "{stored:?}");
    assert_eq!(stored[0].file_name().unwrap().to_str(), file["id"].as_str());
    assert_eq!(stored[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read(&stored[0]).unwrap() == bytes);
}

#[tokio::test]
async fn a_large_upload_is_the_same_where_all_its_bytes_are() {
    let client = account();
    let mut bytes = "The museum opens at nine.\n".repeat(40_000).into_bytes();
    let upload = |bytes: &[u8]| {
        let request = client.request("POST", "/v1/files").file("hours.txt", bytes.to_vec());
        request.idempotent("upload").send()
    };
    let first = upload(&bytes).await.expect(201);
    let again = upload(&bytes).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);
    *bytes.last_mut().unwrap() = b'.';
    upload(&bytes).await.refused(422, "idempotency_key_reused");
}
