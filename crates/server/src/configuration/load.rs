//! Reading the configuration, with errors that name the setting and where it was set.

use std::path::{Path, PathBuf};

use cicerone_llm::ConfigError;
use toml::{Table, Value};

use super::environment::{self, Environment, given};
use super::{Configuration, Settings};

/// The variable that names the file.
const FILE_VARIABLE: &str = "CICERONE_CONFIG";
/// The variable that names the model at the upstream `openai`.
const MODEL_VARIABLE: &str = "OPENAI_MODEL";

/// A setting that prevents the start: one line that names it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub(crate) struct ConfigurationError(String);

/// Reads the configuration. The environment overrides the file that `CICERONE_CONFIG` names, and
/// the file overrides the defaults.
pub(crate) fn load(environment: &Environment) -> Result<Configuration, ConfigurationError> {
    let path = given(environment, FILE_VARIABLE).map(PathBuf::from);
    let mut given_settings = path.as_deref().map(read).transpose()?.unwrap_or_default();
    // No variable sets a part of a table.
    given_settings.extend(environment::settings(environment));
    let place = SettingSources { environment, file: path.as_deref() };

    let settings: Settings = serde_path_to_error::deserialize(Value::Table(given_settings))
        .map_err(|error| place.explain(&error))?;
    let settings = Settings {
        models: settings.models.with_openai(
            given(environment, "OPENAI_API_KEY"),
            given(environment, "OPENAI_BASE_URL"),
            given(environment, MODEL_VARIABLE),
        ),
        ..settings
    };
    Configuration::parse(settings, path.clone())
        .map_err(|(key, message)| place.error(key, &message))
}

/// Why `OPENAI_MODEL` has no effect, if it is set and has none.
pub(crate) fn ignored_model(
    environment: &Environment,
    configuration: &Configuration,
) -> Option<&'static str> {
    given(environment, MODEL_VARIABLE)?;
    let is_used = configuration.settings.models.upstreams.contains_key("openai");
    (!is_used).then_some(
        "`OPENAI_MODEL` is ignored, because neither `OPENAI_API_KEY` nor `OPENAI_BASE_URL` is set",
    )
}

/// The error for a setting of the models that is not valid.
pub(super) fn model_error(
    environment: &Environment,
    file: Option<&Path>,
    error: &ConfigError,
) -> ConfigurationError {
    // Users know these settings by the OpenAI variables, not by a section of the file.
    let variable = match error.setting.as_str() {
        "models.upstreams.openai.base_url" => Some("OPENAI_BASE_URL"),
        "models.upstreams.openai.api_key" => Some("OPENAI_API_KEY"),
        "models.upstreams.openai.model" => Some(MODEL_VARIABLE),
        _ => None,
    };
    match variable.filter(|variable| given(environment, variable).is_some()) {
        Some(variable) => {
            ConfigurationError(format!("`{variable}` {} (from the environment)", error.message))
        }
        None => SettingSources { environment, file }.error(&error.setting, &error.message),
    }
}

fn read(path: &Path) -> Result<Table, ConfigurationError> {
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let names = format!("`{FILE_VARIABLE}` names the file `{file}`");
        ConfigurationError(format!("{names}, which cannot be read: {error}"))
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        let message = one_line(&error.to_string());
        ConfigurationError(format!("the file `{file}` is not TOML: {message}"))
    })
}

/// The places where settings can be given.
struct SettingSources<'a> {
    environment: &'a Environment,
    file: Option<&'a Path>,
}

impl SettingSources<'_> {
    /// The error for a bad value of `key`. It names the variable if the value came from the
    /// environment.
    fn error(&self, key: &str, message: &str) -> ConfigurationError {
        let variable = environment::variable_of(key)
            .filter(|variable| given(self.environment, variable).is_some());
        ConfigurationError(match (variable, self.file) {
            (Some(variable), _) => format!("`{variable}` {message} (from the environment)"),
            (None, Some(file)) => format!("`{key}` {message} (in the file `{}`)", file.display()),
            (None, None) => format!("`{key}` {message}"),
        })
    }

    /// The error for settings that are not of their types.
    fn explain(&self, error: &serde_path_to_error::Error<toml::de::Error>) -> ConfigurationError {
        let (path, message) = (error.path().to_string(), error.inner().message());
        match unknown_setting(message) {
            Some((name, known)) => {
                let parent = path.strip_suffix(name).unwrap_or(&path).trim_end_matches('.');
                let key = [parent, name].into_iter().filter(|part| !matches!(*part, "" | "."));
                let key = key.collect::<Vec<_>>().join(".");
                self.error(&key, &format!("is not a setting; the settings here are {known}"))
            }
            None => self.error(&path, &format!("has a bad value: {}", one_line(message))),
        }
    }
}

/// The name of an unknown setting, and those that are known, of serde's message: ``unknown field `a`, expected one of
/// `b`, `c` ``.
pub(super) fn unknown_setting(message: &str) -> Option<(&str, String)> {
    let (name, known) = message.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let known = known.trim_start_matches("one of ").replace("` or `", ", ").replace('`', "");
    Some((name, known))
}

/// The first and last line of a message; the lines between them quote the file.
fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [first, .., last] => format!("{first}: {last}"),
        [only] => (*only).to_owned(),
        [] => String::new(),
    }
}
