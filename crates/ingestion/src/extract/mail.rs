//! Messages (EML; RFC 5322 and MIME): headers, text and attachments.

use std::panic::catch_unwind;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders as _, PartType,
};

use super::reading::tables_in;
use super::{Reading, Unreadable, decode, detect_upload_type, file, html, text};
use cicerone_domain::content::{Parts, WarningReason, Warnings};
use cicerone_domain::{UploadType, limits};

/// How deeply messages may be attached to each other.
const DEPTH: usize = 3;
/// The most attachments of a message that are read.
const ATTACHMENTS: usize = 50;
/// The maximum number of people in a list that are named.
const PEOPLE: usize = 20;

/// Reads a message. An attachment that cannot be read is named with the reason.
///
/// # Errors
///
/// If it is not a message or has no text.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    message(bytes, 0)
}

fn message(bytes: &[u8], depth: usize) -> Result<Reading, Unreadable> {
    // The library panics on some damaged messages.
    let parsed = catch_unwind(|| MessageParser::default().parse(bytes));
    let Ok(parsed) = parsed else {
        return Err(Unreadable::new("the message is damaged: its parts do not fit together"));
    };
    let Some(message) = parsed else {
        return Err(Unreadable::new("the file holds no message"));
    };
    let mut head = Vec::new();
    let mut say = |label: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            head.push(format!("{label}: {value}"));
        }
    };
    say("From", message.from().map(people));
    say("To", message.to().map(people));
    say("Cc", message.cc().map(people));
    say("Date", message.date().map(|date| date.to_rfc3339()));
    let subject = message.subject().map(one_line).filter(|subject| !subject.is_empty());
    let mut blocks: Vec<String> = Vec::new();
    blocks.extend(subject.as_ref().map(|subject| format!("# {subject}")));
    if !head.is_empty() {
        blocks.push(head.join("\n"));
    }
    for part in message.text_bodies() {
        let guessed = undecoded(&message, part).and_then(|bytes| decode(&bytes).ok());
        match &part.body {
            PartType::Text(text) => {
                blocks.push(guessed.as_deref().unwrap_or(text).trim().to_owned());
            }
            PartType::Html(source) => {
                blocks.push(html::read_whole(guessed.as_deref().unwrap_or(source))?)
            }
            _ => {}
        }
    }
    let mut warnings = Warnings::default();
    let mut tables = 0_u32;
    if message.attachment_count() > ATTACHMENTS {
        let most = u32::try_from(ATTACHMENTS).unwrap_or(u32::MAX);
        warnings.add(WarningReason::Beyond { parts: Parts::Attachments, most });
    }
    for part in message.attachments().take(ATTACHMENTS) {
        let name = part.attachment_name().map(one_line);
        let content = match &part.body {
            PartType::Message(_) if depth >= DEPTH => continue,
            PartType::Message(inner) => self::message(inner.raw_message(), depth + 1).map(Some),
            _ => match undecoded(&message, part) {
                Some(bytes) => attached(&bytes, depth),
                None => attached(part.contents(), depth),
            },
        };
        let name = name.unwrap_or_else(|| "without a name".to_owned());
        match content {
            Ok(Some(reading)) => {
                tables = tables.saturating_add(reading.tables.unwrap_or(0));
                for warning in reading.warnings.iter() {
                    let reason = warning.reason.to_string();
                    warnings.add(WarningReason::attachment_partly(&name, &reason));
                }
                blocks.push(format!("## Attachment: {name}\n\n{}", reading.text.trim()))
            }
            // Pictures and the like have no text.
            Ok(None) => {}
            Err(Unreadable(reason)) => {
                warnings.add(WarningReason::attachment(&name, &reason));
                blocks.push(format!("## Attachment: {name}\n\nIt was not read: {reason}."));
            }
        }
        if blocks.iter().map(String::len).sum::<usize>() > limits::DOCUMENT_TEXT_BYTES {
            break;
        }
    }
    blocks.retain(|block| !block.is_empty());
    if blocks.is_empty() {
        return Err(Unreadable::new("the message contains no text"));
    }
    let text = blocks.join("\n\n");
    let tables = Some(tables.saturating_add(tables_in(&text)));
    Ok(Reading { title: subject, text, tables, warnings, ..Reading::default() })
}

/// The bytes of a text that is not UTF-8 and does not state its encoding, for which the library assumes UTF-8.
fn undecoded(message: &Message<'_>, part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let (PartType::Text(text) | PartType::Html(text)) = &part.body else { return None };
    let stated = part.content_type().and_then(|kind| kind.attribute("charset"));
    let is_known = stated.is_some_and(|name| charset_decoder(name.as_bytes()).is_some());
    if is_known || !text.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let from = usize::try_from(part.offset_body).ok()?;
    let raw = message.raw_message().get(from..usize::try_from(part.offset_end).ok()?)?;
    match part.encoding {
        Encoding::None => Some(raw.to_vec()),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
        Encoding::Base64 => base64_decode(raw),
    }
}

/// The text of an attachment; `None` if its type is not supported.
fn attached(bytes: &[u8], depth: usize) -> Result<Option<Reading>, Unreadable> {
    let Some(kind) = detect_upload_type(bytes) else { return Ok(None) };
    let reading = match kind {
        UploadType::Html => html::read_whole(&text::read(bytes, None)?.text).map(Reading::plain),
        UploadType::Eml if depth >= DEPTH => return Ok(None),
        UploadType::Eml => message(bytes, depth + 1),
        kind => file::read(kind, bytes),
    };
    reading.map(Some)
}

/// Names and addresses in one line.
fn people(address: &Address<'_>) -> String {
    let people = address.iter().take(PEOPLE).filter_map(|person| {
        let (name, address) = (person.name.as_deref(), person.address.as_deref());
        match (name.map(one_line).filter(|name| !name.is_empty()), address) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (Some(name), None) => Some(name),
            (None, address) => address.map(one_line),
        }
    });
    people.collect::<Vec<_>>().join(", ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn texts_that_state_no_encoding_are_decoded_by_their_bytes() {
        let parts = [
            ("text/plain", "8bit", b"Gr\xfc\xdfe aus K\xf6ln, die \xd6ffnungszeiten".as_slice()),
            (
                "text/csv",
                "base64",
                b"TmFtZTtTdHJh32U7T3J0DQpN/GxsZXI7SPZoZSAxO0v2bG4NCkrkZ2VyO1P8ZCAyO0v2bG4NCg==",
            ),
            (
                "text/html",
                "quoted-printable",
                b"<p>Gr=FC=DFe von allen, die am K=F6nigsplatz sind</p>",
            ),
            ("text/plain; charset=iso-8859-2", "8bit", b"\xb9koda"),
        ];
        let mut message =
            b"Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
                .to_vec();
        for (kind, encoding, body) in parts {
            let head = format!(
                "--b\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
            );
            message.extend_from_slice(head.as_bytes());
            message.extend_from_slice(body);
            message.extend_from_slice(b"\r\n");
        }
        message.extend_from_slice(b"--b--\r\n");
        let text = read(&message).unwrap().text;
        for expected in [
            "Grüße aus Köln, die Öffnungszeiten",
            "Straße: Höhe 1; Ort: Köln",
            "Grüße von allen",
            "škoda",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains('\u{fffd}'), "{text}");
    }
}
