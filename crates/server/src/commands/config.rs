//! `cicerone config`.

use crate::cli::ConfigCommand;
use crate::configuration::{Environment, ignored_model, load, reference, unknown_variables};
use crate::failure::Failure;
use crate::telemetry::Traces;
use crate::{output, wiring};

/// Checks the settings and prints those in effect, or prints the reference of all settings.
pub(crate) fn run(environment: &Environment, command: ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check => {
            let configuration = load(environment)?;
            wiring::install_tls()?;
            configuration.models(environment)?;
            configuration.embeddings(environment)?;
            Traces::check(environment)?;
            for name in unknown_variables(environment) {
                output::note(&format!("warning: `{name}` is not a setting, and is ignored"))?;
            }
            if let Some(reason) = ignored_model(environment, &configuration) {
                output::note(&format!("warning: {reason}"))?;
            }
            let settings = toml::to_string(&configuration.shown())
                .map_err(|error| Failure::because("cannot write the settings", &error))?;
            output::print(&settings)
        }
        ConfigCommand::Reference => {
            let page = reference()
                .map_err(|error| Failure::because("cannot write the reference", &error))?;
            output::print(&page)
        }
    }
}
