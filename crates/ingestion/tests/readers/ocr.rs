//! Text that only pictures show, recognised by `tesseract` if it is installed, and by programs that mean no good.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_ingestion::{OcrSettings, Prepared, Readers, SandboxSettings, Unreadable};
use tempfile::TempDir;

use crate::hostile::{children_of_this, until};
use crate::settings;

/// A sheet of five lines, with a dot for each pixel.
const NOTICE: &[u8] = include_bytes!("data/notice.png");
/// The same and a second sheet.
const NOTICES: &[u8] = include_bytes!("data/notice.tiff");
/// One line.
const BOAT: &[u8] = include_bytes!("data/boat.jpg");

/// A pool whose readers have this to recognise text.
fn readers(ocr: OcrSettings) -> Readers {
    Readers::new(SandboxSettings { ocr: Some(ocr), ..settings() })
}

/// Readers with `tesseract`. `None`, and a line that says so, where it is not installed.
#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a skipped test says so")]
fn tesseract() -> Option<Readers> {
    let ocr = OcrSettings::like_tesseract("tesseract", "eng");
    if ocr.place().is_none() {
        assert!(std::env::var_os("CI").is_none(), "tesseract is not installed");
        eprintln!("skipped: apt-get install tesseract-ocr");
        return None;
    }
    Some(readers(ocr))
}

/// A program that is a script, in a folder that goes away with it.
struct Script {
    _folder: TempDir,
    path: PathBuf,
}

impl Script {
    fn new(script: &str) -> Self {
        Self::named("recognise", script)
    }

    /// A script whose process is known by its name.
    fn named(name: &str, script: &str) -> Self {
        let folder = TempDir::with_prefix("cicerone-ocr-").expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its rights");
        Self { _folder: folder, path }
    }

    fn settings(&self) -> OcrSettings {
        let path = self.path.to_str().expect("a path");
        OcrSettings { arguments: Vec::new(), ..OcrSettings::like_tesseract(path, "eng") }
    }
}

async fn read(readers: &Readers, kind: UploadType, file: &[u8]) -> Result<Prepared, Unreadable> {
    readers.file(kind, Bytes::copy_from_slice(file), None).await
}

/// What a script makes of a picture.
async fn by_script(script: &str) -> Result<String, String> {
    let script = Script::new(script);
    let read = read(&readers(script.settings()), UploadType::Png, NOTICE).await;
    read.map(|read| read.text).map_err(|reason| reason.to_string())
}

fn codes(read: &Prepared) -> Vec<(&'static str, Vec<u32>)> {
    read.warnings.iter().map(|warning| (warning.reason.code(), warning.pages.clone())).collect()
}

/// A PDF whose pages have these contents and share two pictures: `/N`, the sheet, and `/B`, the line.
fn pdf(pages: &[(&str, u32)]) -> Vec<u8> {
    let kids: String = (0..pages.len()).map(|page| format!("{} 0 R ", 6 + 2 * page)).collect();
    let notice = "/Width 1200/Height 500/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/FlateDecode\
        /DecodeParms<</Predictor 15/Colors 1/BitsPerComponent 1/Columns 1200>>";
    let boat = "/Width 720/Height 110/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/DCTDecode";
    let mut objects: Vec<Vec<u8>> = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len()).into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
        picture(notice, &image_data(NOTICE)),
        picture(boat, BOAT),
    ];
    for (content, rotation) in pages {
        let place = objects.len() + 2;
        // A rotated picture is higher than wide.
        let sides = if *rotation == 0 { "600 300" } else { "300 600" };
        let page = format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {sides}]/Rotate {rotation}/Contents {place} 0 R\
             /Resources<</Font<</F 3 0 R>>/XObject<</N 4 0 R/B 5 0 R>>>>>>"
        );
        objects.push(page.into_bytes());
        objects.push(
            format!("<</Length {}>>stream\n{content}\nendstream", content.len()).into_bytes(),
        );
    }
    let mut pdf = b"%PDF-1.7\n".to_vec();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf.extend(format!("{number} 0 obj\n").bytes());
        pdf.extend(object);
        pdf.extend(b"\nendobj\n");
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf.extend(format!("xref\n0 {size}\n{table}trailer\n<</Size {size}/Root 1 0 R>>\n").bytes());
    pdf.extend(format!("startxref\n{start}\n%%EOF\n").bytes());
    pdf
}

