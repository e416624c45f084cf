//! Routing: which upstream, or the embedded answerer, serves a model name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cicerone_domain::agent::{self, AgentProfile};
use cicerone_domain::conversation::Message;
use cicerone_domain::ports::{
    LanguageModel, ModelCatalog, ModelError, ModelFailure, ModelReply, ReplyRequest, Rewritten,
    TokenSink,
};
use cicerone_domain::usage::TokenCount;
use cicerone_domain::{Clock, Entropy};
use tracing::Instrument as _;

use crate::config::{
    ConfigError, EMBEDDED, ModelsConfig, RouteConfig, Secret, TargetConfig, UpstreamConfig,
};
use crate::extractive::Extractive;
use crate::upstream::{Broken, Remedy, Upstream, UpstreamFailure};

/// Every model that agents may name.
pub struct Models {
    default: Route,
    routes: BTreeMap<String, Route>,
}

/// The targets of a model, in the order in which they are tried. Never empty.
type Route = Vec<Target>;

struct Target {
    /// The upstream's name in the settings.
    name: String,
    kind: TargetKind,
}

enum TargetKind {
    Embedded(Extractive),
    Upstream { upstream: Arc<Upstream>, model: Option<String> },
}

impl Models {
    /// The configured models. `secret` returns the value of an environment variable that a setting
    /// names.
    ///
    /// Returns an error for the first invalid setting. Without any upstream in the settings, every
    /// reply comes from the embedded answerer.
    pub fn new(
        config: ModelsConfig,
        secret: impl Fn(&str) -> Option<String>,
        clock: &Arc<dyn Clock>,
        entropy: &Arc<dyn Entropy>,
    ) -> Result<Self, ConfigError> {
        let mut upstreams = BTreeMap::new();
        for (name, section) in config.upstreams {
            let setting = format!("models.upstreams.{name}");
            if name == EMBEDDED {
                let message = "is the name of the embedded answerer";
                return Err(ConfigError::new(setting, message));
            }
            let key = key(&section, &setting, &secret)?;
            let (clock, entropy) = (Arc::clone(clock), Arc::clone(entropy));
            let upstream = Upstream::new(section, key, &setting, clock, entropy)?;
            upstreams.insert(name, Arc::new(upstream));
        }
        let embedded = Extractive::default();
        let default = match config.default {
            Some(section) => route(section, "models.default", &upstreams, &embedded)?,
            None => vec![Target::embedded(&embedded)],
        };
        let mut routes = BTreeMap::new();
        for (model, section) in config.routes {
            let setting = format!("models.routes.{model}");
            if model.trim().is_empty() {
                return Err(ConfigError::new(setting, "must have a name"));
            }
            let targets = route(section, &setting, &upstreams, &embedded)?;
            routes.insert(model, targets);
        }
        Ok(Self { default, routes })
    }

    /// The targets of a model name.
    fn route(&self, model: &str) -> &Route {
        self.routes.get(model).unwrap_or(&self.default)
    }

    /// Whether an upstream serves any model.
    pub fn uses_upstreams(&self) -> bool {
        let is_upstream = |target: &Target| matches!(target.kind, TargetKind::Upstream { .. });
        self.routes.values().chain([&self.default]).flatten().any(is_upstream)
    }
}

impl ModelCatalog for Models {
    fn knows(&self, model: &str) -> bool {
        agent::MODELS.contains(&model) || self.routes.contains_key(model)
    }

    fn names(&self) -> Vec<String> {
        let added = self.routes.keys().filter(|name| !agent::MODELS.contains(&name.as_str()));
        agent::MODELS.into_iter().map(str::to_owned).chain(added.cloned()).collect()
    }

    fn has_upstream(&self) -> bool {
        self.uses_upstreams()
    }
}

#[async_trait]
impl LanguageModel for Models {
    fn is_local(&self, profile: &AgentProfile) -> bool {
        let first = self.route(profile.model.as_str()).first();
        first.is_some_and(|target| matches!(target.kind, TargetKind::Embedded(_)))
    }

    fn rewrites(&self, profile: &AgentProfile) -> bool {
        let first = self.route(profile.model.as_str()).first();
        first.is_some_and(|target| match &target.kind {
            TargetKind::Embedded(_) => false,
            TargetKind::Upstream { upstream, .. } => upstream.rewrites(),
        })
    }

