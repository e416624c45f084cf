use std::collections::HashSet;

use pdf_extract::{Document, EncryptionState, EncryptionVersion, Permissions};

use super::quality::Quality;
use super::{PdfReader, furniture, lines, read, read_alone};

mod faults;
mod times;

/// A file of these objects, the first of which is the catalog; an empty one is left out.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        places.push(bytes.len());
        bytes.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
    }
    let table = bytes.len();
    let count = objects.len() + 1;
    bytes.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let trailer = format!(
        "trailer\n<</Size {count}/Root 1 0 R/Info 3 0 R/ID[<01234567><01234567>]>>\nstartxref\n{table}\n%%EOF\n"
    );
    bytes.extend(trailer.bytes());
    bytes
}

fn stream(content: &str) -> String {
    format!("<</Length {}>>stream\n{content}\nendstream", content.len())
}

/// Pages of those contents, whose font `/F` is object 4 with what follows it.
fn document(font: &[String], contents: &[String]) -> Vec<u8> {
    let first = 4 + font.len();
    let kids: Vec<String> =
        (0..contents.len()).map(|page| format!("{} 0 R", first + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {}/Kids[{}]>>", contents.len(), kids.join(" ")),
        "<</Title(The harbour)>>".to_owned(),
    ];
    objects.extend_from_slice(font);
    for (page, content) in contents.iter().enumerate() {
        let place = first + 2 * page + 1;
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 4 0 R>>>>/Contents {place} 0 R>>"
        ));
        objects.push(stream(content));
    }
    pdf(&objects)
}

/// Pages of lines in Helvetica.
fn plain(pages: &[&[&str]]) -> Vec<u8> {
    let font =
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned();
    let content = |lines: &&[&str]| {
        let lines: String = lines.iter().map(|line| format!("({line}) Tj 0 -14 Td\n")).collect();
        format!("BT /F 12 Tf 72 720 Td\n{lines}ET")
    };
    document(&[font], &pages.iter().map(content).collect::<Vec<_>>())
}

/// A page in a composite font whose glyphs 1, 2, … show the characters of `shown`, all 500 wide: runs of them, each
/// with its place.
fn composite(shown: &str, runs: &[(u32, &str)]) -> Vec<u8> {
    let codes = shown.chars().zip(1..);
    let map: String =
        codes.map(|(char, code)| format!("<{code:04x}> <{:04x}>\n", u32::from(char))).collect();
    let map = format!(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /A def\n/CMapType 2 def\n\
         1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n{} beginbfchar\n{map}endbfchar\nendcmap\nend\nend",
        shown.chars().count()
    );
    let font = [
        "<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[5 0 R]/ToUnicode 7 0 R>>".to_owned(),
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>\
         /FontDescriptor 6 0 R/DW 0/W[1 60 500]>>".to_owned(),
        "<</Type/FontDescriptor/FontName/A/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200\
         /CapHeight 700/StemV 80>>".to_owned(),
        stream(&map),
    ];
    let mut content = String::from("BT /F 12 Tf\n");
    for (x, run) in runs {
        let code = |char: char| shown.chars().position(|known| known == char).unwrap() + 1;
        let codes: String = run.chars().map(|char| format!("{:04x}", code(char))).collect();
        content += &format!("1 0 0 1 {x} 700 Tm <{codes}> Tj\n");
    }
    document(&font, &[content + "ET"])
}

fn encrypted(bytes: &[u8], password: &str) -> Vec<u8> {
    let mut document = Document::load_mem(bytes).unwrap();
    let state = EncryptionState::try_from(EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: password,
        key_length: 128,
        permissions: Permissions::all(),
    });
    document.encrypt(&state.unwrap()).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn joined(lines: &[&str]) -> String {
    let page = lines::of(&lines.join("\n"));
    lines::paragraphs(&page, &lines::hyphenated_words(std::slice::from_ref(&page)))
}

#[test]
fn each_page_begins_where_it_is_said() {
    let reading =
        read(&plain(&[&["The light was built", "in 1854."], &[], &["It still burns."]])).unwrap();
    assert_eq!(reading.title.as_deref(), Some("The harbour"));
    assert_eq!(reading.text, "The light was built\nin 1854.\n\nIt still burns.");
    let starts: Vec<&str> = reading.pages.iter().map(|start| &reading.text[*start..]).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts[0].starts_with("The light"));
    assert!(starts[2].starts_with("It still"));
}

#[test]
fn a_page_that_cannot_be_read_takes_no_other_with_it() {
    let bytes = plain(&[&["The first page"], &["The second"], &["The third page"]]);
    let broken = String::from_utf8(bytes).unwrap().replace("(The second) Tj", "/None 9 Tf (x) Tj");
    let reading = read(broken.as_bytes()).unwrap();
    assert_eq!(reading.pages.len(), 3);
    assert!(reading.text.contains("The first page") && reading.text.contains("The third page"));
}

#[test]
fn both_readers_read_an_ordinary_file() {
    let bytes = plain(&[&["Keepers of the light", "count every ship."]]);
    for reader in [PdfReader::Glyphs, PdfReader::Extractor, PdfReader::ExtractorAsItComes] {
        let text = read_alone(reader, &bytes).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words.join(" "), "Keepers of the light count every ship.", "{reader:?}");
    }
}

