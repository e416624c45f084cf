use std::io::{Cursor, Write as _};

use cicerone_domain::{Extracted, Passage, UploadType, limits};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Material, Reading, Unreadable, decode, detect_upload_type, extract, text};

fn file(bytes: &[u8]) -> Result<Extracted, Unreadable> {
    let prepared = text::read(bytes, None)?.cut(limits::DOCUMENT_TEXT_BYTES)?;
    extract(Material::File { name: "notes.txt", prepared })
}

fn passages(extracted: &Extracted) -> Vec<Passage> {
    extracted.passages().map(|(_, passage)| passage).collect()
}

fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(body.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn content_types(main: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><Types><Override PartName="/a.xml" ContentType="application/vnd.openxmlformats-officedocument.{main}"/></Types>"#
    )
}

#[test]
fn a_text_is_one_document_titled_by_its_first_line() {
    let text = "\n\n## The harbour light\n\nIt was built in 1854 of local stone.\n";
    let extracted = extract(Material::Text(text)).unwrap();
    assert_eq!(extracted.title.as_deref(), Some("The harbour light"));
    assert_eq!(extracted.documents.len(), 1);
    assert_eq!(extracted.documents[0].document.text, text);
    assert_eq!(extracted.character_count(), 61);
    assert_eq!(passages(&extracted)[0].title, extracted.title);
    assert_eq!(passages(&extracted)[0].heading.as_deref(), Some("The harbour light"));
}

#[test]
fn a_title_is_cut_at_80_characters() {
    let extracted = extract(Material::Text(&"é".repeat(81))).unwrap();
    assert_eq!(extracted.title, Some("é".repeat(80)));
    assert_eq!(extracted.character_count(), 81);
}

#[test]
fn each_pair_is_a_document_and_a_passage_under_its_question() {
    let pairs = r#"[{"question": "When do you open?", "answer": "At nine."},
                    {"question": "Do you ship abroad?", "answer": "To all of Europe."}]"#;
    let extracted = extract(Material::Pairs(pairs)).unwrap();
    assert_eq!(extracted.title.as_deref(), Some("When do you open?"));
    let all = passages(&extracted);
    let passages: Vec<_> = all
        .iter()
        .map(|passage| (passage.position, passage.title.as_deref().unwrap(), passage.text.as_str()))
        .collect();
    let expected =
        [(0, "When do you open?", "At nine."), (1, "Do you ship abroad?", "To all of Europe.")];
    assert_eq!(passages, expected);
    assert!(all.iter().all(|passage| passage.is_pair));
    assert_eq!(extracted.documents[1].document.title.as_deref(), Some("Do you ship abroad?"));
    assert_eq!(extracted.character_count(), 17 + 8 + 19 + 17);
}

#[test]
fn an_answer_beyond_any_prompt_is_several_passages_of_one_document() {
    let answer = "The light turns. ".repeat(1_000);
    let pairs = format!(r#"[{{"question": "Q?", "answer": "{answer}"}}]"#);
    let extracted = extract(Material::Pairs(&pairs)).unwrap();
    assert_eq!(extracted.documents.len(), 1);
    assert!(passages(&extracted).len() > 5);
    assert!(passages(&extracted).iter().all(|passage| passage.title.as_deref() == Some("Q?")));
}

#[test]
fn a_file_is_titled_by_its_name_and_read_in_its_encoding() {
    let german = "Die Öffnungszeiten für Gäste: täglich von neun bis fünf, außer an Feiertagen.";
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(german);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(german.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), german.as_bytes()].concat();
    for bytes in [german.as_bytes(), &latin, &utf16, &marked] {
        let extracted = file(bytes).unwrap();
        assert_eq!(extracted.title.as_deref(), Some("notes.txt"));
        assert_eq!(extracted.documents[0].document.text, german);
        assert_eq!(detect_upload_type(bytes), Some(UploadType::Text));
    }
    let japanese = "営業時間は午前九時から午後五時までです。祝日はお休みをいただきます。";
    let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(japanese);
    assert_eq!(decode(&shift_jis).unwrap(), japanese);
    assert_eq!(detect_upload_type(&shift_jis), Some(UploadType::Text));
    let damaged = [german.as_bytes(), b" caf\xe9"].concat();
    assert_eq!(decode(&damaged).unwrap(), format!("{german} caf\u{fffd}"));
}

#[test]
fn a_file_without_text_fails_with_a_reason() {
    let reason = |bytes: &[u8]| file(bytes).unwrap_err().to_string();
    assert_eq!(reason(b" \n\t\n"), "the file contains no text");
    assert_eq!(reason(b"abc\0def"), "the file is not text: it contains binary data");
    assert_eq!(reason(b"\xff\xfea\0\0\0"), "the file is not text: it contains binary data");
    assert!(reason(b"\xff\xfea\0b").contains("not valid UTF-16LE text"));
}

