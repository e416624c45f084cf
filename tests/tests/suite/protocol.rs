//! Rules for all requests: routes, methods, bodies, headers, and input that is not a request.

use std::time::{Duration, Instant};

use cicerone_tests::raw::{self, Connection};
use cicerone_tests::{ROOT_KEY, Server};
use serde_json::{Value, json};

use crate::world::{NO_AGENT, client, eventually, program, server};

#[tokio::test]
async fn an_unknown_route_is_not_found() {
    for path in ["/", "/v1", "/v1/", "/v1/agent", "/v2/agents", "/v1/agents/a/b/c", "/v1/Agents"] {
        client().get(path).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_wrong_method_is_refused_with_those_that_are_right() {
    let cases = [
        ("PUT", "/v1/agents", vec!["GET", "POST"]),
        ("DELETE", "/v1/agents", vec!["GET", "POST"]),
        ("POST", "/v1/agents/agent_0000000000", vec!["GET", "PATCH", "DELETE"]),
        ("GET", "/v1/files", vec!["POST"]),
        ("PATCH", "/v1/files/file_0000000000", vec!["GET", "DELETE"]),
        ("PATCH", "/v1/agents/agent_0000000000/sources", vec!["GET", "POST"]),
        ("POST", "/v1/sources/src_0000000000", vec!["GET", "DELETE"]),
        ("GET", "/v1/sources/src_0000000000/refresh", vec!["POST"]),
        ("POST", "/v1/sources/src_0000000000/pages", vec!["GET"]),
        ("POST", "/v1/sources/src_0000000000/documents", vec!["GET"]),
        ("POST", "/v1/sources/src_0000000000/passages", vec!["GET"]),
        ("GET", "/v1/agents/agent_0000000000/search", vec!["POST"]),
        ("GET", "/v1/conversations", vec!["POST"]),
        ("PATCH", "/v1/conversations/conv_0000000000", vec!["GET", "DELETE"]),
        ("POST", "/v1/agents/agent_0000000000/conversations", vec!["GET"]),
        ("POST", "/v1/openapi.json", vec!["GET"]),
        ("POST", "/healthz", vec!["GET"]),
    ];
    for (method, path, allowed) in cases {
        let answer = client().request(method, path).send().await;
        assert_eq!(answer.status, 405, "{method} {path}: {}", answer.text());
        answer.refused(405, "method_not_allowed");
        let allow = answer.header("allow").unwrap();
        let listed: Vec<&str> = allow.split(',').map(str::trim).collect();
        for method in allowed {
            assert!(listed.contains(&method), "{path} allows {method}: `{allow}`");
        }
        assert!(!listed.contains(&method), "{path} does not allow {method}: `{allow}`");
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_json_object_is_refused() {
    let bodies = [
        "",
        " ",
        "{",
        "{\"name\": \"Guide\"",
        "[]",
        "\"Guide\"",
        "null",
        "7",
        "{\"name\":\u{1}}",
        "{} {}",
    ];
    for body in bodies {
        let request = client().request("POST", "/v1/agents").raw("application/json", body);
        let answer = request.send().await;
        assert_eq!(answer.status, 400, "{body:?} was answered {}", answer.text());
        answer.refused(400, "invalid_parameter");
    }
}

#[tokio::test]
async fn a_body_that_is_not_utf8_is_refused() {
    let body = b"{\"name\": \"\xff\xfe\"}".to_vec();
    let request = client().request("POST", "/v1/agents").raw("application/json", body);
    request.send().await.refused(400, "invalid_parameter");
    // Half of a surrogate pair is not a valid character.
    let request = client().request("POST", "/v1/agents");
    let answer = request.raw("application/json", "{\"name\": \"\\ud83e\"}").send().await;
    answer.refused(400, "invalid_parameter");
}

#[tokio::test]
async fn nesting_without_end_is_refused() {
    let body = format!("{{\"name\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let request = client().request("POST", "/v1/agents").raw("application/json", body);
    request.send().await.refused(400, "invalid_parameter");
}

#[tokio::test]
async fn another_content_type_than_json_is_refused() {
    let body = json!({ "name": "Guide" }).to_string();
    for content_type in
        ["text/plain", "application/x-www-form-urlencoded", "application/xml", "json"]
    {
        let request = client().request("POST", "/v1/agents").raw(content_type, body.clone());
        request.send().await.refused(415, "unsupported_media_type");
    }
    let path = format!("/v1/agents/{NO_AGENT}");
    let request = client().request("PATCH", &path).raw("text/plain", body);
    request.send().await.refused(415, "unsupported_media_type");
}

#[tokio::test]
async fn json_may_name_its_charset() {
    let body = json!({ "name": "Guide" }).to_string();
    for content_type in ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8"] {
        let request = client().request("POST", "/v1/agents").raw(content_type, body.clone());
        request.send().await.expect(201);
    }
}

#[tokio::test]
async fn a_body_without_a_content_type_is_refused() {
    let key = client().key().unwrap().to_owned();
    let request = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: 16\r\nConnection: close\r\n\r\n{{\"name\":\"Guide\"}}"
    );
    let answer = raw::exchange(server().address(), request).await;
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
    assert!(answer.contains("unsupported_media_type"), "{answer}");
}

#[tokio::test]
async fn a_body_beyond_any_request_is_refused() {
    let body = json!({ "name": "x".repeat(9 * 1_024 * 1_024) });
    client().post("/v1/agents", body).await.refused(413, "payload_too_large");
    // The same if the length of the body is not known in advance.
    let huge = "x".repeat(9 * 1_024 * 1_024);
    let key = client().key().unwrap().to_owned();
    let mut connection = Connection::open(server().address()).await;
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    connection.send(head).await;
    connection.send(format!("{:x}\r\n{huge}", huge.len())).await;
    let answer = connection.read_until("payload_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_body_whose_chunks_are_mostly_padding_is_cut_off() {
    let key = client().key().unwrap().to_owned();
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let extension = format!("1;{}\r\n \r\n", "x".repeat(4_000));
    let zeros = format!("{}1\r\n \r\n", "0".repeat(4_000));
    for piece in [extension, zeros] {
        let mut connection = Connection::open(server().address()).await;
        connection.send(&head).await;
        let (sent, answer) = connection.flood(piece.as_bytes(), 256 * 1_024 * 1_024).await;
        // What the operating systems have taken is included.
        assert!(sent < 16 * 1_024 * 1_024, "{sent} bytes: {answer}");
    }
    // Chunks of one byte are no padding.
    let body = format!("{{\"name\":\"Guide\",\"x\":\"{}\"}}", "x".repeat(100_000));
    let chunks: String = body.chars().map(|byte| format!("1\r\n{byte}\r\n")).collect();
    let mut connection = Connection::open(server().address()).await;
    connection.send(format!("{head}{chunks}0\r\n\r\n")).await;
    let answer = connection.read_until("created_at").await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

#[tokio::test]
async fn the_largest_text_fits_however_it_is_escaped() {
    let agent = client().agent().await;
    let escaped = "\\ud83e\\udd80".repeat(100_000);
    let body = format!("{{\"type\":\"text\",\"content\":\"{escaped}\"}}");
    let path = format!("/v1/agents/{agent}/sources");
    let source = client().request("POST", &path).raw("application/json", body).send().await;
    let content = source.expect(201)["content"].as_str().unwrap().to_owned();
    assert_eq!(content, "🦀".repeat(100_000));
}

#[tokio::test]
async fn what_is_not_http_is_answered_or_cut_off_and_harms_nobody() {
    let requests: [&[u8]; 7] = [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /v1/agents HTTP/9.9\r\n\r\n",
        b"GET /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /v1/agents HTTP/1.1\r\nno colon\r\n\r\n",
    ];
    for request in requests {
        let mut connection = Connection::open(server().address()).await;
        connection.send(request).await;
        drop(connection);
    }
    let head = format!("GET /v1/agents HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    let mut connection = Connection::open(server().address()).await;
    connection.send(&head[..60_000]).await;
    drop(connection);
    client().get("/v1/agents?page_size=1").await.expect(200);
}

#[tokio::test]
async fn a_malformed_request_is_refused_in_the_shape_of_every_refusal() {
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: x\r\n".repeat(200));
    let second = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nno request\r\n\r\n";
    let requests = [
        (400, "GET /v1/agents HTTP/1.1\r\nno colon\r\n\r\n"),
        (400, "GET /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\n"),
        (400, second),
        (431, &long),
        (431, &many),
    ];
    for (status, request) in requests {
        let answer = raw::exchange(server().address(), request).await;
        let begin = answer.rfind("HTTP/1.1 ").unwrap_or_else(|| panic!("no answer: `{answer}`"));
        let answer = &answer[begin..];
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"]["code"], "invalid_parameter", "{answer}");
        let id = body["error"]["request_id"].as_str().unwrap();
        assert!(head.contains(&format!("x-request-id: {id}")), "{answer}");
        assert!(head.contains("cache-control: no-store"), "{answer}");
    }
}

#[tokio::test]
async fn a_head_that_does_not_arrive_in_time_is_refused_on_every_request_of_a_connection() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nhead_seconds = 1\n").unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    for before in ["", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"] {
        let mut connection = Connection::open(server.address()).await;
        if !before.is_empty() {
            connection.send(before).await;
            connection.read_until("ok").await;
        }
        connection.send("GET /healthz HTTP/1.1\r\nHost:").await;
        let answer = connection.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("\"request_id\":\"req_"), "{answer}");
    }
    // A connection that has sent nothing gets no answer.
    let silent = Connection::open(server.address()).await.read_to_end().await;
    assert_eq!(silent, "");
}

#[tokio::test]
async fn answers_to_a_key_and_refusals_are_kept_by_nobody() {
    let client = client();
    let agent = client.agent().await;
    let private = [
        client.get("/v1/agents?page_size=1").await,
        client.get(&format!("/v1/agents/{agent}")).await,
        client.get("/v1/agents/7").await,
        client.post("/v1/agents", json!({ "name": "Guide" })).await,
        client.anonymous().get("/v1/agents").await,
        client.get("/nowhere").await,
    ];
    for answer in private {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", answer.text());
    }
    for path in ["/v1/openapi.json", "/docs"] {
        assert_eq!(client.anonymous().get(path).await.header("cache-control"), None, "{path}");
    }
}

#[tokio::test]
async fn millions_of_values_in_a_body_take_no_more_memory_than_the_body() {
    let server = crate::world::own_server();
    let client = server.client();
    client.post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
    let before = server.resident_bytes();
    let values = "1,".repeat(4 * 1_024 * 1_024 - 100);
    for body in [
        format!("{{\"name\": \"Guide\", \"x\": [{values}1]}}"),
        format!(
            "{{\"name\": \"Guide\", \"x\": {}{}}}",
            "[".repeat(4_000_000),
            "]".repeat(4_000_000)
        ),
    ] {
        let request = client.request("POST", "/v1/agents").raw("application/json", body);
        request.send().await.expect(201);
    }
    let members: String = (0..400_000).map(|n| format!("\"k{n}\":{n},")).collect();
    let body = format!("{{{members}\"name\": \"Guide\"}}");
    let request = client.request("POST", "/v1/agents").raw("application/json", body);
    request.send().await.refuses(400, "invalid_parameter", "body");
    let raised = server.peak_bytes().saturating_sub(before);
    assert!(raised < 64 * 1_024 * 1_024, "{raised} bytes");
}

#[tokio::test]
async fn a_path_that_is_not_utf8_is_not_found() {
    for path in ["/v1/agents/%ff%fe", "/v1/agents/%00", "/v1/agents/..%2f..%2fetc"] {
        client().get(path).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_path_with_other_slashes_or_capitals_has_no_route() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}");
    client.get(&path).await.expect(200);
    client.get(&path.replace("agents", "%61gents")).await.expect(200);
    for other in [
        format!("{path}/"),
        format!("/{path}"),
        path.replace("/agents/", "/agents//"),
        path.replace("/agents/", "/agents%2F"),
        path.replace("/v1/", "/V1/"),
        format!("{path}/sources/"),
        "/v1/agents//sources".to_owned(),
        "/v1/conversations//messages".to_owned(),
        "/v1/agents/".to_owned(),
        "/".to_owned(),
    ] {
        // Without a key, a route would answer with 401.
        client.anonymous().get(&other).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_query_that_is_malformed_is_refused() {
    client().get("/v1/agents?page_size=%ff").await.refuses(400, "invalid_parameter", "page_size");
    client().get("/v1/agents?page_size=1&page_size=2").await.refused(400, "invalid_parameter");
}

#[tokio::test]
async fn query_parameters_that_the_service_does_not_know_are_ignored() {
    client().get("/v1/agents?colour=green&page_size=1").await.expect(200);
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let mut seen = std::collections::BTreeSet::new();
    for path in
        ["/v1/agents?page_size=1", "/v1/agents/7", "/nowhere", "/healthz", "/v1/openapi.json"]
    {
        for _ in 0..2 {
            assert!(seen.insert(client().get(path).await.request_id().to_owned()), "{path}");
        }
    }
}

#[tokio::test]
async fn a_stream_over_http_1_0_has_no_chunks_and_ends_with_the_connection() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    let body = json!({
        "agent_id": agent, "message": "When does the museum open?", "stream": true,
    })
    .to_string();
    let head = format!("Host: test\r\nAuthorization: Bearer {ROOT_KEY}\r\n");
    let message = format!(
        "POST /v1/conversations HTTP/1.0\r\n{head}Connection: keep-alive\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let path = format!("/v1/agents/{agent}/conversations/export");
    let export = format!("GET {path} HTTP/1.0\r\n{head}\r\n");
    for (request, start, end) in [(message, "event: ", "}\n\n"), (export, "{", "}\n")] {
        let answer = raw::exchange(client.address(), request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.0 200 OK\r\n"), "{head}");
        let head = head.to_ascii_lowercase();
        assert!(!head.contains("transfer-encoding") && !head.contains("keep-alive"), "{head}");
        assert!(body.starts_with(start) && body.ends_with(end), "{body}");
    }
}

#[tokio::test]
async fn head_is_answered_like_get_without_its_body() {
    let head = client().request("HEAD", "/v1/agents").send().await;
    let get = client().get("/v1/agents").await;
    assert_eq!((head.status, get.status), (200, 200));
    assert!(head.body.is_empty() && !get.body.is_empty());
    assert_eq!(head.header("content-type"), get.header("content-type"));
    let head = client().request("HEAD", &format!("/v1/agents/{NO_AGENT}")).send().await;
    assert_eq!((head.status, head.body.len()), (404, 0));
    assert_eq!(client().request("HEAD", "/v1/conversations").send().await.status, 405);
}

#[tokio::test]
async fn a_long_answer_is_compressed_for_those_who_ask() {
    let client = client();
    let agent = client.agent().await;
    client.source(&agent, "text", &"The museum opens at nine. ".repeat(400)).await;
    let path = format!("/v1/agents/{agent}/sources");
    // The client decompresses the body and drops the header, so a raw connection is used.
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nAccept-Encoding: gzip\r\n\
         Connection: close\r\n\r\n",
        client.key().unwrap()
    );
    let answer = raw::exchange(server().address(), request).await;
    assert!(answer.to_ascii_lowercase().contains("content-encoding: gzip"), "{answer:.600}");
    let page: Value = client.get(&path).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_body_that_never_comes_is_not_waited_for_without_end() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nbody_seconds = 1\n").unwrap();
    let builder = cicerone_tests::Server::of(&program());
    let server = builder.env("CICERONE_CONFIG", file.to_str().unwrap()).start();
    let key = server.client().key().unwrap().to_owned();
    let mut connection = Connection::open(server.address()).await;
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"name\":"
    );
    connection.send(head).await;
    let answer = connection.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("did not arrive in time"), "{answer}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_others_end() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    let settings = "[http]\nthreads = 1\nconnections_at_once = 2\nhead_seconds = 2\n";
    std::fs::write(&file, settings).unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(server.address()).await;
        connection.send("GET /healthz HTTP/1.1\r\n").await;
        slow.push(connection);
    }
    eventually("the server has taken both", async || server.accepted() == 2).await;
    let began = Instant::now();
    server.client().get("/v1/agents").await.expect(200);
    assert!(began.elapsed() > Duration::from_secs(1), "a third is accepted after one is closed");
}
