//! The sentences of a text.

mod boundaries;

use std::ops::Range;

use crate::script::Script;

/// Abbreviations, after which a full stop does not end a sentence, in lower case.
const ABBREVIATIONS: [&str; 62] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "vs", "e.g", "i.e", "cf", "al", "fig",
    "figs", "eq", "no", "nos", "vol", "pp", "ed", "eds", "approx", "inc", "ltd", "corp", "dept",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "z.b",
    "d.h", "bzw", "ca", "nr", "str", "vgl", "usw", "bspw", "sra", "dra", "ud", "uds", "pág", "núm",
    "mme", "mlle", "av", "ex", "sig", "dott", "т.е", "т.д",
];
/// The longest of them, in bytes.
const ABBREVIATION_BYTES: usize = 6;
/// The German months, which have a capital.
const MONTHS: [&str; 14] = [
    "Januar",
    "Jänner",
    "Februar",
    "Feber",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
/// German words that make an ordinal of a number with a full stop: no sentence ends with both.
const BEFORE_ORDINALS: [&str; 14] = [
    "am", "im", "vom", "zum", "zur", "beim", "der", "die", "das", "den", "dem", "jeder", "jede",
    "jedes",
];
/// A line of at least this many characters may have been wrapped to fit a page.
const WRAPPED_LINE_CHARS: usize = 50;
/// A sentence of this many characters in a script without full stops is cut at a space.
const LONG_SENTENCE_CHARS: usize = 160;

/// The byte ranges of the sentences of `text`, in order, without surrounding white space and never empty.
/// A new paragraph, list item or heading begins a sentence; a wrapped line does not.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    // White space before a sentence is passed once, not at each of its boundaries.
    let mut start = after_blanks(text, 0);
    boundaries::ends(text, |end| {
        if end <= start || end < text.len() && goes_on(text, start, end) {
            return;
        }
        push_sentence(&mut sentences, text, start..end);
        start = after_blanks(text, end);
    });
    push_sentence(&mut sentences, text, start..text.len());
    sentences
}

/// The first index from `from` on at which there is no white space.
fn after_blanks(text: &str, from: usize) -> usize {
    text.len() - text.get(from..).unwrap_or_default().trim_start().len()
}

fn push_sentence(sentences: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let piece = text.get(range.clone()).unwrap_or_default();
    let trimmed = piece.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = range.start + (piece.len() - piece.trim_start().len());
    let without_stops = !trimmed.is_ascii()
        && trimmed.chars().any(|c| matches!(Script::of(c), Some(Script::Thai | Script::Lao)));
    if without_stops {
        cut_at_spaces(sentences, start, trimmed);
    } else {
        sentences.push(start..start + trimmed.len());
    }
}

/// Adds the range of `piece`, which begins at `start`, without surrounding white space. Adds nothing if it is only white space.
fn push_trimmed(sentences: &mut Vec<Range<usize>>, start: usize, piece: &str) {
    let trimmed = piece.trim();
    if !trimmed.is_empty() {
        let start = start + (piece.len() - piece.trim_start().len());
        sentences.push(start..start + trimmed.len());
    }
}

/// Thai and Lao use a space instead of a full stop, but also within sentences.
fn cut_at_spaces(sentences: &mut Vec<Range<usize>>, offset: usize, text: &str) {
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let piece = text.get(start..at).unwrap_or_default();
        if piece.chars().count() >= LONG_SENTENCE_CHARS {
            push_trimmed(sentences, offset + start, piece);
            start = at + 1;
        }
    }
    push_trimmed(sentences, offset + start, text.get(start..).unwrap_or_default());
}

/// Whether the sentence that began at `start`, without white space, continues after the boundary at `end`.
fn goes_on(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(start..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let trimmed = before.trim_end();
    let gap = before.get(trimmed.len()..).unwrap_or_default();
    if gap.contains(boundaries::is_separator) {
        // The line may have begun before the sentence.
        let line = text.get(..start + trimmed.len()).unwrap_or_default();
        return is_wrapped(line, gap, after);
    }
    if gap.is_empty() {
        // "example.com/?q=1": no sentence in ASCII begins without a space.
        return trimmed.ends_with(['.', '?', '!'])
            && after.starts_with(|next: char| next.is_ascii() && !next.is_ascii_whitespace());
    }
    if after.starts_with(char::is_lowercase) && ends_quoted(trimmed) {
        return true;
    }
    trimmed
        .strip_suffix('.')
        .is_some_and(|words| is_abbreviation(words) || is_ordinal(words, after))
}

/// Whether the full stop after `words` makes an ordinal of their last, as in German, which writes the noun after it with a capital:
/// "am 31. März", "im 2. Stock".
fn is_ordinal(words: &str, after: &str) -> bool {
    let mut last = words.rsplit(char::is_whitespace);
    let number = last.next().unwrap_or_default();
    let is_number = matches!(number.len(), 1..=3) && number.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return false;
    }
    let next = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let before = last.find(|word| !word.is_empty()).unwrap_or_default();
    MONTHS.contains(&next) || BEFORE_ORDINALS.contains(&before.to_lowercase().as_str())
}

