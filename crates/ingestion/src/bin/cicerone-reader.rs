//! A program that only reads documents: for services whose own program does not call `serve_reader`,
//! and for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    cicerone_ingestion::serve_reader()
}
