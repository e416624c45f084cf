//! Tests that apply to every endpoint: their declarations, and that each body is parsed as its
//! schema says.

use std::collections::{BTreeMap, HashSet};

use cicerone_domain::{Error, Timestamp};
use serde_json::{Map, Value, json};

use super::all;
use crate::body::Current;
use crate::endpoint::{Access, ParseBody};
use crate::openapi::openapi;

#[test]
fn every_endpoint_and_every_operation_id_is_listed_once() {
    let mut seen = HashSet::new();
    for endpoint in all() {
        let name = format!("{} {}", endpoint.method, endpoint.path);
        assert!(!endpoint.methods().is_empty(), "{name}");
        assert!(!endpoint.description.id.is_empty(), "{name}");
        assert!(!endpoint.description.summary.is_empty(), "{name}");
        assert!(seen.insert(endpoint.description.id.to_owned()), "{name}");
        assert!(seen.insert(name));
    }
}

#[test]
fn every_endpoint_of_the_service_proper_needs_a_key() {
    for endpoint in all() {
        let is_of_service = ["/v1/", "/mcp/"].iter().any(|start| endpoint.path.starts_with(start));
        let is_open = !is_of_service || endpoint.path == "/v1/openapi.json";
        assert_eq!(endpoint.access == Access::Open, is_open, "{}", endpoint.path);
    }
}

/// Parses a body. Returns the field that is refused.
fn refused(parse: ParseBody, body: &Map<String, Value>) -> Option<String> {
    let known = |name: &str| ["gpt-4o", "gpt-4-turbo", "gpt-3.5-turbo"].contains(&name);
    let current = Current { now: Timestamp::from_millis(0), knows_model: &known };
    match parse(Value::from(body.clone()).to_string().as_bytes(), &current) {
        Ok(()) => None,
        Err(Error::Missing(bad) | Error::Invalid(bad)) => Some(bad.first().param.clone()),
        Err(other) => panic!("{body:?}: {other:?}"),
    }
}

/// Whether a field is an object, a list of objects or of texts, a language, or a union of types: such fields have tests beside their readers.
fn is_deep(schema: &Value) -> bool {
    let is_plain_map = schema["additionalProperties"]["type"] == "string";
    let is_bounded = schema.get("maxProperties").is_some();
    let pattern = |schema: &Value| schema["pattern"].as_str().unwrap_or_default().to_owned();
    let items = pattern(&schema["items"]);
    let is_list_of_texts = !items.is_empty() && !items.starts_with("^agent_");
    let is_language = pattern(schema).starts_with("^[A-Za-z]{2,8}");
    schema.to_string().contains("$ref")
        || schema.get("oneOf").is_some()
        || schema.get("properties").is_some()
        || is_list_of_texts
        || is_language
        || (is_plain_map && !is_bounded)
}

/// Values of a field that its schema allows, and values that it does not.
fn samples(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    if is_deep(schema) {
        return (good, bad);
    }
    let is = |name: &str| schema["type"] == name || schema["type"][0] == name;
    if schema["type"][1] == "null" { &mut good } else { &mut bad }.push(Value::Null);
    if let Some(names) = schema["enum"].as_array() {
        good.extend(names.iter().cloned());
        bad.extend([json!("no such name"), json!(5)]);
    } else if is("string") {
        texts(schema, &mut good, &mut bad);
    } else if is("integer") || is("number") {
        for (bound, step) in [("minimum", -1), ("maximum", 1)] {
            let Some(limit) = schema[bound].as_i64() else {
                assert_eq!(bound, "maximum", "a number of a body has a lower bound: {schema}");
                continue;
            };
            good.push(json!(limit));
            bad.push(json!(limit + step));
        }
        bad.push(json!("5"));
    } else if is("boolean") {
        good.extend([json!(true), json!(false)]);
        bad.push(json!("true"));
    } else if is("array") {
        lists(schema, &mut good, &mut bad);
    } else if is("object") {
        pairs(schema, &mut good, &mut bad);
    } else {
        panic!("no samples for {schema}");
    }
    (good, bad)
}

