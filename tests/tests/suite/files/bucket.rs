//! Uploads in an S3-compatible bucket, configured by the variables that the AWS tools read.

use cicerone_tests::bucket::Buckets;
use cicerone_tests::process::Builder;
use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};

use crate::world::program;

const KEY: &str = "AKIDOFTHETESTSUITE";
const SECRET: &str = "the-secret-of-the-test-suite";

/// A server with its uploads in a bucket; `endpoint` is the name of the variable with the store's
/// address.
fn server(buckets: &Buckets, endpoint: &str) -> Builder {
    Server::of(&program())
        .env("CICERONE_OBJECT_STORE_URL", "s3://museum/some/folder")
        .env(endpoint, buckets.url())
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "eu-south-1")
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
}

/// The path of a file's object.
fn object(file: &str) -> String {
    format!("/museum/some/folder/uploads/{file}")
}

fn text() -> String {
    "The museum opens at nine.\n\n".repeat(250_000)
}

async fn upload(client: &Client, key: &str) -> cicerone_tests::Answer {
    let request = client.request("POST", "/v1/files").file("hours.txt", text().into_bytes());
    request.idempotent(key).send().await
}

#[tokio::test]
async fn a_file_lies_in_the_bucket_until_it_is_deleted() {
    let buckets = Buckets::start().await;
    let server = server(&buckets, "AWS_ENDPOINT_URL").start();
    let client = server.client();
    let file = id(&client.upload("hours.txt", text()).await.expect(201));
    let objects = buckets.objects();
    assert_eq!(objects.keys().collect::<Vec<_>>(), [&object(&file)]);
    assert!(objects[&object(&file)] == text());
    assert!(!server.data().join("objects").exists());

    client.delete(&format!("/v1/files/{file}")).await.expect_nothing();
    assert!(buckets.objects().is_empty());
    let asked = buckets.asked();
    let methods: Vec<&str> = asked.iter().map(|asked| asked.method.as_str()).collect();
    assert_eq!(methods, ["PUT", "DELETE"]);
    assert!(asked.iter().all(|asked| asked.is_signed(KEY, "eu-south-1")), "{asked:?}");
}

#[tokio::test]
async fn a_source_is_trained_from_the_bucket() {
    let buckets = Buckets::start().await;
    // The variable has a second name.
    let server = server(&buckets, "AWS_ENDPOINT").start();
    let client = server.client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
    let asked = buckets.asked();
    let read = asked.iter().find(|asked| asked.method == "GET").unwrap();
    assert_eq!(read.path, object(&file));
    assert!(read.is_signed(KEY, "eu-south-1"), "{read:?}");
}

#[tokio::test]
async fn while_the_bucket_is_out_of_reach_uploads_are_answered_503_and_may_be_repeated() {
    let buckets = Buckets::start().await;
    let server = server(&buckets, "AWS_ENDPOINT_URL").start();
    let client = server.client();
    buckets.set_down(true);
    let refused = upload(&client, "upload").await;
    assert!(refused.header("retry-after").is_some());
    refused.refused(503, "service_unavailable");
    assert!(buckets.objects().is_empty());
    // Everything else works without the bucket.
    client.agent().await;

    buckets.set_down(false);
    let file = id(&upload(&client, "upload").await.expect(201));
    assert_eq!(buckets.objects().keys().collect::<Vec<_>>(), [&object(&file)]);
    // The log contains the cause, which the caller does not see, but no secrets.
    let log = server.log_with("cannot serve").await;
    let line = log.lines().find(|line| line.contains("cannot serve")).unwrap();
    assert!(line.contains("S3"), "{line}");
    assert!(!log.contains(SECRET));
}
