//! Files that once took minutes, because the same part of them was read again and again.

use std::fmt::Write as _;

use super::{document, read};

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

/// Each group of lines was compared with all groups beside it, whose cells were joined to long rows each time.
#[test]
fn the_time_is_linear_in_groups_of_lines_beside_each_other() {
    let mut content = String::from("BT /F 1 Tf\n");
    for group in 0..3_000 {
        for line in 0..4 {
            let (x, y) = (0.19 * f64::from(group), 800.0 - 2.0 * f64::from(line));
            writeln!(content, ".02 0 0 1 {x} {y} Tm (wave) Tj").unwrap();
        }
    }
    content.push_str("ET BT /F 10 Tf 1 0 0 1 20 20 Tm (The end of it.) Tj ET");
    let text = read(&document(&[HELVETICA.to_owned()], &[content])).unwrap().text;
    assert!(text.contains("The end of it."));
}
