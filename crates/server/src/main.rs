//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cicerone_server::main()
}
