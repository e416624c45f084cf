//! The Python client's types and operations.

use std::fmt::Write as _;

use super::contract::{Answer, Body, Contract, Field, Kind, Operation};
use super::text::{names, snake, wrapped};

const HEAD: &str = "Written by `cargo xtask openapi` from docs/openapi.json; not edited by hand.";
/// Names of fields that cannot be names of arguments.
const KEYWORDS: [&str; 1] = ["from"];

/// `types.py`.
pub(super) fn types(contract: &Contract) -> String {
    let mut out = format!("\"\"\"The objects of the API.\n\n{HEAD}\n\"\"\"\n\n");
    out += "from __future__ import annotations\n\nfrom typing import Any, Literal, NotRequired, TypedDict\n";
    for schema in &contract.schemas {
        _ = writeln!(out, "\n\nclass {}(TypedDict):", schema.name);
        out += &docstring(&schema.text, 4);
        if !schema.text.is_empty() {
            out.push('\n');
        }
        for field in &schema.fields {
            let kind = annotation(&field.kind);
            let kind = if field.is_required { kind } else { format!("NotRequired[{kind}]") };
            _ = writeln!(out, "    {}: {kind}", field.name);
            out += &docstring(&field.text, 4);
        }
    }
    out
}

/// `operations.py`.
pub(super) fn operations(contract: &Contract) -> String {
    let mut out = format!("\"\"\"The operations of the API.\n\n{HEAD}\n\"\"\"\n\n");
    out += "from __future__ import annotations\n\n";
    out += "from typing import Literal, Unpack\n\n";
    out += "from .client import AsyncClient, Client\n";
    out += "from .listing import AsyncListing, Listing\n";
    out += "from .requests import FileInput, new_key, segment\nfrom .types import (\n";
    for name in names(contract) {
        _ = writeln!(out, "    {name},");
    }
    out += ")\n";
    for is_async in [false, true] {
        let (prefix, text) = if is_async {
            ("Async", "The same for programs that use asyncio.")
        } else {
            ("", "A client with methods for the operations of the API.")
        };
        _ = write!(out, "\n\nclass {prefix}Cicerone({prefix}Client):\n    \"\"\"{text}\"\"\"\n");
        for operation in &contract.operations {
            out.push('\n');
            out += &method(operation, is_async);
        }
    }
    out
}

fn method(operation: &Operation, is_async: bool) -> String {
    let is_list = matches!(operation.answer, Answer::List(_));
    let (start, wait) = if is_async && !is_list { ("async ", "await ") } else { ("", "") };
    let prefix = if is_async { "Async" } else { "" };
    let answer = match &operation.answer {
        Answer::Nothing => "None".to_owned(),
        Answer::Object(name) => name.clone(),
        Answer::List(name) => format!("{prefix}Listing[{name}]"),
    };
    let mut out = format!("    {start}def {}(\n        self,\n", snake(&operation.name));
    for argument in arguments(operation) {
        _ = writeln!(out, "        {argument},");
    }
    _ = writeln!(out, "    ) -> {answer}:");
    out += &docstring(&operation.text, 8);
    let call = call(operation);
    match operation.answer {
        Answer::Nothing => _ = writeln!(out, "        {wait}{call}"),
        Answer::List(_) => _ = writeln!(out, "        return {call}"),
        Answer::Object(_) => {
            _ = writeln!(out, "        answer: {answer} = {wait}{call}\n        return answer");
        }
    }
    out
}

/// The arguments of a method: those of the path by position, all others by name.
fn arguments(operation: &Operation) -> Vec<String> {
    let mut arguments: Vec<_> = operation.places.iter().map(argument).collect();
    if matches!(operation.body, Body::File) {
        arguments.push("file: FileInput".to_owned());
    }
    let mut named: Vec<_> = operation.query.iter().map(argument).collect();
    if matches!(operation.body, Body::File) {
        named.push("filename: str | None = None".to_owned());
    }
    if operation.is_keyed {
        named.push("idempotency_key: str | None = None".to_owned());
    }
    if !named.is_empty() {
        arguments.push("*".to_owned());
        arguments.append(&mut named);
    }
    if let Body::Json(name) = &operation.body {
        arguments.push(format!("**body: Unpack[{name}]"));
    }
    arguments
}

fn argument(field: &Field) -> String {
    let kind = annotation(&field.kind);
    let name = variable(&field.name);
    if field.is_required {
        format!("{name}: {kind}")
    } else {
        format!("{name}: {kind} | None = None")
    }
}

fn call(operation: &Operation) -> String {
    let mut path = operation.path.clone();
    for place in &operation.places {
        let name = &place.name;
        path = path.replace(&format!("{{{name}}}"), &format!("{{segment({name})}}"));
    }
    let path = format!("{}\"{path}\"", if operation.places.is_empty() { "" } else { "f" });
    let query: Vec<_> = operation
        .query
        .iter()
        .map(|field| format!("\"{}\": {}", field.name, variable(&field.name)))
        .collect();
    let query = format!("{{{}}}", query.join(", "));
    if matches!(operation.answer, Answer::List(_)) {
        return format!("self._list({path}, {query})");
    }
    let query = match operation.query.is_empty() {
        true => String::new(),
        false => format!(", query={query}"),
    };
    let key = if operation.is_keyed { ", key=idempotency_key or new_key()" } else { "" };
    let method = &operation.method;
    match &operation.body {
        Body::File => format!("self._upload({path}, file, filename{query}{key})"),
        Body::Json(_) => format!("self._call(\"{method}\", {path}, body=body{query}{key})"),
        Body::None => format!("self._call(\"{method}\", {path}{query}{key})"),
    }
}

fn variable(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn annotation(kind: &Kind) -> String {
    match kind {
        Kind::Text => "str".to_owned(),
        Kind::Integer => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::Null => "None".to_owned(),
        Kind::Any => "Any".to_owned(),
        Kind::List(item) => format!("list[{}]", annotation(item)),
        Kind::Map(item) => format!("dict[str, {}]", annotation(item)),
        Kind::Named(name) => name.clone(),
        Kind::Choice(texts) => {
            let texts: Vec<_> = texts.iter().map(|text| format!("{text:?}")).collect();
            format!("Literal[{}]", texts.join(", "))
        }
        Kind::Union(kinds) => kinds.iter().map(annotation).collect::<Vec<_>>().join(" | "),
    }
}

/// A docstring with this indentation; nothing for an empty text.
fn docstring(text: &str, indent: usize) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "'");
    let space = " ".repeat(indent);
    match wrapped(&text, 94 - indent).as_slice() {
        [] => String::new(),
        [line] => format!("{space}\"\"\"{line}\"\"\"\n"),
        lines => {
            let lines = lines.join(&format!("\n{space}"));
            format!("{space}\"\"\"{lines}\n{space}\"\"\"\n")
        }
    }
}
