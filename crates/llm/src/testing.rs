//! Requests for tests.

use cicerone_domain::agent::{
    AgentName, AgentProfile, AnswerFloor, ModelName, ReplyTokens, SystemPrompt, Temperature,
};
use cicerone_domain::ports::{ReplyRequest, Stages};
use cicerone_domain::retrieval::{Hit, QueryTerm};
use cicerone_domain::{Id, SystemEntropy};
use cicerone_language::{Language, terms};

/// A relevant passage in English.
pub(crate) fn hit(text: &str) -> Hit {
    Hit {
        source_id: Id::random(&SystemEntropy),
        document_id: Id::random(&SystemEntropy),
        position: 0,
        title: None,
        heading: None,
        url: None,
        page: None,
        text: text.into(),
        is_pair: false,
        language: Some("eng".into()),
        score: 1.0,
        coverage: 1.0,
        confidence: 1.0,
        is_relevant: true,
    }
}

/// A question about passages, all words of which have the same weight.
pub(crate) fn request(question: &str, passages: Vec<Hit>) -> ReplyRequest {
    let words = terms(question, Some(Language::ENGLISH));
    ReplyRequest {
        profile: AgentProfile {
            name: AgentName::parse("Guide").unwrap(),
            model: ModelName::from_stored("gpt-4o".to_owned()),
            system_prompt: SystemPrompt::parse("Be brief.").unwrap(),
            temperature: Temperature::parse(0.5).unwrap(),
            max_tokens: ReplyTokens::parse(100).unwrap(),
            retention_days: None,
            answer_floor: AnswerFloor::default(),
            public_sources: false,
            receipts: true,
            source_list: false,
            managed: None,
        },
        history: Vec::new(),
        question: question.to_owned(),
        passages: passages.into(),
        terms: words
            .into_iter()
            .filter(|term| !term.is_stop_word)
            .enumerate()
            .map(|(word, term)| QueryTerm { text: term.text, weight: 1.0, is_context: false, word })
            .collect(),
        result: None,
        language: None,
        stages: Stages::default(),
    }
}
