use std::sync::Arc;

use cicerone_domain::limits;

use super::{Chunk, MAX_CHARS, MIN_CHARS, TARGET_CHARS, chunks};

fn texts(text: &str) -> Vec<&str> {
    chunks(text).into_iter().map(|chunk| &text[chunk.range]).collect()
}

fn headings(text: &str) -> Vec<Option<String>> {
    chunks(text).into_iter().map(|chunk| Some(chunk.heading?.as_ref().to_owned())).collect()
}

/// `count` sentences of 60 characters.
fn prose(count: usize) -> String {
    (0..count)
        .map(|n| format!("Sentence number {n:04} tells of the harbour and its old light. "))
        .collect()
}

#[test]
fn a_short_text_is_one_chunk_without_white_space_around() {
    assert_eq!(
        texts("\n\n  Opening hours are nine to five.\n\n"),
        ["Opening hours are nine to five."]
    );
    assert_eq!(chunks(" \n\t\n"), Vec::<Chunk>::new());
}

#[test]
fn a_long_paragraph_is_cut_between_sentences() {
    let text = prose(100);
    let parts = texts(&text);
    assert!(parts.len() > 2);
    for part in &parts {
        let chars = part.chars().count();
        assert!(chars <= MAX_CHARS, "{chars}");
        assert!(part.starts_with("Sentence number") && part.ends_with("old light."), "{part}");
    }
    let most = parts.iter().rev().skip(1).map(|part| part.len());
    assert!(most.min().unwrap() > TARGET_CHARS - 100);
}

#[test]
fn a_section_keeps_its_last_crumb() {
    // 1,900 characters: more than aimed at, and not worth a second stretch.
    let text = prose(30);
    assert!(text.chars().count() > TARGET_CHARS && text.chars().count() < MAX_CHARS);
    assert_eq!(chunks(&text).len(), 1);
}

#[test]
fn white_space_between_blocks_counts() {
    let apart = "\n".repeat(MAX_CHARS);
    assert_eq!(texts(&format!("One.{apart}Two.{apart}# Three{apart}Four.")).len(), 4);
    let lines = "A line of verse.\n\n\n\n\n\n\n\n".repeat(500);
    for part in texts(&lines) {
        assert!(part.chars().count() <= MAX_CHARS);
    }
}

#[test]
fn headings_start_chunks_and_make_a_path() {
    let body = prose(5);
    let text = format!(
        "# Guide\n\n{body}\n\n## Install ##\n\n{body}\n\n### On `Linux`\n\n{body}\n\nUse\n---\n\n{body}"
    );
    let expected = ["Guide", "Guide › Install", "Guide › Install › On Linux", "Guide › Use"];
    assert_eq!(headings(&text), expected.map(|path| Some(path.to_owned())));
    for part in texts(&text) {
        assert!(part.starts_with('#') || part.starts_with("Use"), "{part}");
    }
}

#[test]
fn marks_alone_are_no_heading() {
    let text = "One.\n\n*\n---\nTwo.\n\n**\n===\n\nThree.\u{2028}Four.";
    assert!(headings(text).iter().all(Option::is_none), "{:?}", headings(text));
}

#[test]
fn small_sections_share_a_chunk_under_the_path_that_they_share() {
    let text = "# Shop\n\n## Hours\n\nNine to five.\n\n## Phone\n\nCall 555 0199.\n";
    assert_eq!(chunks(text).len(), 1);
    assert_eq!(headings(text), [Some("Shop".to_owned())]);
}

#[test]
fn a_heading_with_little_above_it_keeps_its_own_path() {
    let text = format!("# Shop\n\n## Returns\n\n{}", prose(6));
    assert_eq!(headings(&text), [Some("Shop › Returns".to_owned())]);
}

#[test]
fn a_plain_text_has_headings_where_short_lines_stand_above_paragraphs() {
    let body = prose(6);
    let text = format!("Refund policy\n\n{body}\n\n{body}\n\nDelivery times\n\n{body}");
    let paths = ["Refund policy", "Delivery times"].map(|path| Some(path.to_owned()));
    assert_eq!(headings(&text), paths);
    let names = "Ada\n\nGrace Hopper\n\nEdsger\n\nBarbara Liskov\n\nDonald\n\nLeslie Lamport";
    assert_eq!(headings(names), [None]);
}

#[test]
fn code_and_lists_stay_whole_where_they_fit() {
    let code = format!("```sh\n{}# not a heading\n\nend\n```", "run --it\n".repeat(60));
    let list = format!("{}\n  under it\n\n- last", "- an item of the list\n".repeat(40).trim_end());
    let text = format!("# Use\n\n{}\n\n{code}\n\n{}\n\n{list}\n", prose(20), prose(20));
    let parts = texts(&text);
    assert!(parts.iter().any(|part| part.contains(&code)), "{parts:#?}");
    assert!(parts.iter().any(|part| part.contains(&list)), "{parts:#?}");
    assert!(headings(&text).iter().all(|path| path.as_deref() == Some("Use")));
}

#[test]
fn a_long_table_is_cut_between_rows() {
    let text = "| name | price |\n".repeat(300);
    for part in texts(&text) {
        assert!(part.lines().all(|line| line == "| name | price |"), "{part}");
        assert!(part.len() > MIN_CHARS && part.len() <= MAX_CHARS);
    }
}

#[test]
fn a_sentence_longer_than_a_chunk_is_cut_between_words_and_a_word_anywhere() {
    let sentence = "word ".repeat(1_000);
    assert!(texts(&sentence).iter().all(|part| part.split(' ').all(|word| word == "word")));
    let word = "é".repeat(5_000);
    let parts = texts(&word);
    assert_eq!(parts.concat(), word);
    assert!(parts.iter().all(|part| part.chars().count() <= MAX_CHARS));
}

