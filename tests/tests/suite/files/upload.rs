//! `POST /v1/files`.

use cicerone_tests::answer::{is_id, is_timestamp};

use crate::coverage::Covers;
use crate::world::client;

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/files",
    cases: &[
        ("201", a_text_file_is_stored_and_described),
        ("400 missing_required_field", a_body_without_the_part_is_refused),
        ("400 invalid_parameter", a_multipart_body_that_is_malformed_is_refused),
        ("415 unsupported_media_type", a_body_that_is_not_multipart_is_refused),
        ("422 validation_error", files_of_other_types_are_refused),
    ],
};

/// The largest file, in bytes.
const LIMIT: usize = 10 * 1_024 * 1_024;

#[tokio::test]
async fn a_text_file_is_stored_and_described() {
    let file = client().upload("hours.txt", "The museum opens at nine.").await.expect(201);
    assert!(is_id(file["id"].as_str().unwrap(), "file_"), "{file}");
    assert!(is_timestamp(file["created_at"].as_str().unwrap()), "{file}");
    assert_eq!(file["filename"], "hours.txt");
    assert_eq!(file["content_type"], "text/plain");
    assert_eq!(file["bytes"], 25);
    assert_eq!(file.as_object().unwrap().len(), 5, "{file}");
}

#[tokio::test]
async fn a_pdf_is_known_by_its_content_whatever_its_name() {
    let file = client().upload("hours.txt", "%PDF-1.7\n%\u{e2}\n1 0 obj\n").await.expect(201);
    assert_eq!(file["content_type"], "application/pdf");
    assert_eq!(file["filename"], "hours.txt");
}

#[tokio::test]
async fn a_page_is_known_by_its_content_whatever_its_name() {
    let page = "<!doctype html><title>Hours</title><p>The museum opens at nine.";
    let file = client().upload("hours.txt", page).await.expect(201);
    assert_eq!(file["content_type"], "text/html");
}

#[tokio::test]
async fn a_docx_is_known_by_its_content_whatever_its_name() {
    let file = client().upload("hours", minimal_docx()).await.expect(201);
    let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    assert_eq!(file["content_type"], docx);
}

#[tokio::test]
async fn a_text_is_known_by_its_content_whatever_its_name() {
    let file = client().upload("hours.pdf", "The museum opens at nine.").await.expect(201);
    assert_eq!(file["content_type"], "text/plain");
}

#[tokio::test]
async fn texts_in_other_encodings_are_texts() {
    let utf16: Vec<u8> =
        "\u{feff}Das Museum öffnet um neun.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = b"Das Museum \xf6ffnet um neun. Gr\xfc\xdfe aus K\xf6ln.".to_vec();
    for bytes in [utf16, latin] {
        let file = client().upload("hours.txt", bytes).await.expect(201);
        assert_eq!(file["content_type"], "text/plain");
    }
}

#[tokio::test]
async fn a_filename_keeps_its_last_part_only() {
    let file = client().upload("../../etc/führer.txt", "The museum opens at nine.").await;
    assert_eq!(file.expect(201)["filename"], "führer.txt");
}

#[tokio::test]
async fn a_filename_with_quotation_marks_arrives_as_browsers_encode_it() {
    let file = client().upload("%22new%22%0D%0A 50%.txt", "The museum opens at nine.").await;
    assert_eq!(file.expect(201)["filename"], "\"new\" 50%.txt");
}

#[tokio::test]
async fn an_empty_file_is_refused() {
    client().upload("hours.txt", "").await.refused(422, "validation_error");
}

#[tokio::test]
async fn files_of_other_types_are_refused() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec();
    let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0".to_vec();
    let zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    for (name, bytes) in [("a.txt", elf), ("a.docx", zip)] {
        client().upload(name, bytes).await.refused(422, "validation_error");
    }
    let refused = client().upload("a.png", png).await.refused(422, "validation_error");
    assert!(refused.to_string().contains("setting `ocr.command`"), "{refused}");
}

#[tokio::test]
async fn a_file_of_10_mib_is_taken_and_one_byte_more_is_refused() {
    let line = "The museum opens at nine, and the café too.\n";
    let mut bytes = line.repeat(LIMIT / line.len() + 1).into_bytes();
    bytes.truncate(LIMIT);
    let file = client().upload("large.txt", bytes.clone()).await.expect(201);
    assert_eq!(file["bytes"], LIMIT);
    bytes.push(b'x');
    client().upload("large.txt", bytes).await.refused(422, "validation_error");
}

#[tokio::test]
async fn a_body_without_the_part_is_refused() {
    let request = client().request("POST", "/v1/files").part("document", "a.txt", b"text".to_vec());
    request.send().await.refuses(400, "missing_required_field", "file");
}

#[tokio::test]
async fn a_body_that_is_not_multipart_is_refused() {
    let request = client().request("POST", "/v1/files").raw("application/json", "{}");
    request.send().await.refused(415, "unsupported_media_type");
    let request = client().request("POST", "/v1/files").raw("text/plain", "The museum");
    request.send().await.refused(415, "unsupported_media_type");
}

#[tokio::test]
async fn a_multipart_body_that_is_malformed_is_refused() {
    let bodies = [
        ("multipart/form-data", "--x\r\n"),
        ("multipart/form-data; boundary=x", ""),
        ("multipart/form-data; boundary=x", "no boundary anywhere"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nThe mus",
        ),
    ];
    for (content_type, body) in bodies {
        let answer = client().request("POST", "/v1/files").raw(content_type, body).send().await;
        assert_eq!(answer.status, 400, "{body:?} was answered {}", answer.text());
        let code = answer.json()["error"]["code"].as_str().unwrap().to_owned();
        answer.refused(400, &code);
        assert!(["invalid_parameter", "missing_required_field"].contains(&code.as_str()), "{code}");
    }
}

/// The smallest archive that is a Word document: stored entries, no compression.
pub(crate) fn minimal_docx() -> Vec<u8> {
    let types = "<?xml version=\"1.0\"?><Types \
        xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override \
        PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument\
        .wordprocessingml.document.main+xml\"/></Types>";
    let relations = "<?xml version=\"1.0\"?><Relationships \
        xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship \
        Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/\
        officeDocument\" Target=\"word/document.xml\"/></Relationships>";
    let document = "<?xml version=\"1.0\"?><w:document \
        xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r>\
        <w:t>The museum opens at nine.</w:t></w:r></w:p></w:body></w:document>";
    zip(&[
        ("[Content_Types].xml", types),
        ("_rels/.rels", relations),
        ("word/document.xml", document),
    ])
}

fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, content) in entries {
        let offset = u32::try_from(archive.len()).unwrap();
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        let mut fields = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        fields.extend(crc32(content.as_bytes()).to_le_bytes());
        fields.extend(size);
        fields.extend(size);
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend([0, 0]);
        archive.extend(b"PK\x03\x04");
        archive.extend(&fields);
        archive.extend(name.bytes());
        archive.extend(content.bytes());
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let start = u32::try_from(archive.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend(count);
    archive.extend(count);
    archive.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut sum, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
        }
        sum
    })
}
