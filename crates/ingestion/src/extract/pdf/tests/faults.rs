//! What PDF readers lose or alter, each in a file that shows it.

use cicerone_domain::content::WarningReason;

use super::{PdfReader, composite, document, pdf, plain, read, read_alone, refusal, stream};
use crate::extract::pdf::glyph::push_next_line;

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
const BOLD: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>";

/// A page with this content in Helvetica.
fn page(content: &str) -> Vec<u8> {
    document(&[HELVETICA.to_owned()], &[content.to_owned()])
}

/// The text of a page with this content.
fn text(content: &str) -> String {
    read(&page(content)).unwrap().text
}

/// A line at a place.
fn at(x: f64, y: f64, line: &str) -> String {
    format!("BT /F 10 Tf 1 0 0 1 {x} {y} Tm ({line}) Tj ET\n")
}

/// A page of these objects: the first is its content, `entries` are added to its dictionary, and the second of `objects`
/// is object 6.
fn page_with(entries: &str, objects: &[String]) -> Vec<u8> {
    let mut all = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Count 1/Kids[4 0 R]>>".to_owned(),
        "<<>>".to_owned(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R{entries}\
             /Resources<</Font<</F {HELVETICA}/B {BOLD}>>/XObject<</X 6 0 R>>>>>>"
        ),
    ];
    all.extend_from_slice(objects);
    pdf(&all)
}

#[test]
fn what_differs_between_pages_stays_at_their_edges() {
    let lines = |number: u32| {
        [
            "Harbour Office".to_owned(),
            format!("Invoice 2026-{}", 4_711 + 13 * number),
            format!("Due on {} May 2026", 3 * number),
            format!("Berth {} for a night", 7 * number % 5),
            format!("VAT {}.00", 19 * number),
            format!("Total {}.00", 119 * number),
        ]
    };
    let pages: Vec<_> = (1..=5).map(lines).collect();
    let pages: Vec<Vec<&str>> =
        pages.iter().map(|page| page.iter().map(String::as_str).collect()).collect();
    let read = read(&plain(&pages.iter().map(Vec::as_slice).collect::<Vec<_>>())).unwrap().text;
    for line in pages.iter().flatten() {
        assert!(read.contains(line), "{line}: {read}");
    }
    assert_eq!(read.matches("Harbour Office").count(), 1);
}

#[test]
fn equal_digits_are_not_one_that_is_bold() {
    // Each digit is put at its place, as some programs do, and the comma under the next one.
    let mut content = String::from("BT /F 10 Tf\n");
    let mut x = 72.0;
    for char in "1,406,164.00 1-800-743-5500".chars() {
        content += &format!("1 0 0 1 {x} 700 Tm ({char}) Tj\n");
        x += if char.is_ascii_digit() { 5.56 } else { 2.78 };
    }
    assert_eq!(text(&(content + "ET")), "1,406,164.00 1-800-743-5500");
    let twice = at(72.0, 700.0, "Total 1,100.00") + &at(72.3, 700.0, "Total 1,100.00");
    assert_eq!(text(&twice), "Total 1,100.00");
}

#[test]
fn the_scale_of_a_type_3_font_counts() {
    // Glyphs of a bitmap font: half a unit of the matrix wide, set in type of size 1.
    let glyph = stream("50 0 0 0 50 70 d1 0 0 50 70 re f");
    let font = [
        "<</Type/Font/Subtype/Type3/FontMatrix[0.1 0 0 0.1 0 0]/FontBBox[0 0 60 80]/FirstChar 46/LastChar 57\
         /Widths[50 50 50 50 50 50 50 50 50 50 50 50]/CharProcs<</a 5 0 R>>\
         /Encoding<</Differences[46/period 48/zero/one/two/three/four/five/six/seven/eight/nine]>>>>"
            .to_owned(),
        glyph,
    ];
    let content = "BT /F 1 Tf 72 700 Td (1406164.00) Tj ET".to_owned();
    assert_eq!(read(&document(&font, &[content])).unwrap().text, "1406164.00");
}

