//! The answers in the OpenAPI document.

use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder, Responses, ResponsesBuilder};
use utoipa::openapi::schema::{
    AllOfBuilder, AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type,
};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::schema::{id, nullable_string, string};
use crate::endpoint::{Access, AnswerSchema, Description, Endpoint};
use crate::error::{ErrorBody, STATUS_CODES, StatusRow};
use crate::response::JSON;

/// The statuses of refusals before a request reaches an operation. The description of the document names them, and no
/// operation does.
const EARLY: [u16; 3] = [405, 408, 431];

/// The schemas of refusals, by name.
pub(super) fn error_schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut all = vec![(ErrorBody::name().into_owned(), ErrorBody::schema())];
    ErrorBody::schemas(&mut all);
    let rows = STATUS_CODES.iter().filter(|row| !EARLY.contains(&row.status));
    all.extend(rows.map(|row| (format!("Error{}", row.status), error_of(row))));
    all
}

/// The envelope of a list with items of that schema.
pub(crate) fn list_schema(item: &str) -> RefOr<Schema> {
    let cursor =
        nullable_string().description(Some("The `cursor` of the next page; null on the last."));
    ObjectBuilder::new()
        .property("data", ArrayBuilder::new().items(Ref::from_schema_name(item)))
        .property("has_more", ObjectBuilder::new().schema_type(Type::Boolean))
        .property("next_cursor", cursor)
        .required("data")
        .required("has_more")
        .required("next_cursor")
        .into()
}

/// The error body with the values that are fixed for a status.
fn error_of(row: &StatusRow) -> RefOr<Schema> {
    let kind = string().enum_values(Some([row.kind]));
    let code = string().enum_values(Some(row.codes.iter().copied()));
    let detail = ObjectBuilder::new().property("type", kind).property("code", code);
    let detail = match row.status {
        422 => detail.required("errors"),
        429 => detail.required("retry_after"),
        _ => detail,
    };
    let narrowed = ObjectBuilder::new().property("error", detail);
    AllOfBuilder::new().item(Ref::from_schema_name("Error")).item(narrowed).into()
}

/// Every answer that an endpoint can give.
pub(super) fn responses(endpoint: &Endpoint) -> Responses {
    let success = endpoint.description.success;
    let all = ResponsesBuilder::new().response(success.to_string(), success_of(endpoint));
    let all = match endpoint.description.accepted {
        Some(condition) => all.response("202", accepted(endpoint, condition)),
        None => all,
    };
    let refusals = STATUS_CODES.iter().filter_map(|row| {
        let own = endpoint.description.refusals.iter().find(|(status, _)| *status == row.status);
        let condition = match own {
            Some((_, condition)) => Some(*condition),
            None => implied(endpoint, row.status).then(|| condition(endpoint, row)),
        };
        condition.map(|condition| (row.status, condition))
    });
    refusals
        .fold(all, |all, (status, condition)| {
            all.response(status.to_string(), refusal(endpoint, status, condition).build())
        })
        .build()
}

/// Whether an endpoint can refuse with this status because of its kind.
fn implied(endpoint: &Endpoint, status: u16) -> bool {
    let said = &endpoint.description;
    let is_guarded = endpoint.access != Access::Open;
    match status {
        401 | 429 | 503 => is_guarded,
        403 => matches!(endpoint.access, Access::Permission(_)),
        404 => is_guarded && (said.is_keyed || endpoint.path.contains('{')),
        400 => said.is_keyed || said.body.is_some() || !said.query.is_empty(),
        409 | 422 => said.is_keyed,
        413 => said.is_keyed || said.body.is_some(),
        415 => said.body.is_some(),
        500 => true,
        _ => false,
    }
}

/// The condition of a refusal for which the endpoint declares none of its own.
fn condition(endpoint: &Endpoint, row: &StatusRow) -> &'static str {
    match (row.status, endpoint.description.is_keyed, endpoint.path.contains('{')) {
        (404, true, true) => {
            "The resource does not exist, the key has no access to it, or the response stored for \
             this idempotency key contained something that has since been deleted or replaced."
        }
        (404, true, false) => {
            "The response stored for this idempotency key contained something that has since been \
             deleted or replaced."
        }
        (409, true, _) => "The same request is still being carried out.",
        (422, true, _) => "The idempotency key was used for another request.",
        _ => row.meaning,
    }
}

