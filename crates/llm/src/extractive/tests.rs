//! Replies of the embedded answerer.

mod help;
mod manuals;

use cicerone_domain::agent::ReplyTokens;
use cicerone_domain::ports::{ModelReply, TokenSink};
use cicerone_domain::retrieval::{Hit, QueryTerm};

use super::Extractive;
use crate::testing::{hit, request};

fn reply(question: &str, passages: Vec<Hit>) -> ModelReply {
    Extractive::default().answer(&request(question, passages), None)
}

fn answer(question: &str, text: &str) -> String {
    reply(question, vec![hit(text)]).text
}

fn pair(question: &str, text: &str) -> Hit {
    Hit { title: Some(question.into()), is_pair: true, ..hit(text) }
}

#[test]
fn the_matching_pair_gives_its_whole_answer() {
    let long = "You send it back. ".repeat(20);
    let other = Hit { coverage: 0.9, score: 0.8, ..hit("Refunds are for everyone, always.") };
    let reply = reply("How do refunds work?", vec![pair("How do refunds work?", &long), other]);
    assert_eq!(
        reply,
        ModelReply {
            text: long.trim().to_owned(),
            cited: vec![0],
            sent: 2,
            ..ModelReply::default()
        }
    );
}

#[test]
fn a_pair_that_covers_little_steps_back_behind_a_passage_that_covers_much() {
    let weak = Hit { coverage: 0.3, ..pair("Who are you?", "We are a shop.") };
    let text = hit("Parcels to Norway take nine days.");
    let reply = reply("How long do parcels to Norway take?", vec![weak, text]);
    assert_eq!(
        reply,
        ModelReply {
            text: "Parcels to Norway take nine days.".into(),
            cited: vec![1],
            sent: 2,
            ..ModelReply::default()
        }
    );
}

#[test]
fn the_sentence_that_covers_the_question_is_quoted_whole() {
    let text = "We sell tea. Parcels to Norway take nine days and are insured. Our shop is green. \
                Cats are welcome in it. Nobody knows why.";
    assert_eq!(
        answer("How long do parcels to Norway take?", text),
        "Parcels to Norway take nine days and are insured."
    );
}

#[test]
fn a_sentence_that_begins_with_it_brings_the_one_before() {
    let text = "The Orbit is our largest tent. It weighs nine kilograms when packed. Cats are fun.";
    assert_eq!(
        answer("How many kilograms does the largest tent weigh?", text),
        "The Orbit is our largest tent. It weighs nine kilograms when packed."
    );
}

#[test]
fn a_sentence_that_introduces_a_list_brings_all_of_it() {
    let text = "# Setup\nBefore.\n\nThe kit contains these parts:\n\n- a **hammer**\n- a saw\n- nails\n\n\
                Something else entirely.";
    assert_eq!(
        answer("What parts does the kit contain?", text),
        "The kit contains these parts:\n- a hammer\n- a saw\n- nails"
    );
}

#[test]
fn a_step_brings_all_steps() {
    let text = "Resetting the router:\n1. Unplug the router.\n2. Hold the reset button.\n3. Wait.";
    assert_eq!(
        answer("How do I use the reset button of the router?", text),
        "Resetting the router:\n1. Unplug the router.\n2. Hold the reset button.\n3. Wait."
    );
}

#[test]
fn code_comes_with_what_introduces_it_and_stays_code() {
    let text =
        "Install the program with cargo:\n\n```sh\ncargo install  cicerone\n```\n\nThen rest.";
    assert_eq!(
        answer("How do I install the program?", text),
        "Install the program with cargo:\n```sh\ncargo install  cicerone\n```"
    );
}

#[test]
fn a_row_is_read_with_the_names_of_its_columns() {
    let text = "| Setting | Default | Meaning |\n|---|---|---|\n| `BIND` | `127.0.0.1` | listen \
                address |\n| `DIR` | `./data` | everything kept |";
    assert_eq!(
        answer("What is the listen address?", text),
        "Setting: `BIND`; Default: `127.0.0.1`; Meaning: listen address"
    );
}

#[test]
fn a_heading_alone_is_no_answer() {
    let text = "## Refund policy\n\nWithin 30 days, unused, with the receipt.\n\n## Shipping\n\nBy bicycle.";
    assert_eq!(
        answer("What is the refund policy?", text),
        "Within 30 days, unused, with the receipt."
    );
}

