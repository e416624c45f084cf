//! Receipts: how a reply was produced.

use std::borrow::Cow;
use std::time::Duration;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::content::Passage;
use crate::id::{Id, kind};
use crate::limits;
use crate::ports::{ModelReply, Stage};
use crate::retrieval::{Found, Hit, QueryTerm};

/// As much as most receipts have, for which there is room from the start.
const USUAL_BYTES: usize = 1_000;

/// How a reply was produced. It is stored with the reply and contains no texts of sources or messages except for the
/// analysed words of the question; the texts are read when it is requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The request that contained the question; `None` if it did not arrive over HTTP.
    #[serde(rename = "r")]
    pub request_id: Option<Id<kind::Request>>,
    /// The number of the agent's content that was searched.
    #[serde(rename = "g")]
    pub generation: u64,
    /// The model requested from the upstream; `None` for the embedded answerer.
    #[serde(rename = "m")]
    pub model: Option<String>,
    /// The number of earlier messages that the model received, as many as fitted into its prompt.
    #[serde(rename = "b")]
    pub history_messages: u32,
    /// Tokens of the prompt, as the upstream counted them or as estimated.
    #[serde(rename = "p")]
    pub prompt_tokens: u64,
    /// Tokens of the reply.
    #[serde(rename = "o")]
    pub completion_tokens: u64,
    /// Earlier messages that were used to understand the question.
    #[serde(rename = "x")]
    pub context_messages: u32,
    /// The question that was searched for instead of the user's, if a model rewrote it.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
    /// Whether the search also used meaning (embeddings).
    #[serde(rename = "v")]
    pub by_meaning: bool,
    /// How certain the search was, from 0 to 1.
    #[serde(rename = "c")]
    pub confidence: f32,
    /// The lowest confidence at which the question was answered.
    #[serde(rename = "f")]
    pub floor: f32,
    /// The question's words, [`RECEIPT_TERMS`](limits::RECEIPT_TERMS) at most.
    #[serde(rename = "q")]
    pub terms: Vec<ReceiptTerm>,
    /// What was found, best first, [`REPLY_PASSAGES`](limits::REPLY_PASSAGES) at most. Hits that are not relevant are
    /// among them.
    #[serde(rename = "h")]
    pub hits: Vec<ReceiptHit>,
    /// How long each stage took that ended before the reply was stored.
    #[serde(rename = "s")]
    pub stages: Vec<ReceiptStage>,
}

/// A word of the question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReceiptTerm {
    /// The analysed form.
    #[serde(rename = "t")]
    pub text: String,
    /// How well it distinguishes passages.
    #[serde(rename = "w")]
    pub weight: f32,
    /// Whether it occurs in earlier messages only.
    #[serde(rename = "x")]
    pub is_context: bool,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReceiptHit {
    /// The source that it belongs to.
    #[serde(rename = "s")]
    pub source_id: Id<kind::Source>,
    /// The document that it is a part of.
    #[serde(rename = "d")]
    pub document_id: Id<kind::Document>,
    /// Its position in the source, from 0.
    #[serde(rename = "p")]
    pub position: i64,
    /// How well it matched; comparable within the receipt only.
    #[serde(rename = "w")]
    pub score: f32,
    /// The share of the question's weight that it contains.
    #[serde(rename = "c")]
    pub coverage: f32,
    /// Whether it matched well enough.
    #[serde(rename = "r")]
    pub is_relevant: bool,
    /// Whether the model received it.
    #[serde(rename = "m")]
    pub is_sent: bool,
    /// Whether the reply cites it.
    #[serde(rename = "u")]
    pub is_cited: bool,
}

/// A stage of the reply.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReceiptStage {
    /// The name of the stage, as in metrics.
    #[serde(rename = "n")]
    pub name: Cow<'static, str>,
    /// How long it took, in milliseconds.
    #[serde(rename = "t")]
    pub millis: f32,
}

/// The facts about a question that are known before the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// See [`Receipt::request_id`].
    pub request_id: Option<Id<kind::Request>>,
    /// See [`Receipt::generation`].
    pub generation: u64,
    /// See [`Receipt::history_messages`].
    pub history_messages: usize,
    /// See [`Receipt::context_messages`].
    pub context_messages: usize,
    /// See [`Receipt::rewritten`].
    pub rewritten: Option<String>,
    /// See [`Receipt::by_meaning`].
    pub by_meaning: bool,
}

