//! The words of the question in the headings above a unit.

use super::quoted::{Quoted, level};
use crate::extractive::matcher::{Mask, Matcher};
use crate::extractive::units::{Kind, Unit};

/// The headings above the units of a passage, which are visited in order.
pub(super) struct Headings {
    /// Words in those above all of the passage.
    outer: Mask,
    /// The levels of those within it that are above the current unit, outermost first, and their words.
    inner: Vec<(usize, Mask)>,
}

impl Headings {
    /// Starts at the beginning of a passage. `outer` are the words in the headings above the whole passage.
    pub(super) const fn new(outer: Mask) -> Self {
        Self { outer, inner: Vec::new() }
    }

    /// Goes below a heading with these words. Those of the same level and below are not above what follows.
    pub(super) fn enter(&mut self, heading: &str, words: Mask) {
        let own = level(heading);
        while self.inner.last().is_some_and(|(level, _)| *level >= own) {
            self.inner.pop();
        }
        self.inner.push((own, words));
    }

    /// The words in all headings above the current unit.
    pub(super) fn words(&self) -> Mask {
        self.inner.iter().fold(self.outer, |words, (_, own)| words | own)
    }
}

/// The words of the question that occur in some headings of a passage and in none of its text. They show which section is meant.
pub(super) struct Distinguishing {
    words: Mask,
    /// The weight of those above one unit, at most.
    most: f32,
}

impl Distinguishing {
    /// Those of a passage whose units have the words `own`.
    pub(super) fn of(quoted: &Quoted<'_>, own: &[Mask], matcher: &Matcher<'_>) -> Self {
        if matcher.has_pieces() {
            return Self { words: 0, most: 0.0 };
        }
        let is_heading = |(unit, _): &(&Unit, &Mask)| unit.kind == Kind::Heading;
        let units = || quoted.units().iter().zip(own);
        let said = units().filter(|unit| !is_heading(unit)).fold(0, |said, (_, own)| said | own);
        let of_headings = || units().filter(is_heading).map(|(unit, own)| (unit, own & !said));
        let with_words = || of_headings().map(|(_, own)| own).filter(|own| *own != 0);
        let any = with_words().fold(0, |any, own| any | own);
        // A word that all these headings have tells nothing: "Bath quay", "Wells quay".
        let all = with_words().fold(any, |all, own| all & own);
        let words = if all == any { any } else { any & !all };
        let (mut most, mut headings) = (0.0_f32, Headings::new(0));
        for (unit, own) in of_headings().filter(|_| words != 0) {
            headings.enter(quoted.text(unit), own & words);
            most = most.max(matcher.weight(headings.words()));
        }
        Self { words, most }
    }

    /// These words.
    pub(super) const fn words(&self) -> Mask {
        self.words
    }

    /// The share of these words that `above` has, which are the words in the headings above a unit; `None` if there are none.
    pub(super) fn share(&self, above: Mask, matcher: &Matcher<'_>) -> Option<f32> {
        (self.most > 0.0).then(|| (matcher.weight(above & self.words) / self.most).min(1.0))
    }
}
