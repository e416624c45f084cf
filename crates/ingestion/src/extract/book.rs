//! Books (EPUB 2 and 3): their chapters in reading order.

use std::collections::HashMap;

use super::docx::element::Element;
use super::docx::package::Package;
use super::{Reading, Unreadable, html};
use cicerone_domain::content::{Parts, WarningReason, Warnings};
use cicerone_domain::limits;

/// The most chapters that are read.
const CHAPTERS: usize = 5_000;

/// Reads a book.
///
/// # Errors
///
/// If the file is protected, damaged, without text, or too large when decompressed.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let mut package = Package::open(bytes)?;
    if package.part("META-INF/encryption.xml")?.is_some_and(|part| part.contains("EncryptedKey")) {
        return Err(Unreadable::new("the book is protected against copying and cannot be read"));
    }
    let no_book = || Unreadable::new("the file holds no book");
    let container = package.part("META-INF/container.xml")?.ok_or_else(no_book)?;
    let container = Element::parse(&container)?;
    let mut files = Vec::new();
    container.find_all("rootfile", &mut files);
    let main = files.iter().find_map(|file| file.attribute("full-path")).ok_or_else(no_book)?;
    let listing = package.part(&main)?.ok_or_else(no_book)?;
    let listing = Element::parse(&listing)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);

    let mut listed = Vec::new();
    listing.find_all("item", &mut listed);
    // By their ids, because each chapter looks one up.
    let mut items = HashMap::new();
    for item in listed {
        items.entry(item.attribute("id")).or_insert(item);
    }
    let mut order = Vec::new();
    listing.find_all("itemref", &mut order);
    let mut warnings = Warnings::default();
    if order.len() > CHAPTERS {
        let most = u32::try_from(CHAPTERS).unwrap_or(u32::MAX);
        warnings.add(WarningReason::Beyond { parts: Parts::Chapters, most });
    }
    let mut text = String::new();
    for place in order.into_iter().take(CHAPTERS) {
        let id = place.attribute("idref");
        let Some(item) = items.get(&id) else { continue };
        let is_contents = item
            .attribute("properties")
            .is_some_and(|words| words.split_ascii_whitespace().any(|word| word == "nav"));
        let Some(href) = item.attribute("href").filter(|_| !is_contents) else { continue };
        let Some(chapter) = package.part(&path(folder, &href))? else { continue };
        let chapter = html::read_whole(&chapter)?;
        if !chapter.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            text.push_str(&chapter);
        }
        if text.len() > limits::DOCUMENT_TEXT_BYTES {
            break;
        }
    }
    if text.trim().is_empty() {
        return Err(Unreadable::new("the book contains no text"));
    }
    let mut titles = Vec::new();
    listing.find_all("title", &mut titles);
    let title = titles.first().map(|title| title.text().collect::<String>().trim().to_owned());
    let title = title.filter(|title| !title.is_empty());
    Ok(Reading { title, text, warnings, ..Reading::default() })
}

/// The name of a part by its address relative to a folder.
fn path(folder: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let mut path: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in href.split('/') {
        match step {
            ".." => drop(path.pop()),
            "." | "" => {}
            step => path.push(step),
        }
    }
    decoded(&path.join("/"))
}

/// An address with its percent signs resolved.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| [ahead.next(), ahead.next()]);
        let value = digits.and_then(|digits| {
            let [high, low] = digits.map(|digit| char::from(digit?).to_digit(16));
            u8::try_from(high? * 16 + low?).ok()
        });
        match value {
            Some(value) => {
                bytes.push(value);
                rest = ahead;
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::{Cursor, Write as _};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::read;

    /// Each chapter once looked through the whole list of files: minutes for this book.
    #[test]
    fn the_time_is_linear_in_files_and_chapters() {
        let items = (0..100_000).fold(String::new(), |mut items, item| {
            write!(items, r#"<item id="i{item}" href="none"/>"#).unwrap();
            items
        });
        let chapters = r#"<itemref idref="last"/>"#.repeat(4_999);
        let listing = format!(
            r#"<package><manifest>{items}<item id="last" href="none"/><item id="a" href="a.html"/></manifest><spine>{chapters}<itemref idref="a"/></spine></package>"#
        );
        let container =
            r#"<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>"#;
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, body) in [
            ("META-INF/container.xml", container),
            ("a.opf", listing.as_str()),
            ("a.html", "<p>The chapter."),
        ] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(body.as_bytes()).unwrap();
        }
        let book = writer.finish().unwrap().into_inner();
        assert_eq!(read(&book).unwrap().text, "The chapter.");
    }
}
