//! The script of the widget, which pages of any origin load.

use cicerone_tests::raw::exchange;
use cicerone_tests::{Answer, Server};

use crate::world::{client, program};

#[track_caller]
fn assert_script(answer: &Answer, caching: &str) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    for (name, value) in [
        ("content-type", "text/javascript; charset=utf-8"),
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("x-content-type-options", "nosniff"),
        ("vary", "accept-encoding"),
        ("cache-control", caching),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn the_script_is_asked_for_each_time_and_sent_once() {
    let client = client().anonymous();
    let script = client.get("/widget.js").await;
    assert_script(&script, "no-cache");
    assert!(script.text().contains("window.cicerone"));
    let tag = script.header("etag").unwrap();
    for known in [tag, "*", &format!("\"other\", {tag}"), tag.trim_start_matches("W/")] {
        let again = client.request("GET", "/widget.js").header("If-None-Match", known).send().await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag));
        assert_eq!(again.header("cache-control"), Some("no-cache"));
        assert_eq!(again.header("access-control-allow-origin"), Some("*"));
    }
    for other in ["\"other\"", "W/\"\"", "nonsense"] {
        let again = client.request("GET", "/widget.js").header("If-None-Match", other).send().await;
        assert_script(&again, "no-cache");
    }
    // Over a raw connection, since the client unpacks what it reads.
    let ask =
        "GET /widget.js HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let zipped = exchange(client.address(), ask).await.to_lowercase();
    assert!(zipped.contains("content-encoding: gzip"), "{zipped}");
    let (_, length) = zipped.split_once("content-length: ").unwrap();
    let length: usize = length.split_once('\r').unwrap().0.parse().unwrap();
    assert!(length <= 10 * 1_024, "{length} bytes");
    let head = client.request("HEAD", "/widget.js").send().await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    client.post_nothing("/widget.js").await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn the_script_of_a_version_never_changes() {
    let client = client().anonymous();
    let script = client.get("/widget.js").await;
    let version = script.header("etag").unwrap().trim_start_matches("W/").replace('"', "");
    let fixed = client.get(&format!("/widget/{version}/widget.js")).await;
    assert_script(&fixed, "public, max-age=31536000, immutable");
    assert_eq!(fixed.body, script.body);
    for path in
        ["/widget/0000000000000000/widget.js", "/widget/x/widget.js", "/widget/..%2f/widget.js"]
    {
        client.get(path).await.refused(404, "resource_not_found");
    }
    let other = client.get(&format!("/widget/{version}/style.css")).await;
    other.refused(404, "resource_not_found");
}

#[tokio::test]
async fn turned_off_there_is_no_script() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nwidgets = false\n").unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let client = server.client().anonymous();
    for path in ["/widget.js", "/widget/x/widget.js"] {
        client.get(path).await.refused(404, "resource_not_found");
    }
}
