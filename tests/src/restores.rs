//! Restores over data directories in every condition: used, crashed, newer, older and half deleted.
//! Each restore is either refused with a sentence, or only the restored content is found
//! afterwards.

mod history;
mod place;

use std::path::Path;

use serde_json::json;

use crate::client::Client;
use crate::process::{Program, Server};
use crate::scenario::ids;
use history::History;
use place::{Condition, Place};

/// How the restores ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// Refused with a sentence; the place was left unchanged.
    pub refused: usize,
    /// Carried out; only the restored content was found.
    pub restored: usize,
}

/// Pseudo-random numbers from a seed.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// A number below `bound`, which must be positive.
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % bound
    }
}

/// Restores a backup `rounds` times, each time over a place whose condition follows from `seed`.
/// Panics if anything but the restored content is found, or if a refusal is not a sentence or
/// changes something.
pub async fn restores(program: &Program, rounds: usize, seed: u64) -> Told {
    let history = History::make(program).await;
    let mut chance = Chance(seed);
    let mut told = Told::default();
    // Every condition is used once before conditions are chosen at random.
    for round in 0..rounds {
        let conditions = Condition::ALL.len();
        let which = if round < conditions { round } else { chance.below(conditions) };
        let condition = Condition::ALL[which];
        let place = Place::make(program, &history, condition, &mut chance);
        match place.restore(program, &history) {
            Ok(()) => {
                assert!(condition != Condition::Used && condition != Condition::Older);
                check(program, place, &history, &mut chance).await;
                told.restored += 1;
            }
            Err(sentence) => {
                assert!(condition != Condition::Empty && condition != Condition::Leftovers);
                assert!(sentence.starts_with("error: `"), "{condition:?}: {sentence}");
                assert_eq!(sentence.trim_end().lines().count(), 1, "{condition:?}: {sentence}");
                let is_told = sentence.contains("restore into an empty data directory");
                assert!(is_told, "{condition:?}: {sentence}");
                told.refused += 1;
                // A restore that was killed right before its end may be complete.
                if condition == Condition::KilledRestore && place.has_database() {
                    check(program, place, &history, &mut chance).await;
                }
            }
        }
    }
    told
}

/// Starts a server in a restored place and makes changes there. The content of the other history
/// must never be found: neither at once, nor after changes that give both histories the same
/// generations, nor after a crash.
async fn check(program: &Program, place: Place, history: &History, chance: &mut Chance) {
    let (data, environment) = place.into_parts();
    let mut builder = Server::of(program);
    for (name, value) in environment {
        builder = builder.env(&name, value);
    }
    let mut server = builder.start_in(data);
    holds(&server.client(), history, server.data()).await;
    let changes = 1 + chance.below(6);
    for change in 0..changes {
        let client = server.client();
        let text = format!("News of day {change}: a giraffe named day{change} has come.");
        let source = client.text(&history.agent, &text).await;
        let found = found(&client, &history.agent, "Which giraffe has come?").await;
        assert!(found.iter().any(|found| found == &text), "{found:?}");
        client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
        if chance.below(3) == 0 {
            server.kill();
            server.restart();
        }
        holds(&server.client(), history, server.data()).await;
    }
}

/// Checks that only the restored content is found.
async fn holds(client: &Client, history: &History, data: &Path) {
    let path = format!("/v1/agents/{}/sources", history.agent);
    let mut sources = ids(&client.list_all(&path, 100).await);
    sources.sort();
    assert_eq!(sources, history.sources, "in {}", data.display());
    for (question, part) in history::ANSWERED {
        let reply = client.ask(&history.agent, question).await;
        assert!(reply["reply"].as_str().unwrap().contains(part), "{reply}");
    }
    for question in history::GONE {
        let reply = client.ask(&history.agent, question).await;
        assert_eq!(reply["sources_used"], json!([]), "{reply}");
        for text in found(client, &history.agent, question).await {
            assert!(history::BEFORE.contains(&text.as_str()), "`{text}` was found");
        }
    }
}

/// The texts of a search's hits.
async fn found(client: &Client, agent: &str, query: &str) -> Vec<String> {
    let body = json!({ "query": query });
    let found = client.post(&format!("/v1/agents/{agent}/search"), body).await.expect(200);
    let hits = found["data"].as_array().expect("an array");
    hits.iter().map(|hit| hit["text"].as_str().expect("a text").to_owned()).collect()
}
