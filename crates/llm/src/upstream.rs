//! One OpenAI-compatible upstream: a request, attempts at it, and the reply.

mod backoff;
mod breaker;
mod draft;
mod events;
mod failure;
mod read;
mod rewriting;
pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::{ModelReply, ReplyRequest, Stage, TokenSink};
use cicerone_domain::usage::{Day, TokenCount};
use cicerone_domain::{Clock, Entropy};
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use self::breaker::Breaker;
use self::draft::Draft;
pub(crate) use self::failure::{Remedy, UpstreamFailure};
use self::read::{End, Pace};
pub(crate) use self::read::{bytes as bytes_of, error as error_of};
use self::wire::{CompletionRequest, PromptMessage, StreamOptions, Usage};
use crate::attribution;
use crate::client::{ClientSettings, UpstreamClient};
use crate::config::{ConfigError, MaxTokensField, OPENAI, Secret, UpstreamConfig};
use crate::prompt::{self, Budget, Prompt};

/// The longest accepted time limit.
const LONGEST_SECONDS: f64 = 86_400.0;
/// The longest name of a model, in characters.
const MODEL_CHARS: usize = 200;
/// The smallest context, in tokens, that has room for a useful prompt.
const CONTEXT_TOKENS_LEAST: u32 = 1_024;

/// A prompt from at most this many bytes is built in about a tenth of a millisecond.
const QUICK_PROMPT_BYTES: usize = 32 * 1_024;

/// An upstream, ready for requests.
pub(crate) struct Upstream {
    config: UpstreamConfig,
    /// The setting that names the model, for errors.
    model_setting: String,
    url: Url,
    key: Option<Secret>,
    client: UpstreamClient,
    breaker: Breaker,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// A reply that failed or was interrupted.
pub(crate) struct Broken {
    pub(crate) failure: UpstreamFailure,
    /// Whether tokens were passed on. After that, no other target may start again.
    pub(crate) is_started: bool,
}

impl Upstream {
    /// Checks settings and prepares the client. `setting` is the path of the section.
    pub(crate) fn new(
        config: UpstreamConfig,
        key: Option<Secret>,
        setting: &str,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, ConfigError> {
        let url = endpoint(&config.base_url, &["chat", "completions"])
            .map_err(|message| ConfigError::new(format!("{setting}.base_url"), message))?;
        check(&config, setting)?;
        let settings =
            ClientSettings { connect: seconds(config.connect_seconds), key: key.as_ref(), setting };
        let client = UpstreamClient::new(&settings, &url)?;
        let pause = seconds(config.breaker_seconds).as_millis();
        let breaker = Breaker::new(
            Arc::clone(&clock),
            config.breaker_failures,
            i64::try_from(pause).unwrap_or(i64::MAX),
        );
        let model_setting = if setting == format!("models.upstreams.{OPENAI}") {
            "`OPENAI_MODEL`".to_owned()
        } else {
            format!("`{setting}.model`")
        };
        Ok(Self { config, model_setting, url, key, client, breaker, clock, entropy })
    }

    /// The name of the model at this upstream: the target's, or else the section's, or else the
    /// agent's.
    pub(crate) fn model<'a>(&'a self, target: Option<&'a str>, agent: &'a str) -> &'a str {
        target.or(self.config.model.as_deref()).unwrap_or(agent)
    }

    /// Asks `model` for a reply.
    pub(crate) async fn reply(
        &self,
        request: &Arc<ReplyRequest>,
        model: &str,
        tokens: Option<&TokenSink>,
    ) -> Result<ModelReply, Broken> {
        let Some(pass) = self.breaker.enter() else {
            let failure = UpstreamFailure::new(
                Remedy::Elsewhere,
                "is not used at the moment because it failed repeatedly",
            );
            return Err(Broken { failure, is_started: false });
        };
        let mut is_started = false;
        let work = self.attempts(request, model, tokens, &mut is_started);
        let total = seconds(self.config.total_seconds);
        let outcome = timeout(total, work).await.unwrap_or_else(|_| {
            let message =
                format!("did not complete the reply within {} s", self.config.total_seconds);
            Err(UpstreamFailure::new(Remedy::Elsewhere, message))
        });
        match &outcome {
            Err(failure) if failure.is_fault() => pass.failed(),
            Ok(_) | Err(_) => pass.succeeded(),
        }
        outcome.map_err(|failure| Broken { failure, is_started })
    }