/// Whether a text ends with the exclamation or question of a quotation or an aside: "the “Hello,
/// world!” program".
fn ends_quoted(text: &str) -> bool {
    let inner = text.trim_end_matches(['"', '\'', '”', '’', '»', '“', ')', ']']);
    inner.len() < text.len() && inner.ends_with(['!', '?'])
}

/// Whether a line was wrapped, and the sentence continues on the next line.
fn is_wrapped(before: &str, gap: &str, after: &str) -> bool {
    let separators = gap.chars().filter(|character| boundaries::is_separator(*character)).count();
    let breaks = separators - gap.matches("\r\n").count();
    if breaks > 1 || gap.contains('\u{2029}') || after.starts_with(boundaries::is_separator) {
        return false;
    }
    let line = before.rsplit(boundaries::is_separator).next().unwrap_or(before);
    let next = after.trim_start_matches([' ', '\t']);
    if line.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '।', '؟', '…', '|'])
        || line.contains('\t')
        || is_list_item(next)
    {
        return false;
    }
    let starts_lower = next.chars().next().is_some_and(char::is_lowercase);
    let ends_open = line.ends_with([',', '-', '(', '–']);
    starts_lower || ends_open || line.chars().count() >= WRAPPED_LINE_CHARS
}

fn is_list_item(line: &str) -> bool {
    let marker = line.split_whitespace().next().unwrap_or_default();
    if matches!(marker, "-" | "*" | "+" | "•" | "–" | "—" | "◦" | "▪" | "·" | ">" | "|")
    {
        return true;
    }
    let number = marker.trim_end_matches(['.', ')', ':']).trim_start_matches('(');
    let is_short = number.chars().count() <= 3 && !number.is_empty();
    marker.starts_with('#')
        || (number.len() < marker.len()
            && is_short
            && (number.chars().all(|c| c.is_ascii_digit()) || number.chars().count() == 1))
}

