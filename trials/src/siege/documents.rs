//! Documents built from scratch: PDF files with given pages, fonts and contents, and DOCX files
//! with a given text.

use std::io::{Cursor, Write as _};

use anyhow::Context as _;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Strokes in the one content that all pages of a slow file share.
const STROKES: usize = 5_000;

/// A PDF file.
#[derive(Debug, Default)]
pub(super) struct Pdf {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
}

impl Pdf {
    /// A file without pages.
    pub(super) fn new() -> Self {
        // The catalogue and the page tree are written at the end.
        Self { objects: vec![Vec::new(), Vec::new()], pages: Vec::new() }
    }

    /// Adds an object. Returns its number.
    pub(super) fn object(&mut self, text: impl Into<Vec<u8>>) -> usize {
        self.objects.push(text.into());
        self.objects.len()
    }

    /// Adds a compressed stream. Returns its number.
    pub(super) fn stream(&mut self, content: &[u8]) -> anyhow::Result<usize> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).context("compressing")?;
        let packed = encoder.finish().context("compressing")?;
        let mut object =
            format!("<</Length {}/Filter/FlateDecode>>stream\n", packed.len()).into_bytes();
        object.extend_from_slice(&packed);
        object.extend_from_slice(b"\nendstream");
        Ok(self.object(object))
    }

    /// Adds a page with a content and further entries of its dictionary.
    pub(super) fn page(&mut self, content: usize, further: &str) {
        let number = self.object(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {content} 0 R{further}>>"
        ));
        self.pages.push(number);
    }

    /// The file.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        let kids: Vec<_> = self.pages.iter().map(|number| format!("{number} 0 R")).collect();
        let tree = format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), kids.len());
        for (object, text) in self.objects.iter_mut().zip(["<</Type/Catalog/Pages 2 0 R>>", &tree])
        {
            *object = text.as_bytes().to_vec();
        }
        let mut file = b"%PDF-1.4\n".to_vec();
        let mut places = Vec::new();
        for (index, object) in self.objects.iter().enumerate() {
            places.push(file.len());
            file.extend_from_slice(format!("{} 0 obj\n", index + 1).as_bytes());
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let start = file.len();
        let size = places.len() + 1;
        file.extend_from_slice(format!("xref\n0 {size}\n0000000000 65535 f \n").as_bytes());
        for place in places {
            file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
        }
        let trailer = format!("trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
        file.extend_from_slice(trailer.as_bytes());
        file
    }
}

/// A small file with many pages that share one content of very many strokes.
pub(super) fn slow_pdf(pages: usize) -> anyhow::Result<Vec<u8>> {
    let mut pdf = Pdf::new();
    let font = pdf.object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
    let strokes = "0 0 m 1 1 l S\n".repeat(STROKES);
    let content = pdf.stream(strokes.as_bytes())?;
    for _ in 0..pages {
        pdf.page(content, &format!("/Resources<</Font<</F {font} 0 R>>>>"));
    }
    Ok(pdf.bytes())
}

/// A DOCX file with this in its body.
pub(super) fn docx(body: &str) -> anyhow::Result<Vec<u8>> {
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document \
         xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}\
         </w:body></w:document>"
    );
    let parts = [
        (
            "[Content_Types].xml",
            "<?xml version=\"1.0\"?><Types \
             xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default \
             Extension=\"rels\" \
             ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override \
             PartName=\"/word/document.xml\" \
             ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>\
             </Types>",
        ),
        (
            "_rels/.rels",
            "<?xml version=\"1.0\"?><Relationships \
             xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
             Id=\"rId1\" \
             Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
             Target=\"word/document.xml\"/></Relationships>",
        ),
        ("word/document.xml", document.as_str()),
    ];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(name, SimpleFileOptions::default()).context("writing an archive")?;
        writer.write_all(text.as_bytes()).context("writing an archive")?;
    }
    Ok(writer.finish().context("writing an archive")?.into_inner())
}