#[test]
fn forms_stand_where_they_are_put() {
    let form = |content: &str| {
        format!(
            "<</Type/XObject/Subtype/Form/BBox[0 0 600 900]/Matrix[1 0 0 1 0 -100]/Length {}>>stream\n{content}\nendstream",
            content.len()
        )
    };
    let content = stream(&format!("{}q 1 0 0 1 26 0 cm /X Do Q", at(72.0, 700.0, "Total")));
    let bytes = page_with("", &[content, form(&at(72.0, 800.0, "19.00"))]);
    assert_eq!(read(&bytes).unwrap().text, "Total 19.00");
}

#[test]
fn fonts_of_east_asia_are_read_without_a_map() {
    let font = |encoding: &str, ordering: &str| {
        [
            format!(
                "<</Type/Font/Subtype/Type0/BaseFont/G/Encoding/{encoding}/DescendantFonts[5 0 R]>>"
            ),
            format!(
                "<</Type/Font/Subtype/CIDFontType0/BaseFont/G/DW 1000\
                 /CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})/Supplement 2>>/FontDescriptor 6 0 R>>"
            ),
            "<</Type/FontDescriptor/FontName/G/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200\
             /CapHeight 700/StemV 80>>".to_owned(),
        ]
    };
    let shown = |codes: &str| vec![format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET")];
    let shift_jis = document(&font("90ms-RKSJ-H", "Japan1"), &shown("93fa967b8cea"));
    assert_eq!(read(&shift_jis).unwrap().text, "日本語");
    // Members 3284, 3724 and 1921 of the collection.
    let members = document(&font("Identity-H", "Japan1"), &shown("0cd40e8c0781"));
    assert!(read(&members).unwrap().text.chars().all(|char| matches!(char, '一'..='龥')));
    let unicode = document(&font("UniGB-UCS2-H", "GB1"), &shown("4e2d6587"));
    assert_eq!(read(&unicode).unwrap().text, "中文");
}

#[test]
fn digits_of_old_style_are_digits() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Old/Encoding<</Differences[65/oneoldstyle/nineoldstyle/Asmall]>>>>";
    let bytes = document(&[font.to_owned()], &["BT /F 12 Tf 72 700 Td (ABBC) Tj ET".to_owned()]);
    assert_eq!(read(&bytes).unwrap().text, "199a");
}

