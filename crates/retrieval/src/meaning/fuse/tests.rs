//! What is ranked where, and what counts as relevant.

use std::sync::Arc;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::PassageAt;
use cicerone_domain::retrieval::{Found, Hit};
use cicerone_domain::{Id, Passage, kind};

use super::{Close, Closeness, Ranking};

fn source() -> Id<kind::Source> {
    "src_aaaaaaaaaa".parse().unwrap()
}

fn document() -> Id<kind::Document> {
    "doc_aaaaaaaaaa".parse().unwrap()
}

pub(super) fn hit(position: i64, score: f32, text: &str) -> Hit {
    Hit {
        source_id: source(),
        document_id: document(),
        position,
        title: None,
        heading: None,
        url: None,
        page: None,
        text: text.into(),
        is_pair: false,
        language: None,
        score,
        coverage: 0.0,
        confidence: 0.0,
        is_relevant: false,
    }
}

fn close(position: i64, cosine: f32) -> Close {
    Close { at: PassageAt { source: source(), version: 1, position }, cosine }
}

/// In a space with the floor 0.7.
fn closeness(closest: Vec<Close>, known: Vec<Option<f32>>) -> Closeness {
    closeness_with(Some(0.7), closest, known)
}

fn closeness_with(floor: Option<f32>, closest: Vec<Close>, known: Vec<Option<f32>>) -> Closeness {
    let (model, settings) = (String::new(), String::new());
    let probe = Vector::new(vec![1.0]).unwrap();
    let space =
        Space { id: 1, model, settings, dimension: 1, probe, chance: 0.1, reach: 0.4, floor };
    Closeness { closest, known, mean: 0.1, background: 0.2, space: Arc::new(space) }
}

fn passages(texts: &[(i64, &str)]) -> Vec<(Id<kind::Source>, StoredPassage)> {
    let passage = |(position, text): &(i64, &str)| Passage {
        position: *position,
        title: None,
        heading: None,
        url: None,
        page: None,
        text: (*text).to_owned(),
        is_pair: false,
        language: None,
    };
    let stored = |one| StoredPassage { document_id: document(), passage: passage(one) };
    texts.iter().map(|one| (source(), stored(one))).collect()
}

fn found(hits: Vec<Hit>) -> Found {
    Found { hits, confidence: 0.1, floor: 0.265, ..Found::default() }
}

fn order(found: &Found) -> Vec<i64> {
    found.hits.iter().map(|hit| hit.position).collect()
}

fn relevant(found: &Found) -> Vec<bool> {
    found.hits.iter().map(|hit| hit.is_relevant).collect()
}

#[test]
fn what_both_find_comes_before_what_one_finds() {
    let by_words = vec![hit(1, 10.0, "one"), hit(2, 9.0, "two"), hit(3, 2.0, "three")];
    let closest = vec![close(4, 0.8), close(2, 0.75), close(1, 0.1)];
    let closeness = closeness(closest, vec![Some(0.1), Some(0.75), None]);
    let ranking = Ranking::new(found(by_words), &closeness, 0.5, 9);
    assert_eq!(ranking.wanted(), [closeness.closest[0].at], "the others were found by words");
    let fused = ranking.finish(passages(&[(4, "four")]), "why?");
    assert_eq!(order(&fused), [2, 1, 4, 3]);
    assert_eq!(relevant(&fused), [true, false, true, false], "those above the floor of meaning");
    assert!(fused.confidence > 0.265, "{}", fused.confidence);
}

#[test]
fn passages_that_are_gone_are_left_out_and_no_more_are_wanted_than_results() {
    let by_words = (0..20).map(|number| hit(number, 20.0 - number as f32, "x"));
    let sure = |hit: &Hit| if hit.position < 2 { 0.9 } else { 0.0 };
    let by_words = by_words.map(|hit| Hit { confidence: sure(&hit), ..hit }).collect();
    let closest: Vec<Close> = (100..164).map(|number| close(number, 0.9)).collect();
    let closeness = closeness(closest, vec![None; 20]);
    let ranking = Ranking::new(found(by_words), &closeness, 0.5, 5);
    let wanted: Vec<i64> = ranking.wanted().iter().map(|at| at.position).collect();
    assert_eq!(wanted, [100, 101, 102, 103, 104]);
    let fused = ranking.finish(passages(&[(101, "there")]), "why?");
    assert_eq!(order(&fused), [0, 1, 2, 3, 101]);
}

#[test]
fn a_number_that_a_passage_lacks_is_not_made_up_for_by_meaning() {
    let closeness = closeness(vec![close(1, 0.9), close(2, 0.8)], Vec::new());
    let ranking = Ranking::new(found(Vec::new()), &closeness, 0.5, 9);
    let others = passages(&[(1, "Room 12 is closed."), (2, "Room 14 is closed.")]);
    let fused = ranking.finish(others, "Is chamber 14 shut?");
    assert_eq!((order(&fused), relevant(&fused)), (vec![1, 2], vec![false, true]));
}

#[test]
fn a_pair_that_is_asked_word_by_word_stays_first() {
    let same = Hit { confidence: 1.0, ..hit(1, 1_009.0, "one") };
    let by_words = vec![same, hit(2, 9.0, "two")];
    let closeness = closeness(vec![close(2, 0.9), close(1, 0.0)], vec![Some(0.0), Some(0.9)]);
    let fused = Ranking::new(found(by_words), &closeness, 1.0, 1).finish(Vec::new(), "two?");
    assert_eq!(order(&fused), [1]);
}

