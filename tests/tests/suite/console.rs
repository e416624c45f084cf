//! The console: its files over HTTP, and its views in a real browser (`tests/console/console.sh`).

use std::path::Path;
use std::process::Command;

use cicerone_tests::scenario::id;
use cicerone_tests::{ROOT_KEY, Server};
use serde_json::json;
use tempfile::TempDir;

use crate::world::{program, server};

/// The status with which the script reports that it cannot run here.
const SKIPPED: i32 = 77;

/// The path of a file of the console on this server, as its page names it.
async fn path_of(server: &Server, file: &str) -> String {
    let answer = server.client().anonymous().get("/console").await;
    let page = answer.text();
    let end = page.find(&format!("/{file}\"")).unwrap_or_else(|| panic!("{file}: {page}"));
    let start = page[..end].rfind("console/").unwrap();
    format!("/{}/{file}", &page[start..end])
}

/// A server with these lines in the section `http` of its settings.
fn server_with(settings: &str) -> (Server, TempDir) {
    let folder = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = folder.path().join("cicerone.toml");
    std::fs::write(&file, format!("[http]\n{settings}\n")).unwrap();
    let server = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap());
    (server.start(), folder)
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere_and_has_nothing_inline() {
    let page = server().client().anonymous().get("/console").await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types lit-html",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
    assert!(!page.text().contains("//"), "{}", page.text());
    assert!(
        !page.text().contains("<style") && !page.text().contains("<script>"),
        "{}",
        page.text()
    );
}

#[tokio::test]
async fn files_are_kept_by_browsers_until_another_version_is_served() {
    let anonymous = server().client().anonymous();
    for (file, content_type) in [
        ("app.js", "text/javascript; charset=utf-8"),
        ("vendor/lit-html/directives/repeat.js", "text/javascript; charset=utf-8"),
        ("tokens.css", "text/css; charset=utf-8"),
        ("mark.svg", "image/svg+xml"),
    ] {
        let path = path_of(server(), file).await;
        let answer = anonymous.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{path}");
        let caching = answer.header("cache-control").unwrap();
        assert_eq!(caching, "public, max-age=31536000, immutable", "{path}");
        assert_eq!(answer.header("vary"), Some("accept-encoding"), "{path}");
        let head = anonymous.request("HEAD", &path).send().await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
}

#[tokio::test]
async fn other_versions_files_and_methods_are_refused() {
    let anonymous = server().client().anonymous();
    let path = path_of(server(), "app.js").await;
    for missing in [
        "/console/0000000000000000/app.js".to_owned(),
        path.replace("app.js", "vendor.json"),
        path.replace("app.js", "../../Cargo.toml"),
        path.replace("app.js", "%2e%2e/%2e%2e/Cargo.toml"),
        path.replace("/app.js", ""),
    ] {
        let answer = anonymous.get(&missing).await;
        assert_eq!(answer.status, 404, "{missing}");
    }
    for path in ["/console", path.as_str()] {
        let answer = anonymous.post_nothing(path).await;
        assert_eq!(answer.status, 405, "{path}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{path}");
    }
    let slash = anonymous.get("/console/").await;
    assert_eq!((slash.status, slash.header("location")), (308, Some("../console")));
}

#[tokio::test]
async fn browsers_that_open_the_bare_address_get_the_console() {
    let anonymous = server().client().anonymous();
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let sent = anonymous.request("GET", "/").header("Accept", browser).send().await;
    assert_eq!((sent.status, sent.header("location")), (302, Some("console")));
    assert_eq!(sent.header("vary"), Some("Accept"));
    anonymous.get("/").await.refused(404, "resource_not_found");
    let any = anonymous.request("GET", "/").header("Accept", "*/*").send().await;
    any.refused(404, "resource_not_found");
}

#[tokio::test]
async fn the_console_can_be_turned_off() {
    let (server, _folder) = server_with("console = false");
    let anonymous = server.client().anonymous();
    for path in ["/console", "/console/", "/console/folder/app.js"] {
        assert_eq!(anonymous.get(path).await.status, 404, "{path}");
    }
    let root = anonymous.request("GET", "/").header("Accept", "text/html").send().await;
    root.refused(404, "resource_not_found");
}

#[tokio::test]
async fn files_can_be_served_from_a_folder_while_they_are_changed() {
    let files = TempDir::with_prefix("cicerone-test-").unwrap();
    let write = |name: &str, text: &str| std::fs::write(files.path().join(name), text).unwrap();
    write("index.html", "first {version}");
    let (server, _folder) =
        server_with(&format!("console_folder = \"{}\"", files.path().display()));
    let anonymous = server.client().anonymous();
    assert_eq!(anonymous.get("/console").await.text(), "first folder");
    write("index.html", "second");
    write("app.js", "let one;");
    assert_eq!(anonymous.get("/console").await.text(), "second");
    let script = anonymous.get("/console/folder/app.js").await;
    assert_eq!((script.text(), script.header("cache-control")), ("let one;", Some("no-store")));
    std::fs::write(files.path().parent().unwrap().join("cicerone-console-secret"), "secret")
        .unwrap();
    for path in ["%2e%2e/cicerone-console-secret", "..%2fcicerone-console-secret", "/etc/passwd"] {
        let answer = anonymous.get(&format!("/console/folder/{path}")).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    std::fs::remove_file(files.path().parent().unwrap().join("cicerone-console-secret")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn people_can_use_it_in_a_real_browser() {
    let folder = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = folder.path().join("cicerone.toml");
    // A fast machine sends more of a visitor's requests in a minute than one person would.
    let settings = "[http]\npublic_requests_per_minute = 0\n";
    std::fs::write(&file, settings).unwrap();
    let mut server = Server::of(&program())
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .start();
    if !browse(&server, &[]) {
        return;
    }
    let client = server.client();
    let agent = client.post("/v1/agents", json!({ "name": "Book" })).await.expect(201);
    let agent = id(&agent);
    let path = format!("/v1/agents/{agent}/widgets");
    let widget = client.post(&path, json!({ "name": "Book" })).await.expect(201);
    std::fs::write(&file, format!("{settings}book_widget = {}\n", widget["token"])).unwrap();
    server.restart();
    browse(&server, &["book"]);
}

/// Runs steps of the script, by default all that need no settings. Returns false if it cannot run here.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn browse(server: &Server, steps: &[&str]) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("console/console.sh");
    let output = Command::new(script)
        .arg(format!("http://{}", server.address()))
        .args(steps)
        .env("CICERONE_API_KEY", ROOT_KEY)
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.code() == Some(SKIPPED) {
        eprint!("{}", said(&output.stderr));
        return false;
    }
    let (out, error) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains("all is well"), "{out}\n{error}");
    true
}
