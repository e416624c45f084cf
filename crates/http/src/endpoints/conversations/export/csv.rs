//! Messages as a table: RFC 4180, for programs that read tables.

use cicerone_domain::conversation::PlacedMessage;
use cicerone_domain::{Conversation, Role};
use serde::Serialize;

use super::steps::Step;
use crate::response::json_bytes;

/// The names of the columns.
const COLUMNS: [&str; 17] = [
    "conversation_id",
    "channel",
    "conversation_created_at",
    "metadata",
    "n",
    "role",
    "content",
    "timestamp",
    "answered",
    "rating",
    "comment",
    "sources",
    "widget_id",
    "visitor_id",
    "visitor",
    "handoff_requested_at",
    "lead",
];

/// Writes a line for each message, after a line of names.
pub(super) fn write(out: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Start => line(out, &COLUMNS.map(str::to_owned)),
        Step::Message(conversation, message) => line(out, &cells(conversation, message)),
        Step::Begin(_) | Step::End => {}
    }
}

fn cells(conversation: &Conversation, placed: &PlacedMessage) -> [String; COLUMNS.len()] {
    let PlacedMessage { message, rating, .. } = placed;
    let is_reply = message.role == Role::Assistant;
    let titles: Vec<&str> = message.sources_used.iter().map(|cited| cited.title.as_str()).collect();
    let visitor = conversation.visitor.as_ref();
    [
        conversation.id.to_string(),
        conversation.channel.name().to_owned(),
        conversation.created_at.to_string(),
        json(conversation.metadata.pairs()),
        placed.number().to_string(),
        message.role.name().to_owned(),
        message.content.clone(),
        message.timestamp.to_string(),
        if is_reply { (!titles.is_empty()).to_string() } else { String::new() },
        rating.as_ref().map_or("", |rating| rating.value.name()).to_owned(),
        rating
            .as_ref()
            .and_then(|rating| rating.comment.as_ref())
            .map_or_else(String::new, ToString::to_string),
        titles.join("; "),
        conversation.widget_id.map_or_else(String::new, |id| id.to_string()),
        visitor.map_or_else(String::new, |visitor| visitor.id.to_string()),
        visitor.map_or_else(String::new, json),
        conversation.handoff_requested_at.map_or_else(String::new, |at| at.to_string()),
        conversation.lead.as_ref().map_or_else(String::new, json),
    ]
}

fn json<T: Serialize>(value: &T) -> String {
    String::from_utf8_lossy(&json_bytes(value)).into_owned()
}

fn line(out: &mut Vec<u8>, cells: &[String]) {
    for (place, text) in cells.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        cell(out, text);
    }
    out.extend_from_slice(b"\r\n");
}

/// The beginnings that programs for tables take for those of formulas. Some read the wide forms of Chinese and Japanese
/// keyboards as well.
const OF_FORMULAS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Characters of cells that are quoted. Some spreadsheet programs also split lines at semicolons and tabs, and the text
/// after one would start a new cell, perhaps as a formula.
const QUOTED: [char; 6] = [',', ';', '\t', '"', '\r', '\n'];

/// Writes a cell. A formula can do harm: a text that would be taken for one begins with `'`, which programs for tables take
/// for a mark of text.
fn cell(out: &mut Vec<u8>, text: &str) {
    let guard = if text.starts_with(OF_FORMULAS) { "'" } else { "" };
    if !text.contains(QUOTED) {
        out.extend([guard, text].iter().flat_map(|part| part.bytes()));
        return;
    }
    out.push(b'"');
    out.extend_from_slice(guard.as_bytes());
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::super::steps::Steps;
    use super::super::steps::tests::{batch, conversation, message};
    use super::{cell, write};

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        cell(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_are_quoted_if_necessary_and_are_no_formulas() {
        for (text, cell) in [
            ("", ""),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("a\r\nb", "\"a\r\nb\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@a", "'@a"),
            ("\ta", "\"'\ta\""),
            ("a;=1+1", "\"a;=1+1\""),
            ("a\t=1+1", "\"a\t=1+1\""),
            ("\r,", "\"'\r,\""),
            ("=\"a\"", "\"'=\"\"a\"\"\""),
            ("\n=1", "\"'\n=1\""),
            ("＝1", "'＝1"),
            ("＠a", "'＠a"),
            (" =1", " =1"),
        ] {
            assert_eq!(written(text), cell, "{text:?}");
        }
    }

    #[test]
    fn each_line_is_a_message_with_its_conversation() {
        let (mut steps, mut out) = (Steps::default(), Vec::new());
        let messages = vec![message(0, "=Hi", None), message(1, "Ho", Some("T"))];
        steps.extend(batch(&[(&conversation(), messages)], false));
        steps.extend(None);
        while let Some(step) = steps.next() {
            write(&mut out, &step);
        }
        let conversation =
            "conv_0123456789,mcp,1970-01-01T00:00:00.000Z,\"{\"\"a\"\":\"\"b,\\\"\"c\\\"\"\"\"}\"";
        let expected = format!(
            "conversation_id,channel,conversation_created_at,metadata,n,role,content,timestamp,answered,rating,comment,sources,\
             widget_id,visitor_id,visitor,handoff_requested_at,lead\r\n\
             {conversation},1,user,'=Hi,1970-01-01T00:00:00.000Z,,,,,,,,,\r\n\
             {conversation},2,assistant,Ho,1970-01-01T00:00:00.000Z,true,down,'=no,T,,,,,\r\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
