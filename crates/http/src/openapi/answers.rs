//! The schemas and descriptions of answers.

use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder, Responses, ResponsesBuilder};
use utoipa::openapi::schema::{
    AllOfBuilder, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, SchemaType, Type,
};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::parameters::{id, string};
use crate::endpoint::{AnswerSchema, Endpoint};
use crate::failure::{ErrorBody, ErrorEvent, STATUS_CODES};
use crate::views::{
    AgentView, AuditRecordView, ConversationView, DeliveryView, DocumentView, DoneEvent,
    EndpointView, HitView, IssuedEndpointView, IssuedKeyView, KeyView, MessageView, PageView,
    PassageView, ReplyView, SearchView, SourceView, TokenEvent, UploadView, UsageView,
};

const JSON: &str = "application/json";
const LISTS: [(&str, &str); 12] = [
    ("AgentList", "Agent"),
    ("SourceList", "Source"),
    ("DocumentList", "Document"),
    ("PassageList", "Passage"),
    ("PageList", "Page"),
    ("ConversationList", "Conversation"),
    ("MessageList", "Message"),
    ("WebhookEndpointList", "WebhookEndpoint"),
    ("DeliveryList", "Delivery"),
    ("ApiKeyList", "ApiKey"),
    ("AuditRecordList", "AuditRecord"),
    ("UsageList", "Usage"),
];

/// The schemas of all answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut all = Vec::new();
    add::<AgentView<'_>>(&mut all);
    add::<SourceView<'_>>(&mut all);
    add::<DocumentView<'_>>(&mut all);
    add::<PassageView<'_>>(&mut all);
    add::<PageView<'_>>(&mut all);
    add::<SearchView<'_>>(&mut all);
    add::<HitView<'_>>(&mut all);
    add::<UploadView<'_>>(&mut all);
    add::<ConversationView<'_>>(&mut all);
    add::<MessageView<'_>>(&mut all);
    add::<ReplyView<'_>>(&mut all);
    add::<EndpointView<'_>>(&mut all);
    add::<IssuedEndpointView<'_>>(&mut all);
    add::<DeliveryView<'_>>(&mut all);
    add::<KeyView<'_>>(&mut all);
    add::<IssuedKeyView<'_>>(&mut all);
    add::<AuditRecordView<'_>>(&mut all);
    add::<UsageView>(&mut all);
    add::<TokenEvent<'_>>(&mut all);
    add::<DoneEvent<'_>>(&mut all);
    add::<ErrorEvent<'_>>(&mut all);
    add::<ErrorBody<'_>>(&mut all);
    all.extend(LISTS.map(|(name, item)| (name.to_owned(), list(item))));
    all.extend(
        STATUS_CODES
            .iter()
            .filter(|row| row.status != 405)
            .map(|row| (format!("Error{}", row.status), error_of(row.status))),
    );
    all.push(("Event".to_owned(), event()));
    all.push(("Status".to_owned(), status()));
    all.push(("OpenApi".to_owned(), openapi_object()));
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.dedup_by(|one, other| one.0 == other.0);
    all
}

/// Adds a view's schema and those that it refers to.
fn add<T: ToSchema + PartialSchema>(all: &mut Vec<(String, RefOr<Schema>)>) {
    all.push((T::name().into_owned(), T::schema()));
    T::schemas(all);
}

fn list(item: &str) -> RefOr<Schema> {
    let cursor = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some("The `cursor` of the next page; null on the last."));
    ObjectBuilder::new()
        .property("data", ArrayBuilder::new().items(Ref::from_schema_name(item)))
        .property("has_more", ObjectBuilder::new().schema_type(Type::Boolean))
        .property("next_cursor", cursor)
        .required("data")
        .required("has_more")
        .required("next_cursor")
        .into()
}

/// The error body with what is fixed for a status.
fn error_of(status: u16) -> RefOr<Schema> {
    let row = STATUS_CODES.iter().find(|row| row.status == status);
    let kind = string().enum_values(row.map(|row| [row.kind]));
    let code = string().enum_values(row.map(|row| row.codes.iter().copied()));
    let detail = ObjectBuilder::new().property("type", kind).property("code", code);
    let detail = match status {
        422 => detail.required("errors"),
        429 => detail.required("retry_after"),
        _ => detail,
    };
    let narrowed = ObjectBuilder::new().property("error", detail);
    AllOfBuilder::new().item(Ref::from_schema_name("Error")).item(narrowed).into()
}

/// One event of a stream; its data is JSON with a schema of its own.
fn event() -> RefOr<Schema> {
    let event = |name: &str, schema: &str| {
        let data =
            string().content_media_type(JSON).content_schema(Some(Ref::from_schema_name(schema)));
        ObjectBuilder::new()
            .title(Some(name))
            .property("event", string().enum_values(Some([name])))
            .property("data", data)
            .required("event")
            .required("data")
            .build()
    };
    OneOfBuilder::new()
        .description(Some("`token` any number of times, then `done` or `error`."))
        .item(event("token", "TokenEvent"))
        .item(event("done", "DoneEvent"))
        .item(event("error", "ErrorEvent"))
        .into()
}