#[test]
fn the_floor_of_the_agent_holds_for_what_meaning_finds_and_the_confidence_does_not_depend_on_it() {
    let mut confidences = Vec::new();
    let cosines = [0.85, 0.75, 0.65, 0.4];
    for (floor, answers) in [
        (0.5, [true, false, false, false]),
        (0.265, [true, true, false, false]),
        (0.1, [true, true, true, false]),
    ] {
        let closest = (0..).zip(cosines).map(|(number, cosine)| close(number, cosine)).collect();
        let closeness = closeness(closest, Vec::new());
        let found = Found { confidence: 0.0, floor, ..found(Vec::new()) };
        let texts: Vec<(i64, &str)> = (0..4).map(|number| (number, "text")).collect();
        let fused = Ranking::new(found, &closeness, 0.5, 9).finish(passages(&texts), "why?");
        assert_eq!(relevant(&fused), answers, "{floor}");
        confidences.push(fused.confidence);
    }
    assert!(confidences.iter().all(|one| *one == confidences[0]), "{confidences:?}");
}

#[test]
fn what_words_find_relevant_is_not_displaced_by_passages_that_are_only_near() {
    // Words find one answer, far below in the mixed ranking.
    let answer = Hit { confidence: 0.9, ..hit(50, 10.0, "the answer") };
    let mut by_words = vec![answer];
    by_words.extend((0..8).map(|number| hit(number, 9.0, "x")));
    let closest: Vec<Close> = (100..164).map(|number| close(number, 0.5)).collect();
    let closeness = closeness(closest, vec![Some(0.1); 9]);
    let texts: Vec<(i64, &str)> = (100..108).map(|number| (number, "near")).collect();
    let fused = Ranking::new(found(by_words), &closeness, 0.9, 8).finish(passages(&texts), "why?");
    assert_eq!(fused.hits.len(), 8);
    assert!(order(&fused).contains(&50), "{:?}", order(&fused));
}

#[test]
fn half_of_the_results_are_kept_for_the_best_that_words_find_relevant() {
    let by_words: Vec<Hit> = (0..8)
        .map(|number| Hit { confidence: 0.9, ..hit(number, 10.0 - number as f32, "x") })
        .collect();
    let closest: Vec<Close> = (100..164).map(|number| close(number, 0.9)).collect();
    let closeness = closeness(closest, vec![Some(0.0); 8]);
    let texts: Vec<(i64, &str)> = (100..108).map(|number| (number, "near")).collect();
    let fused = Ranking::new(found(by_words), &closeness, 0.9, 8).finish(passages(&texts), "why?");
    let by_words: Vec<i64> = order(&fused).into_iter().filter(|number| *number < 100).collect();
    assert_eq!(by_words, [0, 1, 2, 3]);
    assert_eq!(fused.hits.len(), 8);
}

#[test]
fn words_and_meaning_decide_together_whether_a_question_is_answered() {
    let answered = |by_words: f32, cosine: f32| {
        let by_words = vec![Hit { confidence: by_words, ..hit(1, 10.0, "text") }];
        let closeness = closeness_with(None, vec![close(1, cosine)], vec![Some(cosine)]);
        let fused = Ranking::new(found(by_words), &closeness, 0.3, 5).finish(Vec::new(), "why?");
        assert_eq!(fused.hits[0].confidence, fused.confidence);
        relevant(&fused) == [true]
    };
    assert!(answered(0.2, 0.8), "few of its words, and close");
    assert!(answered(0.9, 0.6), "most of its words, and rather close");
    assert!(!answered(0.2, 0.6), "few of its words, and rather close");
    assert!(!answered(0.9, 0.3), "most of its words, about something else");
}

#[test]
fn the_best_two_passages_decide_whether_a_question_is_answered_and_a_passage_without_a_vector_counts_by_its_words()
 {
    let answered = |confidences: [f32; 3]| {
        let by_words = (0..).zip(confidences).map(|(number, confidence)| Hit {
            confidence,
            ..hit(number, 10.0 - number as f32, "text")
        });
        let closeness = closeness_with(None, vec![close(9, 0.3)], vec![None; 3]);
        let found = found(by_words.collect());
        relevant(&Ranking::new(found, &closeness, 0.3, 3).finish(Vec::new(), "why?"))
    };
    assert_eq!(answered([0.1, 0.3, 0.9]), [false, true, true]);
    assert_eq!(answered([0.1, 0.2, 0.9]), [false, false, false]);
}

#[test]
fn a_pair_that_is_asked_word_by_word_is_the_answer_whatever_its_cosine() {
    let by_words = vec![Hit { confidence: 1.0, ..hit(1, 1_009.0, "one") }];
    let closeness = closeness_with(None, vec![close(2, 0.9), close(1, 0.0)], vec![Some(0.0)]);
    let fused = Ranking::new(found(by_words), &closeness, 0.3, 5).finish(Vec::new(), "two?");
    assert_eq!((relevant(&fused), fused.confidence), (vec![true], 1.0));
}
