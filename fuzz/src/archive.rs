//! Builds files with checksums and offset tables from their parts: in a finished file, any change
//! would be detected before the parts are read.

use std::io::{Cursor, Write as _};

use cicerone_domain::UploadType;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The separator of the parts of an input.
pub const APART: u8 = 0;

/// A kind of document that is a ZIP archive.
struct Format {
    /// The parts that come from the input, in this order.
    parts: &'static [&'static str],
    /// Parts that every document of this format has: without them the others are not found.
    fixed: &'static [(&'static str, &'static str)],
}

const DOCX: Format = Format {
    parts: &[
        "word/document.xml",
        "word/styles.xml",
        "word/numbering.xml",
        "word/footnotes.xml",
        "word/endnotes.xml",
        "word/header1.xml",
        "docProps/core.xml",
    ],
    fixed: &[
        (
            "_rels/.rels",
            r#"<Relationships><Relationship Type="r/officeDocument" Target="word/document.xml"/><Relationship Type="r/core-properties" Target="docProps/core.xml"/></Relationships>"#,
        ),
        (
            "word/_rels/document.xml.rels",
            r#"<Relationships><Relationship Type="r/styles" Target="styles.xml"/><Relationship Type="r/numbering" Target="numbering.xml"/><Relationship Type="r/footnotes" Target="footnotes.xml"/><Relationship Type="r/endnotes" Target="endnotes.xml"/><Relationship Type="r/header" Target="header1.xml"/></Relationships>"#,
        ),
    ],
};

const XLSX: Format = Format {
    parts: &[
        "xl/worksheets/sheet1.xml",
        "xl/sharedStrings.xml",
        "xl/styles.xml",
        "xl/workbook.xml",
        "xl/worksheets/sheet2.xml",
    ],
    fixed: &[
        (
            "_rels/.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
        ),
        (
            "xl/_rels/workbook.xml.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId4" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#,
        ),
        (
            "[Content_Types].xml",
            r#"<Types><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#,
        ),
    ],
};

const ODS: Format = Format {
    parts: &["content.xml", "META-INF/manifest.xml"],
    fixed: &[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")],
};

const ODT: Format = Format {
    parts: &["content.xml", "meta.xml", "META-INF/manifest.xml"],
    fixed: &[("mimetype", "application/vnd.oasis.opendocument.text")],
};

const PPTX: Format = Format {
    parts: &[
        "ppt/slides/slide1.xml",
        "ppt/notesSlides/notesSlide1.xml",
        "ppt/charts/chart1.xml",
        "docProps/core.xml",
        "ppt/presentation.xml",
    ],
    fixed: &[
        (
            "_rels/.rels",
            r#"<Relationships><Relationship Type="r/officeDocument" Target="ppt/presentation.xml"/><Relationship Type="r/core-properties" Target="docProps/core.xml"/></Relationships>"#,
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            r#"<Relationships><Relationship Id="rId1" Type="r/slide" Target="slides/slide1.xml"/></Relationships>"#,
        ),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            r#"<Relationships><Relationship Id="rId1" Type="r/notesSlide" Target="../notesSlides/notesSlide1.xml"/><Relationship Id="rId2" Type="r/chart" Target="../charts/chart1.xml"/></Relationships>"#,
        ),
    ],
};

const EPUB: Format = Format {
    parts: &["book/one.xhtml", "book/two.xhtml", "book/package.opf"],
    fixed: &[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            r#"<container><rootfiles><rootfile full-path="book/package.opf"/></rootfiles></container>"#,
        ),
    ],
};

/// A DOCX file with these parts.
pub fn docx(parts: &[u8]) -> Vec<u8> {
    DOCX.file(parts)
}

/// A file with these parts if its kind is a ZIP archive; otherwise the input itself.
pub fn file(kind: UploadType, input: &[u8]) -> Vec<u8> {
    let format = match kind {
        UploadType::Docx => DOCX,
        UploadType::Xlsx => XLSX,
        UploadType::Ods => ODS,
        UploadType::Odt => ODT,
        UploadType::Pptx => PPTX,
        UploadType::Epub => EPUB,
        UploadType::Pdf
        | UploadType::Html
        | UploadType::Text
        | UploadType::Csv
        | UploadType::Xls
        | UploadType::Rtf
        | UploadType::Eml
        | UploadType::Png
        | UploadType::Jpeg
        | UploadType::Tiff
        | UploadType::Webp => return input.to_vec(),
    };
    if input.starts_with(b"PK") { input.to_vec() } else { format.file(input) }
}

impl Format {
    /// A file with these parts, which are separated by [`APART`].
    fn file(&self, parts: &[u8]) -> Vec<u8> {
        let given = self.parts.iter().copied().zip(parts.split(|byte| *byte == APART));
        let fixed = self.fixed.iter().map(|(name, text)| (*name, text.as_bytes()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in fixed.chain(given) {
            writer.start_file(name, stored).expect("a part");
            writer.write_all(bytes).expect("its bytes");
        }
        writer.finish().expect("an archive").into_inner()
    }
}

/// A PDF file with these objects, numbered from 1; the first is the catalog. Sets the correct
/// length of streams.
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

/// The start of a stream's data, after its dictionary.
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
