//! What the clients need of `docs/openapi.json`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};

/// The groups of operations that other clients are made for, or that are not for programs.
const LEFT_OUT: [&str; 4] = ["OpenAI", "MCP", "Operation", "Public pages"];
/// Schemas that no operation names, but the code written by hand does.
pub(super) const ALSO: [&str; 4] = ["TokenEvent", "DoneEvent", "ErrorEvent", "ErrorDetail"];
const SCHEMAS: &str = "#/components/schemas/";

/// The operations of the clients, and the schemas that they use.
pub(super) struct Contract {
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: Vec<Schema>,
}

pub(super) struct Operation {
    /// Its name, such as `createAgent`.
    pub(super) name: String,
    /// The summary and the description.
    pub(super) text: String,
    pub(super) method: String,
    pub(super) path: String,
    /// The parameters in the path, in order.
    pub(super) places: Vec<Field>,
    pub(super) query: Vec<Field>,
    pub(super) body: Body,
    /// Whether the body can be omitted.
    pub(super) is_body_optional: bool,
    /// Whether it takes an `Idempotency-Key`.
    pub(super) is_keyed: bool,
    pub(super) answer: Answer,
}

pub(super) enum Body {
    None,
    /// JSON of this schema.
    Json(String),
    File,
}

pub(super) enum Answer {
    Nothing,
    /// An object of this schema.
    Object(String),
    /// Pages of objects of this schema.
    List(String),
}

pub(super) struct Schema {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) fields: Vec<Field>,
}

pub(super) struct Field {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Null,
    /// A value whose form is not described, or an object without a name.
    Any,
    List(Box<Kind>),
    Map(Box<Kind>),
    /// An object of a schema.
    Named(String),
    /// One of these texts.
    Choice(Vec<String>),
    Union(Vec<Kind>),
}

impl Contract {
    /// Reads the document. Returns an error for forms of operations that the clients have no methods for.
    pub(super) fn read(document: &Value) -> anyhow::Result<Self> {
        let mut operations = Vec::new();
        for (path, item) in object(&document["paths"])? {
            for (method, operation) in object(item)? {
                let group = operation["tags"][0].as_str().unwrap_or_default();
                if !LEFT_OUT.contains(&group) && is_json(operation) {
                    let read = Operation::read(path, method, operation, document);
                    let name = &operation["operationId"];
                    operations.push(read.with_context(|| format!("operation {name}"))?);
                }
            }
        }
        let mut schemas = reachable(&operations, &document["components"]["schemas"])?;
        // The clients say by the method that they call whether the reply is streamed.
        for schema in &mut schemas {
            let is_body = |body: &Body| matches!(body, Body::Json(name) if *name == schema.name);
            if operations.iter().any(|operation| is_body(&operation.body)) {
                schema.fields.retain(|field| field.name != "stream");
            }
        }
        Ok(Self { operations, schemas })
    }
}

impl Operation {
    fn read(path: &str, method: &str, given: &Value, document: &Value) -> anyhow::Result<Self> {
        let mut operation = Self {
            name: text(&given["operationId"]),
            text: format!("{}. {}", text(&given["summary"]), text(&given["description"])),
            method: method.to_uppercase(),
            path: path.to_owned(),
            places: Vec::new(),
            query: Vec::new(),
            body: body(&given["requestBody"]["content"])?,
            is_body_optional: given["requestBody"]["required"] != true,
            is_keyed: false,
            answer: Answer::Nothing,
        };
        let mut is_list = false;
        for parameter in given["parameters"].as_array().into_iter().flatten() {
            let name = text(&parameter["name"]);
            match parameter["in"].as_str() {
                Some("path") => operation.places.push(field(name, parameter)?),
                Some("header") if name == "Idempotency-Key" => operation.is_keyed = true,
                Some("query") if name == "cursor" => is_list = true,
                Some("query") => operation.query.push(field(name, parameter)?),
                place => bail!("the clients cannot send the parameter `{name}` in {place:?}"),
            }
        }
        let answers = object(&given["responses"])?;
        let success = answers.iter().find(|(status, _)| status.starts_with('2'));
        let (_, success) = success.context("no response of success")?;
        if let Some(schema) = success["content"].get("application/json") {
            let name = named(&schema["schema"]).context("an answer without a named schema")?;
            operation.answer = if is_list {
                let items =
                    &document["components"]["schemas"][&name]["properties"]["data"]["items"];
                Answer::List(named(items).context("a list without a named schema")?)
            } else {
                Answer::Object(name)
            };
        }
        Ok(operation)
    }
}