impl Receipt {
    /// The receipt of a search. Its reply is still missing.
    pub fn of_search(asked: Asked, found: &Found) -> Self {
        let fits = |term: &&QueryTerm| term.text.len() <= limits::RECEIPT_TERM_BYTES;
        let mut terms = Vec::with_capacity(found.terms.len().min(limits::RECEIPT_TERMS));
        let kept = found.terms.iter().filter(fits).take(limits::RECEIPT_TERMS);
        terms.extend(kept.map(ReceiptTerm::from));
        Self {
            request_id: asked.request_id,
            generation: asked.generation,
            model: None,
            history_messages: count(asked.history_messages),
            prompt_tokens: 0,
            completion_tokens: 0,
            context_messages: count(asked.context_messages),
            rewritten: asked.rewritten,
            by_meaning: asked.by_meaning,
            confidence: rounded(found.confidence),
            floor: rounded(found.floor),
            terms,
            hits: found.hits.iter().take(limits::REPLY_PASSAGES).map(ReceiptHit::from).collect(),
            stages: Vec::new(),
        }
    }

    /// Adds the citations and usage of the model's reply, and the durations of the stages. The model received the
    /// relevant hits, and cites them by their number among these.
    pub fn complete(&mut self, reply: &ModelReply, stages: Vec<(Stage, Duration)>) {
        self.model.clone_from(&reply.model);
        self.prompt_tokens = reply.tokens.prompt;
        self.completion_tokens = reply.tokens.completion;
        let relevant = self.hits.iter_mut().filter(|hit| hit.is_relevant);
        for (number, hit) in relevant.enumerate() {
            hit.is_sent = number < reply.sent;
            hit.is_cited = reply.cited.contains(&number);
        }
        let stage = |(stage, taken): (Stage, Duration)| ReceiptStage {
            name: stage.name().into(),
            millis: rounded(taken.as_secs_f32() * 1_000.0),
        };
        self.stages = stages.into_iter().map(stage).collect();
    }

    /// The stored form: JSON with one-letter keys. Words, hits and stages are arrays in the order of their fields,
    /// because keys would be a third of what a turn writes; those with keys, as they were stored before, are read too.
    /// It has at most [`RECEIPT_BYTES`](limits::RECEIPT_BYTES): what does not fit is omitted: first terms, then hits,
    /// each from the last. `None` if the rest is still too large.
    ///
    /// # Errors
    ///
    /// Fails if the receipt cannot be written as JSON, which does not happen.
    pub fn encode(mut self) -> Result<Option<EncodedReceipt>, serde_json::Error> {
        loop {
            let mut text = Vec::with_capacity(USUAL_BYTES);
            serde_json::to_writer(&mut text, &self)?;
            // JSON is UTF-8.
            let text = String::from_utf8(text).map_err(serde_json::Error::custom)?;
            if text.len() <= limits::RECEIPT_BYTES {
                return Ok(Some(EncodedReceipt(text)));
            }
            if self.terms.pop().is_none() && self.hits.pop().is_none() {
                return Ok(None);
            }
        }
    }
}

impl Serialize for ReceiptTerm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.text, self.weight, self.is_context).serialize(serializer)
    }
}

impl Serialize for ReceiptHit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            source_id,
            document_id,
            position,
            score,
            coverage,
            is_relevant,
            is_sent,
            is_cited,
        } = self;
        (source_id, document_id, position, score, coverage, is_relevant, is_sent, is_cited)
            .serialize(serializer)
    }
}

impl Serialize for ReceiptStage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.name, self.millis).serialize(serializer)
    }
}

impl From<&QueryTerm> for ReceiptTerm {
    fn from(term: &QueryTerm) -> Self {
        Self { text: term.text.clone(), weight: rounded(term.weight), is_context: term.is_context }
    }
}

impl From<&Hit> for ReceiptHit {
    fn from(hit: &Hit) -> Self {
        Self {
            source_id: hit.source_id,
            document_id: hit.document_id,
            position: hit.position,
            score: rounded(hit.score),
            coverage: rounded(hit.coverage),
            is_relevant: hit.is_relevant,
            is_sent: false,
            is_cited: false,
        }
    }
}

/// A receipt as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedReceipt(String);