fn status() -> RefOr<Schema> {
    let status = string().enum_values(Some(["ok", "ready"]));
    ObjectBuilder::new().property("status", status).required("status").into()
}

fn openapi_object() -> RefOr<Schema> {
    ObjectBuilder::new()
        .property("openapi", string().pattern(Some("^3\\.1\\.")))
        .property("paths", Object::new())
        .required("openapi")
        .required("paths")
        .into()
}

/// Every answer that an endpoint gives.
pub(crate) fn responses(endpoint: &Endpoint) -> Responses {
    let success = endpoint.description.success;
    let all = ResponsesBuilder::new().response(success.to_string(), success_of(endpoint));
    let refusals = STATUS_CODES.iter().filter_map(|row| {
        let own = endpoint.description.refusals.iter().find(|(status, _)| *status == row.status);
        let condition = match own {
            Some((_, condition)) => Some(*condition),
            None => implied(endpoint, row.status).then_some(row.meaning),
        };
        condition.map(|condition| (row.status, condition))
    });
    refusals
        .fold(all, |all, (status, condition)| {
            all.response(status.to_string(), refusal(endpoint, status, condition))
        })
        .build()
}

/// Whether an endpoint refuses with a status because of what it is.
fn implied(endpoint: &Endpoint, status: u16) -> bool {
    let said = &endpoint.description;
    let is_guarded = endpoint.permission.is_some();
    match status {
        401 | 403 | 429 | 503 => is_guarded,
        404 => is_guarded && endpoint.path.contains('{'),
        400 => said.is_keyed || said.body.is_some() || !said.query.is_empty(),
        409 | 422 => said.is_keyed,
        413 => said.is_keyed || said.body.is_some(),
        415 => said.body.is_some(),
        500 => true,
        _ => false,
    }
}

fn success_of(endpoint: &Endpoint) -> Response {
    let said = &endpoint.description;
    let json =
        |schema: &str| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let (about, contents) = match said.answer {
        AnswerSchema::Empty => ("Done. The body is empty.", vec![]),
        AnswerSchema::Json(schema) => ("Done.", vec![(JSON, json(schema))]),
        AnswerSchema::List(item) => {
            let name = LISTS.iter().find(|(_, of)| *of == item).map_or(item, |(name, _)| name);
            ("One page of the list.", vec![(JSON, json(name))])
        }
        AnswerSchema::JsonOrEvents(schema) => (
            "The reply, in one piece or as events.",
            vec![(JSON, json(schema)), ("text/event-stream", json("Event"))],
        ),
        AnswerSchema::Text(media_type) => {
            ("Done.", vec![(media_type, ContentBuilder::new().schema(Some(string())).build())])
        }
    };
    let response = with_headers(ResponseBuilder::new().description(about), endpoint);
    let response = contents
        .into_iter()
        .fold(response, |response, (media_type, content)| response.content(media_type, content));
    let replayed = header("`true` where this is the answer of before.", string());
    if said.is_keyed { response.header("Idempotent-Replayed", replayed) } else { response }.build()
}

fn refusal(endpoint: &Endpoint, status: u16, condition: &str) -> Response {
    let schema = Ref::from_schema_name(format!("Error{status}"));
    let response = ResponseBuilder::new()
        .description(condition)
        .content(JSON, ContentBuilder::new().schema(Some(schema)).build());
    let response = with_headers(response, endpoint);
    let seconds = header("Seconds until it is worth trying again.", whole_number());
    match status {
        401 => response.header("WWW-Authenticate", header("`Bearer`", string())),
        409 | 429 | 503 => response.header("Retry-After", seconds),
        _ => response,
    }
    .build()
}

const LIMIT: &str = "Requests a minute of this key, or of all keys of the account: whichever limit is \
    nearer to its end.";

fn with_headers(response: ResponseBuilder, endpoint: &Endpoint) -> ResponseBuilder {
    let request_id = header("The request's id.", ObjectBuilder::from(id("req_")));
    let response = response.header("X-Request-Id", request_id);
    if endpoint.permission.is_none() {
        return response;
    }
    response
        .header("RateLimit-Limit", header(LIMIT, whole_number()))
        .header("RateLimit-Remaining", header("Requests that may follow at once.", whole_number()))
        .header(
            "RateLimit-Reset",
            header("Seconds until the full limit is available.", whole_number()),
        )
}

fn whole_number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))
}

fn header(about: &str, schema: ObjectBuilder) -> Header {
    HeaderBuilder::new().description(Some(about)).schema(Some(schema.build())).build()
}
