//! The OpenAPI document, made from the routes that are served.

mod answers;
mod bodies;
pub(crate) mod parameters;

use actix_web::web::Bytes;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{
    Components, ComponentsBuilder, ContentBuilder, HttpMethod, Info, InfoBuilder, License, OpenApi,
    OpenApiBuilder, Paths, Ref, Required,
};

use crate::endpoint::Endpoint;
use crate::routes::routes;

const BEARER: &str = "bearer";
const ABOUT: &str = "Agents that answer from their owner's content. An agent has sources, which \
    are crawled, extracted and indexed; a message to it is answered from them, in one piece or as \
    server-sent events, and the reply names the sources that it rests on.\n\n\
    Every answer that is not a success holds an `error` with a stable `code`, and every answer \
    carries its request's id in `X-Request-Id`. Unknown fields of a body are ignored. `/v1` only \
    gains: fields, routes and error codes may be added, nothing is removed or changes its meaning.";

/// The OpenAPI 3.1 document of every route. `extra_models` are names beyond the specification's
/// that agents may use on this server.
pub fn openapi(extra_models: &[String]) -> OpenApi {
    let mut paths = Paths::new();
    for endpoint in routes() {
        paths.add_path_operation(endpoint.path, vec![method(&endpoint)], operation(&endpoint));
    }
    OpenApiBuilder::new()
        .info(info())
        .tags(Some(tags()))
        .paths(paths)
        .components(Some(components(extra_models)))
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

fn tags() -> Vec<Tag> {
    let tag =
        |name: &str, about: &str| TagBuilder::new().name(name).description(Some(about)).build();
    vec![
        tag("Agents", "Configured chatbots."),
        tag("Sources", "What an agent knows, what was extracted from it, and search."),
        tag("Files", "Uploads for sources of type `file`."),
        tag("Conversations", "Messages and replies."),
        tag("Operation", "For whoever runs the server. These need no key."),
    ]
}

fn components(extra_models: &[String]) -> Components {
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some("An API key, as `Authorization: Bearer <key>`.".to_owned());
    let components = ComponentsBuilder::new().security_scheme(BEARER, SecurityScheme::Http(bearer));
    let schemas = bodies::schemas(extra_models).into_iter().chain(answers::schemas());
    schemas.fold(components, |components, (name, schema)| components.schema(name, schema)).build()
}

fn method(endpoint: &Endpoint) -> HttpMethod {
    match endpoint.method.as_str() {
        "POST" => HttpMethod::Post,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn tag_of(path: &str) -> &'static str {
    match path {
        path if path.contains("conversations") => "Conversations",
        path if path.contains("sources") || path.contains("search") => "Sources",
        path if path.starts_with("/v1/agents") => "Agents",
        path if path.starts_with("/v1/files") => "Files",
        _ => "Operation",
    }
}

fn operation(endpoint: &Endpoint) -> Operation {
    let said = &endpoint.description;
    let operation = OperationBuilder::new()
        .operation_id(Some(said.id))
        .tag(tag_of(endpoint.path))
        .summary(Some(said.summary))
        .description(described(endpoint))
        .request_body(said.body.map(request_body))
        .responses(answers::responses(endpoint));
    let operation =
        all_parameters(endpoint).into_iter().fold(operation, OperationBuilder::parameter);
    match endpoint.permission {
        Some(permission) => operation
            .security(SecurityRequirement::new(BEARER, Vec::<String>::new()))
            .extensions(Some(Extensions::builder().add("x-permission", permission.name()).build())),
        None => operation.securities(Some([])),
    }
    .build()
}

fn described(endpoint: &Endpoint) -> Option<String> {
    let permission = endpoint.permission.map(|name| format!("Permission: `{name}`."));
    let details = Some(endpoint.description.details.to_owned()).filter(|text| !text.is_empty());
    let parts: Vec<_> = details.into_iter().chain(permission).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn request_body((media_type, schema): (&str, &str)) -> RequestBody {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    RequestBodyBuilder::new().content(media_type, content).required(Some(Required::True)).build()
}

fn all_parameters(endpoint: &Endpoint) -> Vec<Parameter> {
    let mut all: Vec<_> = parameters::of_path(endpoint.path).collect();
    all.extend(endpoint.description.query.iter().cloned());
    if endpoint.description.is_keyed {
        all.push(parameters::idempotency_key());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::openapi;
    use serde_json::Value;

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
    fn every_reference_has_a_target_and_every_schema_is_used() {
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        for reference in &found {
            let pointer = reference.trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            let reference = format!("#/components/schemas/{name}");
            assert!(found.contains(&reference.as_str()), "{name} is not used");
        }
    }

    #[test]
    fn it_is_openapi_3_1_and_names_this_servers_models() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
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
                let keyed = method != "get" && !path.ends_with("/search");
                assert_eq!(operation["responses"]["409"].is_object(), keyed, "{method} {path}");
            }
        }
    }
}
