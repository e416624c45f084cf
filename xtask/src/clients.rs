//! The types and operations of the clients in `clients/`, written from the contract.

mod contract;
mod python;
mod text;
mod typescript;

use std::fs;

use anyhow::{Context as _, bail};

use crate::process;
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

/// Writes the generated files of the clients. With `check`, returns an error if one of them differs from
/// what `docs/openapi.json` gives.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let document = fs::read(process::root().join("docs/openapi.json"))?;
    let contract = Contract::read(&serde_json::from_slice(&document)?)?;
    for (name, write) in FILES {
        let path = process::root().join(name);
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
