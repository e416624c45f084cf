//! Writes the types and operations of the clients in `clients/` from the contract.

#![expect(clippy::print_stdout, reason = "it reports to a terminal")]
#![expect(clippy::indexing_slicing, reason = "a field that the contract lacks reads as null")]

mod contract;
mod python;
mod text;
mod typescript;

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

/// Writes the generated files of the clients of the project in `root`. With `check`, writes nothing.
///
/// # Errors
///
/// A file that cannot be read or written, a contract with something that the clients cannot express, and with `check`
/// a file that differs from what `docs/openapi.json` gives.
pub fn run(root: &Path, check: bool) -> anyhow::Result<()> {
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
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        super::run(here.ancestors().nth(2).unwrap(), true).unwrap();
    }
}