#[test]
fn a_font_that_is_not_embedded_is_read_by_the_numbers_of_its_glyphs() {
    let font = [
        "<</Type/Font/Subtype/Type0/BaseFont/Arial/Encoding/Identity-H/DescendantFonts[5 0 R]>>".to_owned(),
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Arial/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>\
         /DW 556>>".to_owned(),
    ];
    let codes: String =
        "Pilot 9".chars().map(|char| format!("{:04x}", u32::from(char) - 29)).collect();
    let bytes = document(&font, &[format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET")]);
    assert_eq!(read(&bytes).unwrap().text, "Pilot 9");
}

#[test]
fn filters_may_be_objects_of_their_own() {
    let content: String =
        at(72.0, 700.0, "Due in May").bytes().map(|byte| format!("{byte:02x}")).collect();
    let bytes = page_with(
        "",
        &[
            format!("<</Filter 7 0 R/Length {}>>stream\n{content}>\nendstream", content.len() + 1),
            "null".to_owned(),
            "/ASCIIHexDecode".to_owned(),
        ],
    );
    assert_eq!(read(&bytes).unwrap().text, "Due in May");
}

#[test]
fn a_page_that_is_not_read_whole_says_so() {
    let whole = read(&page(&at(72.0, 700.0, "All of it"))).unwrap();
    assert!(whole.warnings.is_empty());
    let shown = "The tide rises twice a day\u{e001}\u{e002}";
    let partly = read(&composite(shown, &[(72, shown)])).unwrap();
    assert!(partly.text.starts_with("The tide"), "{}", partly.text);
    let told: Vec<_> = partly.warnings.iter().collect();
    assert_eq!(told[0].reason, WarningReason::UnknownCharacters);
    assert_eq!((told.len(), &*told[0].pages), (1, &[1][..]));
    let torn = text_of_torn("(Before) Tj 0 -14 Td ) (behind) Tj");
    assert!(torn.0.contains("Before") && torn.1 == 1, "{torn:?}");
    let many = format!("{} 0 -14 Td (behind) Tj", "1 ".repeat(100));
    assert_eq!(text_of_torn(&format!("(Before) Tj {many}")).0, "Before\nbehind");
    let broken =
        format!("<</Filter/FlateDecode/Length 90>>stream\n{}\nendstream", "not zlib! ".repeat(9));
    let good = stream(&at(72.0, 700.0, "Readable"));
    let bytes = page_with("", &["[6 0 R 7 0 R]".to_owned(), good, broken]);
    let partly = read(&bytes).unwrap();
    assert_eq!(partly.text, "Readable");
    assert_eq!(partly.warnings.pages(), [1]);
}

#[test]
fn a_page_that_is_a_picture_says_so_beside_pages_with_text() {
    let page = |contents: u32| {
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {contents} 0 R\
             /Resources<</Font<</F {HELVETICA}>>/XObject<</X 8 0 R>>>>>>"
        )
    };
    let image = "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray\
        /BitsPerComponent 8/Length 1>>stream\n0\nendstream";
    let reading = |width: u32| {
        let objects = [
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            "<</Type/Pages/Count 2/Kids[4 0 R 6 0 R]>>".to_owned(),
            "<<>>".to_owned(),
            page(5),
            stream(&format!("q {width} 0 0 700 0 0 cm /X Do Q")),
            page(7),
            stream(&at(72.0, 700.0, "Readable")),
            image.to_owned(),
        ];
        read(&pdf(&objects)).unwrap()
    };
    let scanned = reading(600);
    assert_eq!(scanned.text, "Readable");
    let told: Vec<_> = scanned.warnings.iter().map(|warning| &warning.reason).collect();
    assert_eq!((told, scanned.warnings.pages()), (vec![&WarningReason::Scanned], vec![1]));
    assert!(reading(60).warnings.is_empty(), "a logo is not a scan");
}

/// The text of a page with a mistake in its content, and how many pages were not read whole.
fn text_of_torn(content: &str) -> (String, usize) {
    let reading = read(&page(&format!("BT /F 10 Tf 72 700 Td {content} ET"))).unwrap();
    (reading.text, reading.warnings.pages().len())
}

#[test]
fn text_from_right_to_left_is_read_in_its_order() {
    // As most programs write Hebrew: from the left, the last letter first; and a number among it.
    let seen: String = "שלום 17 ספינות".chars().rev().collect::<String>().replace("71", "17");
    let bytes = composite("שלוםספינת 17", &[(72, &seen)]);
    assert_eq!(read(&bytes).unwrap().text, "שלום 17 ספינות");
}

#[test]
fn signs_of_vowels_stand_behind_their_letters_in_any_form() {
    // A fatha on a shadda in one glyph, and in two of either order.
    for signs in ["\u{fc60}", "\u{fcf2}", "\u{651}\u{64e}", "\u{64e}\u{651}"] {
        let mut runs = vec![(72, "ا"), (78, "تآب")];
        runs.extend(signs.char_indices().map(|(at, sign)| (78, &signs[at..at + sign.len_utf8()])));
        let bytes = composite(&format!("اتآب{signs}"), &runs);
        assert_eq!(read(&bytes).unwrap().text, "بآت\u{64e}\u{651}ا");
    }
}

#[test]
fn blanks_do_not_tell_the_direction_of_a_line() {
    let bytes = composite("א\u{5bc} ", &[(72, "א"), (72, "\u{5bc}"), (78, "   ")]);
    assert_eq!(read(&bytes).unwrap().text, "א\u{5bc}");
}

#[test]
fn words_whose_letters_are_far_apart_are_whole_if_blanks_part_them() {
    for spacing in [1, 5, 7] {
        let content = format!("BT /F 12 Tf {spacing} Tc 72 700 Td (Last ship of the year) Tj ET");
        assert_eq!(text(&content), "Last ship of the year", "{spacing}");
    }
    // Words as far apart as cells of a table, in type that is narrowed: the page states both spaces.
    let content = "BT /F 12 Tf 80 Tz 12 Tw 7 Tc 72 700 Td (Last ship in May) Tj ET";
    assert_eq!(text(content), "Last ship in May");
    // The same gap by a number is one between cells.
    let content = "BT /F 12 Tf 72 700 Td [(Ship )-1800(Berth )-1800(Keeper)] TJ ET";
    assert_eq!(text(content), "Ship   Berth   Keeper");
}

#[test]
fn leaders_that_are_far_apart_do_not_join_the_words_before_them() {
    // Two points part the words: less than the leaders are apart, more than letters are.
    let words = "[(The)-200(old)-200(lighthouse)] TJ";
    let leaders = ". ".repeat(40).replace(' ', ") -260 (");
    let content = format!("BT /F 12 Tf 72 700 Td {words} [({leaders}7)] TJ ET");
    assert!(text(&content).starts_with("The old lighthouse"), "{}", text(&content));
}

#[test]
fn a_line_without_end_is_read_in_time() {
    // A sign of a vowel above each letter, all on one line.
    let run = "שָ".repeat(20_000);
    let bytes = composite("שָ", &[(72, &run)]);
    assert!(read(&bytes).unwrap().text.contains("שָ"));
}

#[test]
fn headings_are_larger_or_bolder_than_the_text() {
    let line =
        "The keeper of the light counts every ship that passes the harbour by day and by night.";
    let mut content = String::from("BT /F 18 Tf 72 760 Td (Rules of the harbour) Tj ET\n");
    for (y, part) in [(700.0, "Berths"), (600.0, "Pilots")] {
        content += &format!("BT /B 10 Tf 72 {y} Td ({part}) Tj ET\n");
        for below in 2..6 {
            content += &at(72.0, y - 12.0 * f64::from(below), line);
        }
    }
    let text = read(&page_with("", &[stream(&content)])).unwrap().text;
    assert!(text.starts_with("# Rules of the harbour\n\n## Berths\n\nThe keeper"), "{text}");
    assert!(text.contains("night.\n\n## Pilots\n\nThe keeper"), "{text}");
}

#[test]
fn a_chinese_line_goes_on_without_a_blank() {
    let joined = |first: &str, next: &str| {
        let mut text = first.to_owned();
        push_next_line(&mut text, next);
        text
    };
    assert_eq!(joined("港口的", "规则"), "港口的规则");
    assert_eq!(joined("Rules of", "the harbour"), "Rules of the harbour");
    assert_eq!(joined("港口", "A 1"), "港口 A 1");
    assert_eq!((joined("", "x"), joined("x", "")), ("x".to_owned(), "x".to_owned()));
}

#[test]
fn rows_of_a_table_stand_between_bars() {
    let rows =
        [["Berth", "Night", "Week"], ["North quay", "18.00", "110.00"], ["Pier", "9.50", "60.00"]];
    let mut content = String::new();
    for (row, y) in rows.iter().zip([700.0, 685.0, 670.0]) {
        for (cell, x) in row.iter().zip([72.0, 200.0, 300.0]) {
            content += &at(x, y, cell);
        }
    }
    assert_eq!(
        text(&content),
        "| Berth | Night | Week |\n| North quay | 18.00 | 110.00 |\n| Pier | 9.50 | 60.00 |"
    );
    let long = "A berth at the northern quay of it";
    let content = at(72.0, 700.0, long)
        + &at(300.0, 700.0, "18.00")
        + &at(72.0, 685.0, long)
        + &at(300.0, 685.0, "9.50");
    assert_eq!(text(&content), format!("| {long} | 18.00 |\n| {long} | 9.50 |"));
}

#[test]
fn a_table_that_is_shown_column_by_column_is_one() {
    let column = |x: f64, cells: [&str; 4]| {
        let cells = cells.iter().zip([700.0, 685.0, 670.0, 655.0]);
        cells.map(|(cell, y)| at(x, y, cell)).collect::<String>()
    };
    let table = column(72.0, ["North quay", "Pier", "Outer buoy", "Dock"])
        + &column(200.0, ["18.00", "9.50", "4.00", "22.00"]);
    let read = text(&table);
    assert!(read.contains("| Pier | 9.50 |\n| Outer buoy | 4.00 |"), "{read}");
    let addresses = column(72.0, ["Harbour Office", "Quay 1", "Port Ada", "Northland"])
        + &column(300.0, ["Ada Keeper", "Light Street 2", "Port Ada", "Southland"]);
    let read = text(&addresses);
    assert!(read.contains("Quay 1\nPort Ada"), "{read}");
}

#[test]
fn columns_that_are_shown_line_by_line_are_read_one_after_the_other() {
    let left = [
        "The keeper of the light counts",
        "every ship that passes here",
        "and writes the names into it",
        "by day and also by night and",
        "for the whole of every winter",
        "until the ice is gone again.",
    ];
    let right = [
        "A pilot is taken at the outer",
        "buoy by every ship above nine",
        "metres of draught unless the",
        "harbour master has allowed it",
        "to enter with nobody on board",
        "who knows the channel well.",
    ];
    let mut content = String::new();
    for (index, (left, right)) in left.iter().zip(right).enumerate() {
        let y = 700.0 - 12.0 * index as f64;
        content += &at(72.0, y, left);
        content += &at(320.0, y, right);
    }
    let text = text(&content).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("counts every ship that passes here and writes"), "{text}");
    assert!(text.contains("again. A pilot is taken at the outer buoy by every"), "{text}");
}