#[test]
fn what_asks_does_not_answer() {
    let text =
        "What does the delivery cost? Three euros within the city. Do you have cats? Yes, two.";
    let answer = answer("What does the delivery cost?", text);
    assert!(answer.contains("Three euros"), "{answer}");
    assert!(!answer.contains("cats"), "{answer}");
}

#[test]
fn a_reply_is_short_and_never_cuts_a_sentence() {
    let text = (1..40)
        .map(|n| {
            format!("Delivery number {n} goes to the city by bicycle and costs {n} euros each.")
        })
        .collect::<Vec<_>>()
        .join(" ");
    let reply = answer("What does delivery by bicycle to the city cost?", &text);
    assert!(reply.chars().count() <= 300, "{reply}");
    assert!(reply.ends_with("each."), "{reply}");
}

#[test]
fn passages_that_give_nothing_are_not_cited() {
    let text = hit("Parcels to Norway take nine days.");
    let same = hit("Parcels to Norway take nine days.");
    let other = hit("Norway is far away.");
    let reply = reply("How long do parcels to Norway take?", vec![text, same, other]);
    assert_eq!(reply.cited, [0]);
    assert_eq!(reply.text, "Parcels to Norway take nine days.");
}

#[test]
fn another_passage_that_covers_the_rest_is_quoted_after_the_best() {
    let question = "How long do parcels to Norway take and what do furniture deliveries cost?";
    let first = hit("Parcels to Norway take nine days.");
    let second = hit("Furniture deliveries cost forty euros.");
    let reply = reply(question, vec![first, second]);
    assert_eq!(reply.cited.len(), 2);
    assert!(reply.text.contains("nine days.") && reply.text.contains("forty euros."));
}

#[test]
fn without_passages_it_says_so_in_the_language_of_the_question() {
    let english = reply("What is the capital of France?", Vec::new());
    assert_eq!(english.text, "My sources do not cover this question, so I cannot answer it.");
    assert!(english.cited.is_empty());
    assert!(reply("¿Cuál es la capital de Francia?", Vec::new()).text.starts_with("Mis fuentes"));
}

#[test]
fn the_tokens_joined_are_the_text() {
    for text in ["One  two.\nThree four: five.", "第一句话。第二句话在这里，比较长一些。"]
    {
        let (sink, mut tokens) = TokenSink::channel();
        let reply = Extractive::default()
            .answer(&request("One three 第一句", vec![hit(text)]), Some(&sink));
        drop(sink);
        let mut joined = String::new();
        while let Ok(token) = tokens.try_recv() {
            joined.push_str(&token);
        }
        assert_eq!(joined, reply.text);
        assert!(!joined.is_empty());
    }
}

#[test]
fn any_passage_gives_a_reply() {
    for text in ["", " ", "#", "# x", "| a |", "|---|", "```", "- ", "?", ":", "x:", "It.", "\0"] {
        for question in ["", "x", "# ?", "(((("] {
            let reply = reply(question, vec![hit(text), pair("", ""), hit(text)]);
            assert!(!reply.text.is_empty(), "{text:?} {question:?}");
        }
    }
}

#[test]
fn what_something_is_comes_before_where_it_is_mentioned() {
    let mentions =
        Hit { score: 1.0, ..hit("Cicerone serves. `cicerone ask` asks Cicerone itself.") };
    let defines = Hit { score: 0.9, ..hit("# Cicerone\n\nCicerone is a service for chat agents.") };
    let reply = reply("What is Cicerone?", vec![mentions, defines]);
    assert!(reply.text.starts_with("Cicerone is a service for chat agents."), "{}", reply.text);
    assert_eq!(reply.cited.first(), Some(&1));
}

#[test]
fn code_that_quotes_the_question_does_not_answer_it() {
    let text =
        "```sh\nask \"What does the boat need?\"\n```\n\nThe boat needs a new coat of paint.";
    assert_eq!(answer("What does the boat need?", text), "The boat needs a new coat of paint.");
}

#[test]
fn code_does_not_say_what_something_is() {
    let text = "```console\nerror: a closure, a closure argument, a closure call\n```\n\n\
                Closures are functions without a name.";
    assert_eq!(answer("What is a closure?", text), "Closures are functions without a name.");
}

