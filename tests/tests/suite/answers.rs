//! Replies of the embedded answerer that a person would accept: definitions, tables, code, pairs,
//! typing mistakes, and refusals.

use serde_json::json;

use crate::world::client;

/// A page of a manual, in the form that the readers produce.
const MANUAL: &str = "# harbour-lock\n\n## Options\n\n\
`-u`, `--include-untracked`: Also stows ships without papers. Their crews are told.\n\n\
`-q`, `--quiet`: Prints nothing but errors.\n\n\
`--dry-run`: Shows what would be done without doing it.\n\n\
## Opening the gate\n\n\
The gate is opened from the tower.\n\n\
```sh\nlock gate --open\n```\n\n\
## Limits\n\n\
| Ship | Longest stay | Price |\n|---|---|---|\n| Barge | 12 days | 40 euros |\n| Yacht | 3 days | 90 euros |\n";

const PAIRS: [(&str, &str); 5] = [
    (
        "Which shots do I need before I travel with the harbour fever going round?",
        "The harbour fever, the harbour fever shot and the harbour fever season are explained at the gate.",
    ),
    ("What is harbour fever?", "An illness of sailors."),
    ("How long does harbour fever last?", "About nine days."),
    ("Who can get harbour fever?", "Anybody who sleeps on a ship."),
    ("What are the symptoms?", "A cough, and a longing for land."),
];

const PRACTICE: &str = "# Prices\n\n\
| Service | Cat | Rabbit |\n|---|---|---|\n| Check-up | £42 | £38 |\n| Dental care | £120 | £95 |\n\n\
## Plans\n\nThe Willow plan costs £14 a month and includes vaccinations. The Oak plan costs £22 a month.\n\n\
## Opening hours\n\n\
We open at 8:30 on weekdays and close when the last visitor has left. Dr Marchetti is here on Tuesdays.\n";

#[tokio::test]
async fn a_definition_keeps_its_term() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, MANUAL).await;
    for question in ["How do I stow ships without papers?", "What does --include-untracked do?"] {
        let answer = client.ask(&agent, question).await;
        let reply = answer["reply"].as_str().unwrap();
        assert!(reply.contains("--include-untracked"), "{question} {reply}");
        assert!(reply.contains("ships without papers"), "{question} {reply}");
    }
}

#[tokio::test]
async fn settings_are_defined_and_named() {
    let client = client();
    let agent = client.agent().await;
    let page = "# Harbour server\n\n## KeepMoored Directive\n\n\
                | Description: | Leaves ships tied between two visits |\n\
                | Syntax: | KeepMoored On\\|Off |\n| Default: | KeepMoored On |\n\n\
                With KeepMoored, a captain who comes back finds the ropes as they were.\n\n\
                ## MooringTimeout Directive\n\n\
                | Description: | How many minutes a ship stays tied without its captain |\n\
                | Syntax: | MooringTimeout minutes |\n\n\
                After this time the ropes are thrown into the water, whether KeepMoored is set or not.\n";
    client.text(&agent, page).await;
    let reply = async |question: &str| {
        let answer = client.ask(&agent, question).await;
        answer["reply"].as_str().unwrap().to_owned()
    };
    let defined = reply("What does KeepMoored do?").await;
    assert!(defined.contains("Description: Leaves ships tied between two visits"), "{defined}");
    let syntax = reply("syntax of KeepMoored").await;
    assert!(syntax.contains("Syntax: KeepMoored On|Off"), "{syntax}");
    let named = reply("how many minutes does a ship stay tied without its captain").await;
    let rows = "MooringTimeout Directive:\nDescription: How many minutes a ship stays tied";
    assert!(named.starts_with(rows), "{named}");
}

#[tokio::test]
async fn a_question_that_comes_again_is_answered_from_what_its_agent_knows_now() {
    let client = client();
    let (agent, other) = (client.agent().await, client.agent().await);
    client.text(&other, "The ferry leaves the pier at seven.").await;
    let first = client.text(&agent, "The ferry leaves the pier at nine.").await;
    let ask = async |agent: &str| {
        let answer = client.ask(agent, "When does the ferry leave the pier?").await;
        answer["reply"].as_str().unwrap().to_owned()
    };
    for _ in 0..3 {
        assert_eq!(ask(&agent).await, "The ferry leaves the pier at nine.");
        assert_eq!(ask(&other).await, "The ferry leaves the pier at seven.");
    }

    client.delete(&format!("/v1/sources/{first}")).await.expect_nothing();
    for _ in 0..2 {
        assert!(!ask(&agent).await.contains("ferry"));
    }
    let long = "The ferry leaves the pier at ten from Monday to Friday. The ferry leaves the pier at noon on all \
                other days, unless the ferry cannot leave the pier.";
    client.text(&agent, long).await;
    let whole = ask(&agent).await;
    assert!(whole.contains("ten") && whole.contains("noon"), "{whole}");

    let path = format!("/v1/agents/{agent}");
    client.patch(&path, json!({ "max_tokens": 10 })).await.expect(200);
    let short = ask(&agent).await;
    assert_eq!(short, "The ferry leaves the pier at ten from…");
    client
        .patch(&path, json!({ "max_tokens": 1_000, "answer_floor": "cautious" }))
        .await
        .expect(200);
    assert_eq!(ask(&agent).await, whole);
    assert_eq!(ask(&other).await, "The ferry leaves the pier at seven.");
}

