//! The embedded answerer: replies in whole sentences of the sources, without any model.

mod asking;
mod attributes;
mod choose;
mod compose;
mod hints;
mod limit;
mod matcher;
mod naming;
mod pieces;
mod plain;
mod purpose;
mod readings;
mod refusal;
mod replies;
mod spaced;
mod units;
mod values;
mod words;

use async_trait::async_trait;
use cicerone_domain::agent::AgentProfile;
use cicerone_domain::ports::{
    LanguageModel, ModelError, ModelReply, ReplyRequest, Stage, TokenSink,
};
use cicerone_domain::retrieval::Hit;
use cicerone_language::sentences;

use self::matcher::Matcher;
use self::purpose::Answering;
use self::readings::Readings;
use self::replies::Replies;

/// A pair that was found first is replaced by another pair or passage that covers this much more of the
/// question.
const PAIR_LEEWAY: f32 = 0.3;
/// A pair is close behind a passage of another kind if it is among this many passages and has this share of the score.
const CLOSE_PASSAGES: usize = 3;
const CLOSE: f32 = 0.7;
/// The longest quotation of a passage that was found by its meaning, in characters, unless its
/// first sentence is longer.
const LEAD_CHARS: usize = 300;

/// Replies from the passages alone: with the answer of the pair that matches, or with the sentences that
/// cover the question best. If the sources do not cover the question, the reply says so.
///
/// Clones share a cache of analysed passages, 15 MiB at most, and one of replies by [`ReplyRequest::result`], 6 MiB at most.
#[derive(Debug, Clone, Default)]
pub struct Extractive {
    readings: Readings,
    replies: Replies,
}

impl Extractive {
    /// Replies to a request, and passes the reply on word by word.
    pub fn answer(&self, request: &ReplyRequest, tokens: Option<&TokenSink>) -> ModelReply {
        let reply = self.replies.of(request, || self.compose(request));
        let reply = ModelReply { sent: request.passages.len(), ..reply };
        if let Some(tokens) = tokens {
            request.stages.begin(Stage::Tokens);
            pieces::of(&reply.text).for_each(|piece| tokens.send(piece));
        }
        reply
    }

    /// The reply, no longer than the profile allows.
    fn compose(&self, request: &ReplyRequest) -> ModelReply {
        let reply = self.compose_whole(request);
        let is_answer = !reply.cited.is_empty();
        match limit::cut(&reply.text, limit::chars(&request.profile)).filter(|_| is_answer) {
            Some(text) => ModelReply { text, is_cut: true, ..reply },
            None => reply,
        }
    }

    fn compose_whole(&self, request: &ReplyRequest) -> ModelReply {
        if let Some(index) = matching_pair(&request.passages) {
            let answer = request.passages.get(index).map_or("", |pair| pair.text.trim());
            return ModelReply {
                text: answer.to_owned(),
                cited: vec![index],
                ..ModelReply::default()
            };
        }
        // If there are passages, search has found what a word such as "salve" asks for.
        let is_found = !request.passages.is_empty();
        if let Some(text) = refusal::small_talk(request).filter(|_| !is_found) {
            return ModelReply { text, ..ModelReply::default() };
        }
        let matcher = Matcher::new(&request.terms);
        let choice = choose::sentences(request, &matcher, &self.readings);
        let passages = &choice.passages;
        let mut cited: Vec<usize> = passages.iter().map(|passage| passage.index).collect();
        let mut text = compose::text(passages, &request.question, choice.limit);
        if let Some(title) =
            passages.first().and_then(|first| purpose::needed(request, first, &text))
        {
            text.insert_str(0, &format!("{title}\n"));
        }
        if let Some(Answering { index, title, leads }) =
            purpose::answering(request, &matcher, &choice, &text)
        {
            if leads {
                text.insert_str(0, &format!("{title}\n\n"));
                cited.retain(|cited| *cited != index);
                cited.insert(0, index);
            } else {
                text.push_str(&format!("\n\n{title}"));
                if !cited.contains(&index) {
                    cited.push(index);
                }
            }
        }
        if text.is_empty() {
            if let Some((index, lead)) = found_by_meaning(&request.passages) {
                return ModelReply { text: lead, cited: vec![index], ..ModelReply::default() };
            }
            return ModelReply { text: refusal::text(request).to_owned(), ..ModelReply::default() };
        }
        ModelReply { text, cited, ..ModelReply::default() }
    }
}

#[async_trait]
impl LanguageModel for Extractive {
    fn is_local(&self, _profile: &AgentProfile) -> bool {
        true
    }

    async fn reply(
        &self,
        request: ReplyRequest,
        tokens: Option<TokenSink>,
    ) -> Result<ModelReply, ModelError> {
        Ok(self.answer(&request, tokens.as_ref()))
    }
}

/// The beginning of the best passage, if it was found by its meaning and contains no word of the
/// question: no sentence of it is known to answer better than the first ones.
fn found_by_meaning(passages: &[Hit]) -> Option<(usize, String)> {
    let index = passages.iter().position(|hit| hit.coverage <= 0.0)?;
    let text = passages.get(index).map(|hit| &hit.text)?;
    let mut lead = String::new();
    for range in sentences(text) {
        let sentence = plain::inline(text.get(range).unwrap_or_default().trim_start_matches('#'));
        let chars = lead.chars().count() + sentence.chars().count();
        if !lead.is_empty() && chars > LEAD_CHARS {
            break;
        }
        if !lead.is_empty() && !sentence.is_empty() {
            lead.push(' ');
        }
        lead.push_str(&sentence);
    }
    Some((index, lead)).filter(|(_, lead)| !lead.is_empty())
}

/// The pair whose answer is the reply: the best passage, or a pair that covers much more of the question, unless a passage of
/// another kind does; or a pair close behind that covers at least as much.
fn matching_pair(passages: &[Hit]) -> Option<usize> {
    let answers = |hit: &Hit| hit.is_pair && !hit.text.trim().is_empty();
    let first = passages.first()?;
    let best_other =
        passages.iter().filter(|hit| !hit.is_pair).map(|hit| hit.coverage).fold(0.0, f32::max);
    if answers(first) {
        let covers_more = |hit: &Hit| hit.coverage > first.coverage + PAIR_LEEWAY;
        let pair = passages.iter().position(|hit| answers(hit) && covers_more(hit)).unwrap_or(0);
        let coverage = passages.get(pair).map_or(0.0, |pair| pair.coverage);
        return (coverage + PAIR_LEEWAY >= best_other).then_some(pair);
    }
    passages.iter().take(CLOSE_PASSAGES).position(|hit| {
        answers(hit) && hit.coverage >= best_other && hit.score >= CLOSE * first.score
    })
}

#[cfg(test)]
mod tests;