#[test]
fn scripts_without_spaces_are_cut_between_sentences() {
    let text = "退货须在三十天内提出，并附上购买凭证。".repeat(200);
    let parts = texts(&text);
    assert_eq!(parts.concat(), text);
    assert!(parts.iter().all(|part| part.ends_with('。')));
}

#[test]
fn windows_line_ends_change_nothing() {
    let unix = format!("# Guide\n\n{}\n\n## Use\n\n{}\n", prose(10), prose(10));
    assert_eq!(headings(&unix), headings(&unix.replace('\n', "\r\n")));
}

/// Documents made of fragments in every order that a small generator gives.
#[test]
fn no_text_is_lost_or_doubled_and_no_chunk_is_too_long() {
    let sentences = prose(70);
    let fragments = [
        "# One\n",
        "## Two\n\n",
        "Title\n===\n",
        "Title line\n\n",
        "- item\n",
        "1. item\n  more\n",
        "```\ncode # x\n```\n",
        "```\nnever closed\n",
        "| a | b |\n",
        "---\n",
        "\n",
        "\r\n",
        "Word. ",
        "word",
        "\u{a0}\n",
        "終わり。",
        "😀",
        sentences.as_str(),
    ];
    let mut state = 7_u64;
    for round in 0..500 {
        let mut text = String::new();
        for _ in 0..round % 23 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let index = usize::try_from(state >> 33).unwrap() % fragments.len();
            text.push_str(fragments[index]);
        }
        let letters = |text: &str| -> String {
            text.chars().filter(|char| !char.is_whitespace() && !"-=*_".contains(*char)).collect()
        };
        let found = chunks(&text);
        let joined: String = found.iter().map(|chunk| &text[chunk.range.clone()]).collect();
        assert_eq!(letters(&joined), letters(&text), "{text:?}");
        let ends = found.iter().map(|chunk| chunk.range.end);
        let starts = found.iter().skip(1).map(|chunk| chunk.range.start);
        assert!(ends.zip(starts).all(|(end, start)| end <= start), "{text:?}");
        assert!(
            found
                .iter()
                .all(|chunk| text[chunk.range.clone()].trim().chars().count() <= MAX_CHARS + 100)
        );
    }
}

#[test]
fn headings_are_cut_and_shared_by_what_stands_under_them() {
    let long = "a heading that goes on and on ".repeat(25_000);
    let sections: String =
        (0..3_000).map(|number| format!("## {number}\n\n{}\n\n", prose(5))).collect();
    let found = chunks(&format!("# {long}\n\n{sections}"));
    let bytes: usize =
        found.iter().filter_map(|chunk| chunk.heading.as_ref()).map(|h| h.len()).sum();
    assert!(bytes < 3_200 * 250, "{bytes}");
    assert!(found.iter().flat_map(|chunk| &chunk.heading).all(|path| path.contains("…")));
    let text = format!("# One\n\n{}", prose(200));
    let found = chunks(&text);
    let first = found[0].heading.as_ref().unwrap();
    assert!(found.iter().all(|chunk| Arc::ptr_eq(chunk.heading.as_ref().unwrap(), first)));
}

#[test]
fn a_path_leaves_out_outer_headings_where_it_is_too_long() {
    let heading = |level: usize| format!("{} {}{level}\n\n", "#".repeat(level), "é".repeat(120));
    let text: String = (1..=6).map(heading).chain([prose(5)]).collect();
    let path = headings(&text).pop().flatten().unwrap();
    assert!(path.starts_with("… › é") && path.ends_with('6'), "{path}");
    assert_eq!(path.matches(" › ").count(), 3);
    assert!(path.chars().count() <= limits::HEADING_PATH_CHARS);
}

#[test]
fn a_long_text_has_no_more_stretches_than_a_document_may_have() {
    let sections = (0..8_000).map(|number| format!("## {number}\n\n{}\n\n", "x".repeat(230)));
    let text: String = sections.collect();
    assert_eq!(chunks(&text).len(), 8_000);
    let long = text.repeat(3);
    let found = chunks(&long);
    assert!((6_000..=limits::DOCUMENT_PASSAGES).contains(&found.len()), "{}", found.len());
}

#[test]
fn headings_beyond_their_bound_are_left_out_and_no_text_is() {
    let path: String = (1..=5)
        .map(|level| format!("{} {}\n\n", "#".repeat(level), "\u{1f5fc}".repeat(66)))
        .collect();
    let section = |number| format!("###### {number}\n\n{}\n\n", "y".repeat(190));
    let text: String = std::iter::once(path).chain((0..5_000).map(section)).collect();
    let found = chunks(&text);
    let bytes: usize = found.iter().flat_map(|chunk| &chunk.heading).map(|path| path.len()).sum();
    assert!(bytes <= limits::DOCUMENT_HEADING_BYTES, "{bytes}");
    assert!(found.last().unwrap().heading.is_none() && found[0].heading.is_some());
    assert_eq!(
        found.iter().map(|chunk| text[chunk.range.clone()].matches('y').count()).sum::<usize>(),
        950_000
    );
}

#[test]
fn a_word_of_megabytes_is_cut_in_one_pass() {
    let word = "é".repeat(3_000_000);
    let found = chunks(&word);
    assert_eq!(found.iter().map(|chunk| chunk.range.len()).sum::<usize>(), word.len());
}
