//! Replies from manuals: definitions, code, values, and what leads to them.

use cicerone_domain::agent::ReplyTokens;

use cicerone_domain::retrieval::Hit;

use super::{Extractive, answer, reply};
use crate::testing::{hit, request};

/// The best sentence alone.
fn short_answer(question: &str, text: &str) -> String {
    let mut request = request(question, vec![hit(text)]);
    request.profile.max_tokens = ReplyTokens::parse(1).unwrap();
    Extractive::default().compose_whole(&request).text
}

#[test]
fn a_definition_is_about_its_term() {
    let text = "`tide_limit` (`integer`): Sets the height at which the harbour closes. Ships have to wait outside. \
                The default value is four metres.\n\n\
                `tide_factor` (`float`): Multiplies `tide_limit` for large ships. The default value is 2.0, so that \
                twice the `tide_limit` is used.";
    let reply = answer("default value of tide_limit", text);
    let value = "The default value is four metres.";
    assert!(
        reply.contains(value) && reply.starts_with("`tide_limit` (`integer`): Sets"),
        "{reply}"
    );
}

#[test]
fn a_sentence_that_goes_on_behind_code_begins_before_it() {
    let text = "If you are the last who wrote, you can replace the last entry of the log with\n\n```\nharbour log --again\n```\n\n\
                which lets you edit its message first. This is useful for fixing typing mistakes in the last entry.";
    let whole = "If you are the last who wrote, you can replace the last entry of the log with\n```\nharbour log --again\n```\n\
                 which lets you edit its message first.";
    let reply = answer("fixing typing mistakes in the last entry of the log", text);
    assert!(reply.contains(whole), "{reply}");
}

#[test]
fn values_below_each_other_are_one_list() {
    let text = "The input of a flag accepts these spellings of the raised state:\n\n`up`\n\n`raised`\n\n`1`\n\n\
                and these of the lowered state:\n\n`down`\n\n`0`";
    assert_eq!(
        answer("Which spellings of the raised state are accepted?", text),
        "The input of a flag accepts these spellings of the raised state:\n`up`\n`raised`\n`1`"
    );
}

#[test]
fn a_name_brings_what_it_names() {
    let text = "11. Maximum number of moored ships\n\nThe harbour has room for twelve of them.\n\nOther things are free.";
    let reply = answer("maximum number of moored ships", text);
    assert!(reply.contains("room for twelve"), "{reply}");
}

#[test]
fn an_announcement_without_what_it_announces_is_no_answer() {
    let text = "Mooring a ship takes three people and a rope. Checking a ship before mooring performs these steps:";
    let reply = answer("checking a ship before mooring", text);
    assert!(reply.starts_with("Mooring a ship takes three people"), "{reply}");
}

#[test]
fn what_a_command_does_is_said_by_its_verb() {
    let text = "Pilots may use MOOR in a storm. In a calm, captains do what they like.\n\n\
                The MOOR command ties a ship to the pier.";
    assert_eq!(
        short_answer("What does MOOR do?", text),
        "The MOOR command ties a ship to the pier."
    );
    let text = "Captains read a harbour log first, as they do elsewhere.\n\n\
                harbour-log - Show what happened";
    assert_eq!(short_answer("What does harbour log do?", text), "harbour-log - Show what happened");
}

#[test]
fn a_reply_about_something_technical_may_be_longer() {
    let prose = "A ship with a deep keel moors at the outer pier, where the water is deep at all tides. \
                 The keel of a sailing ship may touch the ground at the inner pier in winter. \
                 Before a ship moors, its captain tells the pilots how deep the keel reaches. \
                 At the third pier there is a crane that lifts a ship out of the water by its keel. \
                 Deep channels lead from both piers to the sea, so that no keel scratches a rock.";
    let more = "A ship moors at pier four only if divers watch its deep keel. \
                Ice hurts every deep keel, so no ship moors at pier seven then. \
                Captain Berg moors his ship, whose keel is deep, at pier two. \
                Whoever moors a ship with a deep keel pays more at pier twelve. \
                Deep keel or flat, a ship moors free of charge at pier thirteen. \
                Mud holds a ship by its deep keel if it moors too far from a pier. \
                Pilots ask how deep the keel is before any ship moors at pier nine. \
                Tugs help a ship that moors at the old pier, as its keel lies deep.";
    let technical = format!("`--pier`: Moors at a pier.\n\n{prose} {more}");
    let asked = "Where does a ship with a deep keel moor at a pier?";
    let length = |text: &str| {
        let mut request = request(asked, vec![hit(text)]);
        request.profile.max_tokens = ReplyTokens::parse(1_000).unwrap();
        Extractive::default().answer(&request, None).text.chars().count()
    };
    let plain = length(&format!("{prose} {more}"));
    assert!((200..=300).contains(&plain), "{plain}");
    let long = length(&technical);
    assert!((701..=900).contains(&long), "{long}");
}