/// Whether the response has no body or can be JSON. Exports, for example, are read by other means.
fn is_json(operation: &Value) -> bool {
    let answers = operation["responses"].as_object().into_iter().flatten();
    let mut contents = answers.filter(|(status, _)| status.starts_with('2'));
    contents.all(|(_, answer)| {
        answer["content"].is_null() || answer["content"].get("application/json").is_some()
    })
}

fn field(name: String, parameter: &Value) -> anyhow::Result<Field> {
    Ok(Field {
        name,
        text: text(&parameter["description"]),
        is_required: parameter["required"] == true,
        kind: kind(&parameter["schema"])?,
    })
}

fn body(content: &Value) -> anyhow::Result<Body> {
    if content.get("multipart/form-data").is_some() {
        return Ok(Body::File);
    }
    match content.get("application/json") {
        Some(json) => Ok(Body::Json(named(&json["schema"]).context("a body without a name")?)),
        None => Ok(Body::None),
    }
}

/// The schemas that operations use, by name.
fn reachable(operations: &[Operation], schemas: &Value) -> anyhow::Result<Vec<Schema>> {
    let mut wanted: BTreeSet<String> = ALSO.into_iter().map(str::to_owned).collect();
    for operation in operations {
        if let Body::Json(name) = &operation.body {
            wanted.insert(name.clone());
        }
        if let Answer::Object(name) | Answer::List(name) = &operation.answer {
            wanted.insert(name.clone());
        }
    }
    let mut found = BTreeMap::new();
    while let Some(name) = wanted.pop_first() {
        let given = schemas.get(&name).with_context(|| format!("no schema `{name}`"))?;
        let fields = fields(given, schemas).with_context(|| format!("schema `{name}`"))?;
        let mut names = BTreeSet::new();
        fields.iter().for_each(|field| collect(&field.kind, &mut names));
        let schema = Schema { name: name.clone(), text: text(&given["description"]), fields };
        found.insert(name, schema);
        wanted.extend(names.into_iter().filter(|name| !found.contains_key(name)));
    }
    Ok(dependencies_first(found.into_values().collect()))
}

/// The schemas, each after those that it uses: type checkers take a later class for a built-in one of its name.
/// Schemas that use each other keep their order.
fn dependencies_first(mut waiting: Vec<Schema>) -> Vec<Schema> {
    let mut ordered: Vec<Schema> = Vec::new();
    while !waiting.is_empty() {
        let is_ready = |schema: &Schema| {
            let mut names = BTreeSet::new();
            schema.fields.iter().for_each(|field| collect(&field.kind, &mut names));
            names.iter().all(|name| ordered.iter().any(|known| known.name == *name))
        };
        let next = waiting.iter().position(is_ready).unwrap_or(0);
        ordered.push(waiting.remove(next));
    }
    ordered
}

fn collect(kind: &Kind, names: &mut BTreeSet<String>) {
    match kind {
        Kind::Named(name) => drop(names.insert(name.clone())),
        Kind::List(item) | Kind::Map(item) => collect(item, names),
        Kind::Union(kinds) => kinds.iter().for_each(|kind| collect(kind, names)),
        Kind::Text
        | Kind::Integer
        | Kind::Number
        | Kind::Boolean
        | Kind::Null
        | Kind::Any
        | Kind::Choice(_) => {}
    }
}

