//! The section `embeddings` of the settings.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::config::{ConfigError, Secret};

/// The name of the section.
pub(super) const SECTION: &str = "embeddings";
/// The longest accepted time limit.
const LONGEST_SECONDS: f64 = 600.0;
/// The most texts in one request. The official API accepts 2,048.
const MOST_TEXTS: usize = 2_048;
/// The shortest text that may be sent.
const FEWEST_CHARS: usize = 100;

/// The section `embeddings` of the configuration. The comments of the fields are also the text of
/// `docs/configuration.md`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub struct EmbeddingsConfig {
    /// The URL of an OpenAI-compatible server, to which `/embeddings` is added, such as
    /// `http://localhost:11434/v1`. Unset: search is by words only.
    pub base_url: Option<String>,
    /// The name of the model at the server. If the name, the model's vectors, a prefix or `text_chars` change, all
    /// vectors are created again in the background. Servers that share a database must use the same model.
    pub model: Option<String>,
    /// The environment variable that contains the key. If neither this nor `api_key` is set, no key is sent.
    pub api_key_variable: Option<String>,
    /// The key itself. Prefer `api_key_variable`, which keeps it out of the file.
    #[schema(value_type = Option<String>)]
    pub api_key: Option<Secret>,
    /// A prefix for questions, for models that require one: `query: `.
    pub question_prefix: String,
    /// A prefix for passages, for models that require one: `passage: `.
    pub passage_prefix: String,
    /// The number of dimensions to request, for models that can shorten their vectors. Unset: the model's own.
    pub dimensions: Option<u32>,
    /// Passages sent in one request.
    pub batch: usize,
    /// The number of characters of a passage that are sent. The rest is found by its words only.
    pub text_chars: usize,
    /// The weight of meaning relative to words, from 0 to 1.
    pub weight: f64,
    /// The cosine from which a passage answers a question for agents with the floor `balanced`, whatever its words,
    /// from 0 to 1. Unset: words and meaning decide together.
    pub floor: Option<f32>,
    /// The longest wait for a connection.
    pub connect_seconds: f64,
    /// The time limit for the vector of a question. A question waits at most a quarter of it for its turn. After that,
    /// the search uses words only.
    pub question_seconds: f64,
    /// The longest wait for the vectors of a batch of passages.
    pub batch_seconds: f64,
    /// How long the vector of a question is kept in memory.
    pub cache_seconds: u64,
}

impl Default for EmbeddingsConfig {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key_variable: None,
            api_key: None,
            question_prefix: String::new(),
            passage_prefix: String::new(),
            dimensions: None,
            batch: 64,
            text_chars: 4_000,
            weight: 0.3,
            floor: None,
            connect_seconds: 5.0,
            question_seconds: 1.0,
            batch_seconds: 60.0,
            cache_seconds: 600,
        }
    }
}

impl EmbeddingsConfig {
    /// Checks the numbers.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let refused = |name: &str, message: String| {
            Err(ConfigError::new(format!("{SECTION}.{name}"), message))
        };
        for (name, value) in [
            ("connect_seconds", self.connect_seconds),
            ("question_seconds", self.question_seconds),
            ("batch_seconds", self.batch_seconds),
        ] {
            if !(value > 0.0 && value <= LONGEST_SECONDS) {
                return refused(name, format!("must be more than 0 and at most {LONGEST_SECONDS}"));
            }
        }
        if !(1..=MOST_TEXTS).contains(&self.batch) {
            return refused("batch", format!("must be between 1 and {MOST_TEXTS}"));
        }
        if self.text_chars < FEWEST_CHARS {
            return refused("text_chars", format!("must be at least {FEWEST_CHARS}"));
        }
        if !(0.0..=1.0).contains(&self.weight) {
            return refused("weight", "must be between 0 and 1".to_owned());
        }
        if self.floor.is_some_and(|floor| !(0.0..=1.0).contains(&floor)) {
            return refused("floor", "must be between 0 and 1".to_owned());
        }
        if self.dimensions == Some(0) {
            return refused("dimensions", "must be at least 1".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cicerone_domain::SystemClock;

    use super::EmbeddingsConfig;
    use crate::Embeddings;

    fn made(json: serde_json::Value) -> Result<bool, String> {
        let config: EmbeddingsConfig = serde_json::from_value(json).unwrap();
        let made = Embeddings::new(&config, |_| None, Arc::new(SystemClock));
        made.map(|made| made.is_some()).map_err(|error| error.setting)
    }

    #[test]
    fn there_is_no_upstream_without_its_url() {
        assert_eq!(made(serde_json::json!({})), Ok(false));
        let both = serde_json::json!({"base_url": "http://localhost:1/v1", "model": "m"});
        assert_eq!(made(both), Ok(true));
    }

    #[test]
    fn an_error_names_its_setting() {
        for (name, value) in [
            ("base_url", serde_json::json!("localhost")),
            ("model", serde_json::json!(" ")),
            ("api_key_variable", serde_json::json!("NONE")),
            ("batch", serde_json::json!(0)),
            ("batch", serde_json::json!(2_049)),
            ("text_chars", serde_json::json!(99)),
            ("weight", serde_json::json!(1.5)),
            ("floor", serde_json::json!(-0.1)),
            ("dimensions", serde_json::json!(0)),
            ("question_seconds", serde_json::json!(0)),
            ("batch_seconds", serde_json::json!(601)),
        ] {
            let mut config = serde_json::json!({"base_url": "http://localhost:1", "model": "m"});
            config[name] = value;
            assert_eq!(made(config), Err(format!("embeddings.{name}")));
        }
    }
}
