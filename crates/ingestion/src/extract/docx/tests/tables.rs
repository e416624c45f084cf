use super::{Docx, p};

#[test]
fn a_header_that_a_table_declares_is_marked() {
    let row = |properties: &str, cells: [&str; 2]| {
        let cells = cells.map(|cell| format!("<w:tc>{}</w:tc>", p(cell))).concat();
        format!("<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>")
    };
    let rows = row("<w:tblHeader/>", ["Berth", "Price"]) + &row("", ["short", "5"]);
    let text = Docx::body(&format!("<w:tbl>{rows}</w:tbl>")).text();
    assert_eq!(text, "| Berth | Price |\n| --- | --- |\n| short | 5 |");
}

#[test]
fn a_row_that_only_continues_the_cells_above_is_left_out() {
    let cell = |merge: &str, text: &str| {
        format!("<w:tc><w:tcPr><w:vMerge{merge}/></w:tcPr>{}</w:tc>", p(text))
    };
    let long = "long ".repeat(100);
    let rows = [
        cell(" w:val=\"restart\"", "Monday") + &cell(" w:val=\"restart\"", "9"),
        cell("", "") + &cell("", ""),
        cell(" w:val=\"restart\"", &long) + &cell(" w:val=\"restart\"", "10"),
        cell("", "") + &cell(" w:val=\"restart\"", "11"),
    ];
    let rows = rows.map(|row| format!("<w:tr>{row}</w:tr>")).concat();
    let text = Docx::body(&format!("<w:tbl>{rows}</w:tbl>")).text();
    assert_eq!(text, format!("| Monday | 9 |\n| {} | 10 |\n|  | 11 |", long.trim()));
}
