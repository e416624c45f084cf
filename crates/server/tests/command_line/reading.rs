//! `cicerone read`.

use serde_json::{Value, json};

use crate::program::Workplace;

const FEES: &str = "Berth;Price\nshort stay;5\nlong stay;90\n";

/// A page whose second content stream cannot be decoded.
fn torn() -> String {
    let text = "BT /F 12 Tf 72 720 Td (The lifeboat is called Marie.) Tj ET";
    let broken = "no zlib! ".repeat(9);
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents[5 0 R 6 0 R]\
         /Resources<</Font<</F 4 0 R>>>>>>"
            .to_owned(),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
        format!("<</Length {}>>stream\n{text}\nendstream", text.len()),
        format!("<</Filter/FlateDecode/Length {}>>stream\n{broken}\nendstream", broken.len()),
    ];
    let mut pdf = "%PDF-1.7\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let start = pdf.len();
    pdf + &format!("xref\n0 7\n{table}trailer\n<</Size 7/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n")
}

#[test]
fn a_file_is_printed_as_markdown() {
    let place = Workplace::new();
    place.write("fees.csv", FEES);
    let run = place.run(&["read", "fees.csv"]);
    assert_eq!(run.stdout, "- Berth: short stay; Price: 5\n- Berth: long stay; Price: 90\n");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn json_says_what_was_read_and_what_was_not() {
    let place = Workplace::new();
    place.write("boat.pdf", &torn());
    let run = place.run(&["read", "--json", "boat.pdf"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let read: Value = serde_json::from_str(&run.stdout).unwrap();
    let warning = json!({
        "code": "damaged", "message": "a part of the page is damaged and cannot be decoded",
        "pages": [1], "page_count": 1,
    });
    let expected = json!({
        "file": "boat.pdf", "content_type": "application/pdf", "title": null, "language": "eng",
        "page_count": 1, "character_count": 29, "table_count": 0, "passage_count": 1,
        "warnings": [warning], "text": "The lifeboat is called Marie.",
    });
    assert_eq!(read, expected);
    let run = place.run(&["read", "boat.pdf"]);
    assert_eq!(run.stdout, "The lifeboat is called Marie.\n");
    let warning =
        "warning: `boat.pdf`: page 1: a part of the page is damaged and cannot be decoded\n";
    assert_eq!((run.status, run.stderr.as_str()), (0, warning));
}

#[test]
fn a_picture_is_read_if_there_is_a_program_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    std::fs::write(place.path().join("boat.png"), b"\x89PNG\r\n\x1a\n and more").unwrap();
    let run = place.run(&["read", "boat.png"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("only a server with the setting `ocr.command`"), "{run:?}");
    place.write("recognise", "#!/bin/sh\necho 'The lifeboat is called Marie.'\n");
    let program = place.path().join("recognise");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    place.write("c.toml", &format!("[ocr]\ncommand = {:?}\n", program.to_str().unwrap()));
    let file = place.path().join("c.toml");
    let run = place.run_with(&[("CICERONE_CONFIG", file.to_str().unwrap())], &["read", "boat.png"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (0, "The lifeboat is called Marie.\n"),
        "{run:?}"
    );
    assert!(run.stderr.starts_with("warning: `boat.png`: the page is a picture;"), "{run:?}");
}

#[test]
fn of_several_files_those_that_can_be_read_are() {
    let place = Workplace::new();
    place.write("fees.csv", FEES);
    place.write("plan.pdf", "%PDF-1.7 ...");
    place.write("light.md", "# The light\n\nIt is red.");
    let files = ["fees.csv", "plan.pdf", "missing.txt", "light.md"];
    let run = place.run(&[&["read"], &files[..]].concat());
    assert!(run.stdout.starts_with("==> fees.csv <==\n- Berth: short stay"), "{run:?}");
    assert!(run.stdout.ends_with("\n\n==> light.md <==\n# The light\n\nIt is red.\n"), "{run:?}");
    assert!(run.stderr.starts_with("error: `plan.pdf`: the PDF is damaged"), "{run:?}");
    assert!(run.stderr.contains("\nerror: `missing.txt`: No such file"), "{run:?}");
    assert!(run.stderr.ends_with("\nerror: 2 of 4 files could not be read\n"), "{run:?}");
    assert_eq!(run.status, 1);

    let run = place.run(&[&["read", "--json"], &files[..]].concat());
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<bool> = lines.iter().map(|line| line["error"].is_string()).collect();
    assert_eq!((errors, run.status), (vec![false, true, true, false], 1));
}

#[test]
fn what_is_not_read_fails_with_a_line_that_says_what_to_do() {
    let place = Workplace::new();
    place.write("image.png", "\u{89}PNG\0");
    place.write("empty.txt", "");
    place.write("blank.txt", " \n");
    place.write("print.ps", "%!PS-Adobe-3.0");
    place.write("large.txt", &"x".repeat(10 * 1_024 * 1_024 + 1));
    for (file, part) in [
        ("image.png", "it is not a PDF, DOCX"),
        ("empty.txt", "the file is empty"),
        ("blank.txt", "the file contains no text"),
        ("print.ps", "it is a PostScript file: make a PDF of it"),
        ("large.txt", "at most 10485760 bytes"),
        (".", "Is a directory"),
    ] {
        let run = place.run(&["read", file]);
        assert!(run.stderr.starts_with("error: `") && run.stderr.contains(part), "{run:?}");
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    let run = place.run(&["read"]);
    assert_eq!(run.status, 2, "{run:?}");
}