fn picture(entries: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<</Type/XObject/Subtype/Image{entries}/Length {}>>stream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

/// The compressed rows of a PNG file, which PDF files take as they are.
#[expect(clippy::indexing_slicing, reason = "the file is known")]
fn image_data(png: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut rest = &png[8..];
    while rest.len() >= 12 {
        let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
        if &rest[4..8] == b"IDAT" {
            data.extend_from_slice(&rest[8..8 + length]);
        }
        rest = &rest[12 + length..];
    }
    data
}

/// The sheet, and the same sheet on a rotated page.
const UPRIGHT: (&str, u32) = ("q 600 0 0 250 0 50 cm /N Do Q", 0);
const WORDS: (&str, u32) = ("BT /F 12 Tf 72 200 Td (The light is red.) Tj ET", 0);

#[tokio::test]
async fn scanned_pages_are_read_beside_others() {
    let Some(readers) = tesseract() else { return };
    // The second page holds the line twice, as strips.
    let strips = ("q 600 0 0 92 0 200 cm /B Do Q q 600 0 0 92 0 20 cm /B Do Q", 0);
    let turned = ("q 0 600 -250 0 300 0 cm /N Do Q", 90);
    let file = pdf(&[UPRIGHT, strips, WORDS]);
    let read = read(&readers, UploadType::Pdf, &file).await.expect("a reading");
    assert!(
        read.text.starts_with("Harbour dues of 2026\n\nA short stay costs 14.50 for each night."),
        "{}",
        read.text
    );
    assert!(read.text.contains("Boats longer than twelve metres pay 31."), "{}", read.text);
    assert_eq!(read.text.matches("The lifeboat is called Marie.").count(), 2, "{}", read.text);
    assert!(read.text.contains("The light is red."), "{}", read.text);
    assert_eq!((codes(&read), read.page_count), (vec![("read_by_ocr", vec![1, 2])], Some(3)));
    let read = self::read(&readers, UploadType::Pdf, &pdf(&[turned])).await.expect("a reading");
    assert!(read.text.ends_with("Fuel is sold on weekdays from nine."), "{}", read.text);
}

#[tokio::test]
async fn pictures_are_read_as_files() {
    let Some(readers) = tesseract() else { return };
    let sheet = read(&readers, UploadType::Png, NOTICE).await.expect("a reading");
    assert!(sheet.text.ends_with("Fuel is sold on weekdays from nine."), "{}", sheet.text);
    assert_eq!((codes(&sheet), sheet.page_count), (vec![("read_by_ocr", vec![])], None));
    let line = read(&readers, UploadType::Jpeg, BOAT).await.expect("a reading");
    assert_eq!(line.text, "The lifeboat is called Marie.");
    let sheets = read(&readers, UploadType::Tiff, NOTICES).await.expect("a reading");
    assert!(sheets.text.ends_with("Second page: the lifeboat is Marie."), "{}", sheets.text);
    assert_eq!((codes(&sheets), sheets.page_count), (vec![("read_by_ocr", vec![1, 2])], Some(2)));
    let broken = read(&readers, UploadType::Png, NOTICE.get(..2_000).expect("a part"))
        .await
        .unwrap_err()
        .to_string();
    assert!(broken.contains("(OCR)"), "{broken}");
}

#[tokio::test]
async fn without_the_setting_nothing_is_recognised() {
    let readers = Readers::new(settings());
    let refused = read(&readers, UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(refused.contains("`ocr.command` is not set"), "{refused}");
    let scan = read(&readers, UploadType::Pdf, &pdf(&[UPRIGHT])).await.unwrap_err().to_string();
    assert!(scan.contains("looks scanned") && scan.contains("`ocr.command`"), "{scan}");
    let partly = read(&readers, UploadType::Pdf, &pdf(&[UPRIGHT, WORDS])).await.expect("a reading");
    assert_eq!(codes(&partly), [("scanned", vec![1])]);
}

#[tokio::test]
async fn what_the_program_prints_is_the_text() {
    assert_eq!(
        by_script("echo '# Fees'; echo; echo 'They rise.'").await.unwrap(),
        "\\# Fees\n\nThey rise."
    );
    let refused = by_script("exit 0").await.unwrap_err();
    assert!(refused.contains("no text that was recognised"), "{refused}");
    let refused = by_script("printf '\\377\\376'").await.unwrap_err();
    assert!(refused.contains("not UTF-8"), "{refused}");
    let refused = by_script("echo no >&2; exit 3").await.unwrap_err();
    assert!(refused.contains("ended with status 3"), "{refused}");
}

#[tokio::test]
async fn a_program_that_never_ends_is_killed() {
    let script = Script::new("exec sleep 7011");
    let wall = Duration::from_millis(300);
    let ocr = Some(script.settings());
    let readers = Readers::new(SandboxSettings { ocr, wall, ..settings() });
    let reason = read(&readers, UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(reason.contains("longer than 1 s"), "{reason}");
    until("the program is gone", || children_of_this("(sleep").is_empty()).await;
    // The reader is not to blame.
    assert!(read(&readers, UploadType::Text, b"words").await.is_ok());
}

#[tokio::test]
async fn a_program_that_closes_its_output_and_goes_on_is_killed() {
    let script = Script::new("exec >&- 2>&- <&-; exec tail -f /bin/sh");
    let wall = Duration::from_millis(300);
    let ocr = Some(script.settings());
    let readers = Readers::new(SandboxSettings { ocr, wall, ..settings() });
    let reason = read(&readers, UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(reason.contains("longer than 1 s") || reason.contains("ended with"), "{reason}");
    until("the program is gone", || children_of_this("(tail").is_empty()).await;
}

#[tokio::test]
async fn a_program_that_never_stops_printing_is_killed() {
    for stream in ["", " >&2"] {
        let script = Script::named(
            "prints",
            &format!("while :; do echo 'more and more and more'{stream}; done"),
        );
        let ocr = OcrSettings { output: 50_000, ..script.settings() };
        let wall = Duration::from_secs(2);
        let readers = Readers::new(SandboxSettings { ocr: Some(ocr), wall, ..settings() });
        let reason = read(&readers, UploadType::Png, NOTICE).await.unwrap_err().to_string();
        let expected = if stream.is_empty() { "exceeds 50000 bytes" } else { "longer than 2 s" };
        assert!(reason.contains(expected), "{reason}");
        until("the program is gone", || children_of_this("(prints").is_empty()).await;
    }
}

#[tokio::test]
async fn a_program_that_only_computes_is_killed() {
    let script = Script::new("trap '' XCPU; while :; do :; done");
    let ocr = Some(script.settings());
    let processor = Duration::from_secs(1);
    let readers = Readers::new(SandboxSettings { ocr, processor, ..settings() });
    let reason = read(&readers, UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(reason.contains("more processor time"), "{reason}");
}

#[tokio::test]
async fn a_program_cannot_start_another() {
    let refused = by_script("yes >&2 & yes >&2 & echo started").await;
    assert!(refused.as_ref().is_err_and(|reason| reason.contains("ended with")), "{refused:?}");
    assert!(children_of_this("(yes").is_empty());
    let refused = by_script("(echo within)").await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn a_program_that_crashes_costs_one_picture() {
    let reason = by_script("kill -SEGV $$").await.unwrap_err();
    assert!(reason.contains("crashed (signal 11)"), "{reason}");
}

#[tokio::test]
async fn a_program_reads_the_systems_files_and_named_folders_only() {
    let secret = TempDir::with_prefix("cicerone-secret-").expect("a folder");
    let path = secret.path().join("key");
    std::fs::write(&path, "the key is 1234\n").expect("a file");
    let shown = path.display();
    let line = format!("read line <{shown}; echo \"$line\"");
    let script = Script::new(&line);
    let refused = read(&readers(script.settings()), UploadType::Png, NOTICE).await;
    assert!(refused.is_err(), "{refused:?}");
    for file in ["/etc/passwd", "/proc/self/environ", "/proc/1/status"] {
        let refused = by_script(&format!("read line <{file}; echo \"$line\"")).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    let written = secret.path().join("written");
    let refused = by_script(&format!("echo x >{}; echo done", written.display())).await;
    assert!(refused.is_err() || !Path::new(&written).exists(), "{refused:?}");
    let ocr = OcrSettings { folders: vec![secret.path().to_owned()], ..script.settings() };
    let read = read(&readers(ocr), UploadType::Png, NOTICE).await.expect("a named folder");
    assert_eq!(read.text, "the key is 1234");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_reported() {
    let ocr = OcrSettings::like_tesseract("/nowhere/tesseract", "eng");
    let reason = read(&readers(ocr), UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(reason.contains("could not start the OCR program"), "{reason}");
    let file = TempDir::with_prefix("cicerone-ocr-").expect("a folder");
    let path = file.path().join("no-program");
    std::fs::write(&path, "words").expect("a file");
    let ocr = OcrSettings::like_tesseract(path.to_str().expect("a path"), "eng");
    let reason = read(&readers(ocr), UploadType::Png, NOTICE).await.unwrap_err().to_string();
    assert!(reason.contains("could not start the OCR program"), "{reason}");
}

#[tokio::test]
async fn after_three_failures_the_pages_that_follow_are_not_tried() {
    let folder = TempDir::with_prefix("cicerone-ocr-").expect("a folder");
    let script = Script::new("exit 4");
    let ocr = OcrSettings { folders: vec![folder.path().to_owned()], ..script.settings() };
    let pages = [&[WORDS][..], &[UPRIGHT; 9]].concat();
    let read = read(&readers(ocr), UploadType::Pdf, &pdf(&pages)).await.expect("a reading");
    assert_eq!(codes(&read), [("ocr_failed", (2..=10).collect())]);
    let scan = self::read(&readers(script.settings()), UploadType::Pdf, &pdf(&[UPRIGHT])).await;
    let reason = scan.unwrap_err().to_string();
    assert!(reason.contains("(OCR) failed: the OCR program ended with status 4"), "{reason}");
}

#[tokio::test]
async fn pages_beyond_the_limit_are_told() {
    let script = Script::new("echo 'The text of a page.'");
    let ocr = OcrSettings { pictures: 2, ..script.settings() };
    let read = read(&readers(ocr), UploadType::Pdf, &pdf(&[UPRIGHT; 7])).await.expect("a reading");
    assert_eq!(codes(&read), [("read_by_ocr", vec![1, 2]), ("ocr_failed", (3..=7).collect())]);
    let reason = read.warnings.iter().last().expect("a warning").reason.to_string();
    assert!(reason.contains("`ocr.pages`"), "{reason}");
}

#[tokio::test]
async fn the_pictures_of_a_document_have_a_limit_of_time() {
    let script = Script::new("exec sleep 7014");
    let ocr = OcrSettings { wall: Duration::from_millis(400), ..script.settings() };
    let begun = std::time::Instant::now();
    let reason = read(&readers(ocr), UploadType::Pdf, &pdf(&[UPRIGHT; 9])).await.unwrap_err();
    assert!(reason.to_string().contains("it took longer than 1 s"), "{reason}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}
