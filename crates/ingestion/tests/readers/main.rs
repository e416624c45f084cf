//! The pool of readers, with real child processes.
#![expect(clippy::expect_used, reason = "a failed setup is a failed test")]

mod formats;
mod hostile;
mod large;
mod ocr;
mod walls;

use std::io::{Cursor, Write as _};
use std::time::Duration;

use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_ingestion::{Readers, SandboxSettings};
use url::Url;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A pool whose processes are the program of this package.
pub(crate) fn settings() -> SandboxSettings {
    SandboxSettings {
        program: env!("CARGO_BIN_EXE_cicerone-reader").into(),
        arguments: Vec::new(),
        processes: 1,
        ..SandboxSettings::default()
    }
}

/// The same program under a name of its own, to distinguish its processes from others.
pub(crate) fn settings_as(name: &str) -> SandboxSettings {
    let link = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cicerone-reader"), &link).expect("a link");
    SandboxSettings { program: link, ..settings() }
}

pub(crate) fn address() -> Url {
    Url::parse("https://guide.example/").expect("an address")
}

pub(crate) fn html(text: &str) -> Bytes {
    format!("<title>T</title><main><h1>Harbour</h1><p>{text}</p></main>").into()
}

#[tokio::test]
async fn pages_and_files_are_read() {
    let readers = Readers::new(settings());
    let page = readers.page(&address(), html("It is open."), None).await.expect("a page");
    assert_eq!(page.reading.text, "# Harbour\n\nIt is open.");
    assert_eq!(page.reading.title.as_deref(), Some("T"));
    let latin = Bytes::from_static(b"<p>caf\xe9");
    let page = readers.page(&address(), latin, Some("iso-8859-1")).await.expect("a page");
    assert_eq!(page.reading.text, "café");
    let docx = readers.file(UploadType::Docx, docx("A short stay."), None).await.expect("a file");
    assert_eq!(docx.text.trim(), "A short stay.");
    let plain = Bytes::from_static(b"plain");
    let text = readers.file(UploadType::Text, plain, None).await.expect("a text");
    assert_eq!(text.text, "plain");
    let saved = readers.file(UploadType::Html, html("It is open."), None).await;
    let saved = saved.expect("a saved page");
    assert_eq!((saved.title.as_deref(), &*saved.text), (Some("T"), "# Harbour\n\nIt is open."));
}

#[tokio::test]
async fn a_file_of_another_kind_fails_with_a_reason() {
    let readers = Readers::new(settings());
    let no_docx = readers.file(UploadType::Docx, Bytes::from_static(b"PK\x03\x04"), None).await;
    assert!(no_docx.is_err_and(|reason| !reason.to_string().contains("unexpectedly")));
    let shell = Bytes::from_static(b"<html><div id=root></div><script src=app.js></script>");
    let reason = readers.file(UploadType::Html, shell, None).await.unwrap_err().to_string();
    assert!(reason.contains("running scripts"), "{reason}");
}

#[tokio::test]
async fn more_documents_than_processes_are_all_read() {
    let readers = Readers::new(SandboxSettings { processes: 2, documents: 3, ..settings() });
    let reads = (0..20).map(|number| {
        let readers = readers.clone();
        tokio::spawn(async move {
            readers.page(&address(), html(&format!("number {number}")), None).await
        })
    });
    for (number, read) in reads.collect::<Vec<_>>().into_iter().enumerate() {
        let page = read.await.expect("no panic").expect("a page");
        assert!(page.reading.text.ends_with(&format!("number {number}")));
    }
}

#[tokio::test]
async fn idle_processes_end() {
    let idle = Duration::from_millis(200);
    let readers = Readers::new(SandboxSettings { idle, ..settings_as("idle-reader") });
    readers.page(&address(), html("x"), None).await.expect("a page");
    assert_eq!(hostile::children_of_this("(idle-reader").len(), 1);
    let is_gone = || hostile::children_of_this("(idle-reader").is_empty();
    hostile::until("the process is gone", is_gone).await;
    readers.page(&address(), html("x"), None).await.expect("a page by another process");
    drop(readers);
    hostile::until("no process outlives the pool", is_gone).await;
}

#[tokio::test]
async fn a_process_is_used_again_until_it_has_read_enough() {
    let readers = Readers::new(SandboxSettings { documents: 2, ..settings_as("used-reader") });
    let processes = || hostile::children_of_this("(used-reader");
    readers.page(&address(), html("x"), None).await.expect("a page");
    let first = processes();
    assert_eq!(first.len(), 1);
    readers.page(&address(), html("x"), None).await.expect("a page by the same process");
    hostile::until("the process has read enough", || processes().is_empty()).await;
    readers.page(&address(), html("x"), None).await.expect("a page by another");
    assert_ne!(processes(), first);
}

/// A Word document of one paragraph.
pub(crate) fn docx(text: &str) -> Bytes {
    const TYPES: &str = r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    const RELATIONSHIPS: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let main = format!(
        r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"#
    );
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in [
        ("[Content_Types].xml", TYPES),
        ("_rels/.rels", RELATIONSHIPS),
        ("word/document.xml", main.as_str()),
    ] {
        writer.start_file(name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(body.as_bytes()).expect("its body");
    }
    writer.finish().expect("an archive").into_inner().into()
}
