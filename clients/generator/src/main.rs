//! Writes the types and operations of the clients in `clients/` from `docs/openapi.json`, for `cargo xtask openapi`. With
//! `--check`, nothing is written, and a file that differs from the contract is an error.

#![expect(clippy::print_stdout, reason = "it reports to a terminal")]
#![expect(clippy::indexing_slicing, reason = "a field that the contract lacks reads as null")]

mod contract;
mod python;
mod text;
mod typescript;

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use contract::Contract;

/// Writes a file from the contract.
type Writer = fn(&Contract) -> String;

/// The generated files, from the project's root.
const FILES: [(&str, Writer); 4] = [
    ("clients/python/src/cicerone/types.py", python::types),
    ("clients/python/src/cicerone/operations.py", python::operations),
    ("clients/typescript/src/types.ts", typescript::types),
    ("clients/typescript/src/operations.ts", typescript::operations),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(false),
        ["--check"] => run(true),
        _ => bail!("unknown arguments `{}`: only `--check` is accepted", arguments.join(" ")),
    }
}

fn run(check: bool) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = fs::read(root.join("docs/openapi.json"))?;
    let contract = Contract::read(&serde_json::from_slice(&document)?)?;
    for (name, write) in FILES {
        let path = root.join(name);
        let text = write(&contract);
        if !check {
            fs::write(&path, text).with_context(|| format!("writing `{name}`"))?;
            println!("wrote {name}");
        } else if fs::read_to_string(&path).with_context(|| format!("reading `{name}`"))? != text {
            bail!(
                "`{name}` differs from the contract: run `cargo xtask openapi` and review the difference"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::contract::Contract;
    use super::{python, typescript};

    /// A contract with every form of operation, each with a parameter in the path and two in the query.
    fn contract() -> Contract {
        let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" } });
        let operation = |name: &str,
                         answer: &str,
                         more: &[serde_json::Value],
                         body: serde_json::Value| {
            let mut parameters = vec![
                parameter("thing_id", "path"),
                parameter("from", "query"),
                parameter("limit", "query"),
            ];
            parameters.extend_from_slice(more);
            let schema = json!({ "$ref": format!("#/components/schemas/{answer}") });
            json!({
                "operationId": name, "tags": ["Things"], "parameters": parameters, "requestBody": body,
                "responses": { "200": { "content": { "application/json": { "schema": schema } } } },
            })
        };
        let json_body = |required: bool| json!({ "required": required, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Thing" } } } });
        let file = json!({ "required": true, "content": { "multipart/form-data": {} } });
        let key = parameter("Idempotency-Key", "header");
        let thing = json!({ "properties": { "name": { "type": "string" } } });
        let list = json!({ "properties": { "data": { "type": "array", "items": { "$ref": "#/components/schemas/Thing" } } } });
        let mut schemas = json!({ "Thing": thing, "ThingList": list });
        for name in super::contract::ALSO {
            schemas[name] = thing.clone();
        }
        let document = json!({
            "paths": { "/v1/things/{thing_id}": {
                "get": operation("getThing", "Thing", &[], json!(null)),
                "head": operation("listThings", "ThingList", &[parameter("cursor", "query")], json!(null)),
                "post": operation("sendThing", "Thing", std::slice::from_ref(&key), json_body(true)),
                "patch": operation("replaceThing", "Thing", std::slice::from_ref(&key), json_body(false)),
                "put": operation("uploadThing", "Thing", &[key], file),
            } },
            "components": { "schemas": schemas },
        });
        Contract::read(&document).unwrap()
    }

    #[test]
    fn every_argument_is_sent() {
        let contract = contract();
        assert_eq!(contract.operations.len(), 5);
        let python = python::operations(&contract);
        let methods: Vec<&str> = python.split("def ").skip(1).collect();
        assert_eq!(methods.len(), 10);
        for method in methods {
            let (head, body) = method.split_once(") ->").unwrap();
            for argument in [
                "thing_id",
                "from_",
                "limit",
                "cursor",
                "file",
                "filename",
                "idempotency_key",
                "body",
            ] {
                let is_argument = head.contains(&format!(" {argument}:"))
                    || head.contains(&format!("*{argument}:"));
                let is_sent = body
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == argument);
                assert_eq!(is_argument, is_sent, "{argument}: {method}");
            }
            assert!(
                ["thing_id", "from_", "limit"]
                    .iter()
                    .all(|name| head.contains(&format!(" {name}: "))),
                "{method}"
            );
        }
        let typescript = typescript::operations(&contract);
        for name in ["getThing", "listThings", "sendThing", "uploadThing", "replaceThing"] {
            let (_, method) = typescript.split_once(&format!("  {name}(")).unwrap();
            let (head, body) = method.split_once("return ").unwrap();
            let (body, _) = body.split_once("}\n").unwrap();
            assert!(head.contains("from?: string; limit?: string"), "{method}");
            assert_eq!(head.contains("body: Thing = {}"), name == "replaceThing", "{head}");
            for argument in ["thing_id", "query", "body", "file", "filename", "options"] {
                let is_argument = head.contains(&format!("{argument}: "))
                    || head.contains(&format!("{argument}?: "));
                let is_sent = body
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == argument);
                assert_eq!(is_argument, is_sent, "{argument}: {head}{body}");
            }
        }
    }

    #[test]
    fn the_clients_are_those_of_the_contract() {
        super::run(true).unwrap();
    }
}