/// The fields of an object. Variants of an object are one: a field that some of them lack is optional.
fn fields(schema: &Value, schemas: &Value) -> anyhow::Result<Vec<Field>> {
    if let Some(name) = named(schema) {
        return fields(&schemas[&name], schemas);
    }
    let (parts, is_choice) = match (&schema["allOf"], &schema["oneOf"]) {
        (Value::Array(parts), _) => (parts, false),
        (_, Value::Array(parts)) => (parts, true),
        _ => return properties(schema),
    };
    let mut all: Vec<Field> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let part = fields(part, schemas)?;
        if is_choice {
            for known in &mut all {
                known.is_required &= part.iter().any(|field| field.name == known.name);
            }
        }
        for mut field in part {
            match all.iter_mut().find(|known| known.name == field.name) {
                Some(known) => {
                    known.is_required &= field.is_required;
                    known.kind = either(known.kind.clone(), field.kind);
                    if known.text != field.text {
                        known.text = format!("{} {}", known.text, field.text).trim().to_owned();
                    }
                }
                None => {
                    field.is_required &= !is_choice || index == 0;
                    all.push(field);
                }
            }
        }
    }
    Ok(all)
}

fn properties(schema: &Value) -> anyhow::Result<Vec<Field>> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let mut fields = Vec::new();
    for (name, property) in object(&schema["properties"])? {
        let kind = kind(property).with_context(|| format!("field `{name}`"))?;
        let mut text = text(&property["description"]);
        if let (true, Some(first)) = (text.is_empty(), property["oneOf"].get(0)) {
            text = self::text(&first["description"]);
        }
        fields.push(Field { name: name.clone(), text, is_required: is_required(name), kind });
    }
    // Required fields first, otherwise in the order of the document.
    fields.sort_by_key(|field| !field.is_required);
    Ok(fields)
}

fn kind(schema: &Value) -> anyhow::Result<Kind> {
    if let Some(name) = named(schema) {
        return Ok(Kind::Named(name));
    }
    if let Some(kinds) = schema["oneOf"].as_array() {
        let kinds = kinds.iter().map(kind).collect::<anyhow::Result<Vec<_>>>()?;
        return kinds.into_iter().reduce(either).context("an empty `oneOf`");
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().map(text).collect(),
        one => vec![text(one)],
    };
    let kinds = types.iter().map(|name| {
        Ok(match name.as_str() {
            "string" => match schema["enum"].as_array() {
                Some(texts) => Kind::Choice(
                    texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                ),
                None => Kind::Text,
            },
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "null" => Kind::Null,
            "array" => Kind::List(Box::new(kind(&schema["items"])?)),
            "object" => {
                let item = &schema["additionalProperties"];
                Kind::Map(Box::new(if item.is_object() { kind(item)? } else { Kind::Any }))
            }
            _ => Kind::Any,
        })
    });
    let kinds = kinds.collect::<anyhow::Result<Vec<_>>>()?;
    kinds.into_iter().reduce(either).context("no type")
}

/// A value of one kind or of the other.
fn either(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        (one, other) if one == other => one,
        (Kind::Choice(mut texts), Kind::Choice(more)) => {
            texts.extend(more);
            Kind::Choice(texts)
        }
        (Kind::Union(mut kinds), other) => {
            kinds.push(other);
            Kind::Union(kinds)
        }
        (one, other) => Kind::Union(vec![one, other]),
    }
}

/// The name of the schema that is referred to.
fn named(schema: &Value) -> Option<String> {
    Some(schema["$ref"].as_str()?.strip_prefix(SCHEMAS)?.to_owned())
}

fn object(value: &Value) -> anyhow::Result<&Map<String, Value>> {
    value.as_object().context("an object was expected")
}

/// A text, without its line ends.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
