//! The OpenAPI document, made from the endpoints that are served.

pub(crate) mod answers;
pub(crate) mod parameters;
pub(crate) mod schema;

use actix_web::web::Bytes;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ComponentsBuilder, ContentBuilder, HttpMethod, Info, InfoBuilder, License, OpenApi,
    OpenApiBuilder, Paths, Ref, RefOr, Required, Schema, Server,
};

use crate::endpoint::{Access, BodyDescription, Endpoint, Schemas, Tag};
use crate::endpoints;

const BEARER: &str = "bearer";
const VISITOR: &str = "visitor";
const ABOUT: &str = "AI chat agents that answer from their owner's own content. An agent has sources, which are \
    crawled, extracted and indexed. Replies are based on these sources and cite those that they use; they are sent as \
    JSON or as Server-Sent Events.\n\nEvery error response contains an `error` object with a stable `code`, and every \
    response has the id of its request in `X-Request-Id`. A request can be refused before it reaches an operation: \
    with 405 (`method_not_allowed`) if the path does not support the method, 408 (`invalid_parameter`) if the request \
    head does not arrive in time, and 431 (`invalid_parameter`) if the head is too large. Unknown fields of a body are \
    ignored. Within `/v1`, fields, paths and error codes may be added, but nothing is removed or changes its meaning.";

/// The OpenAPI 3.1 document of every endpoint. `extra_models` are the names beyond the built-in ones that
/// agents can use on this server.
pub fn openapi(extra_models: &[String]) -> OpenApi {
    let endpoints = endpoints::all();
    let mut paths = Paths::new();
    for endpoint in &endpoints {
        paths.add_path_operation(endpoint.path, vec![method(endpoint)], operation(endpoint));
    }
    OpenApiBuilder::new()
        .info(info())
        // The origin that the document comes from.
        .servers(Some([Server::new("/")]))
        .tags(Some(Tag::ALL.map(tag)))
        .paths(paths)
        .components(Some(components(endpoints, extra_models)))
        .build()
}

/// The document as it is served.
#[expect(clippy::expect_used, reason = "the document holds text, numbers and maps of text")]
pub(crate) fn document(extra_models: &[String]) -> Bytes {
    Bytes::from(serde_json::to_vec(&openapi(extra_models)).expect("the document serialises"))
}

fn info() -> Info {
    InfoBuilder::new()
        .title("Cicerone")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(License::new(env!("CARGO_PKG_LICENSE"))))
        .build()
}

fn tag(tag: Tag) -> utoipa::openapi::Tag {
    TagBuilder::new().name(tag.name()).description(Some(tag.about())).build()
}

fn components(endpoints: Vec<Endpoint>, extra_models: &[String]) -> Components {
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some("An API key, as `Authorization: Bearer <key>`.".to_owned());
    let mut visitor = Http::new(HttpAuthScheme::Bearer);
    visitor.description = Some(
        "A visitor's credential, or a JSON Web Token (HS256) that a widget's site has signed with its `identity_secret`, as \
         `Authorization: Bearer …`."
            .to_owned(),
    );
    let components = ComponentsBuilder::new()
        .security_scheme(BEARER, SecurityScheme::Http(bearer))
        .security_scheme(VISITOR, SecurityScheme::Http(visitor));
    let mut schemas = Schemas::new();
    for endpoint in endpoints {
        for add in endpoint.description.schemas {
            add(&mut schemas);
        }
    }
    schemas
        .into_iter()
        .chain(answers::error_schemas())
        .fold(components, |components, (name, mut schema)| {
            add_models(&mut schema, extra_models);
            components.schema(name, schema)
        })
        .build()
}

/// Adds the models that the configuration defines, which are known only at start, to those that a field
/// `model` can name.
fn add_models(schema: &mut RefOr<Schema>, extra_models: &[String]) {
    if let RefOr::T(Schema::Object(object)) = schema
        && let Some(RefOr::T(Schema::Object(model))) = object.properties.get_mut("model")
        && let Some(names) = &mut model.enum_values
    {
        names.splice(0..0, extra_models.iter().map(|name| name.as_str().into()));
    }
}

