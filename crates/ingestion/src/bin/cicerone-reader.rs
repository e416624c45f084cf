//! A program that only reads documents, for tests and for services whose program does not call `serve_reader`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cicerone_ingestion::serve_reader()
}
