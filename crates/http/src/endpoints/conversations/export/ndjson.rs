//! Conversations as JSON, one on each line.

use super::super::{ConversationView, MessageView};
use super::steps::Step;
use crate::response::{json_bytes, write_json};

/// Writes a line for each conversation. A long one is written in pieces of its line.
#[derive(Debug, Default)]
pub(super) struct Ndjson {
    /// Whether the conversation that has begun has a message already.
    has_messages: bool,
}

impl Ndjson {
    pub(super) fn write(&mut self, out: &mut Vec<u8>, step: &Step) {
        match step {
            Step::Start => {}
            Step::Begin(conversation) => {
                let messages = Some(Vec::new());
                let view = ConversationView { messages, ..ConversationView::from(&**conversation) };
                // The list of messages is the last field, and is written message by message.
                let head = json_bytes(&view);
                out.extend_from_slice(head.strip_suffix(b"]}").unwrap_or(&head));
                self.has_messages = false;
            }
            Step::Message(_, message) => {
                if self.has_messages {
                    out.push(b',');
                }
                write_json(out, &MessageView::from(message));
                self.has_messages = true;
            }
            Step::End => out.extend_from_slice(b"]}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::steps::Steps;
    use super::super::steps::tests::{batch, conversation, message};
    use super::Ndjson;

    #[test]
    fn each_line_is_a_conversation_with_its_messages() {
        let (mut steps, mut writer, mut out) = (Steps::default(), Ndjson::default(), Vec::new());
        let conversation = conversation();
        steps.extend(batch(&[(&conversation, vec![message(0, "Hi\n", None)])], true));
        steps.extend(batch(&[(&conversation, vec![message(1, "Ho", Some("T"))])], false));
        steps.extend(batch(&[(&conversation, Vec::new())], false));
        steps.extend(None);
        while let Some(step) = steps.next() {
            writer.write(&mut out, &step);
        }
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(
            (&lines[0]["id"], &lines[1]["messages"]),
            (&json!("conv_0123456789"), &json!([]))
        );
        assert_eq!(lines[0].get("messages_cursor"), None);
        let messages = &lines[0]["messages"];
        assert_eq!((&messages[0]["content"], &messages[0]["n"]), (&json!("Hi\n"), &json!(1)));
        assert_eq!(
            (&messages[1]["answered"], &messages[1]["rating"]["comment"]),
            (&json!(true), &json!("=no"))
        );
    }
}