#[test]
fn a_file_keeps_its_structure_and_pages() {
    let text = "# Berths\n\nShort stays.\n\n".to_owned() + &"Long stays are booked. ".repeat(100);
    let reading = Reading {
        title: Some("Stated".to_owned()),
        pages: vec![0, 25],
        text,
        ..Reading::default()
    };
    let prepared = reading.cut(limits::DOCUMENT_TEXT_BYTES).unwrap();
    let extracted = extract(Material::File { name: "berths.pdf", prepared }).unwrap();
    assert_eq!(extracted.title.as_deref(), Some("berths.pdf"));
    assert_eq!(extracted.documents[0].document.page_count, Some(2));
    let pages: Vec<_> = passages(&extracted).iter().map(|passage| passage.page).collect();
    assert_eq!(pages, [Some(1), Some(2)]);
}

#[test]
fn an_archive_is_what_it_declares() {
    let word = content_types("wordprocessingml.document.main+xml");
    let sheet = content_types("spreadsheetml.sheet.main+xml");
    let docx = archive(&[("word/document.xml", "<w:document/>"), ("[Content_Types].xml", &word)]);
    assert_eq!(detect_upload_type(&docx), Some(UploadType::Docx));
    let other_case = archive(&[("[content_types].xml", &word), ("word/document.xml", "<x/>")]);
    assert_eq!(detect_upload_type(&other_case), Some(UploadType::Docx));
    let xlsx = archive(&[("[Content_Types].xml", &sheet), ("xl/workbook.xml", "<x/>")]);
    assert_eq!(detect_upload_type(&xlsx), Some(UploadType::Xlsx));
    let book = archive(&[("mimetype", "application/epub+zip"), ("[Content_Types].xml", &word)]);
    assert_eq!(detect_upload_type(&book), Some(UploadType::Epub));
    assert_eq!(detect_upload_type(&archive(&[("word/document.xml", "plain")])), None);
    assert_eq!(detect_upload_type(b"PK\x03\x04 and no archive"), None);
    let cut = docx.get(..docx.len() / 2).unwrap();
    assert_eq!(detect_upload_type(cut), None);
}

#[test]
fn a_page_is_told_by_how_it_begins() {
    let wide: Vec<u8> = "\u{feff}<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for page in [
        &b"<!DOCTYPE html><title>Hours</title>"[..],
        b"\xef\xbb\xbf\n <!-- saved from url=(0020) -->\n<HTML\nlang=de>",
        b"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x'><html>",
        b"<head><title>Hours</title>",
        &wide,
    ] {
        assert_eq!(detect_upload_type(page), Some(UploadType::Html));
    }
    for text in [
        &b"<header>Markdown may begin so</header>"[..],
        b"<h1 align=center>Cicerone</h1>",
        b"<!-- a comment -->\n# Hours",
        b"<!-- without end <html>",
        b"<?xml version='1.0'?><rss></rss>",
        b"Write <html> first.",
        b"<html",
    ] {
        assert_eq!(detect_upload_type(text), Some(UploadType::Text));
    }
}

#[test]
fn a_pdf_is_told_by_its_header_also_behind_a_preamble() {
    assert_eq!(detect_upload_type(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), Some(UploadType::Pdf));
    assert_eq!(detect_upload_type(b"\xff\x01\r\n%PDF-1.4\n%\xe2\xe3"), Some(UploadType::Pdf));
    assert_eq!(detect_upload_type(b"How to write %PDF-1.4 by hand"), Some(UploadType::Text));
    let plain = b"\n\n%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\nstartxref\n9\n%%EOF\n";
    assert_eq!(detect_upload_type(plain), Some(UploadType::Pdf));
}

#[test]
fn a_docx_behind_a_password_is_one_and_an_old_document_is_none() {
    let ole = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600], &name].concat()
    };
    assert_eq!(detect_upload_type(&ole("EncryptedPackage")), Some(UploadType::Docx));
    assert_eq!(detect_upload_type(&ole("WordDocument")), None);
}

#[test]
fn a_message_begins_with_headers_that_programs_write() {
    let mail =
        b"Received: by h.example\r\n\tfor a\r\nFrom: a@h.example\r\nSubject: Fees\r\n\r\nText";
    assert_eq!(detect_upload_type(mail), Some(UploadType::Eml));
    for text in
        ["From: the harbour\nTo: the pier\n\nA walk.", "Date: today\nA line", "From: a\nHe said: b"]
    {
        assert_eq!(detect_upload_type(text.as_bytes()), Some(UploadType::Text), "{text}");
    }
    assert_eq!(detect_upload_type(b"{\\rtf1 text}"), Some(UploadType::Rtf));
}

#[test]
fn binary_content_is_of_no_type() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0";
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07\x00";
    let noise: Vec<u8> =
        (0..2_000_u32).map(|n| u8::try_from(n * n * 31 % 255 + 1).unwrap()).collect();
    let files = [png.as_slice(), gzip, &noise, b"a\0b", b"\x01\x02\x03\x04"];
    for bytes in files {
        assert_eq!(detect_upload_type(bytes), None, "{bytes:?}");
    }
}

#[test]
fn texts_that_begin_like_a_binary_signature_are_text() {
    for text in ["BMW is a car maker", "GIF is a format", "MZ", "ID3 tags explained"] {
        assert_eq!(detect_upload_type(text.as_bytes()), Some(UploadType::Text), "{text}");
    }
    let legacy = b"BM caf\xe9 au lait, cr\xe8me br\xfbl\xe9e et g\xe2teau";
    assert_eq!(detect_upload_type(legacy), Some(UploadType::Text));
}
