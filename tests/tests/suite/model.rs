//! The model port's implementations, against a scripted upstream and through the server.

mod citations;
mod connections;
mod faults;
mod name;
mod requests;
mod rewriting;
mod routing;
mod served;
mod timeouts;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cicerone_domain::agent::{
    AgentName, AgentProfile, AnswerFloor, ModelName, ReplyTokens, SystemPrompt, Temperature,
};
use cicerone_domain::ports::{
    LanguageModel as _, ModelError, ModelReply, ReplyRequest, Stages, TokenSink,
};
use cicerone_domain::retrieval::Hit;
use cicerone_domain::{Clock, Entropy, Id, SystemEntropy, Timestamp};
use cicerone_llm::{Models, ModelsConfig};
use cicerone_tests::upstream::Upstream;
use serde_json::{Value, json};

/// How long a reply may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// A clock set by the test.
struct Hand(Mutex<i64>);

impl Hand {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(1_700_000_000_000)))
    }

    fn advance(&self, millis: i64) {
        *self.0.lock().unwrap() += millis;
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(*self.0.lock().unwrap())
    }
}

/// Randomness of all zeros: the shortest waits.
struct Zero;

impl Entropy for Zero {
    fn fill(&self, target: &mut [u8]) {
        target.fill(0);
    }
}

/// Models with these settings.
fn models(settings: Value) -> Models {
    models_at(settings, Hand::new())
}

fn models_at(settings: Value, clock: Arc<Hand>) -> Models {
    let config: ModelsConfig = serde_json::from_value(settings).unwrap();
    let clock: Arc<dyn Clock> = clock;
    let entropy: Arc<dyn Entropy> = Arc::new(Zero);
    Models::new(config, |_| None, &clock, &entropy).unwrap()
}

/// Settings in which `upstream` serves everything, with these settings in its section.
fn settings(upstream: &Upstream, section: Value) -> Value {
    let mut section = section;
    section["base_url"] = json!(upstream.url());
    json!({"default": {"upstream": "one"}, "upstreams": {"one": section}})
}

/// A relevant passage.
fn passage(text: &str) -> Hit {
    Hit {
        source_id: Id::random(&SystemEntropy),
        document_id: Id::random(&SystemEntropy),
        position: 0,
        title: Some("Handbook".into()),
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

/// A question about two passages.
fn request() -> ReplyRequest {
    ReplyRequest {
        profile: AgentProfile {
            name: AgentName::parse("Guide").unwrap(),
            model: ModelName::from_stored("gpt-4o".to_owned()),
            system_prompt: SystemPrompt::parse("Answer like a guide.").unwrap(),
            temperature: Temperature::parse(0.25).unwrap(),
            max_tokens: ReplyTokens::parse(321).unwrap(),
            retention_days: None,
            answer_floor: AnswerFloor::default(),
            public_sources: false,
            receipts: true,
            source_list: false,
            managed: None,
        },
        history: Vec::new(),
        question: "When does it open?".to_owned(),
        passages: vec![
            passage("The museum opens every day at nine o'clock sharp."),
            passage("Tickets are sold at the northern entrance."),
        ]
        .into(),
        terms: Vec::new(),
        result: None,
        language: None,
        stages: Stages::default(),
    }
}

/// The outcome of a reply.
struct Outcome {
    reply: Result<ModelReply, ModelError>,
    tokens: Vec<String>,
}

/// Asks for a reply, streamed or in one piece.
async fn ask(models: &Models, is_streamed: bool) -> Outcome {
    ask_with(models, request(), is_streamed).await
}

async fn ask_with(models: &Models, request: ReplyRequest, is_streamed: bool) -> Outcome {
    let (sink, mut receiver) = TokenSink::channel();
    let reply = models.reply(request, is_streamed.then_some(sink));
    let reply = tokio::time::timeout(PATIENCE, reply).await.expect("a reply never hangs");
    let mut tokens = Vec::new();
    while let Ok(token) = receiver.try_recv() {
        tokens.push(token);
    }
    if let (Ok(reply), true) = (&reply, is_streamed) {
        assert_eq!(tokens.concat(), reply.text, "the tokens add up to the reply");
    }
    Outcome { reply, tokens }
}
