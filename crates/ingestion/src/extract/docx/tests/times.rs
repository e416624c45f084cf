use super::{Docx, p};

/// Each reference once looked through all notes, and each text through all open fields: minutes for this document.
#[test]
fn the_time_is_linear_in_notes_and_fields() {
    let count = 30_000;
    let reference = |id: u32| format!("<w:r><w:footnoteReference w:id=\"{id}\"/></w:r>");
    let references: String = (0..count).map(reference).collect();
    let field =
        "<w:fldChar w:fldCharType=\"begin\"/><w:fldChar w:fldCharType=\"separate\"/><w:t>a</w:t>";
    let fields = field.repeat(200_000);
    let body = format!("<w:p>{references}</w:p><w:p><w:r>{fields}</w:r></w:p>");
    let note = |id: u32| format!("<w:footnote w:id=\"{id}\">{}</w:footnote>", p("note"));
    let notes: String = (0..count).map(note).collect();
    let notes = format!("<w:footnotes>{notes}</w:footnotes>");
    let text = Docx::body(&body).side("footnotes", "footnotes.xml", &notes).text();
    assert_eq!(text.matches("note").count(), 30_000);
    assert_eq!(text.matches('a').count(), 200_000);
}
