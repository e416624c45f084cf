//! The numbers of a question: what is close in meaning may be about another one.

use cicerone_domain::retrieval::Hit;

/// The most numbers of a question that a passage is searched for.
const MOST: usize = 16;

/// The different numbers of a question, at most [`MOST`].
pub(super) struct Numbers(Vec<String>);

impl Numbers {
    pub(super) fn of(question: &str) -> Self {
        let mut numbers: Vec<String> = Vec::new();
        for word in words(question) {
            if numbers.len() == MOST {
                break;
            }
            if !numbers.iter().any(|number| number.eq_ignore_ascii_case(word)) {
                numbers.push(word.to_owned());
            }
        }
        Self(numbers)
    }

    /// Whether a passage has all of them. Reads the passage once.
    pub(super) fn are_in(&self, hit: &Hit) -> bool {
        let mut missing: Vec<&String> = self.0.iter().collect();
        let texts = [hit.title.as_deref(), hit.heading.as_deref(), Some(&*hit.text)];
        for word in texts.into_iter().flatten().flat_map(words) {
            if missing.is_empty() {
                break;
            }
            missing.retain(|number| !number.eq_ignore_ascii_case(word));
        }
        missing.is_empty()
    }
}

/// The words of a text that have a digit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{MOST, Numbers};
    use crate::meaning::fuse::tests::hit;

    #[test]
    fn a_passage_has_the_numbers_of_a_question_or_not() {
        let has = |question: &str, text: &str| Numbers::of(question).are_in(&hit(1, 0.0, text));
        assert!(has("How many?", ""));
        assert!(has("Is it 5 or 7B? 5!", "From 7b to 5."));
        assert!(!has("Is it 5 or 7?", "It is 57, 5.8 or 75."));
        let mut titled = hit(1, 0.0, "is closed");
        titled.title = Some("Room 12".into());
        assert!(Numbers::of("Is chamber 12 shut?").are_in(&titled));
    }

    #[test]
    fn a_question_full_of_numbers_is_no_more_work_than_one_with_a_few() {
        let same = "1 ".repeat(2_000);
        assert_eq!(Numbers::of(&same).0, ["1"]);
        let many: String = (0..2_000).map(|number| format!("{number} ")).collect();
        assert_eq!(Numbers::of(&many).0.len(), MOST);
    }
}