    async fn rewrite(
        &self,
        profile: &AgentProfile,
        history: &[Message],
        question: &str,
    ) -> Option<Rewritten> {
        let agent_model = profile.model.as_str();
        let Target { name, kind } = self.route(agent_model).first()?;
        let TargetKind::Upstream { upstream, model } = kind else { return None };
        let model = upstream.model(model.as_deref(), agent_model);
        let began = Instant::now();
        let outcome = upstream.rewrite(profile, history, question, model).await;
        measure(name, model, outcome.as_ref().ok().map(|one| one.tokens), began.elapsed());
        match outcome {
            Ok(rewritten) => Some(rewritten),
            Err(failure) => {
                let cause = failure.source.as_deref().map(tracing::field::display);
                tracing::warn!(
                    upstream = name,
                    error = failure.message,
                    cause,
                    "a question was not rewritten; the search uses it unchanged"
                );
                None
            }
        }
    }

    async fn reply(
        &self,
        request: ReplyRequest,
        tokens: Option<TokenSink>,
    ) -> Result<ModelReply, ModelError> {
        let request = Arc::new(request);
        let agent_model = request.profile.model.as_str();
        let route = self.route(agent_model);
        let mut failures = Vec::new();
        for target in route {
            let Target { name, kind } = target;
            let outcome = match kind {
                TargetKind::Embedded(extractive) => {
                    return Ok(extractive.answer(&request, tokens.as_ref()));
                }
                TargetKind::Upstream { upstream, model } => {
                    let model = upstream.model(model.as_deref(), agent_model);
                    let span = tracing::info_span!("model", upstream = name, model);
                    let began = Instant::now();
                    let asked = upstream.reply(&request, model, tokens.as_ref());
                    let outcome = asked.instrument(span).await;
                    measure(
                        name,
                        model,
                        outcome.as_ref().ok().map(|reply| reply.tokens),
                        began.elapsed(),
                    );
                    outcome
                }
            };
            match outcome {
                Ok(reply) => return Ok(reply),
                Err(Broken { failure, is_started }) => {
                    let error = &failure.message;
                    let cause = failure.source.as_deref().map(tracing::field::display);
                    tracing::warn!(upstream = name, is_started, error, cause, "a model failed");
                    failures.push((name.as_str(), failure));
                    if is_started {
                        break;
                    }
                }
            }
        }
        Err(model_error(failures))
    }
}

/// Counts a call of an upstream. The names of upstreams and models come from the settings or are
/// built in, so there are few labels.
fn measure(upstream: &str, model: &str, tokens: Option<TokenCount>, duration: Duration) {
    let (upstream, model) = (upstream.to_owned(), model.to_owned());
    let outcome = if tokens.is_some() { "replied" } else { "failed" };
    metrics::counter!(
        "cicerone_model_requests_total",
        "upstream" => upstream.clone(), "model" => model.clone(), "outcome" => outcome
    )
    .increment(1);
    metrics::histogram!(
        "cicerone_model_request_duration_seconds",
        "upstream" => upstream.clone(), "model" => model.clone()
    )
    .record(duration);
    let tokens = tokens.unwrap_or_default();
    for (kind, count) in [("prompt", tokens.prompt), ("completion", tokens.completion)] {
        metrics::counter!(
            "cicerone_model_tokens_total",
            "upstream" => upstream.clone(), "model" => model.clone(), "kind" => kind
        )
        .increment(count);
    }
}

/// Combines all failures of a route into one error.
fn model_error(failures: Vec<(&str, UpstreamFailure)>) -> ModelError {
    let is_permanent = failures.iter().all(|(_, failure)| failure.remedy == Remedy::None);
    let message = failures
        .iter()
        .map(|(name, failure)| format!("upstream `{name}` {}", failure.message))
        .collect::<Vec<_>>()
        .join("; ");
    ModelError {
        failure: if is_permanent { ModelFailure::Permanent } else { ModelFailure::Transient },
        message,
        source: failures.into_iter().rev().find_map(|(_, failure)| failure.source),
    }
}

impl Target {
    fn embedded(answerer: &Extractive) -> Self {
        Self { name: EMBEDDED.to_owned(), kind: TargetKind::Embedded(answerer.clone()) }
    }
}

fn route(
    section: RouteConfig,
    setting: &str,
    upstreams: &BTreeMap<String, Arc<Upstream>>,
    embedded: &Extractive,
) -> Result<Route, ConfigError> {
    let RouteConfig { upstream, model, fallbacks } = section;
    let first = (format!("{setting}.upstream"), TargetConfig { upstream, model });
    let others = fallbacks
        .into_iter()
        .enumerate()
        .map(|(index, target)| (format!("{setting}.fallbacks[{index}].upstream"), target));
    std::iter::once(first)
        .chain(others)
        .map(|(setting, TargetConfig { upstream: name, model })| {
            if name == EMBEDDED {
                return Ok(Target::embedded(embedded));
            }
            let Some(upstream) = upstreams.get(&name).map(Arc::clone) else {
                let message =
                    format!("names `{name}`, but `models.upstreams.{name}` does not exist");
                return Err(ConfigError::new(setting, message));
            };
            Ok(Target { name, kind: TargetKind::Upstream { upstream, model } })
        })
        .collect()
}

