//! A response as events that are named by their type.

use std::sync::{Arc, OnceLock};

use actix_web_lab::sse;
use serde::Serialize;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::view::{OutputMessage, OutputText, ResponseView, Status};
use crate::context::RequestId;
use crate::endpoints::openai::annotations::{ResponseAnnotation, in_response};
use crate::endpoints::openai::frame::{CompleteReply, Frame};
use crate::error::{ErrorBody, Problem};
use crate::openapi::schema::string;
use crate::response::JSON;
use crate::stream::script::{Script, named};

const CREATED: &str = "response.created";
const IN_PROGRESS: &str = "response.in_progress";
const ITEM_ADDED: &str = "response.output_item.added";
const PART_ADDED: &str = "response.content_part.added";
const DELTA: &str = "response.output_text.delta";
const ANNOTATION_ADDED: &str = "response.output_text.annotation.added";
const TEXT_DONE: &str = "response.output_text.done";
const PART_DONE: &str = "response.content_part.done";
const ITEM_DONE: &str = "response.output_item.done";
const COMPLETED: &str = "response.completed";
const INCOMPLETE: &str = "response.incomplete";
const ERROR: &str = "error";

const TYPES: [&str; 12] = [
    CREATED,
    IN_PROGRESS,
    ITEM_ADDED,
    PART_ADDED,
    DELTA,
    ANNOTATION_ADDED,
    TEXT_DONE,
    PART_DONE,
    ITEM_DONE,
    COMPLETED,
    INCOMPLETE,
    ERROR,
];

/// The data of an event, with the fields of its type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseEventData)]
struct EventData<'a> {
    r#type: &'static str,
    /// Counts the events of a stream, from 0.
    sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    response: Option<ResponseView<'a>>,
    /// The id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    item: Option<OutputMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    part: Option<OutputText<'a>>,
    /// The next fragment of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    delta: Option<&'a str>,
    /// The whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotation_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotation: Option<ResponseAnnotation<'a>>,
    /// Empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false, max_items = 0)]
    logprobs: Option<[(); 0]>,
}

/// The data of an `error` event: the object that an error response has as its body, and its fields for clients that
/// read them beside the type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseErrorData)]
struct ErrorData<'a> {
    r#type: &'static str,
    sequence_number: u64,
    code: &'a str,
    message: &'a str,
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    param: (),
    #[serde(flatten)]
    body: ErrorBody<'a>,
}

/// The schema of one event. It is written by hand because the data of an event is a string that contains JSON, which a
/// derive cannot express.
pub(super) enum ResponseEvent {}

impl PartialSchema for ResponseEvent {
    fn schema() -> RefOr<Schema> {
        let data = Ref::from_schema_name("ResponseEventData");
        let data = string().content_media_type(JSON).content_schema(Some(data));
        let about = "From `response.created` to `response.completed`, `response.incomplete` or `error`. The data of \
            `error` also has `code`, `message` and `error`.";
        ObjectBuilder::new()
            .description(Some(about))
            .property("event", string().enum_values(Some(TYPES)))
            .property("data", data)
            .required("event")
            .required("data")
            .into()
    }
}

impl ToSchema for ResponseEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("ResponseEventData".to_owned(), EventData::schema()));
        EventData::schemas(schemas);
    }
}

/// Writes the events of a response.
pub(super) struct ResponseEvents {
    frame: Frame,
    /// The frame with the place of the reply, if it continues a conversation.
    placed: Option<Arc<OnceLock<Frame>>>,
    has_begun: bool,
    /// The number of the next event.
    number: u64,
}

impl ResponseEvents {
    pub(super) const fn new(frame: Frame, placed: Option<Arc<OnceLock<Frame>>>) -> Self {
        Self { frame, placed, has_begun: false, number: 0 }
    }

    fn number(&mut self) -> u64 {
        let number = self.number;
        self.number += 1;
        number
    }

    /// An event of that type with the fields that `fill` adds.
    fn event(
        &mut self,
        name: &'static str,
        fill: impl for<'a> FnOnce(&'a Frame, EventData<'a>) -> EventData<'a>,
    ) -> sse::Event {
        let sequence_number = self.number();
        named(name, &fill(&self.frame, EventData::new(name, sequence_number)))
    }