impl EncodedReceipt {
    /// JSON with one-letter keys.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A receipt, with those texts that have not changed since the search.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundReceipt {
    /// The number of the reply in the conversation, from 1.
    pub number: u64,
    /// The user's message.
    pub query: String,
    /// The receipt as it was stored with the reply.
    pub receipt: Receipt,
    /// The passage of each hit; `None` if its document has changed since or is gone.
    pub passages: Vec<Option<Passage>>,
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The number rounded to three decimal places. JSON has only finite numbers.
fn rounded(number: f32) -> f32 {
    let thousandths = (number * 1_000.0).round();
    match thousandths.is_finite() {
        true => thousandths / 1_000.0,
        // Too large to have decimal places.
        false if number.is_finite() => number,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Asked, Receipt};
    use crate::ports::{ModelReply, Stage};
    use crate::retrieval::{Found, Hit, QueryTerm};
    use crate::usage::TokenCount;
    use crate::{Id, SystemEntropy, limits};

    fn hit(is_relevant: bool) -> Hit {
        Hit {
            source_id: Id::random(&SystemEntropy),
            document_id: Id::random(&SystemEntropy),
            position: i64::MAX,
            title: None,
            heading: None,
            url: None,
            page: None,
            text: "secret".into(),
            is_pair: false,
            language: None,
            score: f32::MAX,
            coverage: 0.123_456,
            confidence: 1.0,
            is_relevant,
        }
    }

    fn found(terms: usize, word: &str, hits: usize) -> Found {
        let term = |at| QueryTerm {
            text: format!("{word}{at}"),
            weight: 2.123_456,
            is_context: false,
            word: at,
        };
        Found {
            hits: (0..hits).map(|number| hit(number != 1)).collect(),
            terms: (0..terms).map(term).collect(),
            confidence: f32::NAN,
            floor: 0.5,
            ..Found::default()
        }
    }

    fn receipt(found: &Found) -> Receipt {
        let asked = Asked {
            request_id: Some(Id::random(&SystemEntropy)),
            generation: u64::MAX,
            history_messages: 40,
            context_messages: 3,
            rewritten: None,
            by_meaning: true,
        };
        Receipt::of_search(asked, found)
    }

    #[test]
    fn a_model_names_hits_by_their_number_among_the_relevant_ones() {
        let mut receipt = receipt(&found(1, "word", 4));
        let reply = ModelReply {
            cited: vec![1],
            model: Some("gpt".to_owned()),
            sent: 2,
            tokens: TokenCount { prompt: 7, completion: 3 },
            ..ModelReply::default()
        };
        let micros = Duration::from_micros(1_500);
        receipt.complete(&reply, vec![(Stage::Read, micros), (Stage::Search, micros)]);
        let sent: Vec<bool> = receipt.hits.iter().map(|hit| hit.is_sent).collect();
        let cited: Vec<bool> = receipt.hits.iter().map(|hit| hit.is_cited).collect();
        assert_eq!(sent, [true, false, true, false]);
        assert_eq!(cited, [false, false, true, false]);
        assert_eq!((receipt.prompt_tokens, receipt.completion_tokens), (7, 3));
        let encoded = receipt.clone().encode().unwrap().unwrap();
        assert!(!encoded.as_str().contains("secret"), "{encoded:?}");
        assert!(encoded.as_str().contains(r#"["read",1.5]"#), "{encoded:?}");
        let read: Receipt = serde_json::from_str(encoded.as_str()).unwrap();
        assert_eq!(read, receipt);
        assert_eq!(read.confidence, 0.0);
    }

    #[test]
    fn receipts_with_keys_are_read() {
        let stored = r#"{"r":null,"g":3,"m":null,"b":0,"p":1,"o":2,"x":0,"v":false,"c":0.5,"f":0.25,
            "q":[{"t":"tower","w":2.5,"x":true}],
            "h":[{"s":"src_0123456789","d":"doc_0123456789","p":4,"w":1.5,"c":1.0,"r":true,"m":true,"u":false}],
            "s":[{"n":"read","t":1.5}]}"#;
        let read: Receipt = serde_json::from_str(stored).unwrap();
        assert_eq!((read.terms[0].text.as_str(), read.terms[0].is_context), ("tower", true));
        assert_eq!((read.hits[0].position, read.hits[0].is_cited), (4, false));
        let written: serde_json::Value =
            serde_json::from_str(read.clone().encode().unwrap().unwrap().as_str()).unwrap();
        assert_eq!(written["q"], serde_json::json!([["tower", 2.5, true]]));
        let again: Receipt = serde_json::from_value(written).unwrap();
        assert_eq!(again, read);
    }

    #[test]
    fn a_receipt_has_at_most_4_kib_and_leaves_out_terms_first() {
        let usual = receipt(&found(20, "word", 12)).encode().unwrap().unwrap();
        let usual: Receipt = serde_json::from_str(usual.as_str()).unwrap();
        assert_eq!((usual.terms.len(), usual.hits.len()), (16, limits::REPLY_PASSAGES));
        // A control character takes six characters in JSON.
        let long = found(20, &"\u{1}".repeat(limits::RECEIPT_TERM_BYTES - 2), 12);
        let encoded = receipt(&long).encode().unwrap().unwrap();
        assert!(encoded.as_str().len() <= limits::RECEIPT_BYTES);
        let read: Receipt = serde_json::from_str(encoded.as_str()).unwrap();
        assert_eq!(read.hits.len(), limits::REPLY_PASSAGES);
        assert!(read.terms.len() < 5, "{}", read.terms.len());
        let longer = found(3, &"x".repeat(limits::RECEIPT_TERM_BYTES), 1);
        assert_eq!(receipt(&longer).terms, []);
        let model = |bytes: usize| {
            let mut receipt = receipt(&found(3, "word", 8));
            receipt.model = Some("m".repeat(bytes));
            receipt.encode().unwrap()
        };
        let read: Receipt = serde_json::from_str(model(3_500).unwrap().as_str()).unwrap();
        assert!(read.terms.is_empty() && read.hits.len() < 8);
        assert_eq!(model(limits::RECEIPT_BYTES), None);
    }
}
