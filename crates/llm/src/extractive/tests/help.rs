//! Replies about pages of help: tables, questions as headings, pairs.

use cicerone_domain::retrieval::Hit;

use super::{answer, pair, reply};
use crate::testing::hit;

const PRICES: &str = "# Repairs\n\n| Service | City boat | Motor boat |\n|---|---|---|\n\
    | Small service | £40 | £60 |\n| Full service | £80 | £120 |\n| Full service with paint | £180 | £250 |\n";

#[test]
fn of_rows_with_the_same_words_the_one_that_is_named_is_quoted() {
    let text = answer("how much is the full service", PRICES);
    assert_eq!(text, "Service: Full service; City boat: £80; Motor boat: £120");
    let text = answer("full service with paint", PRICES);
    assert_eq!(text, "Service: Full service with paint; City boat: £180; Motor boat: £250");
}

#[test]
fn a_short_table_is_quoted_whole_if_its_heading_is_asked_for() {
    let hours = "# Harbour\n\n## Opening hours\n\n| Day | Gate |\n|---|---|\n| Monday | 9 to 5 |\n| Sunday | closed |\n\n\
                 ## Prices\n\nThe gate costs two euros.";
    let text = answer("opening hours", hours);
    assert_eq!(text, "Day: Monday; Gate: 9 to 5\nDay: Sunday; Gate: closed");
}

#[test]
fn a_section_below_the_question_is_quoted_from_its_beginning() {
    let text = "# Questions\n\n## Can I pay in instalments?\n\nYes. Write to us before you come, and bring an identity card.\n\n\
                ## Is there a discount?\n\nNo.\n\n## Other ways to pay\n\nInstalments are paid by card only.";
    let reply = answer("can I pay in instalments", text);
    assert_eq!(reply, "Yes. Write to us before you come, and bring an identity card.");
}

#[test]
fn yes_or_no_is_said_before_its_reason() {
    let text = "## Does the ferry take dogs and horses?\n\nNo, never. Large animals make the deck of the ferry dirty, and the \
                crew has no time to clean the deck between two trips.";
    let reply = answer("why are large animals not taken on deck", text);
    assert!(reply.starts_with("No, never. Large animals"), "{reply}");
}

#[test]
fn a_pair_that_covers_much_more_replaces_the_first() {
    let invoice = Hit { coverage: 0.5, ..pair("Can I get an invoice?", "It comes by mail.") };
    let cash = Hit { score: 0.5, ..pair("How can I pay?", "In the shop in cash, too.") };
    let reply = reply("can I pay in cash?", vec![invoice, cash]);
    assert_eq!((reply.text.as_str(), reply.cited), ("In the shop in cash, too.", vec![1]));
}

#[test]
fn code_without_its_second_fence_gets_one() {
    let reply = answer("how do I moor", "## How to moor\n\nTo moor the ship:\n\n```\nmoor --now");
    assert!(reply.ends_with("```\nmoor --now\n```"), "{reply}");
}

#[test]
fn a_measure_is_quoted_by_its_name() {
    let crane = |text: &str| Hit { title: Some("Crane Orbit".into()), ..hit(text) };
    let text = "The crane Orbit is the oldest of our cranes.\n\nHeight: 30 m\n\nWeight: 19 t (empty)\n\nRange: 12 m";
    let heavy = reply("how heavy is the crane orbit", vec![crane(text)]).text;
    assert!(heavy.contains("Weight: 19 t (empty)") && !heavy.contains("Height"), "{heavy}");
    let table = "The crane Orbit is the oldest of our cranes.\n\n| Measure | Value |\n|---|---|\n| Height | 30 m |\n| Range | 12 m |";
    let far = reply("how far does the crane orbit go", vec![crane(table)]).text;
    assert!(far.contains("Measure: Range; Value: 12 m"), "{far}");
}

const RULES: &str = "# Ferry rules\n\n## You may bring\n\n- Umbrellas\n- Closed bottles\n\n## You may not bring\n\n- Glass bottles\n\
    - Drones\n- Tripods";

#[test]
fn an_item_that_is_no_sentence_is_quoted_with_what_says_what_the_list_is() {
    assert_eq!(answer("Can I bring drones?", RULES), "You may not bring: Drones");
    let introduced = "# Deck\n\nOn deck there are no:\n\n- drones\n- dogs\n\nWrite to us.";
    let text = answer("Are dogs on board?", introduced);
    assert_eq!(text, "On deck there are no: dogs");
}

#[test]
fn a_short_list_is_quoted_whole_if_its_heading_is_asked_for() {
    let text = "# Log\n\n## 3.1.0 - April\n\n- Export of lists.\n- Dark mode.\n\n## 3.0.0 - March\n\n\
                - Version 1 of the import was removed.\n- New desk.";
    for question in ["What changed in version 3.1.0?", "what is new in 3.1.0"] {
        assert_eq!(answer(question, text), "- Export of lists.\n- Dark mode.", "{question}");
    }
}

#[test]
fn below_other_headings_the_same_words_weigh_less() {
    let text = "## Bath quay\n\n| Day | Hours |\n|---|---|\n| Saturday | 9 to 5 |\n| Sunday | closed |\n\n\
                ## Wells quay\n\n| Day | Hours |\n|---|---|\n| Saturday | 10 to 2 |\n| Sunday | 12 to 4 |";
    let reply = answer("When is the Wells quay open on Saturday?", text);
    assert_eq!(reply, "Day: Saturday; Hours: 10 to 2");
}

#[test]
fn a_sum_of_money_answers_what_something_costs() {
    let text = "## Prices\n\nAn electric boat costs 10 euros a day if it is shared.\n\n| Trip | Adults |\n|---|---|\n\
                | Guided tour | £12 |\n| Locker | £2 |";
    for question in ["What does a guided tour cost?", "price of a guided tour"] {
        assert_eq!(answer(question, text), "Trip: Guided tour; Adults: £12", "{question}");
    }
}

#[test]
fn the_row_of_two_columns_that_are_compared_is_quoted() {
    let text = "## Prices\n\n| | Quay | Buoy |\n|---|---|---|\n| Price per day | £20 | £9 |\n| Water | yes | no |\n\n\
                A buoy may be booked. Every quay and every buoy has a number.";
    let reply = answer("What is the difference between a quay and a buoy?", text);
    assert!(
        reply.starts_with("Price per day; Quay: £20; Buoy: £9\nWater; Quay: yes; Buoy: no"),
        "{reply}"
    );
}

#[test]
fn other_prices_are_not_added_to_a_price() {
    let text = "A ticket costs 12 euros. Children visit the museum free of charge. Groups pay 9 euros each.";
    assert_eq!(answer("What does a ticket cost?", text), "A ticket costs 12 euros.");
}

#[test]
fn a_heading_is_quoted_once() {
    for heading in ["KeepAlive Directive", "`MaxBerths`"] {
        let text = format!("## {heading}\n\n- persistent connections\n- pipelining");
        let quoted = answer("persistent connections?", &text);
        assert_eq!(quoted, format!("{heading}: persistent connections"));
    }
    let introduced =
        "## KeepAlive Directive\n\nIt allows:\n\n- persistent connections\n- pipelining";
    let quoted = answer("persistent connections?", introduced);
    assert_eq!(quoted, "KeepAlive Directive: It allows: persistent connections");
}

#[test]
fn a_word_that_search_has_found_is_no_small_talk() {
    assert_eq!(answer("salve", "Rub the salve on the burn."), "Rub the salve on the burn.");
    assert_eq!(reply("salve", Vec::new()).text, "Buongiorno! Che cosa desidera sapere?");
}
