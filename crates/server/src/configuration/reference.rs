//! The reference of all settings in Markdown, made from their declarations.
//!
//! The OpenAPI schemas of the settings contain what a reference needs: the comment, type and
//! default of every field. They are read as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use utoipa::PartialSchema as _;

use super::Settings;
use super::environment::variable_of;

const HEAD: &str = include_str!("reference/head.md");
const FOOT: &str = include_str!("reference/foot.md");

/// The page `docs/configuration.md`.
pub(crate) fn reference() -> Result<String, serde_json::Error> {
    let settings = serde_json::to_value(Settings::schema())?;
    let mut page = String::from(HEAD);
    section(&mut page, "", &settings);
    page.push_str(FOOT);
    Ok(page)
}

/// The settings of `schema` itself as a table, followed by its sections.
fn section(page: &mut String, path: &str, schema: &Value) {
    let (schema, none) = (itself(schema), Map::new());
    let fields = schema["properties"].as_object().unwrap_or(&none);
    let full =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let (mut rows, mut sections) = (String::new(), Vec::new());
    for (name, field) in fields {
        match nested(field) {
            Some((suffix, inner)) => {
                sections.push((format!("{}{suffix}", full(name)), description(field), inner));
            }
            None => {
                let is_required = is(&schema["required"], name);
                row(&mut rows, &full(name), name, field, is_required);
            }
        }
    }
    if !rows.is_empty() {
        let _infallible =
            write!(page, "\n| Setting | Type | Default | Meaning |\n|---|---|---|---|\n{rows}");
    }
    for (path, about, inner) in sections {
        // A list of tables has double brackets in TOML.
        let title = match path.strip_suffix("[]") {
            Some(path) => format!("[[{path}]]"),
            None => format!("[{path}]"),
        };
        let _infallible = write!(page, "\n## `{title}`\n\n{about}\n");
        section(page, &path, inner);
    }
}

/// The schema of a section, and the suffix of its name in a path; `None` for a single setting.
fn nested(field: &Value) -> Option<(&'static str, &Value)> {
    let schema = itself(field);
    [("", schema), (".NAME", &schema["additionalProperties"]), ("[]", &schema["items"])]
        .map(|(suffix, schema)| (suffix, itself(schema)))
        .into_iter()
        .find(|(_, schema)| schema["properties"].is_object())
}

/// The schema of the value itself, without a wrapper that makes it optional or adds a default.
fn itself(schema: &Value) -> &Value {
    let mut parts = ["allOf", "oneOf"].iter().filter_map(|name| schema[name].as_array()).flatten();
    parts.find(|part| part["type"] != "null").map_or(schema, itself)
}

fn row(rows: &mut String, path: &str, name: &str, field: &Value, is_required: bool) {
    let setting = match variable_of(path) {
        Some(variable) => format!("`{name}`<br>`{variable}`"),
        None => format!("`{name}`"),
    };
    let default = if is_required { "required".to_owned() } else { default(name, field) };
    let (kind, description) = (kind(name, field), description(field));
    let _infallible = writeln!(rows, "| {setting} | {kind} | {default} | {description} |");
}

/// A comment on one line.
fn description(field: &Value) -> String {
    let text = said(field, "description").as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A property of a field: next to its schema, or in the last of its parts.
fn said<'a>(field: &'a Value, key: &str) -> &'a Value {
    let last = field["allOf"].as_array().and_then(|parts| parts.last());
    &last.unwrap_or(field)[key]
}

/// The type of a setting: its unit, if its name contains one.
fn kind(name: &str, field: &Value) -> String {
    let schema = itself(field);
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> = values.iter().filter_map(Value::as_str).collect();
        return format!("`{}`", values.join("` or `"));
    }
    if schema["type"] == "array" {
        return format!("list of {}", kind(name, &schema["items"]));
    }
    match &schema["type"] {
        kinds if is(kinds, "boolean") => "`true` or `false`",
        kinds if is(kinds, "integer") || is(kinds, "number") => unit(name).unwrap_or("number"),
        _ => "text",
    }
    .to_owned()
}

/// Whether `words`, one word or a list of them, contains `word`.
fn is(words: &Value, word: &str) -> bool {
    words == word || words.as_array().is_some_and(|words| words.iter().any(|one| one == word))
}

/// The last word of a name, if it is a unit.
fn unit(name: &str) -> Option<&str> {
    let last = name.rsplit('_').next()?;
    ["seconds", "bytes", "days", "tokens"].contains(&last).then_some(last)
}

fn default(name: &str, field: &Value) -> String {
    match said(field, "default") {
        Value::Null => "–".to_owned(),
        Value::Array(items) if items.is_empty() => "`[]`".to_owned(),
        // A sentence, in place of a value that depends on the machine.
        Value::String(text) if text.contains(' ') => text.clone(),
        Value::Number(number) if unit(name) == Some("bytes") => bytes(number.as_u64()),
        value => format!("`{value}`"),
    }
}

/// A number of bytes, with its size in MiB if it is a whole number of them.
fn bytes(number: Option<u64>) -> String {
    const MIB: u64 = 1_024 * 1_024;
    let number = number.unwrap_or_default();
    match number.checked_rem(MIB) {
        Some(0) if number > 0 => format!("`{number}` ({} MiB)", number / MIB),
        _ => format!("`{number}`"),
    }
}
