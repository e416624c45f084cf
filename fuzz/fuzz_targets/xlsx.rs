//! XLSX workbooks. The input is a file, or its parts separated by NUL.
//!
//! Panics in the underlying libraries are caught, as in the child process.

#![no_main]

use std::sync::LazyLock;

use cicerone_domain::UploadType;
use cicerone_fuzz::check_file;
use cicerone_fuzz::stack::{LargeStack, let_panics_be_caught};
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<LargeStack> =
    LazyLock::new(|| LargeStack::new(|input| check_file(UploadType::Xlsx, input)));

fuzz_target!(
    init: let_panics_be_caught(),
    |input: &[u8]| READER.check(input)
);