fn method(endpoint: &Endpoint) -> HttpMethod {
    match endpoint.method.as_str() {
        "POST" => HttpMethod::Post,
        "PATCH" => HttpMethod::Patch,
        "PUT" => HttpMethod::Put,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn operation(endpoint: &Endpoint) -> Operation {
    let said = &endpoint.description;
    let operation = OperationBuilder::new()
        .operation_id(Some(said.id))
        .tag(said.tag.name())
        .summary(Some(said.summary))
        .description(description(endpoint))
        .request_body(said.body.as_ref().map(request_body))
        .responses(answers::responses(endpoint));
    let operation = parameters(endpoint).into_iter().fold(operation, OperationBuilder::parameter);
    let bearer = || SecurityRequirement::new(BEARER, Vec::<String>::new());
    match endpoint.access {
        Access::Permission(permission) => operation
            .security(bearer())
            .extensions(Some(Extensions::builder().add("x-permission", permission.name()).build())),
        Access::AnyKey => operation.security(bearer()),
        Access::Open if said.is_for_visitors => {
            operation.security(SecurityRequirement::new(VISITOR, Vec::<String>::new()))
        }
        Access::Open => operation.securities(Some([])),
    }
    .build()
}

fn description(endpoint: &Endpoint) -> Option<String> {
    let access = match endpoint.access {
        Access::Permission(permission) => Some(format!("Permission: `{permission}`.")),
        Access::AnyKey => Some("Permission: none; any valid key is accepted.".to_owned()),
        Access::Open => None,
    };
    let details = Some(endpoint.description.details.to_owned()).filter(|text| !text.is_empty());
    let parts: Vec<_> = details.into_iter().chain(access).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn request_body(body: &BodyDescription) -> RequestBody {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(&body.schema))).build();
    let required = if body.is_required { Required::True } else { Required::False };
    let body = RequestBodyBuilder::new().content(body.media_type, content);
    body.required(Some(required)).build()
}

fn parameters(endpoint: &Endpoint) -> Vec<Parameter> {
    let mut all: Vec<_> = parameters::in_path(endpoint.path).collect();
    all.extend(endpoint.description.query.iter().cloned());
    if endpoint.description.is_keyed {
        all.push(parameters::idempotency_key());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::openapi;
    use serde_json::{Value, json};

    fn document() -> Value {
        serde_json::to_value(openapi(&["local-model".to_owned()])).unwrap()
    }

    /// Every `$ref` in a value.
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_code_of_a_refusal_is_named() {
        use crate::error::STATUS_CODES;

        let document = document();
        let about = document["info"]["description"].as_str().unwrap();
        let schemas = &document["components"]["schemas"];
        for row in STATUS_CODES {
            let schema = schemas[format!("Error{}", row.status)].to_string();
            for code in row.codes {
                let is_told = about.contains(&format!("{} (`{code}`)", row.status));
                assert!(is_told || schema.contains(&format!("\"{code}\"")), "{row:?}");
            }
        }
    }

    #[test]
    fn every_reference_has_a_target_and_every_component_is_used() {
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        for reference in &found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        let components = document["components"].as_object().unwrap();
        for (kind, named) in components.iter().filter(|(kind, _)| *kind != "securitySchemes") {
            for name in named.as_object().unwrap().keys() {
                let reference = format!("#/components/{kind}/{name}");
                assert!(found.contains(&reference.as_str()), "{reference} is not used");
            }
        }
    }

    #[test]
    fn it_is_openapi_3_1_and_names_this_server_and_its_models() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["servers"], json!([{ "url": "/" }]));
        let models = document.pointer("/components/schemas/CreateAgent/properties/model/enum");
        assert!(models.unwrap().as_array().unwrap().contains(&Value::from("local-model")));
    }

    #[test]
    fn every_guarded_operation_documents_what_any_caller_may_meet() {
        let document = document();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation.get("x-permission").is_none() {
                    continue;
                }
                for status in ["401", "403", "429", "500", "503"] {
                    let response = &operation["responses"][status];
                    assert!(response.is_object(), "{method} {path} {status}");
                    assert!(response["headers"]["X-Request-Id"].is_object());
                }
                let keyed = method != "get"
                    && method != "put"
                    && !path.ends_with("/search")
                    && !path.ends_with("/preview");
                assert_eq!(operation["responses"]["409"].is_object(), keyed, "{method} {path}");
                // A repeated request gets 404 after the object in the first answer was deleted.
                let is_documented = operation["responses"]["404"].is_object();
                assert_eq!(is_documented, keyed || path.contains('{'), "{method} {path}");
            }
        }
    }

    #[test]
    fn operations_of_the_operator_and_public_pages_need_no_key() {
        let document = document();
        let tags: Vec<_> =
            document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let [tag] = operation["tags"].as_array().unwrap().as_slice() else {
                    panic!("{method} {path} has several tags");
                };
                assert!(tags.contains(&tag), "{method} {path}: {tag}");
                let is_open = operation["security"] == json!([])
                    || operation["security"] == json!([{ "visitor": [] }]);
                let needs_none = tag == "Operation" || tag == "Public pages";
                assert_eq!(needs_none, is_open, "{method} {path}: {tag}");
            }
        }
    }

    /// Some generators make a field with a default required, have no type for an enumeration of
    /// booleans, and take `File` for their own type of an upload.
    #[test]
    fn schemas_have_nothing_that_generators_get_wrong() {
        fn walk(path: &str, value: &Value) {
            assert!(value.get("default").is_none_or(|_| path.contains("/parameters/")), "{path}");
            let names = value.get("enum").and_then(Value::as_array);
            assert!(!names.is_some_and(|names| names.iter().any(Value::is_boolean)), "{path}");
            match value {
                Value::Object(fields) => {
                    fields.iter().for_each(|(name, field)| walk(&format!("{path}/{name}"), field));
                }
                Value::Array(items) => {
                    items.iter().for_each(|item| walk(&format!("{path}/"), item));
                }
                _ => {}
            }
        }
        let document = document();
        walk("", &document);
        assert!(document["components"]["schemas"].get("File").is_none());
    }
}
