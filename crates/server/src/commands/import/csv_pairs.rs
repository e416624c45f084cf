//! Pairs in CSV files.

use super::found::Found;

/// Names of the columns of questions and of answers.
const QUESTIONS: [&str; 6] = ["question", "questions", "q", "prompt", "input", "frage"];
const ANSWERS: [&str; 7] = ["answer", "answers", "a", "response", "reply", "output", "antwort"];

/// Adds the pairs of a file. The first row names the columns, unless it has two cells with other words.
pub(super) fn add(input: &str, bytes: &[u8], found: &mut Found) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return found.refuse(input, "the file is not UTF-8");
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let mut columns = None;
    for (index, record) in reader.records().enumerate() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                found.refuse(format!("{input}: row {}", index + 1), error.to_string());
                continue;
            }
        };
        let row = record.position().map_or(index as u64 + 1, csv::Position::line);
        let place = format!("line {row}");
        let Some((question, answer)) = columns else {
            let cells = (record.get(0), record.get(1), record.len());
            match (header(&record), cells) {
                (Some(named), _) => columns = Some(named),
                (None, (Some(question), Some(answer), 2)) => {
                    columns = Some((0, 1));
                    found.pair(input, &place, question, answer);
                }
                (None, _) => {
                    return found.refuse(
                        input,
                        "the first row must name the columns `question` and `answer`, or there must be two columns",
                    );
                }
            }
            continue;
        };
        match (record.get(question), record.get(answer)) {
            (Some(question), Some(answer)) => found.pair(input, &place, question, answer),
            _ => found.refuse(
                format!("{input}: {place}"),
                format!("the row has only {} cells", record.len()),
            ),
        }
    }
}

/// The columns of questions and answers that a row names.
fn header(row: &csv::StringRecord) -> Option<(usize, usize)> {
    let find = |names: &[&str]| {
        row.iter().position(|cell| names.contains(&cell.trim().to_lowercase().as_str()))
    };
    Some((find(&QUESTIONS)?, find(&ANSWERS)?))
}

/// The separator of the cells in the first line.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |mark: char| first.matches(mark).count();
    if count('\t') > 0 && count('\t') >= count(',') {
        b'\t'
    } else if count(';') > count(',') {
        b';'
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::commands::import::found::{Found, Item};

    /// The contents of the sources, and what was refused.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut found = Found::default();
        add("a.csv", text.as_bytes(), &mut found);
        let refused =
            found.refused.iter().map(|one| format!("{}: {}", one.what, one.reason)).collect();
        let contents = found.into_items().into_iter().map(|item| match item {
            Item::Pairs { content, .. } => content,
            other => panic!("{other:?}"),
        });
        (contents.collect(), refused)
    }

    #[test]
    fn columns_are_found_by_their_names_or_are_the_two_that_there_are() {
        let expected = r#"[{"answer":"At nine, daily.","question":"When?"}]"#;
        for text in [
            "id,Question,Answer\n1,When?,\"At nine, daily.\"\n",
            "\u{feff}answer;question\n\"At nine, daily.\";When?\n",
            "prompt\tresponse\nWhen?\tAt nine, daily.\n",
            "When?,\"At nine, daily.\"\n",
        ] {
            let (contents, refused) = read(text);
            assert_eq!(contents, [expected], "{text}");
            assert!(refused.is_empty(), "{refused:?}");
        }
    }

    #[test]
    fn bad_rows_are_named_by_their_line() {
        let (contents, refused) = read("question,answer\n\"a\nb\",A\nonly\n,B\n");
        assert_eq!(contents.len(), 1);
        assert_eq!(
            refused,
            ["a.csv: line 4: the row has only 1 cells", "a.csv: line 5: the question is empty"]
        );
        assert!(read("a,b,c\n").1[0].contains("must name the columns"));
        assert!(read("").0.is_empty());
    }
}
