//! Checks what an Office Open XML workbook claims to contain before it is read: the library allocates as many texts as
//! their list states.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::damaged;
use crate::extract::Unreadable;
use crate::extract::docx::package::Package;
use crate::extract::table;

/// Refuses a workbook that claims to have more texts than the maximum number of cells.
pub(super) fn check(package: &mut Package<'_>) -> Result<(), Unreadable> {
    let main = package.main_part()?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    match package.stream(&format!("{folder}/sharedStrings.xml"))? {
        Some(list) => check_list(list),
        None => Ok(()),
    }
}

fn check_list(list: impl BufRead) -> Result<(), Unreadable> {
    let mut reader = Reader::from_reader(list);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        // The library reports errors in the XML.
        let Ok(event) = reader.read_event_into(&mut buffer) else { return Ok(()) };
        let (Event::Start(start) | Event::Empty(start)) = event else {
            if matches!(event, Event::Eof) {
                return Ok(());
            }
            continue;
        };
        if start.local_name().as_ref() != "sst" {
            continue;
        }
        let mut attributes = start.attributes();
        let mut attributes = attributes.with_checks(false).flatten();
        let stated = attributes.find(|attribute| attribute.key.as_ref() == "uniqueCount");
        let stated = stated.and_then(|stated| stated.value.trim().parse::<usize>().ok());
        return match stated.filter(|stated| *stated > table::CELLS) {
            Some(texts) => Err(damaged(&format_args!("it claims to hold {texts} texts"))),
            None => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::check_list;

    #[test]
    fn a_list_of_texts_that_lies_about_its_length_is_refused() {
        let list = |count: &str| {
            let list = format!(
                "<?xml version=\"1.0\"?><sst count=\"1\" uniqueCount=\"{count}\"><si/></sst>"
            );
            check_list(list.as_bytes()).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(list("2000000"), Ok(()));
        assert_eq!(list("many"), Ok(()));
        let refusal = list("999999999").unwrap_err();
        assert!(refusal.contains("claims to hold 999999999 texts"), "{refusal}");
        assert!(check_list(&b"<sst/>"[..]).is_ok() && check_list(&b""[..]).is_ok());
    }
}
