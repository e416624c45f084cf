//! The settings that the environment gives.

use std::collections::BTreeMap;

use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};

/// Where the values of environment variables come from; a map in tests.
pub(crate) type Environment = BTreeMap<String, String>;

/// The name under which figment reports this provider.
pub(super) const PROVIDER: &str = "environment";

/// How a variable's text becomes a value.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Number,
    /// Separated by commas.
    List,
}

/// Each variable with the key that it sets. Others that begin with `CICERONE_` are left alone:
/// orchestrators make some of their own (`CICERONE_SERVICE_HOST`).
const VARIABLES: [(&str, &str, Form); 10] = [
    ("CICERONE_BIND", "bind", Form::Text),
    ("CICERONE_DATA_DIR", "data_dir", Form::Text),
    ("CICERONE_DATABASE_URL", "database_url", Form::Text),
    ("CICERONE_OBJECT_STORE_URL", "object_store_url", Form::Text),
    ("CICERONE_ROOT_KEY", "root_key", Form::Text),
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

/// The value of a variable; an empty one counts as unset, as compose files pass them on.
pub(super) fn given<'a>(environment: &'a Environment, variable: &str) -> Option<&'a str> {
    environment.get(variable).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// The environment of this process. A variable that is not UTF-8 is left out.
pub(crate) fn process_environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Gives figment the settings of an environment.
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

/// A number that is none stays text, which the setting's type then refuses with its name.
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
