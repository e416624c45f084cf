//! A question in a form in which phrases can be looked for.

/// A question in small letters, with one space before, between and after its words.
pub(super) struct Spaced(String);

impl Spaced {
    pub(super) fn new(question: &str) -> Self {
        let mut words = String::with_capacity(question.len() + 2);
        words.push(' ');
        for c in question.chars() {
            let c = if c == '’' { '\'' } else { c };
            if c.is_alphanumeric() || c == '\'' || !c.is_ascii() && !"¿？?،؟".contains(c) {
                words.extend(c.to_lowercase());
            } else if !words.ends_with(' ') {
                words.push(' ');
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
        Self(words)
    }

    /// Whether it has one of the phrases, as whole words.
    pub(super) fn has(&self, phrases: &[&str]) -> bool {
        self.starts().any(|(_, rest)| longest(rest, phrases).is_some())
    }

    /// Whether it has one of the pieces, also within words.
    pub(super) fn contains(&self, pieces: &[&str]) -> bool {
        pieces.iter().any(|piece| self.0.contains(piece))
    }

    /// Whether it consists of just this phrase.
    #[cfg(test)]
    pub(super) fn is(&self, phrase: &str) -> bool {
        self.0 == format!(" {phrase} ")
    }

    /// The places at which words begin, with the text from there.
    pub(super) fn starts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.match_indices(' ').filter_map(|(at, _)| Some((at, self.0.get(at + 1..)?)))
    }
}

/// The length of the longest phrase with which a text begins, as whole words.
pub(super) fn longest(text: &str, phrases: &[&str]) -> Option<usize> {
    let first = text.as_bytes().first();
    let alike = phrases.iter().filter(|phrase| phrase.as_bytes().first() == first);
    let begins =
        |phrase: &&&str| text.strip_prefix(**phrase).is_some_and(|after| after.starts_with(' '));
    alike.filter(begins).map(|phrase| phrase.len()).max()
}