#[test]
fn a_sentence_that_says_nothing_of_the_question_is_not_added() {
    let text = "The lighthouse was built in 1874. Its lamp can be seen from twenty miles away.";
    assert_eq!(answer("When was the lighthouse built?", text), "The lighthouse was built in 1874.");
}

#[test]
fn what_is_done_by_an_option_is_answered_with_its_definition() {
    let text = "Most captains who moor ships at night ask the pilots first, and moor the ships of others only later at night.\n\n\
                `--dark`: Moor ships at night.\n\n\
                `--bright`: Wait for the day.";
    assert_eq!(
        short_answer("How do I moor ships at night?", text),
        "`--dark`: Moor ships at night."
    );
}

#[test]
fn a_question_with_a_negation_is_answered_with_one() {
    let text = "`--ring`: Moor with the bell ringing.\n\n`--quiet`: Moor, but don’t ring the bell.";
    let quiet = "`--quiet`: Moor, but don’t ring the bell.";
    assert_eq!(short_answer("How do I moor without ringing the bell?", text), quiet);
}

#[test]
fn a_reply_about_an_option_says_what_it_is_an_option_of() {
    let named = |title: &str| {
        let title = Some(title.into());
        let page = Hit { title, ..hit("`--dark`: Moor ships at night.\n\n`--bright`: Wait.") };
        reply("How do I moor ships at night?", vec![page]).text
    };
    let definition = "`--dark`: Moor ships at night.";
    let purpose = "harbour-moor - Tie ships to the pier";
    assert_eq!(named(purpose), format!("{purpose}\n{definition}"));
    assert_eq!(named("Moor"), definition);
    assert_eq!(named("Moor ships - The harbour"), definition);
}

#[test]
fn a_page_whose_title_says_what_was_asked_for_is_named() {
    let page = |title: &str, text: &str| Hit { title: Some(title.into()), ..hit(text) };
    let cited = |question: &str, title: &str| {
        let quoted = page("harbour-list - List ships", "`--old`: List rotten ropes last.");
        let named = page(title, "`--all`: Do so at once, everywhere and without asking again.");
        let reply = reply(question, vec![quoted, named]);
        (reply.text, reply.cited)
    };
    let (question, option) =
        ("list rotten ropes and replace them", "`--old`: List rotten ropes last.");
    let (renew, list) = ("harbour-renew - Replace rotten ropes", "harbour-list - List ships");
    let whole = format!("{list}\n{option}\n\n{renew}");
    assert_eq!(cited(question, renew), (whole, vec![0, 1]));
    let alone = format!("{list}\n{option}");
    // A title without a purpose, and one that has no more of the question than that of the quoted page.
    for other in ["Replace rotten ropes", "harbour-moor - Tie ships to the pier"] {
        assert_eq!(cited(question, other), (alone.clone(), vec![0]), "{other}");
    }
    // A question for a definition.
    let (text, _) = cited("what are rotten ropes", renew);
    assert!(!text.contains(renew), "{text}");
}

#[test]
fn a_title_that_says_what_the_subject_is_for_defines_it() {
    let page = |title: &str, text: &str| Hit { title: Some(title.into()), ..hit(text) };
    let other = page("harbour-moor - Tie ships", "`--renew`: Run harbour renew before.");
    let named = page("harbour-renew - Replace rotten ropes", "Run harbour renew in spring.");
    for question in ["What is harbour renew for?", "what does harbour renew do"] {
        let reply = reply(question, vec![other.clone(), named.clone()]);
        assert!(reply.text.starts_with("harbour-renew - Replace rotten ropes\n"), "{}", reply.text);
        assert_eq!(reply.cited[0], 1);
    }
    let text = reply("What is harbour for?", vec![other, named]).text;
    assert!(!text.contains("Replace rotten ropes"), "{text}");
}

#[test]
fn a_line_of_a_fourth_technical_passage_may_be_the_answer() {
    let others = ["log", "map", "bell"].map(|thing| {
        let text =
            format!("Captains moor ships and read the {thing}.\n\n`--{thing}`: Shows the {thing}.");
        Hit { score: 0.9, ..hit(&text) }
    });
    let option = Hit { score: 0.8, ..hit("`--dark`: Moor ships at night.") };
    let passages = others.into_iter().chain([option]).collect();
    let text = reply("How do I moor ships at night?", passages).text;
    assert!(text.starts_with("`--dark`"), "{text}");
}

#[test]
fn what_a_section_about_the_subject_begins_with_defines_it() {
    let text = "## MooringRope Directive\n\n| Description: | Sets the rope that ships are tied with |\n\
                | Syntax: | MooringRope hemp\\|steel |\n\n\
                A MooringRope of hemp was usual in former times, and MooringRope is read at each start.\n\n\
                ## Bell Directive\n\nThe bell and the MooringRope are checked in the morning.";
    for question in ["What does MooringRope do?", "what is the MooringRope directive"] {
        let reply = short_answer(question, text);
        assert_eq!(reply, "Description: Sets the rope that ships are tied with", "{question}");
    }
    // The section leads, although another passage has the name more often.
    let other = Hit {
        score: 2.0,
        ..hit("Bells and each MooringRope are sold by the maker of the MooringRope.")
    };
    let text = reply("What does MooringRope do?", vec![other, hit(text)]).text;
    assert!(text.starts_with("Description: Sets the rope"), "{text}");
}