/// The key of an upstream, from its section or the variable that the section names.
fn key(
    section: &UpstreamConfig,
    setting: &str,
    secret: impl Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ConfigError> {
    secret_of(section.api_key.as_ref(), section.api_key_variable.as_deref(), setting, secret)
}

/// The key in a section, or in the variable that it names.
pub(crate) fn secret_of(
    key: Option<&Secret>,
    variable: Option<&str>,
    setting: &str,
    secret: impl Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, ConfigError> {
    match (key, variable) {
        (Some(_), Some(_)) => {
            Err(ConfigError::new(format!("{setting}.api_key"), "excludes `api_key_variable`"))
        }
        (Some(key), None) => Ok(Some(key.clone())),
        (None, Some(variable)) => match secret(variable).filter(|key| !key.trim().is_empty()) {
            Some(key) => Ok(Some(Secret::new(key.trim()))),
            None => {
                let message = format!("names `{variable}`, which is not set");
                Err(ConfigError::new(format!("{setting}.api_key_variable"), message))
            }
        },
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cicerone_domain::ports::ModelCatalog as _;
    use cicerone_domain::{Clock, Entropy, SystemClock, SystemEntropy};

    use super::Models;
    use crate::config::{ConfigError, ModelsConfig};

    fn models(json: serde_json::Value) -> Result<Models, ConfigError> {
        let config: ModelsConfig = serde_json::from_value(json).unwrap();
        let secret = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        Models::new(config, secret, &clock, &entropy)
    }

    #[test]
    fn without_settings_the_three_models_exist_and_no_upstream() {
        let models = models(serde_json::json!({})).unwrap();
        assert!(!models.uses_upstreams() && !models.has_upstream());
        for name in ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"] {
            assert!(models.knows(name));
        }
        assert!(!models.knows("gpt-5"));
    }

    #[test]
    fn a_route_makes_a_model_known() {
        let models = models(serde_json::json!({
            "upstreams": {"local": {"base_url": "http://localhost:1/v1", "api_key_variable": "KEY"}},
            "routes": {"llama": {"upstream": "local", "model": "llama3",
                                 "fallbacks": [{"upstream": "embedded"}]}},
        }))
        .unwrap();
        assert!(models.knows("llama") && models.knows("gpt-4o"));
        assert_eq!(models.names(), ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo", "llama"]);
        assert!(models.uses_upstreams() && models.has_upstream());
    }

    #[test]
    fn an_error_names_its_setting() {
        let upstream = |field: &str, value: serde_json::Value| {
            serde_json::json!({"upstreams": {"a": {
                "base_url": "http://localhost:1", field: value}}})
        };
        for (config, setting) in [
            (upstream("base_url", "localhost".into()), "models.upstreams.a.base_url"),
            (upstream("api_key_variable", "NONE".into()), "models.upstreams.a.api_key_variable"),
            (upstream("api_key", "a\nb".into()), "models.upstreams.a.api_key"),
            (upstream("model", " ".into()), "models.upstreams.a.model"),
            (upstream("model", "a\nb".into()), "models.upstreams.a.model"),
            (upstream("model", "ж".repeat(201).into()), "models.upstreams.a.model"),
            (upstream("total_seconds", 0.into()), "models.upstreams.a.total_seconds"),
            (upstream("connect_seconds", (-1).into()), "models.upstreams.a.connect_seconds"),
            (upstream("context_tokens", 10.into()), "models.upstreams.a.context_tokens"),
            (upstream("breaker_failures", 0.into()), "models.upstreams.a.breaker_failures"),
            (upstream("max_retries", 11.into()), "models.upstreams.a.max_retries"),
            (serde_json::json!({"upstreams": {"embedded": {}}}), "models.upstreams.embedded"),
            (serde_json::json!({"default": {"upstream": "b"}}), "models.default.upstream"),
            (
                serde_json::json!({"routes": {"m": {"upstream": "embedded",
                    "fallbacks": [{"upstream": "b"}]}}}),
                "models.routes.m.fallbacks[0].upstream",
            ),
        ] {
            let error = models(config).err().unwrap();
            assert_eq!(error.setting, setting, "{error}");
        }
    }
}