/// Whether the full stop after `words` belongs to the last word.
fn is_abbreviation(words: &str) -> bool {
    let last = words.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(words);
    // "1. Open the lid": the number of a list item.
    if last.len() == words.len() && last.len() <= 3 && last.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    // Initials: "J. R. R. Tolkien", but not "plan B. Then".
    let mut characters = last.chars();
    if let (Some(initial), None) = (characters.next(), characters.next()) {
        let previous = words.get(..words.len() - last.len()).unwrap_or_default().trim_end();
        let follows_name = previous.is_empty()
            || previous.ends_with(['.', ',', ';', '('])
            || previous.rsplit(char::is_whitespace).next().is_some_and(|word| {
                let mut letters = word.chars();
                letters.next().is_some_and(char::is_uppercase) && letters.next().is_some()
            });
        return initial.is_uppercase() && initial != 'I' && follows_name;
    }
    last.len() <= ABBREVIATION_BYTES && ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_at_full_stops_of_any_script() {
        assert_eq!(of("One. Two! Three?"), ["One.", "Two!", "Three?"]);
        assert_eq!(
            of("退款需要七天。请联系我们！好吗？"),
            ["退款需要七天。", "请联系我们！", "好吗？"]
        );
        assert_eq!(of("यह पहला है। यह दूसरा है।"), ["यह पहला है।", "यह दूसरा है।"]);
        assert_eq!(of("هل هذا صحيح؟ نعم."), ["هل هذا صحيح؟", "نعم."]);
    }

    /// Each initial continues the sentence, which once was read again for each of them: minutes for this text.
    #[test]
    fn the_time_is_linear_in_a_sentence_of_initials() {
        let start = std::time::Instant::now();
        assert_eq!(of(&"Xx\tA.\t".repeat(500_000)).len(), 1);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    /// White space before a sentence and after an abbreviation once was read again at each boundary: minutes for these texts.
    #[test]
    fn the_time_is_linear_in_white_space() {
        let blanks = " ".repeat(2_000_000);
        let initials = "Xx\tA.\t".repeat(200_000);
        assert_eq!(of(&format!("One.\n{blanks}{initials}")).len(), 2);
        assert_eq!(of(&format!("я Dr.{blanks}{blanks}{blanks}Я")).len(), 1);
        assert_eq!(of(&format!("я.{blanks}Я")), ["я.", "Я"]);
    }

    /// Each line end after an abbreviation or an open clause once continued the sentence, and the run was read again.
    #[test]
    fn the_time_is_linear_in_line_ends() {
        for line_end in ["\n", "\r", "\r\n", "\r ", "\u{85}", "\u{85} ", "\u{2028}", "\u{2029}"] {
            let run = line_end.repeat(200_000);
            for (before, after) in [("Ask Dr.", "The end."), ("am 1.", "März"), ("Cats,", "dogs")]
            {
                let text = format!("{before}{run}{after}");
                assert_eq!(of(&text), [before, after], "{before} {line_end:?}");
            }
        }
    }

    #[test]
    fn a_line_may_be_wrapped_at_any_line_end() {
        for line_end in ["\n", "\r", "\r\n", "\u{85}", "\u{2028}"] {
            let text = format!("We sell apples,{line_end}pears and plums.");
            assert_eq!(of(&text), [text.as_str()]);
        }
    }

    #[test]
    fn no_abbreviation_is_longer_than_the_longest() {
        assert_eq!(ABBREVIATIONS.iter().map(|one| one.len()).max(), Some(ABBREVIATION_BYTES));
    }

    #[test]
    fn full_stops_within_a_sentence_do_not_end_it() {
        for text in [
            "Ask Dr. Smith about it, e.g. Mondays.",
            "It costs 3.50 euros at example.com today.",
            "J. R. R. Tolkien wrote it.",
            "See Fig. 3 for the U.S. figures.",
            "Read https://example.com/?q=1 first.",
            "1. Open the lid.",
            "Resturlaub verfällt am 31. März des Folgejahres.",
            "Der Antrag muss bis 3. Mai oder am 1. Oktober um 8 Uhr da sein.",
            "Das Labor ist im 2. Stock, nach der 3. Mahnung ist Schluss.",
        ] {
            assert_eq!(of(text), [text]);
        }
        assert_eq!(of("We took plan B. Then we left."), ["We took plan B.", "Then we left."]);
        assert_eq!(of("Es kostet 20. Danach geht es."), ["Es kostet 20.", "Danach geht es."]);
    }

    #[test]
    fn a_quotation_within_a_sentence_does_not_end_it() {
        let one = ["Run the “Hello, world!” program.", "The (really?) large boat sails."];
        assert_eq!(of(&one.join(" ")), one);
        let two = ["He said “Hello!”", "Then he left."];
        assert_eq!(of(&two.join(" ")), two);
    }

    #[test]
    fn paragraphs_headings_and_items_are_sentences_of_their_own() {
        assert_eq!(of("Refunds\nWithin 30 days."), ["Refunds", "Within 30 days."]);
        assert_eq!(of("- apples\n- pears\n1) plums"), ["- apples", "- pears", "1) plums"]);
        assert_eq!(of("One\n\nand two"), ["One", "and two"]);
    }

    #[test]
    fn a_wrapped_line_goes_on() {
        let text =
            "The warranty covers every part of the machine for\ntwo years from the purchase.";
        assert_eq!(of(text), [text]);
        let names =
            "The longest journey of the year went through the city of\nParis and on to Rome.";
        assert_eq!(of(names), [names]);
        // The line is long, although its last sentence has just begun.
        let second = "Nobody knows who built the lighthouse. It has lamps\n(of oil, and later of gas) on each floor.";
        assert_eq!(
            of(second),
            [
                "Nobody knows who built the lighthouse.",
                "It has lamps\n(of oil, and later of gas) on each floor."
            ]
        );
    }

    #[test]
    fn a_script_without_full_stops_is_cut_at_spaces_which_belong_to_no_sentence() {
        let long = "ก".repeat(LONG_SENTENCE_CHARS);
        let text = format!("{long}  {long}\t  ข");
        assert_eq!(of(&text), [long.as_str(), long.as_str(), "ข"]);
    }

    #[test]
    fn sentences_are_within_the_text_and_never_empty() {
        for text in ["", " \n\n ", "....", "\0", "?!?!", "a.\u{2029}b", "👩‍👩‍👧. x", "\r\n\r\n.a"]
        {
            for range in sentences(text) {
                assert!(!text[range].trim().is_empty());
            }
        }
    }
}
