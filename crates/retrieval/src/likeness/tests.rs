//! Tests of grouping.

use cicerone_domain::gap::Joined;

use super::WordLikeness;

fn join(groups: &[&[&str]], questions: &[&str]) -> Vec<Joined> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let groups: Vec<Vec<String>> = groups.iter().map(|group| owned(group)).collect();
    WordLikeness::default().join_now(&groups, &owned(questions))
}

#[test]
fn alike_questions_are_one_group_and_others_are_not() {
    let joined = join(
        &[],
        &[
            "Is parking free?",
            "Can I bring my dog?",
            "do i pay for parking",
            "Are dogs allowed?",
            "Which volcano erupted in Iceland?",
            "PARKING free?",
        ],
    );
    let question = Joined::Question;
    assert_eq!(joined[..2], [question(0), question(1)]);
    assert_eq!((joined[4], joined[5]), (question(4), question(0)));
}

#[test]
fn a_question_joins_the_group_that_is_most_like_it() {
    let groups: [&[&str]; 2] = [&["Is parking free?"], &["Is the museum free on Sundays?"]];
    let joined = join(&groups, &["Is the museum free on Mondays?", "is parking free", "xyz"]);
    assert_eq!(joined, [Joined::Group(1), Joined::Group(0), Joined::Question(2)]);
}

#[test]
fn mistyped_words_are_alike_by_their_letters() {
    let joined = join(&[], &["Where is the wardrobe?", "Where is the wardrobbe?"]);
    assert_eq!(joined, [Joined::Question(0); 2]);
}

#[test]
fn questions_without_words_are_alike_if_they_are_the_same() {
    let joined = join(&[], &["???", "!!", " ??? ", "", " "]);
    let numbers = [0, 1, 0, 3, 3];
    assert_eq!(joined, numbers.map(Joined::Question));
}

#[test]
fn questions_in_scripts_without_spaces_are_grouped() {
    let joined = join(&[], &["停车免费吗？", "可以带狗吗？", "停车是免费的吗"]);
    assert_eq!(joined, [0, 1, 0].map(Joined::Question));
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(join(&[], &[]), []);
    assert_eq!(join(&[&["Is parking free?"], &[]], &[]), []);
}

#[test]
fn only_the_beginning_of_a_long_question_is_compared() {
    let long = format!("Is parking free? {}", "x".repeat(1_000));
    let longer = format!("{long} And may I bring my dog?");
    assert_eq!(join(&[], &[&long, &longer]), [Joined::Question(0); 2]);
}
