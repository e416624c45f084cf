//! Hostile questions.

use std::time::{Duration, Instant};

use crate::feed::{World, passage};

#[tokio::test]
async fn any_question_is_answered_quickly() {
    let world = World::new();
    let passages = (0..300).map(|number| {
        passage(
            number,
            &format!("Passage {number} tells of word{number} and of the plan in general."),
        )
    });
    world.put("a", passages.collect());
    world.ask("plan").await;
    let questions = [
        "(".repeat(4_000),
        "\"AND (title:* OR -x) ^2~".to_owned(),
        "?!…。".repeat(500),
        "👩‍👩‍👧‍👦".repeat(200),
        "\0plan\0".to_owned(),
        (0..4_000).map(|number| format!("word{number} ")).collect::<String>(),
        "passsage generall wrod ".repeat(170),
        (b'a'..=b'z')
            .map(|letter| "gener".repeat(3) + &char::from(letter).to_string().repeat(20))
            .collect::<Vec<_>>()
            .join(" "),
        "plan ".repeat(800),
        "的".repeat(4_000),
        "a\u{301}".repeat(2_000),
        String::new(),
        " \n\t".to_owned(),
        "\u{202E}nalp".to_owned(),
    ];
    for question in &questions {
        let started = Instant::now();
        let found = world.ask(question).await;
        assert!(found.hits.len() <= 5);
        assert!(found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.coverage)));
        // Ample time for an unoptimised build on a busy machine; a runaway search takes longer.
        assert!(started.elapsed() < Duration::from_secs(2), "{question:.20}");
    }
    assert_eq!(world.ask("\0plan\0").await.hits.len(), 5);
    assert!(world.ask("((((").await.hits.is_empty());
    assert!(world.ask("*").await.hits.is_empty());
}

#[tokio::test]
async fn eight_words_of_a_question_are_corrected_and_no_more() {
    let world = World::new();
    world.put("a", vec![passage(0, "The lighthouse was built on a rock.")]);
    for (strange, is_corrected) in [(7, true), (8, false)] {
        let strange: String =
            (0..strange).map(|at| format!("zz{} ", "qx".repeat(at + 2))).collect();
        let found = world.ask(&format!("{strange} lighthuose")).await;
        let has_word = found.terms.iter().any(|term| term.text == "lighthous");
        assert_eq!(has_word, is_corrected, "{strange} {:?}", found.terms);
    }
}

#[tokio::test]
async fn any_content_is_indexed() {
    let world = World::new();
    let long_word = "x".repeat(100_000);
    let texts = ["", " ", "\0", "👩‍👩‍👧", &long_word, "ﷺ", "a\u{301}\u{301}\u{301}"];
    let mut passages: Vec<_> =
        texts.iter().zip(0..).map(|(text, position)| passage(position, text)).collect();
    passages.push(passage(99, "The museum opens at nine."));
    world.put("a", passages);
    assert_eq!(world.ask("museum").await.hits[0].position, 99);
}