#[test]
fn values_of_forms_are_read_without_an_appearance() {
    let field = "<</Type/Annot/Subtype/Widget/FT/Tx/Rect[150 695 300 710]/Parent 7 0 R>>";
    let parent = "<</FT/Tx/T(name)/V(Ada Keeper)>>".to_owned();
    let hidden = "<</Type/Annot/Subtype/Widget/FT/Tx/Ff 8192/Rect[150 600 300 610]/V(sesame)>>";
    let chosen = "<</Type/Annot/Subtype/Widget/FT/Btn/AS/Yes/V/Yes/Rect[72 650 80 658]>>";
    let other = "<</Type/Annot/Subtype/Widget/FT/Btn/AS/Off/V/Off/Rect[72 630 80 638]>>";
    let entries = format!("/Annots[{field}{hidden}{chosen}{other}]");
    let bytes =
        page_with(&entries, &[stream(&at(72.0, 700.0, "Name:")), "null".to_owned(), parent]);
    let text = read(&bytes).unwrap().text;
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), "Name: Ada Keeper [x]");
}

#[test]
fn links_tell_their_address_once() {
    let link = |y: u32, to: &str| {
        format!(
            "<</Type/Annot/Subtype/Link/Rect[70 {} 130 {}]/A<</S/URI/URI({to})>>>>",
            y - 3,
            y + 9
        )
    };
    let entries = format!(
        "/Annots[{}{}{}]",
        link(700, "https://harbour.example/form"),
        link(680, "mailto:pilot@harbour.example"),
        link(660, "https://harbour.example")
    );
    let content = at(72.0, 700.0, "The form")
        + &at(140.0, 700.0, "is here.")
        + &at(72.0, 680.0, "Write to us")
        + &at(72.0, 660.0, "harbour.example")
        + &at(72.0, 640.0, "A ship that stays longer than a week in the harbour needs a permit.");
    let text = read(&page_with(&entries, &[stream(&content)])).unwrap().text;
    assert!(text.contains("The form (https://harbour.example/form)"), "{text}");
    assert!(text.contains("Write to us (pilot@harbour.example)"), "{text}");
    assert!(text.contains("harbour.example\n"), "{text}");
}

