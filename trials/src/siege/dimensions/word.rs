//! Bodies of DOCX files that are large in one dimension.

use super::{Dimension, SENTENCES, Shape, words};

/// The body's XML.
pub(super) fn body(shape: Shape) -> String {
    let Shape { count, chars, .. } = shape;
    let long = words(chars);
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let large = match shape.dimension {
        Dimension::Headings => {
            heading(1, &long)
                + &each(&|at| heading(2, &at.to_string()) + &paragraph(&at.to_string()))
        }
        Dimension::Cells => format!(
            "<w:tbl><w:tr>{}</w:tr></w:tbl>",
            each(&|_| format!("<w:tc>{}</w:tc>", paragraph(&long)))
        ),
        Dimension::Links => each(&|at| {
            format!("<w:p><w:hyperlink w:anchor=\"a{at}\">{}</w:hyperlink></w:p>", run(&long))
        }),
        Dimension::Lines => {
            format!("<w:p>{}</w:p>", each(&|_| format!("{}<w:r><w:br/></w:r>", run(&long))))
        }
        Dimension::Pairs => each(&|at| paragraph(&format!("{at}?")) + &paragraph(&long)),
        Dimension::Names => {
            let name = "n".repeat(chars);
            each(&|at| format!("<w:p><w:{name}{at}/>{}</w:p>", run("a")))
        }
        Dimension::Attributes => {
            let attributes = each(&|at| format!(" w:a{at}=\"{at}\""));
            format!("<w:p{attributes} w:long=\"{long}\">{}</w:p>", run("a"))
        }
        Dimension::Pages => {
            each(&|_| paragraph(&long) + "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>")
        }
        Dimension::Nesting => {
            let (open, close) = ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>");
            open.repeat(count) + &paragraph(&long) + &close.repeat(count)
        }
        Dimension::Fonts => each(&|at| {
            format!(
                "<w:p><w:r><w:rPr><w:rFonts w:ascii=\"f{at}\"/></w:rPr><w:t>{long}</w:t></w:r></w:p>"
            )
        }),
        Dimension::Languages => each(&|at| {
            let sentence = SENTENCES[at % SENTENCES.len()];
            paragraph(&sentence.repeat(chars / 60 + 1))
        }),
    };
    large + &paragraph("The museum opens at nine.")
}

fn heading(level: u8, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"Heading{level}\"/></w:pPr>{}</w:p>", run(text))
}

fn paragraph(text: &str) -> String {
    format!("<w:p>{}</w:p>", run(text))
}

fn run(text: &str) -> String {
    format!("<w:r><w:t>{text}</w:t></w:r>")
}