    async fn attempts(
        &self,
        request: &Arc<ReplyRequest>,
        model: &str,
        tokens: Option<&TokenSink>,
        is_started: &mut bool,
    ) -> Result<ModelReply, UpstreamFailure> {
        request.stages.begin(Stage::Prompt);
        let prompt = self.prompt(request, model).await?;
        request.stages.begin(Stage::Model);
        let body = self.body(request, model, &prompt.messages, tokens.is_some());
        let mut retry = 0;
        loop {
            let most = self.reply_tokens(request);
            let mut draft = Draft::new(request, prompt.passages, tokens.cloned(), most);
            let outcome = self.attempt(&body, &mut draft).await;
            *is_started = tokens.is_some() && draft.is_started();
            let failure = match outcome {
                Ok(end) => return Ok(self.finish(request, draft, model, &prompt, end)),
                Err(failure) => failure,
            };
            retry += 1;
            let Remedy::Retry(asked) = failure.remedy else { return Err(failure) };
            if *is_started || retry > self.config.max_retries {
                return Err(failure);
            }
            let mut chance = [0];
            self.entropy.fill(&mut chance);
            let [chance] = chance;
            let Some(wait) = backoff::wait(retry, asked, chance) else { return Err(failure) };
            tracing::debug!(model, retry, ?wait, error = failure.message, "asking a model again");
            tokio::time::sleep(wait).await;
        }
    }

    /// Builds the prompt. A large one is built on a thread for slow work.
    async fn prompt(
        &self,
        request: &Arc<ReplyRequest>,
        model: &str,
    ) -> Result<Prompt, UpstreamFailure> {
        let mut delimiter = [0; 16];
        self.entropy.fill(&mut delimiter);
        let budget = Budget {
            tokenizer: self.config.tokenizer.unwrap_or_else(|| prompt::tokenizer_of(model)),
            tokens: self.config.context_tokens - self.reply_tokens(request),
        };
        let today = Day::of(self.clock.now());
        if prompt::bytes(request) <= QUICK_PROMPT_BYTES {
            return Ok(prompt::build(request, delimiter, budget, today));
        }
        let request = Arc::clone(request);
        tokio::task::spawn_blocking(move || prompt::build(&request, delimiter, budget, today))
            .await
            .map_err(|error| {
                UpstreamFailure::because(Remedy::Elsewhere, "the prompt could not be made", error)
            })
    }

    /// The most tokens of the reply: at most half of the context.
    fn reply_tokens(&self, request: &ReplyRequest) -> u32 {
        request.profile.max_tokens.get().min(self.config.context_tokens / 2)
    }

    fn body<'a>(
        &self,
        request: &ReplyRequest,
        model: &'a str,
        messages: &'a [PromptMessage],
        stream: bool,
    ) -> CompletionRequest<'a> {
        let tokens = Some(self.reply_tokens(request));
        let (max_tokens, max_completion_tokens) = match self.config.max_tokens_field {
            MaxTokensField::MaxTokens => (tokens, None),
            MaxTokensField::MaxCompletionTokens => (None, tokens),
        };
        let wants_usage = stream && self.config.stream_usage;
        CompletionRequest {
            model,
            messages,
            temperature: self.config.send_temperature.then_some(request.profile.temperature.get()),
            max_tokens,
            max_completion_tokens,
            stream,
            stream_options: wants_usage.then_some(StreamOptions { include_usage: true }),
        }
    }

    async fn attempt(
        &self,
        body: &CompletionRequest<'_>,
        draft: &mut Draft,
    ) -> Result<End, UpstreamFailure> {
        let first = Instant::now() + seconds(self.config.first_token_seconds);
        let sent = self.client.send(|client| client.post(self.url.clone()).json(body));
        let response = if body.stream {
            timeout_at(first, sent).await.map_err(|_| {
                UpstreamFailure::new(Remedy::Elsewhere, "did not send the first token in time")
            })?
        } else {
            sent.await
        };
        let response = response.map_err(|error| {
            UpstreamFailure::because(Remedy::Retry(None), "cannot be reached", error)
        })?;
        let key = self.key.as_ref().map(Secret::reveal);
        if !response.status().is_success() {
            return Err(self.refusal(response, body.model, key).await);
        }
        let content_type = content_type(&response);
        if content_type.contains("html") {
            return Err(UpstreamFailure::new(Remedy::Elsewhere, "answered with a web page"));
        }
        let is_stream = content_type.contains("event-stream")
            || (body.stream && !content_type.contains("json"));
        if is_stream {
            let between = seconds(self.config.between_tokens_seconds);
            read::stream(response, Pace { first, between }, draft, key).await
        } else {
            read::whole(response, draft, key).await
        }
    }

    /// The failure for a status that is not a success.
    async fn refusal(&self, response: Response, model: &str, key: Option<&str>) -> UpstreamFailure {
        let status = response.status();
        let asked = asked(response.headers(), self.clock.now().as_millis());
        let may_pass = status.is_server_error()
            || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        let remedy = if may_pass { Remedy::Retry(asked) } else { Remedy::None };
        let text = read::error(response, key).await;
        // Most servers answer 404 if they do not have the model.
        let hint = if status == StatusCode::NOT_FOUND {
            let setting = &self.model_setting;
            format!(
                " (it was asked for the model `{model}`; {setting}, or `model` of a route, can name another)"
            )
        } else {
            String::new()
        };
        UpstreamFailure::new(remedy, format!("answered {status}: {text}{hint}"))
    }

    fn finish(
        &self,
        request: &ReplyRequest,
        draft: Draft,
        model: &str,
        prompt: &Prompt,
        end: End,
    ) -> ModelReply {
        let (text, mut cited) = draft.finish();
        let tokens = match end.usage {
            Some(Usage { prompt_tokens, completion_tokens }) => {
                TokenCount { prompt: prompt_tokens, completion: completion_tokens }
            }
            None => self.count(model, &prompt.messages, &text),
        };
        tracing::debug!(model, tokens.prompt, tokens.completion, "a model replied");
        if cited.is_empty() {
            let sent = request.passages.get(..prompt.passages).unwrap_or_default();
            cited = attribution::attribute(&text, sent);
        }
        let (model, sent) = (Some(model.to_owned()), prompt.passages);
        ModelReply { text, cited, tokens, model, sent, is_cut: end.is_cut }
    }

    /// Estimates the tokens of a prompt and its reply, for an upstream that does not count them.
    fn count(&self, model: &str, messages: &[PromptMessage], reply: &str) -> TokenCount {
        let tokenizer = self.config.tokenizer.unwrap_or_else(|| prompt::tokenizer_of(model));
        TokenCount {
            prompt: messages.iter().map(|one| prompt::count(tokenizer, &one.content)).sum(),
            completion: prompt::count(tokenizer, reply),
        }
    }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

