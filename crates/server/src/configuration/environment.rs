//! The settings from the environment.

use std::collections::BTreeMap;

use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};

/// Environment variables: those of the process, or those of a test.
pub(crate) type Environment = BTreeMap<String, String>;

/// The name under which figment reports this provider.
pub(super) const PROVIDER: &str = "environment";

/// How the text of a variable is converted to a value.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Number,
    /// Separated by commas.
    List,
}

/// Each variable with the key that it sets. Other variables that begin with `CICERONE_` are ignored: orchestrators add
/// such variables (`CICERONE_SERVICE_HOST`).
const VARIABLES: [(&str, &str, Form); 11] = [
    ("CICERONE_BIND", "bind", Form::Text),
    ("CICERONE_DATA_DIR", "data_dir", Form::Text),
    ("CICERONE_DATABASE_URL", "database_url", Form::Text),
    ("CICERONE_OBJECT_STORE_URL", "object_store_url", Form::Text),
    ("CICERONE_ROOT_KEY", "root_key", Form::Text),
    ("CICERONE_PUBLIC_URL", "public_url", Form::Text),
    ("CICERONE_EGRESS_ALLOW", "egress_allow", Form::List),
    ("CICERONE_RATE_LIMIT_PER_MINUTE", "rate_limit_per_minute", Form::Number),
    ("CICERONE_ACCOUNT_RATE_LIMIT_PER_MINUTE", "account_rate_limit_per_minute", Form::Number),
    ("CICERONE_LOG_FORMAT", "log_format", Form::Text),
    ("RUST_LOG", "log", Form::Text),
];

/// The variable that sets `key`.
pub(super) fn variable_of(key: &str) -> Option<&'static str> {
    VARIABLES.iter().find(|(_, name, _)| *name == key).map(|(variable, ..)| *variable)
}

/// The value of a variable. An empty one counts as unset, because compose files pass unset variables as
/// empty ones.
pub(super) fn given<'a>(environment: &'a Environment, variable: &str) -> Option<&'a str> {
    environment.get(variable).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// The environment of this process, without variables that are not UTF-8.
pub(crate) fn process_environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Provides the settings of an environment to figment.
pub(super) struct EnvironmentProvider<'a>(pub(super) &'a Environment);

impl Provider for EnvironmentProvider<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(PROVIDER)
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut settings = Dict::new();
        for (variable, key, form) in VARIABLES {
            if let Some(text) = given(self.0, variable) {
                settings.insert(key.to_owned(), value(text, form));
            }
        }
        Ok(Profile::Default.collect(settings))
    }
}

/// A text that is not a number remains a text. The type of the setting rejects it, with an error
/// that names the setting.
fn value(text: &str, form: Form) -> Value {
    match form {
        Form::Text => Value::from(text),
        Form::Number => text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from),
        Form::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::from(items.map(Value::from).collect::<Vec<_>>())
        }
    }
}
