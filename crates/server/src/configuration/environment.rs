//! The settings from the environment.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// Environment variables: those of the process, or those of a test.
pub(crate) type Environment = BTreeMap<String, String>;

/// How the text of a variable is converted to a value.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Number,
    /// Separated by commas.
    List,
}

/// Each variable with the key that it sets. Others do not stop a start: orchestrators add variables that begin with
/// `CICERONE_`.
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

/// The prefix of the variables of this program.
const PREFIX: &str = "CICERONE_";
/// Variables with this prefix that set nothing: the file, and the key that the client's commands use.
const OTHERS: [&str; 2] = ["CICERONE_CONFIG", "CICERONE_API_KEY"];

/// Variables that look like settings but set nothing: most are typing mistakes. Those that Kubernetes adds for services
/// (`CICERONE_SERVICE_HOST`, `CICERONE_PORT_8080_TCP_ADDR`) are not among them.
pub(crate) fn unknown(environment: &Environment) -> impl Iterator<Item = &str> {
    let is_of_service = |name: &str| {
        name.contains("_SERVICE_") || name.contains("_PORT_") || name.ends_with("_PORT")
    };
    let is_known = |name: &str| {
        VARIABLES.iter().any(|(variable, ..)| *variable == name) || OTHERS.contains(&name)
    };
    let names = environment.keys().map(String::as_str).filter(|name| name.starts_with(PREFIX));
    names.filter(move |name| !is_known(name) && !is_of_service(name))
}

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

/// The settings that the environment gives.
pub(super) fn settings(environment: &Environment) -> Table {
    let given = |(variable, key, form): (&str, &str, Form)| {
        given(environment, variable).map(|text| (key.to_owned(), value(text, form)))
    };
    VARIABLES.into_iter().filter_map(given).collect()
}

/// A text that is not a number remains a text. The type of the setting rejects it, with an error
/// that names the setting.
fn value(text: &str, form: Form) -> Value {
    match form {
        Form::Text => Value::from(text),
        Form::Number => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        Form::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(Value::from).collect())
        }
    }
}
