//! Files of unsupported types, and what to do about them.

/// How far into a file the names of its parts are searched for.
const PARTS_BYTES: usize = 64 * 1_024;

/// What a file is, by its first bytes, and what its owner can do. `None` if it is not recognised.
///
/// It is called only for files without an [`UploadType`](super::UploadType), some of which have the same first bytes.
pub fn unread_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(COMPOUND_FILE) {
        return Some(of_compound_file(bytes));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(of_archive(bytes));
    }
    let is_container = |brands: &[&[u8]]| {
        bytes.get(4..8) == Some(b"ftyp") && bytes.get(8..11).is_some_and(|b| brands.contains(&b))
    };
    if starts_with_any(bytes, &PICTURES)
        || is_container(&[b"hei", b"avi", b"mif"])
        || is_webp(bytes)
    {
        return Some(PICTURE);
    }
    if starts_with_any(bytes, &ARCHIVES) || bytes.get(257..262) == Some(b"ustar") {
        return Some(ARCHIVE);
    }
    if starts_with_any(bytes, &MEDIA) || bytes.get(4..8) == Some(b"ftyp") {
        return Some("it is an audio or video file: upload a transcript of it");
    }
    if bytes.starts_with(b"%!PS") || bytes.starts_with(b"\xc5\xd0\xd3\xc6") {
        return Some("it is a PostScript file: make a PDF of it, and upload that");
    }
    starts_with_any(bytes, &PROGRAMS).then_some("it is a program")
}

const PICTURE: &str = "it is a picture: make a searchable PDF of it (OCR), and upload that; only a server with the \
                       setting `ocr.command` reads pictures, as PNG, JPEG, TIFF or WebP";
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const PICTURES: [&[u8]; 9] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"II*\0",
    b"MM\0*",
    b"BM",
    b"\0\0\x01\0",
    b"8BPS",
    b"\0\0\0\x0cjP  ",
];
const ARCHIVES: [&[u8]; 6] =
    [b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd"];
const MEDIA: [&[u8]; 7] =
    [b"ID3", b"OggS", b"fLaC", b"RIFF", b"\x1aE\xdf\xa3", b"\xff\xfb", b"\0\0\x01\xba"];
const PROGRAMS: [&[u8]; 3] = [b"\x7fELF", b"MZ", b"\xfe\xed\xfa"];
const ARCHIVE: &str = "it is an archive: upload the files in it one by one";

fn starts_with_any(bytes: &[u8], beginnings: &[&[u8]]) -> bool {
    beginnings.iter().any(|beginning| bytes.starts_with(beginning))
}

fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// Files of office programs before 2007, by the names of their streams ([MS-DOC] 2.1, [MS-PPT] 2.1, [MS-OXMSG] 2.2.3).
fn of_compound_file(bytes: &[u8]) -> &'static str {
    let has = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(name.len()).any(|window| window == name)
    };
    if has("WordDocument") {
        "it is an old Word document (DOC): save it as DOCX or PDF, and upload that"
    } else if has("PowerPoint Document") {
        "it is an old presentation (PPT): save it as PPTX or PDF, and upload that"
    } else if has("__substg1.0_") {
        "it is an Outlook message (MSG): save it as EML or PDF, and upload that"
    } else {
        "it is in the format of an old office program: save it as PDF, and upload that"
    }
}

/// ZIP archives that are documents, by the names of their first parts.
fn of_archive(bytes: &[u8]) -> &'static str {
    let start = bytes.get(..PARTS_BYTES).unwrap_or(bytes);
    let has = |name: &[u8]| start.windows(name.len()).any(|window| window == name);
    if has(b"mimetypeapplication/vnd.oasis.opendocument.") {
        "it is an OpenDocument drawing or presentation: save it as PDF or PPTX, and upload that"
    } else if has(b"Index/Document.iwa") || has(b"index.apxl") {
        "it is a file of Pages, Numbers or Keynote: export it as PDF, and upload that"
    } else {
        ARCHIVE
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPOUND_FILE, unread_type};

    #[test]
    fn files_that_are_not_read_are_named_with_what_to_do() {
        let compound = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [COMPOUND_FILE, &[0; 100], &name].concat()
        };
        let odp = b"PK\x03\x04..mimetypeapplication/vnd.oasis.opendocument.presentation";
        for (bytes, part) in [
            (compound("WordDocument"), "save it as DOCX"),
            (compound("PowerPoint Document"), "save it as PPTX"),
            (compound("__substg1.0_0037001F"), "save it as EML"),
            (compound("Contents"), "old office program"),
            (b"\x89PNG\r\n\x1a\n\0".to_vec(), "OCR"),
            (b"\xff\xd8\xff\xe0\0".to_vec(), "OCR"),
            (b"\0\0\0\x18ftypheic".to_vec(), "OCR"),
            (b"\0\0\0\x18ftypisom".to_vec(), "video"),
            (b"RIFF\0\0\0\0WEBPVP8".to_vec(), "OCR"),
            (b"RIFF\0\0\0\0WAVEfmt".to_vec(), "audio"),
            (b"PK\x03\x04....a.txt".to_vec(), "archive"),
            (odp.to_vec(), "PPTX"),
            (b"\x1f\x8b\x08".to_vec(), "archive"),
            (b"%!PS-Adobe-3.0".to_vec(), "PDF"),
            (b"\x7fELF\x02".to_vec(), "program"),
        ] {
            let hint = unread_type(&bytes);
            assert!(hint.is_some_and(|hint| hint.contains(part)), "{part}: {hint:?}");
        }
        for bytes in [&b""[..], b"\0\x01\x02", b"words"] {
            assert_eq!(unread_type(bytes), None);
        }
    }
}
