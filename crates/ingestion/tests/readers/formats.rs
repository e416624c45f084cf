//! Files of other programs than browsers and Word, detected and read through a child process. Those in `data` were
//! written by LibreOffice from content of our own.

use std::io::{Cursor, Write as _};

use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_ingestion::{Prepared, Readers, detect_upload_type};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::settings;

const XLSX: &[u8] = include_bytes!("data/fees.xlsx");
const ODS: &[u8] = include_bytes!("data/fees.ods");
const XLS: &[u8] = include_bytes!("data/fees.xls");

const PPTX: &[u8] = include_bytes!("data/talk.pptx");
const ODT: &[u8] = include_bytes!("data/guide.odt");
const EPUB: &[u8] = include_bytes!("data/guide.epub");
const RTF: &[u8] = include_bytes!("data/guide.rtf");

/// Reads a file as what it is detected to be.
async fn read(bytes: &'static [u8], kind: UploadType) -> Prepared {
    assert_eq!(detect_upload_type(bytes), Some(kind));
    let readers = Readers::new(settings());
    readers.file(kind, Bytes::from_static(bytes), None).await.expect("it is read")
}

/// A file that is cut anywhere is refused with a reason, or read as far as it goes; the process survives.
async fn cut_anywhere(bytes: &'static [u8], kind: UploadType) {
    let readers = Readers::new(settings());
    for part in 1..16 {
        let cut = Bytes::from_static(bytes.get(..bytes.len() * part / 16).unwrap_or_default());
        if let Err(reason) = readers.file(kind, cut, None).await {
            let reason = reason.to_string();
            assert!(!reason.contains("unexpectedly"), "{kind:?} {part}: {reason}");
        }
    }
}

#[tokio::test]
async fn each_row_of_a_workbook_carries_its_headers() {
    for (bytes, kind) in [(XLSX, UploadType::Xlsx), (ODS, UploadType::Ods), (XLS, UploadType::Xls)]
    {
        let text = read(bytes, kind).await.text;
        let expected = "## Fees\n\n- Berth: short stay; From: 2026-04-01; Price: 5.5; Open: yes\n\
             - Berth: winter; From: 2026-10-15; Price: 90; Open: no\n\n## Notes\n\n- Kind: all; Sum: 95.5\n\
             - Kind: none; Sum: 0";
        assert_eq!(text, expected, "{kind:?}");
        cut_anywhere(bytes, kind).await;
    }
}

#[tokio::test]
async fn each_record_of_a_csv_file_carries_its_headers() {
    let csv = b"Berth;Price;Note\nshort;5,00;dry\nlong;90,00;\n";
    let text = read(csv, UploadType::Csv).await.text;
    assert_eq!(text, "- Berth: short; Price: 5,00; Note: dry\n- Berth: long; Price: 90,00");
}

#[tokio::test]
async fn a_slide_of_a_presentation_is_a_page_with_its_table_and_notes() {
    let read = read(PPTX, UploadType::Pptx).await;
    let expected = "Harbour tour\n\nThe pier\n\nThe lighthouse\n\nNotes: Mention the opening hours.\n\n\
        Fees\n\n| Berth | Price |\n| short | 5 |";
    assert_eq!((read.text.as_str(), read.page_count), (expected, Some(2)));
    cut_anywhere(PPTX, UploadType::Pptx).await;
}

#[tokio::test]
async fn texts_and_books_keep_their_structure() {
    let guide = "# Harbour guide\n\nThe harbour falls dry twice a day.\n\n## Fees\n\n| Berth | Price |\n| short | 5 |\n\n\
        - Pay at the office\n- Keep the receipt\n\nWrite to the pilots (pilot@h.example).";
    assert_eq!(read(ODT, UploadType::Odt).await.text, guide);
    cut_anywhere(ODT, UploadType::Odt).await;
    // LibreOffice writes books without headings and lists.
    let plain = guide.replace(['#', '-'], "").replace("\n Keep", "\n\n Keep").replace("\n ", "\n");
    assert_eq!(read(EPUB, UploadType::Epub).await.text, plain.trim());
    cut_anywhere(EPUB, UploadType::Epub).await;
    let rich = read(RTF, UploadType::Rtf).await.text;
    for kept in [
        "Harbour guide\n\nThe harbour falls dry twice a day.",
        "| Berth | Price |\n| short | 5 |",
        "Keep the receipt",
    ] {
        assert!(rich.contains(kept), "{rich}");
    }
    cut_anywhere(RTF, UploadType::Rtf).await;
}

