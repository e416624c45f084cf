//! Checks question/answer pairs from standard input as the service would, before they are sent:
//! `cargo run -p cicerone-domain --example check_pairs < pairs.json`

use std::io::Read as _;
use std::process::ExitCode;

use cicerone_domain::{Error, source};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]
fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("reading standard input: {error}");
        return ExitCode::FAILURE;
    }
    match source::qa_pairs(&text) {
        Ok(pairs) => {
            println!("{} pairs, all good", pairs.len());
            ExitCode::SUCCESS
        }
        Err(Error::Validation { errors, .. }) => {
            for finding in errors {
                println!("{}: {}", finding.param, finding.message);
            }
            ExitCode::FAILURE
        }
        Err(other) => {
            eprintln!("{other}");
            ExitCode::FAILURE
        }
    }
}