    /// The first events, if they were not sent.
    fn begin(&mut self) -> Vec<sse::Event> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Vec::new();
        }
        if let Some(placed) = self.placed.as_ref().and_then(|placed| placed.get()) {
            self.frame = placed.clone();
        }
        fn in_progress<'a>(frame: &'a Frame, data: EventData<'a>) -> EventData<'a> {
            let response = Some(ResponseView::new(frame, Status::InProgress));
            EventData { response, ..data }
        }
        vec![
            self.event(CREATED, in_progress),
            self.event(IN_PROGRESS, in_progress),
            self.event(ITEM_ADDED, |frame, data| EventData {
                output_index: Some(0),
                item: Some(OutputMessage::new(frame, Status::InProgress)),
                ..data
            }),
            self.event(PART_ADDED, |frame, data| EventData {
                part: Some(OutputText::empty()),
                ..data.of_text(frame)
            }),
        ]
    }

    fn annotation(&mut self, index: usize, annotation: ResponseAnnotation<'_>) -> sse::Event {
        let sequence_number = self.number();
        let data = EventData::new(ANNOTATION_ADDED, sequence_number).of_text(&self.frame);
        let (index, annotation) = (Some(index), Some(annotation));
        named(ANNOTATION_ADDED, &EventData { annotation_index: index, annotation, ..data })
    }
}

impl<'a> EventData<'a> {
    const fn new(r#type: &'static str, sequence_number: u64) -> Self {
        Self {
            r#type,
            sequence_number,
            response: None,
            item_id: None,
            output_index: None,
            content_index: None,
            item: None,
            part: None,
            delta: None,
            text: None,
            annotation_index: None,
            annotation: None,
            logprobs: None,
        }
    }

    /// The same event, about the text of the message.
    fn of_text(self, frame: &'a Frame) -> Self {
        let item_id = Some(frame.message_id.as_str());
        Self { item_id, output_index: Some(0), content_index: Some(0), ..self }
    }
}

impl Script for ResponseEvents {
    type Stored = CompleteReply;

    fn token(&mut self, text: &str) -> Vec<sse::Event> {
        let mut events = self.begin();
        let sequence_number = self.number();
        let data = EventData::new(DELTA, sequence_number).of_text(&self.frame);
        events.push(named(DELTA, &EventData { delta: Some(text), logprobs: Some([]), ..data }));
        events
    }

    fn end(&mut self, reply: &CompleteReply) -> Vec<sse::Event> {
        let mut events = self.begin();
        for (index, annotation) in
            in_response(&reply.citations, &reply.text).into_iter().enumerate()
        {
            events.push(self.annotation(index, annotation));
        }
        let frame = &reply.frame;
        let mut add = |name, fill: &dyn Fn(EventData<'_>) -> sse::Event| {
            let number = self.number();
            events.push(fill(EventData::new(name, number)));
        };
        add(TEXT_DONE, &|data| {
            let (text, logprobs) = (Some(reply.text.as_str()), Some([]));
            named(TEXT_DONE, &EventData { text, logprobs, ..data.of_text(frame) })
        });
        add(PART_DONE, &|data| {
            let part = Some(OutputText::of(reply));
            named(PART_DONE, &EventData { part, ..data.of_text(frame) })
        });
        add(ITEM_DONE, &|data| {
            let item = Some(OutputMessage::new(frame, Status::Completed(reply)));
            named(ITEM_DONE, &EventData { output_index: Some(0), item, ..data })
        });
        let last = if reply.is_cut { INCOMPLETE } else { COMPLETED };
        add(last, &|data| {
            let response = Some(ResponseView::new(frame, Status::Completed(reply)));
            named(last, &EventData { response, ..data })
        });
        events
    }

    fn replay(&mut self, reply: &CompleteReply) -> Vec<sse::Event> {
        self.frame = reply.frame.clone();
        let text = Some(&reply.text).filter(|text| !text.is_empty());
        let tokens = text.map(|text| self.token(text)).unwrap_or_default();
        tokens.into_iter().chain(self.end(reply)).collect()
    }

    fn fail(&mut self, problem: &Problem, request_id: RequestId) -> sse::Event {
        let sequence_number = self.number();
        named(
            ERROR,
            &ErrorData {
                r#type: ERROR,
                sequence_number,
                code: problem.code,
                message: &problem.message,
                param: (),
                body: problem.to_error(request_id),
            },
        )
    }
}
