mod scripts;
mod tables;
mod times;

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::read;
use crate::extract::Reading;

const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A package that is built part by part.
struct Docx {
    parts: Vec<(String, Vec<u8>)>,
    links: String,
}

impl Docx {
    fn body(body: &str) -> Self {
        let main =
            format!(r#"<w:document xmlns:w="w"><w:body>{body}<w:sectPr/></w:body></w:document>"#);
        let package = format!(
            r#"<Relationships><Relationship Id="a" Type="{TYPE}/officeDocument" Target="word/document.xml"/><Relationship Id="b" Type="{TYPE}/metadata/core-properties" Target="docProps/core.xml"/></Relationships>"#
        );
        Self { parts: Vec::new(), links: String::new() }
            .part("_rels/.rels", package)
            .part("word/document.xml", main)
    }

    fn part(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.retain(|(known, _)| known != name);
        self.parts.push((name.to_owned(), bytes.into()));
        self
    }

    /// A part in `word/` that the main part refers to.
    fn side(mut self, kind: &str, name: &str, xml: &str) -> Self {
        self.links +=
            &format!(r#"<Relationship Id="{name}" Type="{TYPE}/{kind}" Target="{name}"/>"#);
        self.part(&format!("word/{name}"), xml)
    }

    fn bytes(self) -> Vec<u8> {
        let links = format!("<Relationships>{}</Relationships>", self.links);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let has_links = self.parts.iter().any(|(name, _)| name == "word/_rels/document.xml.rels");
        let own =
            (!has_links).then(|| ("word/_rels/document.xml.rels".to_owned(), links.into_bytes()));
        for (name, bytes) in self.parts.into_iter().chain(own) {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn read(self) -> Reading {
        read(&self.bytes()).unwrap()
    }

    fn text(self) -> String {
        self.read().text
    }
}

fn p(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn styled(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn item(list: u32, level: u32, text: &str) -> String {
    styled(
        &format!(r#"<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list}"/></w:numPr>"#),
        text,
    )
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

#[test]
fn paragraphs_are_apart_and_runs_are_not() {
    let body = "<w:p><w:r><w:t>One</w:t></w:r><w:r><w:t xml:space=\"preserve\"> &amp; t</w:t></w:r>\
                <w:hyperlink><w:r><w:t>wo&#x2026;</w:t></w:r></w:hyperlink></w:p><w:p/>";
    assert_eq!(Docx::body(&(body.to_owned() + &p("Three"))).text(), "One & two…\n\nThree");
}

#[test]
fn breaks_tabs_hyphens_and_symbols_are_characters() {
    let body = "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/>\
                <w:t>d</w:t><w:softHyphen/><w:t>e\u{ad}f\u{a0}g</w:t>\
                <w:sym w:font=\"Symbol\" w:char=\"F061\"/><w:sym w:font=\"Wingdings\" w:char=\"F0FC\"/>\
                </w:r></w:p>";
    assert_eq!(Docx::body(body).text(), "a\tb\nc-def gα✓");
}

#[test]
fn headings_come_from_styles_by_name_by_ancestry_and_by_outline_level() {
    let styles = r#"<w:styles>
        <w:style w:styleId="Uberschrift2"><w:name w:val="heading 2"/></w:style>
        <w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Uberschrift2"/></w:style>
        <w:style w:styleId="Part"><w:name w:val="Part"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
        <w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>"#;
    let body = styled(r#"<w:pStyle w:val="T"/>"#, "The manual")
        + &styled(r#"<w:pStyle w:val="Part"/>"#, "Part")
        + &styled(r#"<w:pStyle w:val="Own"/>"#, "Section")
        + &styled(r#"<w:outlineLvl w:val="2"/>"#, "Direct")
        + &styled(r#"<w:pStyle w:val="Heading1"/>"#, "By its id")
        + &styled(r#"<w:outlineLvl w:val="9"/>"#, "Body");
    let reading = Docx::body(&body).side("styles", "styles.xml", styles).read();
    assert_eq!(
        reading.text,
        "# The manual\n\n# Part\n\n## Section\n\n### Direct\n\n# By its id\n\nBody"
    );
    assert_eq!(reading.title.as_deref(), Some("The manual"));
}

const NUMBERING: &str = r#"<w:numbering>
    <w:abstractNum w:abstractNumId="0">
        <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
        <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl>
        <w:lvl w:ilvl="2"><w:start w:val="4"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%3"/></w:lvl>
    </w:abstractNum>
    <w:abstractNum w:abstractNumId="1">
        <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl>
    </w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
    <w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="0"/>
        <w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>"#;

#[test]
fn lists_have_their_numbers() {
    let body = [
        item(1, 0, "one"),
        item(1, 1, "inner"),
        item(1, 1, "inner again"),
        item(1, 2, "innermost"),
        item(1, 0, "two"),
        item(1, 1, "starts again"),
        p("between"),
        item(1, 0, "goes on"),
        item(3, 0, "begins anew"),
        item(2, 0, "bullet"),
        item(0, 0, "no list"),
    ];
    let text = Docx::body(&body.concat()).side("numbering", "numbering.xml", NUMBERING).text();
    assert_eq!(
        text,
        "1. one\n  a) inner\n  b) inner again\n    1.IV innermost\n2. two\n  a) starts again\n\n\
         between\n\n3. goes on\n7. begins anew\n- bullet\n\nno list"
    );
}

#[test]
fn tables_are_rows_with_merged_cells_in_each() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text))
    };
    let inner = format!(
        "<w:tc><w:p/><w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl></w:tc>",
        cell("", "i"),
        cell("", "j"),
        cell("", "k"),
        cell("", "l")
    );
    let rows = [
        cell("", "a|b") + &cell("<w:vMerge w:val=\"restart\"/>", "tall"),
        cell("", "c") + &cell("<w:vMerge/>", ""),
        cell("<w:gridSpan w:val=\"2\"/>", "wide"),
        inner + &cell("", "d"),
    ];
    let rows: String = rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let deleted = format!("<w:tr><w:trPr><w:del/></w:trPr>{}</w:tr>", cell("", "gone"));
    let text = Docx::body(&format!("{}<w:tbl>{rows}{deleted}</w:tbl>", p("before"))).text();
    assert_eq!(text, "before\n\n| a\\|b | tall |\n| c | tall |\n| wide |  |\n| i, j; k, l | d |");
}

#[test]
fn a_table_of_one_column_only_frames_its_content() {
    let body = format!("<w:tbl><w:tr><w:tc>{}{}</w:tc></w:tr></w:tbl>", p("one"), p("two"));
    assert_eq!(Docx::body(&body).text(), "one\n\ntwo");
}

#[test]
fn notes_follow_the_paragraph_that_refers_to_them_once() {
    let notes = r#"<w:footnotes><w:footnote w:id="-1"><w:p><w:r><w:t>separator</w:t></w:r></w:p></w:footnote>
        <w:footnote w:id="2"><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let ends = r#"<w:endnotes><w:endnote w:id="2"><w:p><w:r><w:t>The end.</w:t></w:r></w:p></w:endnote></w:endnotes>"#;
    let body = "<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id=\"2\"/></w:r></w:p>\
                <w:p><w:r><w:t>More</w:t><w:footnoteReference w:id=\"2\"/><w:endnoteReference w:id=\"2\"/></w:r></w:p>";
    let docx = Docx::body(body).side("footnotes", "footnotes.xml", notes);
    assert_eq!(
        docx.side("endnotes", "endnotes.xml", ends).text(),
        "Text\n\nThe note.\n\nMore\n\nThe end."
    );
}

#[test]
fn what_was_inserted_is_in_and_what_was_deleted_or_moved_away_is_out() {
    let body = "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
                <w:moveFrom><w:r><w:t>there</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t> here</w:t></w:r></w:moveTo>\
                <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>\
                <w:r><w:rPr><w:vanish w:val=\"0\"/></w:rPr><w:t>.</w:t></w:r></w:p>";
    assert_eq!(Docx::body(body).text(), "new here.");
}

#[test]
fn fields_give_their_results_and_no_codes() {
    let mark = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let code = |code: &str| format!("<w:r><w:instrText>{code}</w:instrText></w:r>");
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let nested =
        mark("begin") + &code("MERGEFIELD n") + &mark("separate") + &run("inner") + &mark("end");
    let body = [
        run("See "),
        mark("begin"),
        code("IF "),
        nested,
        mark("separate"),
        run("result"),
        mark("end"),
        "<w:fldSimple w:instr=\" PAGE \"><w:r><w:t>17</w:t></w:r></w:fldSimple>".to_owned(),
        run("."),
    ];
    let unfinished = format!("<w:p>{}{}</w:p>", mark("begin"), run("swallowed"));
    let text =
        Docx::body(&format!("<w:p>{}</w:p>{unfinished}{}", body.concat(), p("after"))).text();
    assert_eq!(text, "See result.\n\nafter");
}

#[test]
fn of_alternate_contents_one_is_read() {
    let boxed =
        |text: &str| format!("<w:drawing><w:txbxContent>{}</w:txbxContent></w:drawing>", p(text));
    let body = format!(
        "<w:p><w:r><w:t>Text</w:t></w:r><w:r><mc:AlternateContent><mc:Choice>{}</mc:Choice>\
         <mc:Fallback>{}</mc:Fallback></mc:AlternateContent></w:r></w:p>",
        boxed("box"),
        boxed("box"),
    );
    assert_eq!(Docx::body(&body).text(), "Text\n\nbox");
}

#[test]
fn formulas_pictures_and_placeholders() {
    let body = "<w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>\
                <m:sSup><m:e><m:r><m:t>+x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>\
                <w:p><w:r><w:drawing><wp:docPr id=\"1\" descr=\"A red lighthouse\"/></w:drawing></w:r></w:p>\
                <w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>Click here</w:t></w:r></w:p></w:sdtContent></w:sdt>\
                <w:sdt><w:sdtContent><w:p><w:r><w:t>Filled in</w:t></w:r></w:p></w:sdtContent></w:sdt>";
    assert_eq!(Docx::body(body).text(), "a/b+x^2\n\nA red lighthouse\n\nFilled in");
}

#[test]
fn each_header_and_footer_is_read_once_without_page_numbers() {
    let header = format!("<w:hdr>{}</w:hdr>", p("Harbour office"));
    let footer = "<w:ftr><w:p><w:r><w:t>Page </w:t></w:r><w:fldSimple w:instr=\"PAGE\"><w:r><w:t>3</w:t></w:r>\
                  </w:fldSimple></w:p><w:p><w:r><w:t>Confidential</w:t></w:r></w:p></w:ftr>";
    let docx = Docx::body(&p("Text")).side("header", "header1.xml", &header);
    let docx = docx.side("header", "header2.xml", &header).side("footer", "footer1.xml", footer);
    assert_eq!(docx.text(), "Harbour office\n\nText\n\nConfidential");
}

#[test]
fn headers_that_no_page_shows_are_out() {
    let header = |text: &str| format!("<w:hdr>{}</w:hdr>", p(text));
    let section = |first: &str| {
        format!(
            "<w:p><w:pPr><w:sectPr>{first}<w:headerReference w:type=\"default\" r:id=\"h.xml\"/>\
             <w:headerReference w:type=\"first\" r:id=\"f.xml\"/></w:sectPr></w:pPr><w:r><w:t>End.</w:t></w:r></w:p>"
        )
    };
    let next = |mark: &str| {
        format!(
            "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"n.xml\"/></w:sectPr></w:pPr>\
             <w:r>{mark}<w:t>Next page</w:t></w:r></w:p>"
        )
    };
    let (ended, unknown) = (next("<w:lastRenderedPageBreak/>"), next(""));
    let begins = |body: String, headers: &[&str]| {
        let docx = Docx::body(&body).side("header", "h.xml", &header("Contents (continued)"));
        let docx = docx.side("header", "f.xml", &header("Contents"));
        let text = docx.side("header", "n.xml", &header("Index")).text();
        assert!(text.starts_with(&headers.join("\n\n")), "{text}");
    };
    let apart = "<w:titlePg/>";
    begins(section(apart) + &ended, &["Contents", "Index", "End."]);
    // A section of two pages, one without a header of its own, and a file that says nothing of its pages.
    let all = ["Contents (continued)", "Contents", "Index"];
    begins(
        p("One") + "<w:p><w:r><w:lastRenderedPageBreak/></w:r></w:p>" + &section(apart) + &ended,
        &all,
    );
    begins(section("") + &ended, &["Contents (continued)", "Index", "End."]);
    begins(section(apart) + &unknown, &all);
}

#[test]
fn comments_are_out() {
    let comments =
        format!("<w:comments><w:comment w:id=\"0\">{}</w:comment></w:comments>", p("a remark"));
    let body = "<w:p><w:commentRangeStart w:id=\"0\"/><w:r><w:t>Text</w:t><w:commentReference w:id=\"0\"/></w:r></w:p>";
    assert_eq!(Docx::body(body).side("comments", "comments.xml", &comments).text(), "Text");
}

#[test]
fn the_main_part_is_found_by_its_relationship_in_strict_files_too() {
    let strict = r#"<r:Relationships xmlns:r="r"><r:Relationship Id="a" Target="/Word/Main2.xml"
        Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument"/></r:Relationships>"#;
    let main = r#"<ns0:document xmlns:ns0="http://purl.oclc.org/ooxml/wordprocessingml/main"><ns0:body><ns0:p><ns0:r><ns0:t>strict</ns0:t></ns0:r></ns0:p></ns0:body></ns0:document>"#;
    let docx = Docx { parts: Vec::new(), links: String::new() };
    assert_eq!(docx.part("_rels/.rels", strict).part("word/main2.xml", main).text(), "strict");
}

#[test]
fn parts_in_utf_16_are_read() {
    let xml = format!(
        r#"<?xml version="1.0" encoding="UTF-16"?><w:document><w:body>{}</w:body></w:document>"#,
        p("Größe")
    );
    let little: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> =
        "\u{feff}".encode_utf16().chain(xml.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        assert_eq!(Docx::body("").part("word/document.xml", bytes).text(), "Größe");
    }
}

#[test]
fn the_title_is_that_of_the_properties_unless_nobody_wrote_it() {
    let core = |title: &str| {
        let xml = format!(r#"<cp:coreProperties><dc:title>{title}</dc:title></cp:coreProperties>"#);
        Docx::body(&p("Text")).part("docProps/core.xml", xml).read().title
    };
    assert_eq!(core(" Tides &amp; lights "), Some("Tides & lights".to_owned()));
    for unnamed in ["", "Microsoft Word - tides.doc", "Document1", "tides.docx", "untitled", "12"] {
        assert_eq!(core(unnamed), None, "{unnamed}");
    }
}

#[test]
fn a_document_without_text_is_refused() {
    assert_eq!(refusal(&Docx::body("<w:p/>").bytes()), "the document contains no text");
    let nothing = Docx { parts: Vec::new(), links: String::new() };
    assert_eq!(refusal(&nothing.bytes()), "the file holds no Word document");
    assert!(refusal(b"PK\x03\x04 and then nothing").starts_with("the file is damaged"));
}

#[test]
fn protected_and_old_files_are_told_apart() {
    let ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on";
    assert!(refusal(ole).contains("before 2007"));
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refusal(&[ole.as_slice(), &name].concat()).contains("protected by a password"));
}

#[test]
fn bombs_are_refused() {
    let blanks = vec![b' '; 6 * 1024 * 1024];
    assert!(
        refusal(&Docx::body("").part("word/document.xml", blanks).bytes())
            .contains("far more data")
    );
    assert!(refusal(&declaring(64 * 1024 * 1024)).contains("far more data"));
    let entities = format!(
        r#"<!DOCTYPE w [<!ENTITY a "&b;&b;">]><w:document><w:body>{}</w:body></w:document>"#,
        p("&a;")
    );
    let docx = Docx::body("").part("word/document.xml", entities);
    assert!(refusal(&docx.bytes()).contains("entities"));
}

#[test]
fn a_lie_about_a_size_is_refused() {
    assert!(refusal(&declaring(40)).contains("damaged"));
    assert!(refusal(&declaring(5_000)).contains("declares a wrong size"));
}

/// A document whose archive declares that size of its only part.
fn declaring(size: u32) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    writer.start_file("word/document.xml", options).unwrap();
    write!(writer, "<w:document><w:body>{}</w:body></w:document>", p("Text").repeat(50)).unwrap();
    let mut bytes = writer.finish().unwrap().into_inner();
    // The uncompressed size is at offset 24 of the entry in the central directory.
    let entry = bytes.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[test]
fn nesting_beyond_every_real_document_is_refused() {
    let deep = format!("{}{}", "<w:tbl><w:tr><w:tc>".repeat(100_000), p("Text"));
    assert_eq!(refusal(&Docx::body(&deep).bytes()), "the document is nested too deeply");
    let deep = |levels: usize| {
        let open = "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>".repeat(levels);
        format!("{open}{}{}", p("Text"), "</w:tc></w:tr></w:tbl>".repeat(levels))
    };
    assert!(Docx::body(&deep(80)).text().contains("Text"));
}

#[test]
fn a_large_initial_begins_its_word() {
    let body = styled("<w:framePr w:dropCap=\"drop\" w:lines=\"3\"/>", "T")
        + &p("he harbour falls dry.")
        + &p("Twice a day.");
    assert_eq!(Docx::body(&body).text(), "The harbour falls dry.\n\nTwice a day.");
}

#[test]
fn a_control_that_was_filled_in_is_read_although_it_claims_to_show_its_placeholder() {
    let control = |style: &str, text: &str| {
        format!(
            "<w:p><w:sdt><w:sdtPr><w:placeholder><w:docPart w:val=\"A\"/></w:placeholder><w:showingPlcHdr/>\
             </w:sdtPr><w:sdtContent><w:r>{style}<w:t>{text}</w:t></w:r></w:sdtContent></w:sdt></w:p>"
        )
    };
    let prompt = "<w:rPr><w:rStyle w:val=\"PlaceholderText\"/></w:rPr>";
    let body = control("", "Ada Example") + &control(prompt, "Enter a date");
    assert_eq!(Docx::body(&body).text(), "Ada Example");
}

#[test]
fn templates_and_files_with_macros_are_word_documents() {
    for kind in [
        "vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "vnd.ms-word.document.macroEnabled.main+xml",
        "vnd.ms-word.template.macroEnabledTemplate.main+xml",
    ] {
        let types = format!(
            "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/{kind}\"/></Types>"
        );
        let file = Docx::body(&p("Text")).part("[Content_Types].xml", types).bytes();
        let detected = crate::extract::detect_upload_type(&file);
        assert_eq!(detected, Some(cicerone_domain::UploadType::Docx), "{kind}");
        assert_eq!(read(&file).unwrap().text, "Text");
    }
}

#[test]
fn diagrams_and_charts_are_read_where_they_stand() {
    let links = format!(
        "<Relationships><Relationship Id=\"d\" Type=\"{TYPE}/diagramData\" Target=\"diagrams/data1.xml\"/>\
         <Relationship Id=\"c\" Type=\"{TYPE}/chart\" Target=\"charts/chart1.xml\"/></Relationships>"
    );
    let diagram = "<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Register</a:t></a:r></a:p></dgm:t></dgm:pt>\
                   <dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt>\
                   <dgm:pt><dgm:t><a:p><a:r><a:t>Pay</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>";
    let points = |values: [&str; 2]| {
        let [one, two] = values;
        format!("<c:pt idx=\"0\"><c:v>{one}</c:v></c:pt><c:pt idx=\"1\"><c:v>{two}</c:v></c:pt>")
    };
    let chart = format!(
        "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Ships a year</a:t></a:r></a:p></c:rich></c:tx>\
         </c:title><c:plotArea><c:ser><c:tx><c:strRef><c:strCache><c:pt idx=\"0\"><c:v>Ships</c:v></c:pt></c:strCache>\
         </c:strRef></c:tx><c:cat>{}</c:cat><c:val>{}</c:val></c:ser></c:plotArea></c:chart></c:chartSpace>",
        points(["2024", "2025"]),
        points(["310", "342"]),
    );
    let body = p("Before")
        + "<w:p><w:r><w:drawing><a:graphicData><dgm:relIds r:dm=\"d\"/></a:graphicData></w:drawing></w:r></w:p>"
        + "<w:p><w:r><w:drawing><a:graphicData><c:chart r:id=\"c\"/></a:graphicData></w:drawing></w:r></w:p>"
        + &p("After");
    let docx = Docx::body(&body)
        .part("word/_rels/document.xml.rels", links)
        .part("word/diagrams/data1.xml", diagram)
        .part("word/charts/chart1.xml", chart);
    let expected = "Before\n\n- Register\n- Pay\n\nShips a year\n\n|  | Ships |\n| 2024 | 310 |\n| 2025 | 342 |\n\nAfter";
    assert_eq!(docx.text(), expected);
}

#[test]
fn the_address_of_a_link_is_told_if_its_text_is_not_it() {
    let links = format!(
        "<Relationships><Relationship Id=\"m\" Type=\"{TYPE}/hyperlink\" Target=\"mailto:pilot@h.example\" TargetMode=\"External\"/></Relationships>"
    );
    let body = "<w:p><w:r><w:t xml:space=\"preserve\">Write to </w:t></w:r><w:hyperlink r:id=\"m\"><w:r><w:t>the pilots</w:t></w:r></w:hyperlink></w:p>";
    let docx = Docx::body(body).part("word/_rels/document.xml.rels", links);
    assert_eq!(docx.text(), "Write to the pilots (pilot@h.example)");
}
