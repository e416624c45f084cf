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
    #[test]
    fn the_clients_are_those_of_the_contract() {
        super::run(true).unwrap();
    }
}
