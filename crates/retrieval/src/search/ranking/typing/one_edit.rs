//! The words that differ from another by one edit, as an automaton that walks a dictionary.
//!
//! All positions in the word are followed at once, one bit each (Wu and Manber, "Fast text
//! searching allowing errors", 1992). Only the letters are prepared, so that an automaton costs
//! nothing until it is used.

use std::cell::Cell;

use tantivy_fst::Automaton;

/// The longest word in letters: the positions before, between and after them have a bit each.
pub(super) const LETTERS: usize = 62;

/// Accepts the words that differ from `letters` by one letter too many, missing or wrong, or by two
/// in the wrong order, and begin with the same letter.
pub(super) struct OneEdit<'a> {
    letters: &'a [char],
    /// The bytes that may still be read, by this automaton and others.
    steps: &'a Cell<u32>,
}

/// The positions in the word at which the letters read so far may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Without a mistake.
    exact: u64,
    /// With one mistake.
    edited: u64,
    /// The letter after the expected one was read, so that the two may be swapped.
    swapped: u64,
    /// The first bits of a multi-byte letter.
    letter: u32,
    /// The number of bytes that it still lacks.
    missing: u8,
}

const DEAD: State = State { exact: 0, edited: 0, swapped: 0, letter: 0, missing: 0 };
const START: State = State { exact: 1, ..DEAD };

impl<'a> OneEdit<'a> {
    /// `letters` has at most [`LETTERS`] letters.
    pub(super) const fn new(letters: &'a [char], steps: &'a Cell<u32>) -> Self {
        Self { letters, steps }
    }

    fn read(&self, state: &State, read: char) -> State {
        let same = self.letters.iter().enumerate();
        let same = same.fold(0, |bits, (at, letter)| bits | u64::from(*letter == read) << at);
        let exact = (state.exact & same) << 1;
        // A letter of the word is missing.
        let missing = exact << 1;
        if state.exact & 1 != 0 {
            return State { exact, edited: missing, ..DEAD };
        }
        let too_many = state.exact;
        let wrong = state.exact << 1;
        let edited = (state.edited & same) << 1 | (state.swapped & same) << 2;
        State {
            exact,
            edited: edited | too_many | wrong | missing,
            swapped: state.exact & (same >> 1),
            ..DEAD
        }
    }
}

impl Automaton for OneEdit<'_> {
    type State = State;

    fn start(&self) -> State {
        START
    }

    fn is_match(&self, state: &State) -> bool {
        let end = 1 << self.letters.len();
        state.missing == 0 && (state.exact | state.edited) & end != 0
    }

    fn can_match(&self, state: &State) -> bool {
        let within = (2 << self.letters.len()) - 1;
        (state.exact | state.edited | state.swapped) & within != 0
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        let Some(left) = self.steps.get().checked_sub(1) else { return DEAD };
        self.steps.set(left);
        let (letter, missing) = match (state.missing, byte) {
            (0, 0..0x80) => (u32::from(byte), 0),
            (0, 0xC0..0xE0) => (u32::from(byte & 0x1F), 1),
            (0, 0xE0..0xF0) => (u32::from(byte & 0x0F), 2),
            (0, _) => (u32::from(byte & 0x07), 3),
            (missing, _) => (state.letter << 6 | u32::from(byte & 0x3F), missing - 1),
        };
        if missing > 0 {
            return State { letter, missing, ..*state };
        }
        char::from_u32(letter).map_or(DEAD, |letter| self.read(state, letter))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tantivy_fst::Automaton as _;

    use super::OneEdit;

    fn accepts(word: &str, other: &str, steps: &Cell<u32>) -> bool {
        let letters: Vec<char> = word.chars().collect();
        let automaton = OneEdit::new(&letters, steps);
        let mut state = automaton.start();
        for byte in other.bytes() {
            state = automaton.accept(&state, byte);
            if !automaton.can_match(&state) {
                return false;
            }
        }
        automaton.is_match(&state)
    }

    /// All words that result from one edit after the first letter of a word.
    fn edits(word: &str, letters: &str) -> Vec<String> {
        let word: Vec<char> = word.chars().collect();
        let mut edits = Vec::new();
        for at in 1..=word.len() {
            let (start, end) = word.split_at(at);
            for letter in letters.chars() {
                edits.push([start, &[letter], end].concat());
                edits.push([start, &[letter], end.get(1..).unwrap_or_default()].concat());
            }
            edits.push([start, end.get(1..).unwrap_or_default()].concat());
            if let [one, other, rest @ ..] = end {
                edits.push([start, &[*other, *one], rest].concat());
            }
        }
        edits.into_iter().map(String::from_iter).collect()
    }

    #[test]
    fn one_edit_is_accepted_and_two_are_not() {
        let steps = Cell::new(u32::MAX);
        for (word, letters) in
            [("abcab", "abcx"), ("aaaa", "ab"), ("мосты", "мосят"), ("naïve", "nïe")]
        {
            let once = edits(word, letters);
            for other in &once {
                assert!(accepts(word, other, &steps), "{word} {other}");
            }
            let twice = once.iter().flat_map(|other| edits(other, letters));
            for other in twice.filter(|other| !once.contains(other) && other != word) {
                assert!(!accepts(word, &other, &steps), "{word} {other}");
            }
        }
        for other in ["bbcab", "bcab", "xabcab", "bacab", "", "a"] {
            assert!(!accepts("abcab", other, &steps), "{other}");
        }
    }

    #[test]
    fn a_word_of_the_most_letters_has_neighbours() {
        let steps = Cell::new(u32::MAX);
        let word = "ab".repeat(super::LETTERS / 2);
        for other in [format!("{word}c"), word.replacen("ab", "a", 1), word.clone()] {
            assert!(accepts(&word, &other, &steps));
        }
        assert!(!accepts(&word, &format!("{word}cc"), &steps));
    }

    #[test]
    fn nothing_is_accepted_once_the_steps_are_used_up() {
        let steps = Cell::new(8);
        assert!(accepts("tower", "towr", &steps));
        assert!(!accepts("tower", "towwer", &steps));
        assert_eq!(steps.get(), 0);
        assert!(!accepts("tower", "tower", &steps));
    }
}
