use super::Docx;

#[test]
fn powers_are_no_longer_numbers() {
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let script = |position: &str, text: &str| {
        format!("<w:r><w:rPr><w:vertAlign w:val=\"{position}\"/></w:rPr><w:t>{text}</w:t></w:r>")
    };
    let raised = |text: &str| script("superscript", text);
    let runs = [
        run("3·10") + &raised("6"),
        run(" litres, 10") + &raised("-") + &raised("3") + &run(" m") + &raised("3"),
        run(", 10") + &raised("1") + &raised("2") + &run(", 4") + &script("subscript", "2"),
        script("baseline", "5"),
    ];
    let text = Docx::body(&format!("<w:p>{}</w:p>", runs.concat())).text();
    assert_eq!(text, "3·10^6 litres, 10^-3 m3, 10^12, 4_25");
}
