//! Text files: their encoding, their type, and the documents made of them.

#![no_main]

use cicerone_domain::UploadType;
use cicerone_fuzz::{check_extracted, check_reading};
use cicerone_ingestion::{Material, Reading, decode, detect_upload_type, extract};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let kind = detect_upload_type(bytes);
    let Ok(text) = decode(bytes) else {
        assert_ne!(kind, Some(UploadType::Text), "detected as text but not readable");
        return;
    };
    assert!(!text.contains('\0'));
    if !text.starts_with('\u{feff}') {
        assert_eq!(decode(text.as_bytes()).as_ref(), Ok(&text), "decoding is not stable");
    }
    if let Ok(extracted) = extract(Material::Text(&text)) {
        check_extracted(&extracted, 0);
    }
    // Few texts are valid pairs; none may cause a panic.
    let _ = extract(Material::Pairs(&text));
    check_reading(&Reading::plain(text));
});