#[test]
fn a_text_that_stands_in_for_glyphs_is_read() {
    let content = "BT /F 10 Tf 72 700 Td (A ) Tj /Span<</ActualText(light)>>BDC (l1gh) Tj (+) Tj EMC ( burns) Tj ET";
    assert_eq!(text(content), "A light burns");
}

#[test]
fn layers_that_are_off_are_not_read() {
    let mut bytes =
        page(&format!("{}/OC /L BDC {} EMC", at(72.0, 700.0, "Seen"), at(72.0, 650.0, "Hidden")));
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(read(&bytes).unwrap().text.contains("Hidden"));
    bytes = text
        .replace("/Resources<<", "/Resources<</Properties<</L 3 0 R>>")
        .replace("<</Type/Catalog", "<</Type/Catalog/OCProperties<</OCGs[3 0 R]/D<</OFF[3 0 R]>>>>")
        .into_bytes();
    assert_eq!(read(&bytes).unwrap().text, "Seen");
}

/// A page whose only text is in a layer, with this configuration and this before the text.
fn with_a_layer(configuration: &str, before: &str) -> Vec<u8> {
    let objects = [
        format!("<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[3 0 R]/D<<{configuration}>>>>>>"),
        "<</Type/Pages/Count 1/Kids[5 0 R]>>".to_owned(),
        "<</Type/OCG/Name(Notes)>>".to_owned(),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 6 0 R\
         /Resources<</Font<</F 4 0 R>>/Properties<</L 3 0 R>>>>>>"
            .to_owned(),
        stream(&format!(
            "{before}/OC /L BDC {} EMC",
            at(72.0, 650.0, "Hidden notes of the harbour")
        )),
    ];
    pdf(&objects)
}

