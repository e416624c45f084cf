//! An embeddings upstream for tests and trials: deterministic, without a learned model.
//!
//! A text's vector is the sum of fixed random vectors, one for each piece of three to five letters
//! of its words, found by hash. Spellings that share pieces are close. Synonyms and translations,
//! which a learned model would know, come from a small thesaurus that maps words to one another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cicerone_tests_listener::{Listener, Request};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// Words with the same meaning: the first of each line stands for all of them.
const THESAURUS: [&[&str]; 10] = [
    &["car", "cars", "automobile", "automobiles", "vehicle", "vehicles", "coche", "coches", "auto"],
    &["park", "parking", "parked", "aparcar", "garage", "leave", "parken"],
    &["dog", "dogs", "perro", "perros", "hund", "hunde", "canine", "canines", "pet", "pets"],
    &["open", "opens", "abre", "abren", "geöffnet", "starts", "begins"],
    &["refund", "refunds", "reimbursement", "reimbursed", "reembolso", "money", "back"],
    &["physician", "doctor", "doctors", "médico", "arzt"],
    &["museum", "museo", "gallery", "galleries"],
    &["buy", "purchase", "purchases", "comprar", "kaufen", "acquire"],
    &["forbidden", "prohibited", "prohibido", "verboten", "banned", "allowed", "permitted"],
    &["inside", "indoors", "dentro", "drinnen", "building"],
];
/// Words that say nothing about the subject of a text.
const SMALL: [&str; 40] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "do", "does", "did", "can", "could", "i",
    "you", "we", "my", "your", "our", "it", "its", "to", "of", "in", "on", "at", "for", "and",
    "or", "with", "what", "where", "when", "how", "who", "why", "may", "el", "la", "mi",
];

/// What the upstream does with requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// Answers normally.
    Answers,
    /// Answers after this time.
    Waits(Duration),
    /// Answers with this status and these header lines.
    Refuses(&'static str, &'static str),
    /// Answers with this body.
    Says(String),
    /// Refuses requests with a text of more than this many characters.
    RefusesLongTexts(usize),
    /// Behaves like this if a text contains the word, and answers otherwise.
    At(&'static str, Box<Behaviour>),
}

/// A running upstream. Dropping it closes its socket.
#[derive(Debug)]
pub struct TestEmbedder {
    listener: Listener,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    questions: Behaviour,
    batches: Behaviour,
    dimension: usize,
    seed: u64,
    received: Vec<Vec<String>>,
    words: HashMap<String, String>,
}

impl TestEmbedder {
    /// An upstream whose vectors have `dimension` numbers. A request with one text counts as a
    /// question.
    pub async fn start(dimension: usize) -> Self {
        let words = THESAURUS.iter().flat_map(|line| {
            let meaning = line.first().copied().unwrap_or_default();
            line.iter().map(move |word| ((*word).to_owned(), meaning.to_owned()))
        });
        let shared = Arc::new(Mutex::new(Shared {
            questions: Behaviour::Answers,
            batches: Behaviour::Answers,
            dimension,
            seed: 0,
            received: Vec::new(),
            words: words.collect(),
        }));
        let state = Arc::clone(&shared);
        let listener =
            Listener::start(move |request, stream| answer(request, stream, Arc::clone(&state)))
                .await;
        Self { listener, shared }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.listener.url("/v1")
    }

    /// Sets the behaviour for all further requests.
    pub fn behave(&self, behaviour: Behaviour) {
        let mut shared = lock(&self.shared);
        shared.questions = behaviour.clone();
        shared.batches = behaviour;
    }

    /// Sets the behaviour for further questions, which it recognises by the prefix `query: `.
    pub fn behave_to_questions(&self, behaviour: Behaviour) {
        lock(&self.shared).questions = behaviour;
    }

    /// Makes it another model under the same name for all further requests.
    pub fn change(&self, dimension: usize, seed: u64) {
        let mut shared = lock(&self.shared);
        shared.dimension = dimension;
        shared.seed = seed;
    }

    /// The texts of each request so far.
    pub fn received(&self) -> Vec<Vec<String>> {
        lock(&self.shared).received.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect("no test panics while it holds the lock")
}

async fn answer(
    request: Request,
    mut stream: TcpStream,
    shared: Arc<Mutex<Shared>>,
) -> Option<TcpStream> {
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    let texts: Vec<String> = serde_json::from_value(body.get("input")?.clone()).ok()?;
    let (behaviour, vectors) = {
        let mut shared = lock(&shared);
        shared.received.push(texts.clone());
        let is_question = texts.iter().all(|text| text.starts_with("query: "));
        let behaviour = if is_question { &shared.questions } else { &shared.batches };
        let vectors = texts.iter().map(|text| shared.vector(text)).collect();
        (behaviour.clone(), vectors)
    };
    let behaviour = match behaviour {
        Behaviour::At(word, behaviour) if texts.iter().any(|text| text.contains(word)) => {
            *behaviour
        }
        Behaviour::At(..) => Behaviour::Answers,
        behaviour => behaviour,
    };
    let (status, headers, body) = match behaviour {
        Behaviour::At(..) => return None,
        Behaviour::Answers => ("200 OK", "", embeddings(vectors)),
        Behaviour::Waits(time) => {
            tokio::time::sleep(time).await;
            ("200 OK", "", embeddings(vectors))
        }
        Behaviour::Refuses(status, headers) => (status, headers, error("refused").to_string()),
        Behaviour::Says(text) => ("200 OK", "", text),
        Behaviour::RefusesLongTexts(most)
            if texts.iter().any(|text| text.chars().count() > most) =>
        {
            ("400 Bad Request", "", error("the input is too long").to_string())
        }
        Behaviour::RefusesLongTexts(_) => ("200 OK", "", embeddings(vectors)),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(body.as_bytes()).await.ok()?;
    Some(stream)
}

fn embeddings(vectors: Vec<Vec<f32>>) -> String {
    let data: Vec<Value> = (0..)
        .zip(vectors)
        .map(|(index, vector): (usize, _)| {
            json!({"object": "embedding", "index": index, "embedding": vector})
        })
        .collect();
    json!({"object": "list", "data": data, "model": "test"}).to_string()
}

fn error(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error"}})
}

impl Shared {
    fn vector(&self, text: &str) -> Vec<f32> {
        let text = text.strip_prefix("query: ").unwrap_or(text).to_lowercase();
        let mut sums = vec![0.0; self.dimension];
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            let weight = if SMALL.contains(&word) { 0.1 } else { 1.0 };
            let word = self.words.get(word).map_or(word, String::as_str);
            let padded: Vec<char> = format!("<{word}>").chars().collect();
            for length in 3..=5 {
                for piece in padded.windows(length.min(padded.len())) {
                    self.add(&mut sums, piece, weight);
                }
            }
        }
        if sums.iter().all(|sum| *sum == 0.0) {
            sums.fill(1.0);
        }
        sums
    }

    /// Adds the random vector of a piece: a sign for each number, taken from the hash.
    fn add(&self, sums: &mut [f32], piece: &[char], weight: f32) {
        let mut state = piece.iter().fold(0xcbf2_9ce4_8422_2325 ^ self.seed, |hash: u64, c| {
            (hash ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3)
        });
        for chunk in sums.chunks_mut(64) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut signs = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            signs = (signs ^ (signs >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            signs ^= signs >> 31;
            for sum in chunk {
                *sum += if signs & 1 == 0 { weight } else { -weight };
                signs >>= 1;
            }
        }
    }
}
