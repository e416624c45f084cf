//! Rewrites follow-up questions so that they can be understood on their own.

use std::sync::Arc;

use cicerone_domain::agent::{AgentProfile, ReplyTokens, Temperature};
use cicerone_domain::conversation::Message;
use cicerone_domain::ports::{ReplyRequest, Rewritten, Stages};
use cicerone_domain::usage::TokenCount;
use tokio::time::timeout;

use super::draft::Draft;
use super::wire::Usage;
use super::{Remedy, Upstream, UpstreamFailure, seconds};
use crate::prompt::follow_up;

impl Upstream {
    /// Whether it rewrites questions.
    pub(crate) const fn rewrites(&self) -> bool {
        self.config.rewrite_questions
    }

    /// Asks `model` once to rewrite a question.
    pub(crate) async fn rewrite(
        &self,
        profile: &AgentProfile,
        history: &[Message],
        question: &str,
        model: &str,
    ) -> Result<Rewritten, UpstreamFailure> {
        let Some(pass) = self.breaker.enter() else {
            return Err(UpstreamFailure::new(
                Remedy::Elsewhere,
                "is not used at the moment because it failed repeatedly",
            ));
        };
        let wait = seconds(self.config.rewrite_seconds);
        let written = timeout(wait, self.written(profile, history, question, model)).await;
        let outcome = written.unwrap_or_else(|_| {
            let message =
                format!("did not rewrite the question within {} s", self.config.rewrite_seconds);
            Err(UpstreamFailure::new(Remedy::None, message))
        });
        match &outcome {
            Err(failure) if failure.is_fault() => pass.failed(),
            Ok(_) => pass.succeeded(),
            // A slow or useless response does not count against replies.
            Err(_) => {}
        }
        outcome
    }

    async fn written(
        &self,
        profile: &AgentProfile,
        history: &[Message],
        question: &str,
        model: &str,
    ) -> Result<Rewritten, UpstreamFailure> {
        let messages = follow_up::messages(history, question);
        let profile = AgentProfile {
            temperature: Temperature::LOWEST,
            max_tokens: ReplyTokens::nearest(follow_up::TOKENS),
            ..profile.clone()
        };
        let request = ReplyRequest {
            profile,
            history: Vec::new(),
            question: question.to_owned(),
            passages: Arc::default(),
            terms: Vec::new(),
            result: None,
            language: None,
            stages: Stages::default(),
        };
        let body = self.body(&request, model, &messages, false);
        let mut draft = Draft::new(&request, 0, None, follow_up::TOKENS);
        let end = self.attempt(&body, &mut draft).await?;
        let (text, _) = draft.finish();
        let tokens = match end.usage {
            Some(Usage { prompt_tokens, completion_tokens }) => {
                TokenCount { prompt: prompt_tokens, completion: completion_tokens }
            }
            None => self.count(model, &messages, &text),
        };
        let question = follow_up::question(&text);
        let nothing =
            || UpstreamFailure::new(Remedy::None, "did not return a question to search for");
        Ok(Rewritten { question: question.ok_or_else(nothing)?, tokens })
    }
}
