//! DOCX files. The input is a file, or its parts separated by NUL.

#![no_main]

use std::sync::LazyLock;

use cicerone_fuzz::stack::LargeStack;
use cicerone_fuzz::{archive, check_reading};
use cicerone_ingestion::{detect_upload_type, read_docx};
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<LargeStack> = LazyLock::new(|| LargeStack::new(check));

fuzz_target!(|input: &[u8]| READER.check(input));

fn check(input: &[u8]) {
    let file = match input.starts_with(b"PK") {
        true => input.to_vec(),
        false => archive::docx(input),
    };
    // Another target checks the result; here it must only not panic on an archive.
    let _ = detect_upload_type(&file);
    if let Ok(reading) = read_docx(&file) {
        assert!(!reading.text.trim().is_empty(), "an empty text must be refused");
        assert!(reading.pages.is_empty());
        check_reading(&reading);
    }
}
