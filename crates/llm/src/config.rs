//! Settings of models: which upstream serves which model name.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

/// The name that a target gives as `upstream` for the embedded answerer.
pub const EMBEDDED: &str = "embedded";
/// The upstream that `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` configure.
pub(crate) const OPENAI: &str = "openai";
/// The official API.
const OPENAI_URL: &str = "https://api.openai.com/v1";

/// The section `models` of the configuration.
///
/// Without any of it, every reply comes from the embedded answerer. The comments of the fields are
/// also the text of `docs/configuration.md`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// What serves the models that have no route. Unset: the embedded answerer.
    #[schema(inline)]
    pub default: Option<RouteConfig>,
    /// OpenAI-compatible servers, each under a name of your choice. The variables `OPENAI_API_KEY`,
    /// `OPENAI_BASE_URL` and `OPENAI_MODEL` set up one with the name `openai`, which then is the default.
    #[schema(inline)]
    pub upstreams: BTreeMap<String, UpstreamConfig>,
    /// What serves one model, by the name that agents give as `model`. A name that is not built in becomes a model that
    /// agents may use.
    #[schema(inline)]
    pub routes: BTreeMap<String, RouteConfig>,
}

/// What serves a model: an upstream, and fallbacks, in order, if it fails before the first token.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteConfig {
    /// The name of an upstream, or `embedded` for the embedded answerer.
    pub upstream: String,
    /// The name of the model at the upstream. Unset: the upstream's `model`, or else the agent's.
    #[serde(default)]
    pub model: Option<String>,
    /// What to try next, in this order, if the upstream fails before the first token.
    #[serde(default)]
    #[schema(inline)]
    pub fallbacks: Vec<TargetConfig>,
}

/// A fallback.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// The name of an upstream, or `embedded` for the embedded answerer.
    pub upstream: String,
    /// The name of the model at the upstream. Unset: the upstream's `model`, or else the agent's.
    #[serde(default)]
    pub model: Option<String>,
}

/// One OpenAI-compatible upstream.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub struct UpstreamConfig {
    /// The URL to which `/chat/completions` is added.
    pub base_url: String,
    /// The environment variable that contains the key. If neither this nor `api_key` is set, no key is sent.
    pub api_key_variable: Option<String>,
    /// The key itself. Prefer `api_key_variable`, which keeps it out of the file.
    #[schema(value_type = Option<String>)]
    pub api_key: Option<Secret>,
    /// The name of the model at the upstream, if a route gives none. Unset: the agent's. `OPENAI_MODEL` sets that of the
    /// upstream `openai`.
    pub model: Option<String>,
    /// The request field that limits the length of the reply. Nearly every server accepts `max_tokens`; reasoning
    /// models of the official API require `max_completion_tokens`.
    #[schema(inline)]
    pub max_tokens_field: MaxTokensField,
    /// Whether the agent's temperature is sent. Some models refuse it.
    pub send_temperature: bool,
    /// Whether to ask for token counts in a stream (`stream_options`). Some servers refuse it.
    pub stream_usage: bool,
    /// The tokenizer of the model, whose counts are estimated for `context_tokens`. Unset: that of the
    /// model's name, and `o200k` for an unknown name.
    #[schema(inline)]
    pub tokenizer: Option<TokenizerName>,
    /// Whether the model first rewrites a question that cannot be understood without the messages before it, so that
    /// the search finds its passages. Such a question takes one more short request.
    pub rewrite_questions: bool,
    /// How long a reply waits for the rewritten question. After that, the search uses the question unchanged.
    pub rewrite_seconds: f64,
    /// Tokens that prompt and reply may take together.
    pub context_tokens: u32,
    /// The longest wait for a connection.
    pub connect_seconds: f64,
    /// The longest wait for the first token of a stream.
    pub first_token_seconds: f64,
    /// The longest pause within a stream.
    pub between_tokens_seconds: f64,
    /// The time limit of a reply, including all its attempts.
    pub total_seconds: f64,
    /// Further attempts before the first token.
    pub max_retries: u32,
    /// The number of consecutive failed replies after which the upstream is not used for `breaker_seconds`.
    pub breaker_failures: u32,
    /// How long the upstream is then not used before one reply tries it again.
    pub breaker_seconds: f64,
}

impl Default for UpstreamConfig {
    fn default() -> Self {
        Self {
            base_url: OPENAI_URL.to_owned(),
            api_key_variable: None,
            api_key: None,
            model: None,
            max_tokens_field: MaxTokensField::MaxTokens,
            send_temperature: true,
            stream_usage: false,
            tokenizer: None,
            rewrite_questions: false,
            rewrite_seconds: 3.0,
            context_tokens: 16_000,
            connect_seconds: 5.0,
            first_token_seconds: 60.0,
            between_tokens_seconds: 20.0,
            total_seconds: 300.0,
            max_retries: 2,
            breaker_failures: 10,
            breaker_seconds: 5.0,
        }
    }
}

/// The request field that limits a reply's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, which most upstreams know.
    MaxTokens,
    /// `max_completion_tokens`, which newer OpenAI models require.
    MaxCompletionTokens,
}

/// How the tokens of a prompt are estimated before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenizerName {
    /// Of `gpt-4o` and later.
    O200k,
    /// Of `gpt-4`, `gpt-4-turbo` and `gpt-3.5-turbo`.
    Cl100k,
}

/// A credential. Shown and serialised as stars.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a credential.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The credential itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("********")
    }
}