fn texts(schema: &Value, good: &mut Vec<Value>, bad: &mut Vec<Value>) {
    bad.push(json!(5));
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let prefix = match schema["format"].as_str() {
        Some("uri") => "https://example.com/",
        Some("date-time") => {
            good.push(json!("2030-01-31T08:30:00Z"));
            return bad.extend([json!("2030-01-31T08:30:00+00:00"), json!("tomorrow")]);
        }
        Some("email") => "zoe@",
        _ => "",
    };
    if let Some(prefix) =
        pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix("[0-9A-Za-z]{10}$"))
    {
        // An id is valid if it has this form; whether it exists is looked up later.
        return good.push(json!(format!("{prefix}8kd02JwQ1z")));
    }
    if pattern.starts_with("^resp_") {
        return good.push(json!("resp_8kd02JwQ1z_2"));
    }
    assert!(pattern.contains("u0000") || !prefix.is_empty(), "{schema}");
    bad.push(json!("\0"));
    let most = schema["maxLength"].as_u64().expect("a text of a body has a bound") as usize;
    // Limits count characters, so each of these has two bytes.
    let text = |chars: usize| format!("{prefix}{}", "é".repeat(chars - prefix.len()));
    good.push(json!(text(most)));
    bad.push(json!(text(most + 1)));
    if schema["minLength"] == 1 {
        good.push(json!("x"));
        bad.extend([json!(""), json!(" \n")]);
    }
    if !prefix.is_empty() {
        bad.extend([json!("ftp://example.com/"), json!("example.com")]);
    }
}

fn lists(schema: &Value, good: &mut Vec<Value>, bad: &mut Vec<Value>) {
    assert_eq!(schema["minItems"], 1, "{schema}");
    bad.extend([json!([]), json!("x"), json!([5])]);
    match schema["items"]["enum"].as_array() {
        Some(names) => {
            good.push(json!(names));
            bad.push(json!(["no such name"]));
        }
        None => {
            let most = schema["maxItems"].as_u64().expect("a list of ids has a bound");
            let ids = |count| (0..count).map(|n| format!("agent_{n:010}")).collect::<Vec<_>>();
            good.push(json!(ids(most)));
            bad.push(json!(ids(most + 1)));
            bad.push(json!(["nobody"]));
        }
    }
}

fn pairs(schema: &Value, good: &mut Vec<Value>, bad: &mut Vec<Value>) {
    bad.extend([json!([]), json!({"a": 5})]);
    let bound = |pointer: &str| schema.pointer(pointer).and_then(Value::as_u64).unwrap() as usize;
    let many =
        |count: usize| (0..count).map(|n| (format!("k{n}"), "v")).collect::<BTreeMap<_, _>>();
    let most = bound("/maxProperties");
    good.push(json!(many(most)));
    bad.push(json!(many(most + 1)));
    let (key, value) =
        (bound("/propertyNames/maxLength"), bound("/additionalProperties/maxLength"));
    good.push(json!({ "é".repeat(key): "é".repeat(value) }));
    bad.push(json!({ "é".repeat(key + 1): "v" }));
    bad.push(json!({ "k": "é".repeat(value + 1) }));
}

#[test]
fn every_body_is_parsed_as_its_schema_says() {
    let document = serde_json::to_value(openapi(&[])).unwrap();
    let mut compared = 0;
    for endpoint in all() {
        let Some(body) = endpoint.description.body else { continue };
        let Some(parse) = body.parse else { continue };
        let schema = &document["components"]["schemas"][&body.schema];
        let example = schema["examples"][0].as_object().expect("a body has an example");
        assert_eq!(refused(parse, example), None, "the example of {}", body.schema);
        // The alternatives of a source differ in the content, which the tests of `domain` cover.
        let Some(properties) = schema["properties"].as_object() else { continue };
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in properties {
            let body_with = |value: Option<&Value>| {
                let mut body = example.clone();
                match value {
                    Some(value) => body.insert(name.clone(), value.clone()),
                    None => body.remove(name),
                };
                refused(parse, &body)
            };
            let is_required = required.contains(&json!(name));
            assert_eq!(body_with(None), is_required.then(|| name.clone()), "{name} left out");
            let (good, bad) = samples(schema);
            for value in &good {
                assert_eq!(body_with(Some(value)), None, "{} `{name}`: {value}", body.schema);
                compared += 1;
            }
            for value in &bad {
                let param = body_with(Some(value)).unwrap_or_default();
                let is_field = param.split(['.', '[']).next() == Some(name);
                assert!(is_field, "{} `{name}`: {value} is refused as `{param}`", body.schema);
                compared += 1;
            }
        }
    }
    assert!(compared > 150, "{compared} values were compared");
}
