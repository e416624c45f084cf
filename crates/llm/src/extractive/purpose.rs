//! The title of a page of reference, if it says what its subject is for: "git-gc - Cleanup unnecessary files".

use cicerone_domain::ports::ReplyRequest;

use super::choose::Quoted;

/// What separates a name from its purpose.
const DASHES: [&str; 3] = [" - ", " — ", " – "];
/// The longest name that is of several words, in characters.
const NAME_CHARS: usize = 40;

/// The title of the page that `first` is from, to be put before a reply, if the reply would otherwise not say which
/// command, function or setting it is about.
pub(super) fn needed<'a>(
    request: &'a ReplyRequest,
    first: &Quoted<'_>,
    reply: &str,
) -> Option<&'a str> {
    if !first.reading.is_technical {
        return None;
    }
    let title = request.passages.get(first.index)?.title.as_deref()?;
    let name = name(title)?;
    (!comparable(reply).contains(&comparable(name))).then_some(title)
}

/// The name in a title that says a purpose.
fn name(title: &str) -> Option<&str> {
    let (name, purpose) = DASHES.iter().find_map(|dash| title.split_once(dash))?;
    let is_code = !name.contains(' ') || !name.contains(char::is_lowercase);
    (is_code && name.len() <= NAME_CHARS && purpose.contains(' ')).then_some(name)
}

/// A text in lower case, with a space for each hyphen: "git-gc" is "git gc".
fn comparable(text: &str) -> String {
    text.to_lowercase().replace('-', " ")
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_title_that_says_a_purpose_has_a_name() {
        assert_eq!(name("harbour-log - Show what happened"), Some("harbour-log"));
        assert_eq!(name("CREATE PIER — build a new pier"), Some("CREATE PIER"));
        for title in ["harbour-log(1)", "The lighthouse - Our harbour", "Prices – Harbour"] {
            assert_eq!(name(title), None, "{title}");
        }
    }
}
