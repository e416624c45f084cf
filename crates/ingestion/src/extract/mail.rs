//! Messages (EML; RFC 5322 and MIME): headers, text and attachments.

use std::panic::catch_unwind;

use mail_parser::{Address, MessageParser, MimeHeaders as _, PartType};

use super::reading::tables_in;
use super::{Reading, Unreadable, detect_upload_type, file, html, text};
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
        match &part.body {
            PartType::Text(text) => blocks.push(text.trim().to_owned()),
            PartType::Html(source) => blocks.push(html::read_whole(source)?),
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
            _ => attached(part.contents(), depth),
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
