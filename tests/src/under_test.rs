//! The program under test.
fn main() {}
