//! `cicerone openapi`.

use crate::configuration::{Environment, load};
use crate::failure::Failure;
use crate::output;

/// Prints the OpenAPI document that this configuration serves.
pub(crate) fn run(environment: &Environment) -> Result<(), Failure> {
    let configuration = load(environment)?;
    let document = cicerone_http::openapi(&configuration.extra_models())
        .to_pretty_json()
        .map_err(|error| Failure::because("cannot write the OpenAPI document", &error))?;
    output::line(&document)
}