/// The wait that an answer's headers ask for, relative to `now` in milliseconds since 1970.
pub(crate) fn asked(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    backoff::asked(header("retry-after-ms"), header("retry-after"), now)
}

/// The URL of an endpoint under a base URL.
pub(crate) fn endpoint(base_url: &str, path: &[&str]) -> Result<Url, String> {
    let mut url = Url::parse(base_url.trim())
        .map_err(|error| format!("must be a URL such as `http://localhost:11434/v1`: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with `http://` or `https://`".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain credentials; set `api_key_variable`".to_owned());
    }
    url.set_fragment(None);
    url.path_segments_mut()
        .map_err(|()| "must have a host".to_owned())?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

/// Checks the model and the numbers of a section.
fn check(config: &UpstreamConfig, setting: &str) -> Result<(), ConfigError> {
    if let Some(model) = &config.model
        && (model.trim().is_empty()
            || model.chars().any(char::is_control)
            || model.chars().count() > MODEL_CHARS)
    {
        let message = format!("must have 1 to {MODEL_CHARS} characters and no line breaks");
        return Err(ConfigError::new(format!("{setting}.model"), message));
    }
    let times = [
        ("connect_seconds", config.connect_seconds),
        ("first_token_seconds", config.first_token_seconds),
        ("between_tokens_seconds", config.between_tokens_seconds),
        ("total_seconds", config.total_seconds),
        ("breaker_seconds", config.breaker_seconds),
        ("rewrite_seconds", config.rewrite_seconds),
    ];
    for (name, value) in times {
        if !(value > 0.0 && value <= LONGEST_SECONDS) {
            let message = format!("must be more than 0 and at most {LONGEST_SECONDS}");
            return Err(ConfigError::new(format!("{setting}.{name}"), message));
        }
    }
    if config.context_tokens < CONTEXT_TOKENS_LEAST {
        let message = format!("must be at least {CONTEXT_TOKENS_LEAST}");
        return Err(ConfigError::new(format!("{setting}.context_tokens"), message));
    }
    if config.breaker_failures == 0 {
        let name = format!("{setting}.breaker_failures");
        return Err(ConfigError::new(name, "must be at least 1"));
    }
    if config.max_retries > 10 {
        return Err(ConfigError::new(format!("{setting}.max_retries"), "must be at most 10"));
    }
    Ok(())
}

/// A duration that [`check`] accepted.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn the_endpoint_is_added_to_the_base_url() {
        for (base, expected) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
            ("http://[::1]:8080", "http://[::1]:8080/chat/completions"),
            ("https://h/o?api-version=1", "https://h/o/chat/completions?api-version=1"),
        ] {
            let path = ["chat", "completions"];
            assert_eq!(endpoint(base, &path).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn a_base_url_that_cannot_work_is_refused() {
        for base in ["", "localhost:1", "ftp://h/", "http://user:pw@h/", "http://"] {
            assert!(endpoint(base, &[]).is_err(), "{base}");
        }
    }
}
