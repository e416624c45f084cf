//! Prints the OpenAPI document of a server without configured models: `cargo xtask openapi` keeps it in
//! `docs/openapi.json`.

use std::io::{Write as _, stdout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let document = cicerone_http::openapi(&[]).to_pretty_json()?;
    writeln!(stdout(), "{document}")?;
    Ok(())
}