#[tokio::test]
async fn code_below_a_sentence_is_part_of_the_answer() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, MANUAL).await;
    let answer = client.ask(&agent, "How do I open the gate?").await;
    assert!(answer["reply"].as_str().unwrap().contains("lock gate --open"), "{answer}");
}

#[tokio::test]
async fn a_row_is_answered_with_the_header_of_its_table() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, MANUAL).await;
    let answer = client.ask(&agent, "What is the longest stay of a yacht?").await;
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.contains("Ship: Yacht; Longest stay: 3 days"), "{reply}");
    assert!(!reply.contains("12 days"), "{reply}");
}

#[tokio::test]
async fn the_pair_that_asks_just_that_comes_before_one_that_mentions_it() {
    let client = client();
    let agent = client.agent().await;
    client.qa(&agent, &PAIRS).await;
    for (question, reply) in [
        ("what is harbour fever", "An illness of sailors."),
        ("harbour fever how long", "About nine days."),
        ("who gets harbour fever", "Anybody who sleeps on a ship."),
    ] {
        let answer = client.ask(&agent, question).await;
        assert_eq!(answer["reply"], reply, "{question}");
    }
}

#[tokio::test]
async fn a_word_with_a_typing_mistake_finds_its_word() {
    let client = client();
    let agent = client.agent().await;
    client.qa(&agent, &PAIRS).await;
    for question in ["symtoms", "what are the symptmos", "simptoms", "symptomss?"] {
        let answer = client.ask(&agent, question).await;
        assert_eq!(answer["reply"], "A cough, and a longing for land.", "{question}");
    }
}

#[tokio::test]
async fn the_same_question_is_refused_by_a_cautious_agent_and_answered_by_an_eager_one() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine. On Mondays it is closed.").await;
    let ask = async |floor: &str| {
        let path = format!("/v1/agents/{agent}");
        client.patch(&path, json!({ "answer_floor": floor })).await.expect(200);
        client.ask(&agent, "Is it closed on holidays?").await
    };
    let cautious = ask("cautious").await;
    assert_eq!(cautious["sources_used"], json!([]), "{cautious}");
    let eager = ask("eager").await;
    assert!(eager["reply"].as_str().unwrap().contains("On Mondays"), "{eager}");
    assert_ne!(eager["sources_used"], json!([]), "{eager}");
}

#[tokio::test]
async fn what_is_said_of_one_name_does_not_answer_for_another() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "Captain Ortega sailed from Cadiz in 1742 and founded the harbour.").await;
    let answer = client.ask(&agent, "When did Captain Ortega sail?").await;
    assert!(answer["reply"].as_str().unwrap().contains("1742"), "{answer}");
    for question in
        ["When did Captain Wilhelmsen found Rotterdam?", "Did Captain Brandt land in 1891?"]
    {
        let answer = client.ask(&agent, question).await;
        assert_eq!(answer["sources_used"], json!([]), "{question} {answer}");
    }
}

#[tokio::test]
async fn a_name_that_no_source_has_is_refused_and_a_known_one_answered() {
    let client = client();
    let agent = client.agent().await;
    for section in PRACTICE.split("\n\n## ") {
        client.text(&agent, section).await;
    }
    let answer = client.ask(&agent, "What is the price of the Oak plan?").await;
    assert!(answer["reply"].as_str().unwrap().contains("£22"), "{answer}");
    for question in ["What is the price of the Platinum plan?", "Which days is Dr Brandt here?"] {
        let answer = client.ask(&agent, question).await;
        assert_eq!(answer["sources_used"], json!([]), "{question} {answer}");
    }
}

#[tokio::test]
async fn both_of_two_questions_are_answered() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, PRACTICE).await;
    let answer = client.ask(&agent, "When do you open, and how much is the Oak plan?").await;
    let reply = answer["reply"].as_str().unwrap();
    assert!(reply.contains("8:30") && reply.contains("£22"), "{answer}");
}

#[tokio::test]
async fn a_german_date_ends_no_sentence() {
    let client = client();
    let agent = client.agent().await;
    let text = "Resturlaub wird übertragen und verfällt am 31. März des Folgejahres. Danach ist er verloren.";
    client.text(&agent, text).await;
    let answer = client.ask(&agent, "Wann verfällt der Resturlaub?").await;
    assert!(answer["reply"].as_str().unwrap().contains("31. März des Folgejahres"), "{answer}");
}

#[tokio::test]
async fn no_reply_is_longer_than_its_tokens_allow() {
    let client = client();
    let agent = client.agent().await;
    client.qa(&agent, &[("How do I clean it?", &"Wipe it. Dry it well. ".repeat(100))]).await;
    let path = format!("/v1/agents/{agent}");
    for (tokens, expected) in [(1, "Wip…"), (3, "Wipe it."), (6, "Wipe it. Dry it well.")] {
        client.patch(&path, json!({ "max_tokens": tokens })).await.expect(200);
        assert_eq!(client.ask(&agent, "How do I clean it?").await["reply"], expected);
    }
    let completion = json!({
        "model": agent, "max_tokens": 6, "messages": [{ "role": "user", "content": "How do I clean it?" }],
    });
    let completion = client.post("/v1/chat/completions", completion).await.expect(200);
    assert_eq!(completion["choices"][0]["finish_reason"], "length", "{completion}");
}
