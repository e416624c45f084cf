//! PDF files that are large in one dimension.

use super::{Dimension, Shape, words};
use crate::siege::documents::Pdf;

/// The most pages and objects of a file: each takes some bytes of its own.
const MOST: usize = 40_000;

pub(super) fn file(shape: Shape) -> anyhow::Result<Vec<u8>> {
    let Shape { chars, .. } = shape;
    let count = shape.count.min(MOST);
    let long = words(chars);
    let mut pdf = Pdf::new();
    let font = pdf.object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
    let usual = format!("/Resources<</Font<</F {font} 0 R>>>>");
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let show = |text: &str| format!("BT /F 12 Tf 10 10 Td ({text}) Tj ET\n");
    match shape.dimension {
        Dimension::Pages => {
            let content = pdf.stream(show(&long).as_bytes())?;
            (0..count).for_each(|_| pdf.page(content, &usual));
        }
        Dimension::Fonts => {
            let mut fonts = String::new();
            let mut text = String::new();
            for at in 0..count {
                let font = pdf.object(format!("<</Type/Font/Subtype/Type1/BaseFont/F{at}>>"));
                fonts += &format!("/F{at} {font} 0 R");
                text += &format!("BT /F{at} 12 Tf 10 10 Td (hall {at}) Tj ET\n");
            }
            let content = pdf.stream(text.as_bytes())?;
            pdf.page(content, &format!("/Resources<</Font<<{fonts}>>>>"));
        }
        Dimension::Links => {
            let links = each(&|at| {
                format!("<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI({at}{long})>>>>")
            });
            let content = pdf.stream(show("a").as_bytes())?;
            pdf.page(content, &format!("{usual}/Annots[{}]", cut(&links)));
        }
        Dimension::Names | Dimension::Attributes => {
            let name = "n".repeat(chars);
            let entries = each(&|at| format!("/{at}{name} {at}"));
            let content = pdf.stream(show("a").as_bytes())?;
            pdf.page(content, &format!("{usual}/PieceInfo<<{}>>", cut(&entries)));
        }
        Dimension::Nesting => {
            let content = pdf.stream(show("a").as_bytes())?;
            let (open, close) = ("[".repeat(count), "]".repeat(count));
            pdf.page(content, &format!("{usual}/Nested {open}{close}"));
        }
        Dimension::Headings
        | Dimension::Cells
        | Dimension::Lines
        | Dimension::Pairs
        | Dimension::Languages => {
            let lines = each(&|at| {
                let (across, down) = (at % 60 * 10, 790 - at % 79 * 10);
                format!("BT /F 9 Tf {across} {down} Td ({long}) Tj ET\n")
            });
            let content = pdf.stream(lines.as_bytes())?;
            pdf.page(content, &usual);
        }
    }
    Ok(pdf.bytes())
}

/// Cuts the objects to 9 MB, so that the file is accepted. A cut object makes it a damaged file.
fn cut(text: &str) -> &str {
    text.get(..text.len().min(9_000_000)).unwrap_or(text)
}