fn success_of(endpoint: &Endpoint) -> Response {
    let said = &endpoint.description;
    let json =
        |schema: &String| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let (about, contents) = match &said.answer {
        AnswerSchema::Empty => ("The request succeeded. The body is empty.", vec![]),
        AnswerSchema::Json(schema) => ("The request succeeded.", vec![(JSON, json(schema))]),
        AnswerSchema::Page(schema) => ("One page of the list.", vec![(JSON, json(schema))]),
        AnswerSchema::JsonOrEvents(schema, events) => (
            "The reply, as JSON or as Server-Sent Events.",
            vec![(JSON, json(schema)), ("text/event-stream", json(events))],
        ),
        AnswerSchema::Bytes(about) => {
            let schema = string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
            let bytes = ContentBuilder::new().schema(Some(schema)).build();
            // Some generators know no ranges of media types, and drop the response if there is nothing else.
            (*about, vec![("application/octet-stream", bytes.clone()), ("*/*", bytes)])
        }
        AnswerSchema::Text(media_types) => {
            let text = || ContentBuilder::new().schema(Some(string())).build();
            (
                "The request succeeded.",
                media_types.iter().map(|media_type| (*media_type, text())).collect(),
            )
        }
    };
    let response = with_headers(ResponseBuilder::new().description(about), endpoint);
    let response = contents
        .into_iter()
        .fold(response, |response, (media_type, content)| response.content(media_type, content));
    let replayed = header("`true` if this is the stored response to an earlier request.", string());
    if said.is_keyed { response.header("Idempotent-Replayed", replayed) } else { response }.build()
}

fn accepted(endpoint: &Endpoint, condition: &str) -> Response {
    with_headers(ResponseBuilder::new().description(condition), endpoint).build()
}

fn refusal(endpoint: &Endpoint, status: u16, condition: &str) -> ResponseBuilder {
    let error = Ref::from_schema_name(format!("Error{status}"));
    let Description { answer, own_errors, .. } = &endpoint.description;
    let schema: RefOr<Schema> = if let AnswerSchema::Json(answer) = answer
        && own_errors.contains(&status)
    {
        AnyOfBuilder::new().item(error).item(Ref::from_schema_name(answer)).into()
    } else {
        error.into()
    };
    let response = ResponseBuilder::new()
        .description(condition)
        .content(JSON, ContentBuilder::new().schema(Some(schema)).build());
    let response = with_headers(response, endpoint);
    let seconds = header("Seconds to wait before trying again.", whole_number());
    match status {
        401 => response.header("WWW-Authenticate", header("`Bearer`", string())),
        409 | 429 | 503 => response.header("Retry-After", seconds).header(
            "X-Should-Retry",
            header(
                "`false` if retrying after a few seconds does not help; absent otherwise.",
                string(),
            ),
        ),
        _ => response,
    }
}

const LIMIT: &str = "The limit in requests per minute: that of the key or that of the account, whichever is closer to \
    being reached.";

fn with_headers(response: ResponseBuilder, endpoint: &Endpoint) -> ResponseBuilder {
    let request_id = header("The request's id.", ObjectBuilder::from(id("req_")));
    let response = response.header("X-Request-Id", request_id);
    if endpoint.access == Access::Open {
        return response;
    }
    response
        .header("RateLimit-Limit", header(LIMIT, whole_number()))
        .header(
            "RateLimit-Remaining",
            header("The number of requests that can be made now without waiting.", whole_number()),
        )
        .header(
            "RateLimit-Reset",
            header("Seconds until the full limit is available again.", whole_number()),
        )
}

fn whole_number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))
}

fn header(about: &str, schema: ObjectBuilder) -> Header {
    HeaderBuilder::new().description(Some(about)).schema(Some(schema.build())).build()
}
