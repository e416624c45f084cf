//! OpenDocument texts. The input is a file, or its parts separated by NUL.

#![no_main]

use std::sync::LazyLock;

use cicerone_domain::UploadType;
use cicerone_fuzz::check_file;
use cicerone_fuzz::stack::LargeStack;
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<LargeStack> =
    LazyLock::new(|| LargeStack::new(|input| check_file(UploadType::Odt, input)));

fuzz_target!(|input: &[u8]| READER.check(input));