/// It knows no layers.
#[test]
fn files_that_hide_layers_are_not_read_by_the_second_reader() {
    let second =
        |configuration: &str| read_alone(PdfReader::Extractor, &with_a_layer(configuration, ""));
    assert_eq!(second("").as_deref(), Some("Hidden notes of the harbour"));
    for configuration in ["/OFF[3 0 R]", "/BaseState/OFF"] {
        assert_eq!(second(configuration), None, "{configuration}");
        // Its glyphs are blanks, so that another reader would be asked.
        let bytes = with_a_layer(configuration, &at(72.0, 700.0, "    "));
        assert!(refusal(&bytes).contains("no readable text"), "{}", refusal(&bytes));
    }
}

#[test]
fn an_exponent_is_no_digit() {
    let content = "BT /F 10 Tf 72 700 Td (10) Tj /F 6 Tf 4 Ts (6) Tj /F 10 Tf 0 Ts ( ships) Tj ET";
    assert_eq!(text(content), "10^6 ships");
    assert_eq!(text(&content.replace("(6)", "(-3)")), "10^-3 ships");
}

#[test]
fn forms_that_draw_others_without_end_end() {
    // Each draws the next one: as deep as none is meant to be.
    let form = |next: usize| {
        format!(
            "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {next} 0 R>>>>/Length 5>>\
             stream\n/X Do\nendstream"
        )
    };
    let mut objects = vec![stream(&format!("{} /X Do", at(72.0, 700.0, "Once")))];
    objects.extend((7..30).map(form));
    let reading = read(&page_with("", &objects)).unwrap();
    assert_eq!(reading.text, "Once");
    assert_eq!(reading.warnings.pages(), [1]);
}
