//! The TypeScript client's types and operations.

use std::fmt::Write as _;

use super::contract::{Answer, Body, Contract, Field, Kind, Operation};
use super::text::{names, wrapped};

const HEAD: &str =
    "// Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.\n";

/// `types.ts`.
pub(super) fn types(contract: &Contract) -> String {
    let mut out = HEAD.to_owned();
    for schema in &contract.schemas {
        out.push('\n');
        out += &comment(&schema.text, 0);
        _ = writeln!(out, "export interface {} {{", schema.name);
        for field in &schema.fields {
            out += &comment(&field.text, 2);
            _ = writeln!(out, "  {};", property(field));
        }
        out += "}\n";
    }
    out
}

/// `operations.ts`.
pub(super) fn operations(contract: &Contract) -> String {
    let mut out = format!("{HEAD}\nimport {{ Client, type Options }} from \"./client.js\";\n");
    out += "import type { Listing } from \"./listing.js\";\n";
    out += "import { segment } from \"./requests.js\";\nimport type {\n";
    for name in names(contract) {
        _ = writeln!(out, "  {name},");
    }
    out += "} from \"./types.js\";\n\n";
    out += "/** A client with methods for the operations of the API. */\n";
    out += "export class Cicerone extends Client {";
    for operation in &contract.operations {
        out.push('\n');
        out += &method(operation);
    }
    out += "}\n";
    out
}

fn method(operation: &Operation) -> String {
    let mut path = operation.path.clone();
    let mut arguments = Vec::new();
    for place in &operation.places {
        let name = &place.name;
        arguments.push(format!("{name}: {}", annotation(&place.kind)));
        path = path.replace(&format!("{{{name}}}"), &format!("${{segment({name})}}"));
    }
    let quote = if operation.places.is_empty() { '"' } else { '`' };
    let path = format!("{quote}{path}{quote}");
    let key = if operation.is_keyed { "isKeyed: true" } else { "" };
    let (answer, call) = match (&operation.answer, &operation.body) {
        (Answer::List(name), _) => {
            arguments.push(query(operation, Some("cursor?: string")));
            (format!("Listing<{name}>"), format!("this.list({path}, query, options)"))
        }
        (answer, body) => {
            let content = match body {
                Body::None => "",
                Body::Json(name) => {
                    let default = if operation.is_body_optional { " = {}" } else { "" };
                    arguments.push(format!("body: {name}{default}"));
                    "body"
                }
                Body::File => {
                    arguments.push("file: Blob".to_owned());
                    arguments.push("filename?: string".to_owned());
                    "file: { file, filename }"
                }
            };
            let given_query = if operation.query.is_empty() {
                ""
            } else {
                arguments.push(query(operation, None));
                "query"
            };
            let given = [content, given_query, key].into_iter().filter(|part| !part.is_empty());
            let given = given.collect::<Vec<_>>().join(", ");
            let given = if given.is_empty() { "{}".to_owned() } else { format!("{{ {given} }}") };
            let answer = match answer {
                Answer::Object(name) | Answer::List(name) => name.as_str(),
                Answer::Nothing => "void",
            };
            let call = format!("this.call(\"{}\", {path}, {given}, options)", operation.method);
            (format!("Promise<{answer}>"), call)
        }
    };
    arguments.push("options?: Options".to_owned());
    let mut out = comment(&operation.text, 2);
    let line = format!("  {}({}): {answer} {{", operation.name, arguments.join(", "));
    if line.len() <= 110 {
        _ = writeln!(out, "{line}");
    } else {
        let arguments = arguments.join(",\n    ");
        _ = writeln!(out, "  {}(\n    {arguments},\n  ): {answer} {{", operation.name);
    }
    _ = writeln!(out, "    return {call};\n  }}");
    out
}

/// The argument with the query of an operation, and `more`, a property that is not among its fields.
fn query(operation: &Operation, more: Option<&str>) -> String {
    let fields: Vec<_> =
        operation.query.iter().map(property).chain(more.map(str::to_owned)).collect();
    let default = if operation.query.iter().any(|field| field.is_required) { "" } else { " = {}" };
    format!("query: {{ {} }}{default}", fields.join("; "))
}

fn property(field: &Field) -> String {
    let mark = if field.is_required { "" } else { "?" };
    format!("{}{mark}: {}", field.name, annotation(&field.kind))
}

fn annotation(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Integer | Kind::Number => "number".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Any => "unknown".to_owned(),
        Kind::List(item) => format!("Array<{}>", annotation(item)),
        Kind::Map(item) => format!("Record<string, {}>", annotation(item)),
        Kind::Named(name) => name.clone(),
        Kind::Choice(texts) => {
            texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(" | ")
        }
        Kind::Union(kinds) => kinds.iter().map(annotation).collect::<Vec<_>>().join(" | "),
    }
}

/// A comment with this indentation; nothing for an empty text.
fn comment(text: &str, indent: usize) -> String {
    let text = text.replace("*/", "* /");
    let space = " ".repeat(indent);
    match wrapped(&text, 94 - indent).as_slice() {
        [] => String::new(),
        [line] => format!("{space}/** {line} */\n"),
        lines => {
            let lines = lines.join(&format!("\n{space} * "));
            format!("{space}/**\n{space} * {lines}\n{space} */\n")
        }
    }
}