#[tokio::test]
async fn a_message_is_read_with_what_is_attached_to_it() {
    let eml = b"From: Ada Example <ada@h.example>\r\nTo: pilots@h.example\r\nSubject: =?utf-8?q?Fees_f=C3=BCr_2026?=\r\n\
        Date: Mon, 2 Mar 2026 09:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n\
        --x\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n<p>The new fees are attached, caf\xe9 included.</p>\r\n\
        --x\r\nContent-Type: text/csv; name=fees.csv\r\nContent-Disposition: attachment; filename=fees.csv\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nQmVydGg7UHJpY2UKc2hvcnQ7NQpsb25nOzkwCg==\r\n\
        --x\r\nContent-Type: image/png; name=a.png\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        iVBORw0KGgoAAAANSUhEUgAA\r\n--x--\r\n";
    let read = read(eml, UploadType::Eml).await;
    let expected = "# Fees f\u{fc}r 2026\n\nFrom: Ada Example <ada@h.example>\nTo: pilots@h.example\n\
        Date: 2026-03-02T09:00:00+01:00\n\nThe new fees are attached, caf\u{e9} included.\n\n\
        ## Attachment: fees.csv\n\n- Berth: short; Price: 5\n- Berth: long; Price: 90";
    assert_eq!((read.text.as_str(), read.title.as_deref()), (expected, Some("Fees f\u{fc}r 2026")));
    assert_eq!((read.table_count, read.warnings.is_empty()), (1, true));
    cut_anywhere(eml, UploadType::Eml).await;
}

/// The sentences of the warnings about a file.
async fn warnings(bytes: Vec<u8>, kind: UploadType) -> Vec<String> {
    let readers = Readers::new(settings());
    let read = readers.file(kind, bytes.into(), None).await.expect("it is read");
    read.warnings.iter().map(|warning| warning.reason.to_string()).collect()
}

/// An OpenDocument workbook with these rows.
fn open_document(rows: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"A\">{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    open_document_of(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ])
}

/// An OpenDocument file with these parts, of which the first is its type.
fn open_document_of(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, body) in parts.iter().chain(&[("META-INF/manifest.xml", "<manifest:manifest/>")]) {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(body.as_bytes()).expect("its body");
    }
    writer.finish().expect("an archive").into_inner()
}

#[tokio::test]
async fn hidden_text_of_an_open_document_is_not_read() {
    let styles = r#"<office:document-styles><office:styles>
        <style:style style:name="Secret" style:family="paragraph"><style:text-properties text:display="none"/></style:style>
        <style:style style:name="Told" style:family="paragraph" style:parent-style-name="Secret"><style:text-properties text:display="true"/></style:style>
        <style:style style:name="Loop" style:family="text" style:parent-style-name="Loop"/>
        </office:styles></office:document-styles>"#;
    let content = r#"<office:document-content><office:automatic-styles>
        <style:style style:name="P1" style:family="paragraph" style:parent-style-name="Secret"/>
        <style:style style:name="P2" style:family="paragraph" style:parent-style-name="Told"/>
        <style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
        <style:style style:name="P3" style:family="text"><style:text-properties text:display="none"/></style:style>
        </office:automatic-styles><office:body><office:text>
        <text:p text:style-name="P1">hidden by a named style</text:p>
        <text:p text:style-name="P2">Told again.</text:p>
        <text:p text:style-name="P3">A price of <text:span text:style-name="T1">hidden cost 3, </text:span><text:span text:style-name="Loop">5</text:span>.</text:p>
        <text:section text:name="a" text:display="none"><text:p>hidden section</text:p></text:section>
        <text:section text:name="b" text:display="condition" text:is-hidden="true"><text:p>hidden section</text:p></text:section>
        <text:section text:name="c" text:display="condition" text:is-hidden="false"><text:p>Shown section.</text:p></text:section>
        <text:p>hidden<text:hidden-paragraph text:is-hidden="true"/></text:p>
        <text:p>Shown<text:hidden-text text:is-hidden="true"> hidden</text:hidden-text><text:hidden-text text:is-hidden="false"> too</text:hidden-text><text:hidden-paragraph text:is-hidden="false"/>.</text:p>
        <table:table><table:table-row><table:table-cell><text:p text:style-name="P1">hidden</text:p></table:table-cell><table:table-cell><text:p>Cell</text:p></table:table-cell></table:table-row></table:table>
        </office:text></office:body></office:document-content>"#;
    let file = open_document_of(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", content),
        ("styles.xml", styles),
    ]);
    let read = Readers::new(settings()).file(UploadType::Odt, file.into(), None).await;
    let text = read.expect("it is read").text;
    assert!(!text.contains("hidden"), "{text}");
    assert_eq!(text, "Told again.\n\nA price of 5.\n\nShown section.\n\nShown too.\n\n|  | Cell |");
}