#[test]
fn widths_told_for_a_range_keep_words_whole() {
    // As browsers print: runs of glyphs, each put where the one before ended; six units a glyph.
    let runs = [(72, "Exa"), (90, "mp"), (102, "le"), (117, "do"), (129, "cumen"), (159, "t")];
    let bytes = composite("Exampledocunt", &runs);
    assert_eq!(read(&bytes).unwrap().text, "Example document");
    let broken = read_alone(PdfReader::ExtractorAsItComes, &bytes).unwrap();
    assert!(broken.contains("Exa mp le"), "repaired for nothing: {broken}");
}

#[test]
fn an_empty_password_opens_and_a_real_one_is_named() {
    let bytes = plain(&[&["Behind a door", "that is not locked."]]);
    assert!(read(&encrypted(&bytes, "")).unwrap().text.contains("not locked"));
    let protected = "the PDF is protected by a password; remove it and upload again";
    assert_eq!(refusal(&encrypted(&bytes, "sesame")), protected);
}

#[test]
fn a_scan_is_told_from_a_document() {
    let drawn = document(&[], &["0 0 100 100 re f".to_owned()]);
    assert!(refusal(&drawn).contains("looks scanned"));
    assert!(refusal(&plain(&[&[]])).contains("looks scanned"));
    let numbered = plain(&[&["1"], &["2"], &["3"], &["4"], &["5"]]);
    assert!(refusal(&numbered).contains("looks scanned"));
}

#[test]
fn fonts_that_show_nothing_known_are_gibberish() {
    let bytes =
        composite("\u{e001}\u{e002}\u{e003}\u{e004}", &[(72, "\u{e001}\u{e002}\u{e003}\u{e004}")]);
    assert!(refusal(&bytes).contains("fonts do not tell"), "{}", refusal(&bytes));
}

#[test]
fn a_broken_file_is_damaged() {
    for bytes in [b"%PDF-1.7\n".as_slice(), b"%PDF-1.7\n%%EOF", b""] {
        assert!(refusal(bytes).starts_with("the PDF is damaged"), "{}", refusal(bytes));
    }
}

#[test]
fn lines_that_run_to_the_margin_make_a_paragraph() {
    let text = joined(&[
        "The keeper of the light counts every ship that",
        "passes the harbour, and writes their names into",
        "a book.",
        "1. The first volume begins in the year of 1854 and",
        "ends with the great storm.",
        "",
        "Keeper",
        "Harbour 1",
    ]);
    assert_eq!(
        text,
        "The keeper of the light counts every ship that passes the harbour, and writes their names into a book.\n\
         1. The first volume begins in the year of 1854 and ends with the great storm.\n\nKeeper\nHarbour 1"
    );
}

#[test]
fn a_hyphen_at_a_lines_end_goes_unless_it_is_the_words_own() {
    assert_eq!(joined(&["The har-", "bour"]), "The harbour");
    assert_eq!(joined(&["The har\u{ad}", "bour"]), "The harbour");
    assert_eq!(
        joined(&["a well-known light and a well-", "known keeper"]),
        "a well-known light and a well-known keeper"
    );
    assert_eq!(joined(&["pages 12-", "14"]), "pages 12-\n14");
    assert_eq!(joined(&["North-", "South"]), "North-\nSouth");
    assert_eq!(
        joined(&[
            "see https://harbour.example/tide-",
            "tables and www.harbour.example/light-",
            "house"
        ]),
        "see https://harbour.example/tide-tables and www.harbour.example/light-house"
    );
}

#[test]
fn ligatures_are_letters_and_columns_stay_lines() {
    assert_eq!(joined(&["e\u{fb03}cient \u{fb01}les"]), "efficient files");
    let table =
        ["Name of the ship in the harbour    1854", "Name of the other ship, which left    1855"];
    assert_eq!(joined(&table), table.join("\n"));
    let chinese = "中".repeat(40);
    assert_eq!(joined(&[&chinese, "文"]), format!("{chinese}文"));
}

#[test]
fn what_pages_repeat_at_their_edges_is_kept_once_and_page_numbers_never() {
    let page = |number: usize| {
        let text = format!("Text of its own {}", "x".repeat(number));
        strings(&[
            "The Harbour Review",
            &format!("Chapter {number}"),
            "",
            &text,
            "Total 5",
            "more",
            "",
            &format!("{number}"),
        ])
    };
    let pages = furniture::without((1..=5).map(page).collect());
    assert_eq!(pages[0][0], "The Harbour Review");
    assert_eq!(pages[1][0], "");
    assert_eq!(pages[2][1], "");
    assert!(pages.iter().all(|page| page[7].is_empty() && page[3].starts_with("Text of its own")));
    let few = vec![strings(&["Same"]), strings(&["Same"])];
    assert_eq!(furniture::without(few.clone()), few);
}

#[test]
fn quality_tells_text_from_its_remains() {
    let english = "The keeper of the light counts every ship that passes. ".repeat(4);
    let torn = "T h e k e e p e r o f t h e l i g h t c o u n t s e v e r y s h i p";
    assert!(!Quality::of(&english).is_doubtful() && !Quality::of(&english).is_gibberish());
    assert!(Quality::of(torn).is_gibberish());
    assert!(Quality::of("\u{fffd}\u{fffd}a\u{1}").is_gibberish());
    assert!(!Quality::of(&"中文 A 文字 B ".repeat(40)).is_gibberish());
    assert!(Quality::of("").is_doubtful() && !Quality::of("").has_words());
    assert!(Quality::of(&english).score() > Quality::of(torn).score());
    assert_eq!(
        lines::hyphenated_words(&[strings(&["(Well-known) x"])]),
        HashSet::from(["well-known".to_owned()])
    );
}