/// An invalid setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{setting}` {message}")]
pub struct ConfigError {
    /// The setting: `models.upstreams.local.base_url`.
    pub setting: String,
    /// The requirement for the setting, in lower case.
    pub message: String,
}

impl ConfigError {
    pub(crate) fn new(setting: impl Into<String>, message: impl Into<String>) -> Self {
        Self { setting: setting.into(), message: message.into() }
    }
}

impl ModelsConfig {
    /// Adds the upstream of `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL`; an empty value
    /// counts as unset. If the key or the URL is set, the upstream `openai` takes these values (over
    /// those of the file) and serves every model without a route in the file. A base URL alone is an
    /// upstream without a key, and a model alone changes only an upstream `openai` of the file.
    #[must_use]
    pub fn with_openai(
        mut self,
        api_key: Option<&str>,
        base_url: Option<&str>,
        model: Option<&str>,
    ) -> Self {
        let given = |value: Option<&str>| {
            value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
        };
        let (api_key, base_url, model) = (given(api_key), given(base_url), given(model));
        if api_key.is_none() && base_url.is_none() {
            if let Some(upstream) = self.upstreams.get_mut(OPENAI) {
                upstream.model = model.or(upstream.model.take());
            }
            return self;
        }
        let upstream = self.upstreams.entry(OPENAI.to_owned()).or_default();
        if let Some(key) = api_key {
            upstream.api_key = Some(Secret::new(key));
            upstream.api_key_variable = None;
        }
        if let Some(url) = base_url {
            upstream.base_url = url;
        }
        if let Some(model) = model {
            upstream.model = Some(model);
        }
        self.default.get_or_insert_with(|| RouteConfig {
            upstream: OPENAI.to_owned(),
            ..RouteConfig::default()
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelsConfig, RouteConfig, Secret, UpstreamConfig};

    #[test]
    fn without_openai_settings_nothing_is_added() {
        let config = ModelsConfig::default().with_openai(Some("  "), Some(""), None);
        assert_eq!(config, ModelsConfig::default());
    }

    #[test]
    fn a_key_alone_means_the_official_api() {
        let config = ModelsConfig::default().with_openai(Some("sk-1"), None, None);
        let upstream = &config.upstreams["openai"];
        assert_eq!(upstream.base_url, "https://api.openai.com/v1");
        assert_eq!(upstream.api_key, Some(Secret::new("sk-1")));
        assert_eq!(config.default.map(|route| route.upstream).as_deref(), Some("openai"));
    }

    #[test]
    fn a_url_alone_is_an_upstream_without_a_key() {
        let url = Some("http://localhost:11434/v1");
        let config = ModelsConfig::default().with_openai(None, url, None);
        let upstream = &config.upstreams["openai"];
        assert_eq!(upstream.base_url, "http://localhost:11434/v1");
        assert_eq!(upstream.api_key, None);
    }

    #[test]
    fn a_model_is_that_of_the_upstream_and_makes_none() {
        let model = Some(" llama3.1 ");
        let config = ModelsConfig::default().with_openai(None, Some("http://h/v1"), model);
        assert_eq!(config.upstreams["openai"].model.as_deref(), Some("llama3.1"));
        assert_eq!(config.default.and_then(|route| route.model), None);
        let config = ModelsConfig::default().with_openai(None, None, model);
        assert_eq!(config, ModelsConfig::default());

        let section = UpstreamConfig { model: Some("m".to_owned()), ..UpstreamConfig::default() };
        let upstreams = [("openai".to_owned(), section)].into();
        let file = ModelsConfig { upstreams, ..ModelsConfig::default() };
        let config = file.clone().with_openai(None, None, model);
        assert_eq!(config.upstreams["openai"].model.as_deref(), Some("llama3.1"));
        assert_eq!(config.default, None);
        let config = file.with_openai(Some("sk-1"), None, None);
        assert_eq!(config.upstreams["openai"].model.as_deref(), Some("m"));
    }

    #[test]
    fn the_file_keeps_its_default_route_and_the_environment_wins_over_its_values() {
        let file = ModelsConfig {
            default: Some(RouteConfig { upstream: "local".to_owned(), ..RouteConfig::default() }),
            upstreams: [
                ("local".to_owned(), UpstreamConfig::default()),
                (
                    "openai".to_owned(),
                    UpstreamConfig {
                        api_key_variable: Some("OTHER".to_owned()),
                        ..UpstreamConfig::default()
                    },
                ),
            ]
            .into(),
            ..ModelsConfig::default()
        };
        let config = file.with_openai(Some("sk-2"), None, None);
        assert_eq!(config.default.map(|route| route.upstream).as_deref(), Some("local"));
        assert_eq!(config.upstreams["openai"].api_key, Some(Secret::new("sk-2")));
        assert_eq!(config.upstreams["openai"].api_key_variable, None);
    }

    #[test]
    fn a_secret_is_never_shown() {
        let config = ModelsConfig::default().with_openai(Some("sk-secret"), None, None);
        assert!(!format!("{config:?}").contains("sk-secret"));
        assert!(!serde_json::to_string(&config).unwrap().contains("sk-secret"));
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        let text = r#"{"upstreams": {"a": {"base_ur": "http://x"}}}"#;
        let error = serde_json::from_str::<ModelsConfig>(text).unwrap_err();
        assert!(error.to_string().contains("base_ur"), "{error}");
    }
}
