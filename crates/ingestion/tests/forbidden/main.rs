//! What code could do that runs in a parser: a child puts up the walls of a reader and tries
//! forbidden system calls one after the other. Each must fail as forbidden and change nothing.
//!
//! The same calls are first tried without walls, to show that they would reach something.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::expect_used, clippy::print_stdout, reason = "a failed setup is a failed test")
)]

#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod trial;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    trial::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