#[test]
fn a_sentence_answers_before_code_with_the_same_words() {
    let text =
        "```toml\n[cache]\ncache-size = 10\n```\n\nThe cache-size of the cache is in megabytes.";
    let mut request = request("Which unit has the cache-size of the cache?", vec![hit(text)]);
    request.profile.max_tokens = ReplyTokens::parse(12).unwrap();
    let short = Extractive::default().answer(&request, None).text;
    assert_eq!(short, "The cache-size of the cache is in megabytes.");
}

#[test]
fn sentences_behind_a_quotation_stand_apart() {
    let text = "Refunds are paid “at once.” Refunds need a receipt.";
    assert_eq!(answer("How do refunds work?", text), text);
}

#[test]
fn what_something_is_is_found_behind_passages_that_only_name_it() {
    let mentions =
        ["Set the Orbit up.", "The Orbit has a manual.", "Wash the Orbit. Dry the Orbit."];
    let mut passages: Vec<Hit> = mentions.iter().map(|text| hit(text)).collect();
    passages.push(hit("# Tents\n\nThe Orbit is our largest tent. It is green."));
    let reply = reply("What is the Orbit?", passages);
    assert!(reply.text.starts_with("The Orbit is our largest tent."), "{}", reply.text);
    assert_eq!(reply.cited.first(), Some(&3));
}

#[test]
fn a_reply_has_no_more_than_its_tokens() {
    let text = "Refunds are paid within a week. Refunds need a receipt.";
    let mut request = request("How do refunds work?", vec![hit(text)]);
    let whole = Extractive::default().answer(&request, None).text;
    assert_eq!(whole, text);
    let mut of = |tokens| {
        request.profile.max_tokens = ReplyTokens::parse(tokens).unwrap();
        let reply = Extractive::default().answer(&request, None);
        (reply.text, reply.is_cut)
    };
    assert_eq!(of(8), ("Refunds are paid within a week.".to_owned(), false));
    assert_eq!(of(5), ("Refunds are paid…".to_owned(), true));
    let long = vec![pair("How do refunds work?", &"You send it back. ".repeat(40))];
    let reply = reply("How do refunds work?", long);
    assert!(reply.is_cut && reply.text.len() <= 400, "{reply:?}");
    assert!(reply.text.ends_with("back."), "{reply:?}");
}

#[test]
fn what_was_said_before_adds_no_sentence() {
    let text = "The museum opens at nine. Tickets cost twelve euros.";
    let mut request = request("And the tickets?", vec![hit(text)]);
    request.terms = [("ticket", 1.0, false, 0), ("museum", 0.9, true, 1), ("open", 0.9, true, 2)]
        .map(|(text, weight, is_context, word)| QueryTerm {
            text: text.to_owned(),
            weight,
            is_context,
            word,
        })
        .into();
    let reply = Extractive::default().answer(&request, None).text;
    assert_eq!(reply, "Tickets cost twelve euros.");
}

#[test]
fn a_passage_that_only_its_meaning_found_is_quoted_from_its_beginning() {
    let found = Hit { coverage: 0.0, ..hit("The **garage** is behind the theatre. It is free.") };
    let reply = reply("Dónde dejo mi coche?", vec![found]);
    assert_eq!(reply.text, "The garage is behind the theatre. It is free.");
    assert_eq!(reply.cited, [0]);
}

#[test]
fn a_sentence_above_a_divider_is_no_heading() {
    let question = "When does the harbour open?";
    for rule in ["---", "----------", "***", "==="] {
        let text = format!("The harbour opens at nine.\n{rule}\nA berth costs 12 euros.");
        assert_eq!(answer(question, &text), "The harbour opens at nine.", "{rule}");
    }
    let list = "- The harbour opens at nine\n---\nA berth costs 12 euros.";
    assert_eq!(answer(question, list), "The harbour opens at nine");
    let heading = "Harbour\n---\nIt opens at nine.";
    assert_eq!(answer(question, heading), "It opens at nine.");
}

#[test]
fn lines_without_full_stops_answer_if_there_are_several() {
    let text = "The house is by the sea.\n\nFree parking behind the house\n\nDogs are welcome\n\n\
                Breakfast from seven to ten\n\nWe look forward to seeing you here in the summer.";
    for (question, line) in [
        ("Is there free parking?", "Free parking behind the house"),
        ("Are dogs welcome?", "Dogs are welcome"),
        ("When is breakfast?", "Breakfast from seven to ten"),
    ] {
        let answer = answer(question, text);
        assert!(answer.starts_with(line), "{answer}");
    }
}
