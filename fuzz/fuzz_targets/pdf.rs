//! PDF files. The input is a file, or its objects separated by NUL.
//!
//! Panics in the two underlying libraries are caught, as in the child process. It is known that
//! they abort on some files, which is why there is a child process.

#![no_main]

use std::sync::LazyLock;

use cicerone_fuzz::stack::{LargeStack, let_panics_be_caught};
use cicerone_fuzz::{archive, check_reading};
use cicerone_ingestion::read_pdf;
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<LargeStack> = LazyLock::new(|| LargeStack::new(check));

fuzz_target!(
    init: let_panics_be_caught(),
    |input: &[u8]| READER.check(input)
);

fn check(input: &[u8]) {
    let file = match input.starts_with(b"%PDF-") {
        true => input.to_vec(),
        false => archive::pdf(input),
    };
    if let Ok(reading) = read_pdf(&file) {
        assert!(!reading.text.trim().is_empty(), "a file without text must be refused");
        assert_eq!(reading.pages.first(), Some(&0), "the first page must begin at 0");
        check_reading(&reading);
    }
}
