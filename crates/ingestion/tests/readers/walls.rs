//! What a reader is forbidden, as the system sees it.

use std::collections::HashMap;

use cicerone_ingestion::{Readers, SandboxSettings};

use crate::hostile::children_of_this;
use crate::{address, html, settings_as};

#[tokio::test]
async fn a_reader_has_no_environment_no_files_and_bounded_memory() {
    let memory = 999 * 1024 * 1024;
    let readers = Readers::new(SandboxSettings { memory, ..settings_as("walled-reader") });
    readers.page(&address(), html("x"), None).await.expect("a page");
    let id = children_of_this("(walled-reader").pop().expect("the reader, with nothing to do");

    let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).expect("its limits");
    let limits: HashMap<&str, &str> =
        limits.lines().map(|line| (line[..26].trim(), line[26..].trim())).collect();
    let expected = [
        ("Max address space", memory.to_string()),
        ("Max file size", "0".to_owned()),
        ("Max core file size", "0".to_owned()),
        ("Max open files", "16".to_owned()),
    ];
    for (name, value) in expected {
        assert!(limits[name].starts_with(&format!("{value} ")), "{name}: {}", limits[name]);
    }
    assert!(!limits["Max cpu time"].starts_with("unlimited"));

    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("its status");
    assert!(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"), "{status}");
    let environment = std::fs::read(format!("/proc/{id}/environ"));
    assert!(environment.map_or(true, |environment| environment.is_empty()));
    let folder = std::fs::read_link(format!("/proc/{id}/cwd"));
    assert!(folder.map_or(true, |folder| folder == std::path::Path::new("/")));
}