#[test]
fn a_label_begins_no_section() {
    let text = "# Tide gates\n\nLanguages: en | fr\n\nThey keep the water in the harbour at low tide. \
                A boat waits before a closed tide gate.";
    let reply = short_answer("What are tide gates?", text);
    assert_eq!(reply, "They keep the water in the harbour at low tide.");
}

#[test]
fn a_reply_says_which_setting_or_function_it_is_about() {
    let section = "## HarbourLight Directive\n\n### Example\n\nShips are shown the way at night by a red lamp.";
    let text = answer("show ships the way at night", section);
    assert_eq!(text, "HarbourLight Directive: Ships are shown the way at night by a red lamp.");
    // The question has the name already, or the heading has none.
    let known = answer("What shows ships the way at night, harbourlight?", section);
    assert_eq!(known, "Ships are shown the way at night by a red lamp.");
    let plain =
        answer("show ships the way at night", &section.replace("HarbourLight Directive", "Light"));
    assert_eq!(plain, "Ships are shown the way at night by a red lamp.");
    // No room for the name.
    let path = Hit {
        heading: Some("HarbourLight Directive".into()),
        ..hit("Ships are shown the way at night.")
    };
    let mut short = request("show ships the way at night", vec![path]);
    short.profile.max_tokens = ReplyTokens::parse(10).unwrap();
    let text = Extractive::default().answer(&short, None).text;
    assert_eq!(text, "Ships are shown the way at night.");
    // A passage that begins within the section.
    let path = Hit {
        heading: Some("Harbour API › harbour.light(colour) › Example".into()),
        ..hit("Ships are shown the way at night by a red lamp.")
    };
    let text = reply("show ships the way at night", vec![path]).text;
    assert_eq!(text, "harbour.light(colour): Ships are shown the way at night by a red lamp.");
}

#[test]
fn code_below_a_heading_that_asks_the_same_answers() {
    let text = "## Moor a ship at night\n\nDiscussion: Captains have different opinions about this, and some do not do it at all.\n\n\
                ```\nlamp --on\nmoor --ship Orbit\n```\n\nThe harbour is open to ships at all times.";
    let reply = short_answer("how to moor a ship at night", text);
    assert_eq!(reply, "```\nlamp --on\nmoor --ship Orbit\n```");
}

#[test]
fn the_first_cell_of_a_row_is_defined_by_the_row() {
    let text = "A format has fields, of which %T is one.\n\n| Field | Meaning |\n|---|---|\n\
                | %T | The tide, in centimetres |\n| %S | The ship |";
    let reply = short_answer("what does %T mean", text);
    assert_eq!(reply, "Field: %T; Meaning: The tide, in centimetres");
}

#[test]
fn a_full_stop_within_code_ends_no_sentence() {
    let text =
        "Remove the line `pier open. Always. ` from the list of piers. Then the pier is closed.";
    let reply = answer("remove the line of the list of piers", text);
    assert!(
        reply.starts_with("Remove the line `pier open. Always. ` from the list of piers."),
        "{reply}"
    );
    let quotation =
        "Remove the line that begins with `pier' from the list of piers. Nobody knows why.";
    let reply = answer("remove the line of the list of piers", quotation);
    assert_eq!(reply, "Remove the line that begins with `pier' from the list of piers.");
}

#[test]
fn a_heading_further_down_names_nothing_above_it() {
    let text = "The harbour opens at six in the morning.\n\n## harbour.light(colour)\n\nLamps are red at night.";
    let heading = Some("Harbour API › harbour.light(colour)".into());
    let passage = || Hit { heading: heading.clone(), ..hit(text) };
    let above = reply("When does the harbour open in the morning?", vec![passage()]).text;
    assert_eq!(above, "The harbour opens at six in the morning.");
    let below = reply("Which lamps are red at night?", vec![passage()]).text;
    assert_eq!(below, "harbour.light(colour): Lamps are red at night.");
    // A heading of plain text is below the others.
    let text = "## HarbourLight Directive\n\nExample\n\nShips are shown the way at night.";
    let named = answer("show ships the way at night", text);
    assert_eq!(named, "HarbourLight Directive: Ships are shown the way at night.");
}

#[test]
fn code_and_lists_begin_on_a_line_of_their_own() {
    let code = "## `harbour.lamp(colour)`:\n\n```\nlamp on red at night\n```\n";
    let text = answer("lamp on red at night?", code);
    assert_eq!(text, "`harbour.lamp(colour)`:\n```\nlamp on red at night\n```");
    let steps =
        "## Start `harbour`\n\n1. Open the gate of the pier.\n2. Light the lamp of the pier.";
    let text = answer("open the gate and light the lamp of the pier", steps);
    assert_eq!(
        text,
        "Start `harbour`:\n1. Open the gate of the pier.\n2. Light the lamp of the pier."
    );
}
