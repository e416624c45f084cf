//! Scans and pictures, read by the program that the setting `ocr.command` names.

use std::os::unix::fs::PermissionsExt;

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::program;

/// A PNG file, as far as a server looks at it.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n and what only the program reads";
const RECOGNISED: &str =
    "the page is a picture; its text was recognised (OCR) and may contain mistakes";

/// A server whose program for scans is a script.
fn server(script: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recognise");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let file = folder.path().join("cicerone.toml");
    std::fs::write(&file, format!("[ocr]\ncommand = {:?}\n", path.to_str().unwrap())).unwrap();
    let server = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap()).start();
    (server, folder)
}

/// A PDF of one page that a grey picture covers.
fn scan() -> Vec<u8> {
    let content = "q 595 0 0 842 0 0 cm /X Do Q";
    let dots: String = (0..64 * 64).map(|dot| if dot % 3 == 0 { "00" } else { "ff" }).collect();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R\
         /Resources<</XObject<</X 5 0 R>>>>>>"
            .to_owned(),
        format!("<</Length {}>>stream\n{content}\nendstream", content.len()),
        format!(
            "<</Type/XObject/Subtype/Image/Width 64/Height 64/ColorSpace/DeviceGray\
             /BitsPerComponent 8/Filter/ASCIIHexDecode/Length {}>>stream\n{dots}>\nendstream",
            dots.len() + 1
        ),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf += &format!("xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n");
    pdf += &format!("startxref\n{start}\n%%EOF\n");
    pdf.into_bytes()
}

/// The source of a file.
async fn source(client: &Client, name: &str, bytes: &[u8]) -> String {
    let agent = client.agent().await;
    let file = id(&client.upload(name, bytes).await.expect(201));
    client.source(&agent, "file", &file).await
}

#[tokio::test]
async fn scans_and_pictures_are_read_and_say_so() {
    let (server, _folder) = server("echo 'The lifeboat is called Marie.'");
    let client = server.client();
    for (name, bytes, pages) in
        [("boat.pdf", &scan()[..], json!([1])), ("boat.png", PICTURE, json!([]))]
    {
        let source = source(&client, name, bytes).await;
        let trained = client.trained(&source).await;
        assert_eq!(trained["partially_read"], Value::Null, "{trained}");
        let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        assert_eq!(documents[0]["text"], "The lifeboat is called Marie.");
        let warning = &documents[0]["warnings"][0];
        assert_eq!(warning["code"], "read_by_ocr");
        assert_eq!((&warning["message"], &warning["pages"]), (&json!(RECOGNISED), &pages));
    }
}

#[tokio::test]
async fn a_scan_that_is_not_recognised_fails_with_the_reason() {
    let (server, _folder) = server("exit 3");
    let client = server.client();
    for (name, bytes) in [("boat.pdf", &scan()[..]), ("boat.png", PICTURE)] {
        let source = source(&client, name, bytes).await;
        let reason = client.failed(&source).await["error_message"].to_string();
        assert!(reason.contains("(OCR)") && reason.contains("ended with status 3"), "{reason}");
    }
}