#[tokio::test]
async fn sheets_that_lie_about_their_size_are_refused_with_a_reason() {
    let cell = |repeats: u32| {
        format!(
            "<table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"{repeats}\"><text:p>x</text:p></table:table-cell>"
        )
    };
    let row = |repeats: u32, cells: &str| {
        format!(
            "<table:table-row table:number-rows-repeated=\"{repeats}\">{cells}</table:table-row>"
        )
    };
    let readers = Readers::new(settings());
    let refusal = |kind, bytes: Vec<u8>| {
        let readers = readers.clone();
        async move { readers.file(kind, bytes.into(), None).await.unwrap_err().to_string() }
    };
    for rows in [row(1_048_576, &cell(1_000)), row(1, &cell(16_384)).repeat(900)] {
        let reason = refusal(UploadType::Ods, open_document(&rows)).await;
        assert!(reason.contains("too far apart"), "{reason}");
    }
    let honest =
        open_document(&format!("{}{}", row(1, &cell(3)), row(1_000_000, "<table:table-cell/>")));
    readers.file(UploadType::Ods, honest.into(), None).await.expect("a sheet of three cells");
    // A text of a million letters, shown by a thousand cells.
    let long = "long text ".repeat(100_000);
    let cells: String = (1..=1_000)
        .map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\" t=\"s\"><v>0</v></c></row>"))
        .collect();
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{cells}</sheetData></worksheet>"
    );
    let reason = refusal(UploadType::Xlsx, workbook_with(&sheet, Some(&long))).await;
    assert!(reason.contains("more than the maximum of"), "{reason}");
}

#[tokio::test]
async fn what_is_beyond_a_bound_is_told() {
    let sheet = r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">
        <c r="A1" t="inlineStr"><is><t>Berth</t></is></c><c r="XFD1"><v>7</v></c></row></sheetData></worksheet>"#;
    assert_eq!(
        warnings(workbook(sheet), UploadType::Xlsx).await,
        ["only the first 1000 columns are read"]
    );

    let mut message =
        "From: ada@h.example\r\nDate: Mon, 2 Mar 2026 09:00:00 +0100\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nMany.\r\n"
            .to_owned();
    for number in 0..51 {
        message += &format!(
            "--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename={number}.pdf\r\n\r\n%PDF-1.7\r\n"
        );
    }
    let told = warnings(format!("{message}--x--\r\n").into(), UploadType::Eml).await;
    assert_eq!(told[0], "only the first 50 attachments are read");
    assert!(told[1].starts_with("the attachment `0.pdf` was not read: "), "{}", told[1]);
    assert_eq!(told.last().expect("a warning"), "there are more warnings, which were not stored");
}

fn workbook(sheet: &str) -> Vec<u8> {
    workbook_with(sheet, None)
}

/// The same with a text that its cells share.
fn workbook_with(sheet: &str, shared: Option<&str>) -> Vec<u8> {
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let link = |name: &str, target: &str| {
        format!(
            r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/{name}" Target="{target}"/></Relationships>"#
        )
    };
    let book = format!(
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    let shared = shared.map(|text| {
        let text = format!(
            r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{text}</t></si></sst>"#
        );
        ("xl/sharedStrings.xml", text)
    });
    let parts = [
        ("_rels/.rels", link("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", link("worksheet", "worksheets/sheet1.xml")),
        ("xl/workbook.xml", book),
        ("xl/worksheets/sheet1.xml", sheet.to_owned()),
    ];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts.into_iter().chain(shared) {
        writer.start_file(name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(text.as_bytes()).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}
