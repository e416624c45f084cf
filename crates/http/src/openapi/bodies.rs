//! The schemas of bodies: exactly what the handlers take.

use cicerone_domain::agent::{MODEL_DEFAULT, MODELS};
use cicerone_domain::webhook::{EventName, PayloadStyle};
use cicerone_domain::{Permission, limits};
use serde_json::{Value, json};
use utoipa::openapi::schema::{
    KnownFormat, Object, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Schema};

use super::parameters::{id, id_pattern, string};

/// Text with a character that is not white space, and without NUL.
const NOT_BLANK: &str = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$";
/// Text without NUL.
const NO_NUL: &str = "^[^\\u0000]*$";

/// The schemas of all bodies, by name.
pub(crate) fn schemas(extra_models: &[String]) -> Vec<(String, RefOr<Schema>)> {
    let all: [(&str, RefOr<Schema>); 10] = [
        ("CreateAgent", agent(extra_models, false).required("name").into()),
        ("UpdateAgent", agent(extra_models, true).into()),
        ("CreateSource", source()),
        ("Search", search().into()),
        ("UploadFile", upload().into()),
        ("SendMessage", message().into()),
        ("CreateWebhookEndpoint", endpoint(false).required("url").into()),
        ("UpdateWebhookEndpoint", endpoint(true).into()),
        ("CreateApiKey", key().required("name").required("permissions").into()),
        ("UpdateApiKey", key().into()),
    ];
    all.map(|(name, schema)| (name.to_owned(), schema)).into()
}

/// The same, or null.
fn nullable(kind: Type) -> SchemaType {
    SchemaType::from_iter([kind, Type::Null])
}

fn optional_string(about: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(nullable(Type::String)).description(Some(about))
}

fn agent(extra_models: &[String], is_change: bool) -> ObjectBuilder {
    let models = MODELS.into_iter().chain(extra_models.iter().map(String::as_str));
    let (coldest, hottest) = limits::TEMPERATURE_RANGE;
    let (fewest, most) = limits::REPLY_TOKENS_RANGE;
    let name = not_blank(limits::AGENT_NAME_CHARS).description(Some("A name for people."));
    let model = optional_string("The model that writes the replies.")
        .enum_values(Some(models.map(Value::from).chain([Value::Null])))
        .default(Some(MODEL_DEFAULT.into()));
    let prompt = optional_string("Behaviour, tone and constraints.")
        .max_length(Some(limits::SYSTEM_PROMPT_CHARS))
        .pattern(Some(NO_NUL))
        .default(Some("".into()));
    let temperature = ObjectBuilder::new()
        .schema_type(nullable(Type::Number))
        .description(Some("Lower is more deterministic."))
        .minimum(Some(coldest))
        .maximum(Some(hottest))
        .default(Some(limits::TEMPERATURE_DEFAULT.into()));
    let tokens = ObjectBuilder::new()
        .schema_type(nullable(Type::Integer))
        .description(Some("Most tokens in a reply."))
        .minimum(Some(fewest))
        .maximum(Some(most))
        .default(Some(limits::REPLY_TOKENS_DEFAULT.into()));
    let (shortest, longest) = limits::RETENTION_DAYS_RANGE;
    let retention = ObjectBuilder::new()
        .schema_type(nullable(Type::Integer))
        .description(Some(
            "Days after which a conversation without a new message is removed; null for never.",
        ))
        .minimum(Some(shortest))
        .maximum(Some(longest));
    let object = ObjectBuilder::new()
        .property("name", name)
        .property("model", model)
        .property("system_prompt", prompt)
        .property("temperature", temperature)
        .property("max_tokens", tokens)
        .property("retention_days", retention);
    if is_change {
        let status = string()
            .description(Some("`paused` takes no new conversations."))
            .enum_values(Some(["active", "paused"]));
        object.property("status", status)
    } else {
        object.examples([json!({"name": "Guide", "system_prompt": "Answer in one sentence."})])
    }
}

fn not_blank(limit: usize) -> ObjectBuilder {
    string().min_length(Some(1)).max_length(Some(limit)).pattern(Some(NOT_BLANK))
}

/// One schema for each type, as the type decides what `content` holds.
fn source() -> RefOr<Schema> {
    let (text, pairs) = (limits::TEXT_SOURCE_CHARS, limits::QA_PAIRS);
    let question = limits::QUESTION_CHARS;
    let website = string()
        .max_length(Some(limits::WEBSITE_URL_CHARS))
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]"))
        .description(Some("A full http or https address with a host, without credentials."));
    let qa = string()
        .content_media_type("application/json")
        .content_schema(Some(pairs_schema()))
        .description(Some(format!(
            "The text of a JSON array of 1 to {pairs} objects with the non-empty strings \
             `question`, of at most {question} characters, and `answer`."
        )));
    let file = string().pattern(Some(id_pattern("file_"))).description(Some(
        "The id of an uploaded file. One that does not exist is refused with 400.",
    ));
    OneOfBuilder::new()
        .item(source_of("website", website, true))
        .item(source_of("text", not_blank(text).description(Some("The text itself.")), false))
        .item(source_of("file", file, false))
        .item(source_of("qa", qa, false))
        .into()
}

