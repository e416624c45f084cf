//! Parameters of paths, queries and headers.

use cicerone_domain::limits;
use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{
    ArrayBuilder, KnownFormat, Object, ObjectBuilder, SchemaFormat, Type,
};
use utoipa::openapi::{RefOr, Required, Schema};

use super::schema::{id, string};
use crate::change::IDEMPOTENCY_KEY;

fn query(
    name: &str,
    about: impl Into<String>,
    schema: impl Into<RefOr<Schema>>,
) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(schema))
}

/// The number of a message.
fn number() -> Object {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).build()
}

pub(crate) fn in_path(path: &'static str) -> impl Iterator<Item = Parameter> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| {
        let schema = match name {
            "agent_id" => id("agent_"),
            "source_id" => id("src_"),
            "document_id" => id("doc_"),
            "conversation_id" => id("conv_"),
            "file_id" => id("file_"),
            "key_id" => id("key_"),
            "endpoint_id" => id("whep_"),
            "delivery_id" => id("dlv_"),
            "gap_id" => id("gap_"),
            "widget_id" => id("wgt_"),
            "n" => number(),
            "token" => string().pattern(Some("^pub_[0-9A-Za-z]{24}$")).build(),
            _ => string().build(),
        };
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(schema))
            .build()
    })
}

pub(crate) fn document_id() -> Parameter {
    query("document_id", "Return only passages of this document.", id("doc_")).build()
}

pub(crate) fn page_size() -> Parameter {
    let (low, high) = limits::PAGE_SIZE_RANGE;
    let schema = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(low))
        .maximum(Some(high))
        .default(Some(Value::from(limits::PAGE_SIZE_DEFAULT)));
    query("page_size", "The maximum number of items on a page.", schema).build()
}

pub(crate) fn cursor() -> Parameter {
    let about = "The `next_cursor` of the previous page of the same list.";
    // At least nine bytes of a position and sixteen of a signature, as base64url.
    query("cursor", about, string().pattern(Some("^[0-9A-Za-z_-]{34,}$"))).build()
}

pub(crate) fn limit(about: &str) -> Parameter {
    let (low, high) = limits::PAGE_SIZE_RANGE;
    let schema = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(low))
        .maximum(Some(high))
        .default(Some(Value::from(limits::PAGE_SIZE_DEFAULT)));
    query("limit", about, schema).build()
}

/// A parameter with a closed set of values.
pub(crate) fn one_of(name: &str, values: &[&str], about: &str) -> Parameter {
    query(name, about, string().enum_values(Some(values.iter().copied()))).build()
}

pub(crate) fn text(name: &str, about: &str, schema: Object) -> Parameter {
    query(name, about, schema).build()
}

/// A query parameter that is a point in time.
pub(crate) fn moment(name: &str, about: &str) -> Parameter {
    let schema =
        string().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))).pattern(Some("Z$"));
    query(name, format!("{about} ISO 8601 in UTC, ending in `Z`."), schema).build()
}

/// A day of UTC.
pub(crate) fn day(name: &str, about: &str) -> Parameter {
    let schema = string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
    query(name, format!("{about} In UTC and in the form `2026-01-31`."), schema).build()
}

/// `agent_id`
pub(crate) fn agent(about: &str) -> Parameter {
    query("agent_id", about, id("agent_")).build()
}

pub(crate) fn searched_text() -> Parameter {
    let about = format!(
        "Return only conversations whose messages contain all of these words, at most {}. A word also matches inside \
         a longer word; case is ignored. A request searches at most {} conversations and 16 MiB of text, for at most 2 s, and then \
         returns what it has found: a page may have fewer items than `page_size`, or none, although `has_more` is \
         true. Follow `next_cursor` instead of counting.",
        limits::CONVERSATION_SEARCH_WORDS,
        limits::SEARCHED_CONVERSATIONS,
    );
    let schema = string()
        .min_length(Some(1))
        .max_length(Some(limits::CONVERSATION_SEARCH_CHARS))
        .pattern(Some("^\\s*[^\\s\\u0000]+(\\s+[^\\s\\u0000]+){0,7}\\s*$"));
    query("text", about, schema).build()
}

pub(crate) fn metadata() -> Parameter {
    let about = format!(
        "Return only conversations with this pair, given as `key:value` and split at the first \
         colon. Repeat the parameter for up to {} pairs; a conversation must have all of them.",
        limits::METADATA_FILTERS
    );
    let (key, value) = (limits::METADATA_KEY_CHARS, limits::METADATA_VALUE_CHARS);
    let pattern = format!("^[^\\u0000:]{{0,{key}}}:[^\\u0000]{{0,{value}}}$");
    let items = ArrayBuilder::new()
        .items(string().pattern(Some(pattern)))
        .max_items(Some(limits::METADATA_FILTERS));
    query("metadata", about, items).style(Some(ParameterStyle::Form)).explode(Some(true)).build()
}

pub(crate) fn idempotency_key() -> Parameter {
    let about = "Repeated requests with the same idempotency key within 24 hours take effect once and get the same \
        response. Idempotency keys belong to the account. An API key that may not see everything in the stored \
        response gets 422; a stored error is returned only to API keys with access to the same agents.";
    let schema = string()
        .min_length(Some(1))
        .max_length(Some(limits::IDEMPOTENCY_KEY_CHARS))
        .pattern(Some("^[!-~]+$"));
    ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(schema))
        .build()
}
