//! Vectors of texts from an OpenAI-compatible upstream: `POST /v1/embeddings`.

mod config;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{EmbedError, EmbedFailure, Embedder, Purpose};
use cicerone_domain::{Clock, limits};
use reqwest::StatusCode;
use tokio::time::{Instant, timeout_at};
use url::Url;

pub use self::config::EmbeddingsConfig;
use self::wire::{EmbeddingsRequest, vectors};
use crate::client::{ClientSettings, UpstreamClient};
use crate::config::{ConfigError, Secret};
use crate::models::secret_of;
use crate::upstream::{Remedy, UpstreamFailure, asked, bytes_of, endpoint, error_of};

/// The most bytes of JSON that a number of a vector takes.
const NUMBER_BYTES: usize = 26;
/// The largest answer that is read, in addition to its vectors.
const FRAME_BYTES: usize = 64 * 1_024;

/// An upstream that creates vectors.
pub struct Embeddings {
    config: EmbeddingsConfig,
    model: String,
    url: Url,
    key: Option<Secret>,
    client: UpstreamClient,
    clock: Arc<dyn Clock>,
}

impl Embeddings {
    /// The configured upstream; `None` if there is none. `secret` returns the value of an
    /// environment variable that a setting names.
    ///
    /// # Errors
    ///
    /// The first invalid setting.
    pub fn new(
        config: &EmbeddingsConfig,
        secret: impl Fn(&str) -> Option<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, ConfigError> {
        config.check()?;
        let Some(base_url) = &config.base_url else { return Ok(None) };
        let error = |name: &str, message: String| {
            ConfigError::new(format!("{}.{name}", config::SECTION), message)
        };
        let url = endpoint(base_url, &["embeddings"]).map_err(|m| error("base_url", m))?;
        let Some(model) = config.model.clone().filter(|model| !model.trim().is_empty()) else {
            return Err(error("model", "must name a model, as `base_url` is set".to_owned()));
        };
        let variable = config.api_key_variable.as_deref();
        let key = secret_of(config.api_key.as_ref(), variable, config::SECTION, &secret)?;
        let settings = ClientSettings {
            connect: Duration::from_secs_f64(config.connect_seconds),
            key: key.as_ref(),
            setting: config::SECTION,
        };
        let client = UpstreamClient::new(&settings, &url)?;
        Ok(Some(Self { config: config.clone(), model, url, key, client, clock }))
    }

    async fn ask(
        &self,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vector>, (EmbedFailure, UpstreamFailure)> {
        let (prefix, time) = match purpose {
            Purpose::Question => (&self.config.question_prefix, self.config.question_seconds),
            Purpose::Example => (&self.config.question_prefix, self.config.batch_seconds),
            Purpose::Passage => (&self.config.passage_prefix, self.config.batch_seconds),
        };
        // A server that answers nonsense, or breaks off, may do so because of these texts.
        let unclear = |failure: UpstreamFailure| (EmbedFailure::Unclear, failure);
        let input = texts.iter().map(|text| format!("{prefix}{}", self.cut(text))).collect();
        let body =
            EmbeddingsRequest { model: &self.model, input, dimensions: self.config.dimensions };
        let deadline = Instant::now() + Duration::from_secs_f64(time);
        let late = || {
            let message = format!("did not answer within {time} s");
            unclear(UpstreamFailure::new(Remedy::Retry(None), message))
        };
        let sent = self.client.send(|client| client.post(self.url.clone()).json(&body));
        let response = timeout_at(deadline, sent).await.map_err(|_| late())?;
        let response = response.map_err(|error| {
            let is_away = error.is_connect();
            let failure = if is_away { EmbedFailure::Later(None) } else { EmbedFailure::Unclear };
            let message = "cannot be reached";
            (failure, UpstreamFailure::because(Remedy::Retry(None), message, error))
        })?;
        let key = self.key.as_ref().map(Secret::reveal);
        let status = response.status();
        if !status.is_success() {
            let wait = asked(response.headers(), self.clock.now().as_millis());
            let text = error_of(response, key).await;
            let failure = match status {
                StatusCode::TOO_MANY_REQUESTS => EmbedFailure::Later(wait),
                _ if wait.is_some() => EmbedFailure::Later(wait),
                StatusCode::REQUEST_TIMEOUT => EmbedFailure::Unclear,
                _ if status.is_server_error() => EmbedFailure::Unclear,
                StatusCode::BAD_REQUEST
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::UNPROCESSABLE_ENTITY => EmbedFailure::Texts,
                _ => EmbedFailure::Settings,
            };
            let message = format!("answered {status}: {text}");
            return Err((failure, UpstreamFailure::new(Remedy::None, message)));
        }
        let most = FRAME_BYTES + texts.len() * limits::VECTOR_DIMENSIONS * NUMBER_BYTES;
        let body = timeout_at(deadline, bytes_of(response, most)).await.map_err(|_| late())?;
        let body = body.map_err(unclear)?;
        vectors(&body, texts.len())
            .map_err(|message| unclear(UpstreamFailure::new(Remedy::Retry(None), message)))
    }

    /// As much of a text as the settings allow.
    fn cut<'a>(&self, text: &'a str) -> &'a str {
        let end = text.char_indices().nth(self.config.text_chars).map_or(text.len(), |(at, _)| at);
        text.get(..end).unwrap_or(text)
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn model(&self) -> &str {
        &self.model
    }

    fn settings(&self) -> String {
        let config = &self.config;
        // As JSON, so that no prefix can look like another setting.
        serde_json::json!([config.question_prefix, config.passage_prefix, config.text_chars])
            .to_string()
    }

    fn batch(&self) -> usize {
        self.config.batch
    }

    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vector>, EmbedError> {
        let began = Instant::now();
        let outcome = self.ask(texts, purpose).await;
        measure(purpose, texts.len(), outcome.is_ok(), began.elapsed());
        outcome.map_err(|(kind, failure)| EmbedError {
            failure: kind,
            message: format!("the embeddings upstream {}", failure.message),
            source: failure.source,
        })
    }
}

fn measure(purpose: Purpose, texts: usize, is_ok: bool, duration: Duration) {
    let kind = match purpose {
        Purpose::Question | Purpose::Example => "question",
        Purpose::Passage => "passage",
    };
    let outcome = if is_ok { "made" } else { "failed" };
    let labels = [("kind", kind), ("outcome", outcome)];
    metrics::counter!("cicerone_embedding_requests_total", &labels).increment(1);
    metrics::histogram!("cicerone_embedding_request_duration_seconds", "kind" => kind)
        .record(duration);
    if is_ok {
        let texts = u64::try_from(texts).unwrap_or(u64::MAX);
        metrics::counter!("cicerone_embedded_texts_total", "kind" => kind).increment(texts);
    }
}