fn source_of(kind: &str, content: ObjectBuilder, may_crawl: bool) -> Object {
    let crawl = ObjectBuilder::new()
        .schema_type(nullable(Type::Boolean))
        .description(Some("Whether links within the host are followed. Websites only."))
        .default(Some(false.into()));
    let crawl =
        if may_crawl { crawl } else { crawl.enum_values(Some([json!(false), Value::Null])) };
    ObjectBuilder::new()
        .title(Some(kind))
        .property("type", string().enum_values(Some([kind])))
        .property("content", content)
        .property("crawl_subpages", crawl)
        .required("type")
        .required("content")
        .build()
}

/// What the text of a `qa` source decodes to.
fn pairs_schema() -> RefOr<Schema> {
    let pair = ObjectBuilder::new()
        .property("question", not_blank(limits::QUESTION_CHARS))
        .property("answer", string().pattern(Some(NOT_BLANK)))
        .required("question")
        .required("answer");
    let pairs = utoipa::openapi::ArrayBuilder::new().items(pair);
    RefOr::T(Schema::Array(pairs.min_items(Some(1)).max_items(Some(limits::QA_PAIRS)).build()))
}

fn search() -> ObjectBuilder {
    let (fewest, most) = limits::SEARCH_LIMIT_RANGE;
    let limit = ObjectBuilder::new()
        .schema_type(nullable(Type::Integer))
        .description(Some("Most hits."))
        .minimum(Some(fewest))
        .maximum(Some(most))
        .default(Some(limits::SEARCH_LIMIT_DEFAULT.into()));
    let query = not_blank(limits::MESSAGE_CHARS).description(Some("What to look for."));
    ObjectBuilder::new().property("query", query).property("limit", limit).required("query")
}

fn upload() -> ObjectBuilder {
    let file = string()
        .content_media_type("application/octet-stream")
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
        .description(Some(
            "The file: PDF, DOCX, HTML or text by its content, at most 10,485,760 bytes.",
        ));
    ObjectBuilder::new().property("file", file).required("file")
}

fn endpoint(is_change: bool) -> ObjectBuilder {
    let url = string()
        .max_length(Some(limits::WEBHOOK_URL_CHARS))
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]"))
        .description(Some(
            "A public https address without credentials; one of http or of a private network where \
             the server allows it.",
        ));
    let events = utoipa::openapi::ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .items(string().enum_values(Some(EventName::CHOICES.map(EventName::name))))
        .min_items(Some(1))
        .description(Some("The events that it takes; null for all."));
    let description = optional_string("For people.")
        .max_length(Some(limits::DESCRIPTION_CHARS))
        .pattern(Some(NO_NUL));
    let styles = PayloadStyle::ALL.map(|style| Value::from(style.name()));
    let payload = optional_string("`thin` leaves `data.content` out.")
        .enum_values(Some(styles.into_iter().chain([Value::Null])))
        .default(Some(PayloadStyle::default().name().into()));
    let about = "Whether anything is sent to it.";
    let status = if is_change {
        string().enum_values(Some(["enabled", "disabled"])).description(Some(about))
    } else {
        optional_string(about)
            .enum_values(Some([json!("enabled"), json!("disabled"), Value::Null]))
            .default(Some("enabled".into()))
    };
    ObjectBuilder::new()
        .property("url", url)
        .property("events", events)
        .property("description", description)
        .property("payload", payload)
        .property("status", status)
}

fn key() -> ObjectBuilder {
    let names = Permission::ALL.map(Permission::name);
    let permissions = utoipa::openapi::ArrayBuilder::new()
        .items(string().enum_values(Some(names.into_iter().chain(["*"]))))
        .min_items(Some(1))
        .description(Some("What it may do; `*` is everything."));
    let agents = utoipa::openapi::ArrayBuilder::new()
        .schema_type(nullable(Type::Array))
        .items(id("agent_"))
        .min_items(Some(1))
        .max_items(Some(limits::KEY_AGENTS))
        .description(Some("The only agents that exist for it; null for all of the account."));
    let expiry = optional_string("When it stops to work, in the future; null for never.")
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .pattern(Some("Z$"));
    ObjectBuilder::new()
        .property("name", not_blank(limits::KEY_NAME_CHARS).description(Some("A name for people.")))
        .property("permissions", permissions)
        .property("agent_ids", agents)
        .property("expires_at", expiry)
}

fn message() -> ObjectBuilder {
    let metadata = ObjectBuilder::new()
        .schema_type(nullable(Type::Object))
        .description(Some("Pairs for a new conversation; ignored where one is continued."))
        .max_properties(Some(limits::METADATA_KEYS))
        .property_names(Some(
            string().max_length(Some(limits::METADATA_KEY_CHARS)).pattern(Some(NO_NUL)).build(),
        ))
        .additional_properties(Some(
            string().max_length(Some(limits::METADATA_VALUE_CHARS)).pattern(Some(NO_NUL)),
        ));
    let stream = ObjectBuilder::new()
        .schema_type(nullable(Type::Boolean))
        .description(Some("Whether the reply comes as server-sent events."))
        .default(Some(false.into()));
    let conversation = optional_string("Continues this conversation; without it a new one begins.")
        .pattern(Some(id_pattern("conv_")));
    let text = not_blank(limits::MESSAGE_CHARS).description(Some("The user's text."));
    ObjectBuilder::new()
        .property("agent_id", id("agent_"))
        .property("message", text)
        .property("conversation_id", conversation)
        .property("metadata", metadata)
        .property("stream", stream)
        .required("agent_id")
        .required("message")
}
