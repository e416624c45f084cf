//! The longest reply that an agent allows.

use cicerone_domain::agent::AgentProfile;
use cicerone_language::sentences;

/// The approximate length of a token in characters.
const CHARS_A_TOKEN: usize = 4;
/// What ends a text that is cut within a sentence.
const ELLIPSIS: char = '…';
/// What begins and ends code.
const FENCES: [&str; 2] = ["```", "~~~"];

/// The longest reply in characters.
pub(super) fn chars(profile: &AgentProfile) -> usize {
    let tokens = usize::try_from(profile.max_tokens.get()).unwrap_or(usize::MAX);
    tokens.saturating_mul(CHARS_A_TOKEN)
}

/// The beginning of a text that is longer than `chars` characters: the sentences and lines that fit, or the words of the first
/// one, or the beginning of its first word. `None` if the text fits.
pub(super) fn cut(text: &str, chars: usize) -> Option<String> {
    let (end, _) = text.char_indices().nth(chars)?;
    let fitting = text.get(..end).unwrap_or_default();
    let whole = sentences(text).into_iter().take_while(|range| range.end <= end).last();
    if let Some(range) = whole {
        return Some(closed(text.get(..range.end).unwrap_or_default()));
    }
    // There must be room for the ellipsis.
    let last = fitting.char_indices().next_back().map_or(0, |(at, _)| at);
    let room = fitting.get(..last).unwrap_or_default();
    let words = room.rsplit_once(char::is_whitespace).map_or(room, |(words, _)| words);
    Some(format!("{}{ELLIPSIS}", words.trim_end()))
}

/// A text without code at its end that is not closed.
fn closed(text: &str) -> String {
    let is_fence = |line: &str| FENCES.iter().any(|fence| line.trim_start().starts_with(fence));
    let mut fences = text.lines().filter(|line| is_fence(line)).map(|line| line.as_ptr().addr());
    let (mut count, mut last) = (0_usize, None);
    for fence in &mut fences {
        count += 1;
        last = Some(fence - text.as_ptr().addr());
    }
    match last.filter(|at| count % 2 == 1 && *at > 0) {
        Some(at) => text.get(..at).unwrap_or_default().trim_end().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_after_the_sentences_that_fit() {
        let text = "Wipe it. Rinse it well.\nDry it.";
        assert_eq!(cut(text, 31), None);
        assert_eq!(cut(text, 30).as_deref(), Some("Wipe it. Rinse it well."));
        assert_eq!(cut(text, 22).as_deref(), Some("Wipe it."));
    }

    #[test]
    fn a_sentence_that_does_not_fit_is_cut_after_a_word() {
        assert_eq!(cut("Open the heavy lid.", 12).as_deref(), Some("Open the…"));
        assert_eq!(cut("Üppigkeiten", 4).as_deref(), Some("Üpp…"));
        for chars in 1..40 {
            let text = "Öffnen Sie den Deckel 👩‍👩‍👧 ganz. Schließen Sie ihn.";
            assert!(cut(text, chars).unwrap().chars().count() <= chars, "{chars}");
        }
    }

    #[test]
    fn code_is_left_out_if_its_end_does_not_fit() {
        let text = "Run this.\n```sh\nqueue pause.\nqueue resume.\n```";
        assert_eq!(cut(text, 35).as_deref(), Some("Run this."));
    }
}
