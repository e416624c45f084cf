//! The program in `examples/reading`, run on a file and on a website. CI builds it outside the workspace too.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test fails if its surroundings do, and starts itself with a variable"
)]

#[expect(clippy::print_stdout, unreachable_pub, reason = "a separate program")]
#[path = "../../../../examples/reading/src/main.rs"]
mod reading;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, ExitCode};

/// Set if this process is the program instead of its test.
const IS_PROGRAM: &str = "RUN_READING";

fn main() -> ExitCode {
    // A child that reads documents has no environment.
    let is_child = std::env::args().nth(1).as_deref() == Some("read-worker");
    if is_child || std::env::var_os(IS_PROGRAM).is_some() {
        return reading::main().expect("it succeeds");
    }
    a_file_is_cut_into_passages();
    a_website_is_crawled();
    ExitCode::SUCCESS
}

fn run(arguments: &[&str]) -> String {
    let program = std::env::current_exe().expect("a program");
    let output = Command::new(program).args(arguments).env(IS_PROGRAM, "1").output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn a_file_is_cut_into_passages() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("reading.html");
    let prose = "Ships wait here for the tide, and pilots come aboard. ".repeat(30);
    let page = format!(
        "<!doctype html><main><h1>Harbour</h1><p>{prose}</p><h2>Fees</h2><p>{prose}</p></main>"
    );
    std::fs::write(&path, page).expect("a file");
    let printed = run(&[&path.to_string_lossy()]);
    let passages: Vec<&str> = printed.split("- ").filter(|passage| !passage.is_empty()).collect();
    let starts = passages.iter().map(|passage| passage.lines().next().unwrap_or_default());
    assert_eq!(starts.collect::<Vec<_>>(), ["# Harbour", "## Fees"], "{printed}");
}

fn a_website_is_crawled() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let start = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            let mut request = [0; 1_024];
            let count = connection.read(&mut request).expect("a request");
            let request = String::from_utf8_lossy(request.get(..count).unwrap_or_default());
            let (status, body) = match request.split(' ').nth(1) {
                Some("/") => (200, "<title>Start</title><a href=/tides>Tides</a> Welcome."),
                Some("/tides") => (200, "<title>Tides</title>They come twice a day."),
                _ => (404, ""),
            };
            let head = "content-type: text/html\r\nconnection: close\r\ncontent-length";
            let answer = format!("HTTP/1.1 {status} -\r\n{head}: {}\r\n\r\n{body}", body.len());
            connection.write_all(answer.as_bytes()).expect("the answer is sent");
        }
    });
    let printed = run(&[&start, "127.0.0.0/8"]);
    let expected =
        format!("indexed {start}\nindexed {start}tides\nFinished {{ title: Some(\"Start\") }}\n");
    assert_eq!(printed, expected);
}
