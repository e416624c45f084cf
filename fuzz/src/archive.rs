//! Files with checksums and tables of places, put together from their parts: a change anywhere in a finished one would
//! be noticed before the parts are looked at.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What stands between the parts of an input.
pub const APART: u8 = 0;

/// The parts of a DOCX that an input gives, in this order.
const PARTS: [&str; 7] = [
    "word/document.xml",
    "word/styles.xml",
    "word/numbering.xml",
    "word/footnotes.xml",
    "word/endnotes.xml",
    "word/header1.xml",
    "docProps/core.xml",
];
/// Where a DOCX says what its parts are.
const RELATIONSHIPS: [(&str, &str); 2] = [
    (
        "_rels/.rels",
        r#"<Relationships><Relationship Type="r/officeDocument" Target="word/document.xml"/><Relationship Type="r/core-properties" Target="docProps/core.xml"/></Relationships>"#,
    ),
    (
        "word/_rels/document.xml.rels",
        r#"<Relationships><Relationship Type="r/styles" Target="styles.xml"/><Relationship Type="r/numbering" Target="numbering.xml"/><Relationship Type="r/footnotes" Target="footnotes.xml"/><Relationship Type="r/endnotes" Target="endnotes.xml"/><Relationship Type="r/header" Target="header1.xml"/></Relationships>"#,
    ),
];

/// A DOCX of these parts.
pub fn docx(parts: &[u8]) -> Vec<u8> {
    let given = PARTS.into_iter().zip(parts.split(|byte| *byte == APART));
    let fixed = RELATIONSHIPS.into_iter().map(|(name, text)| (name, text.as_bytes()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in fixed.chain(given) {
        writer.start_file(name, stored).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// A PDF of these objects, numbered from 1; the first is the catalog. Streams are given the length that they have.
pub fn pdf(objects: &[u8]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (object, number) in objects.split(|byte| *byte == APART).zip(1..) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").bytes());
        push_object(&mut file, object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    let count = places.len() + 1;
    file.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let trailer =
        format!("trailer\n<</Size {count}/Root 1 0 R/Info 3 0 R>>\nstartxref\n{table}\n%%EOF\n");
    file.extend(trailer.bytes());
    file
}

/// What begins the data of a stream, behind its dictionary.
const STREAM: &[u8] = b">>stream\n";

fn push_object(file: &mut Vec<u8>, object: &[u8]) {
    let Some(at) = object.windows(STREAM.len()).position(|window| window == STREAM) else {
        file.extend(object);
        return;
    };
    let (dictionary, data) = (&object[..at], &object[at + STREAM.len()..]);
    file.extend(dictionary);
    file.extend(format!("/Length {}", data.len()).bytes());
    file.extend(STREAM);
    file.extend(data);
    file.extend(b"\nendstream");
}
