//! The title of a page of reference, if it says what its subject is for: "git-gc - Cleanup unnecessary files".

use cicerone_domain::ports::ReplyRequest;
use cicerone_domain::retrieval::Hit;
use cicerone_language::Language;

use super::choose::{Choice, Quoted, prior, title_score};
use super::matcher::Matcher;

/// What separates a name from its purpose.
const DASHES: [&str; 3] = [" - ", " — ", " – "];
/// The longest name that is of several words, in characters.
const NAME_CHARS: usize = 40;
/// A title is added to a reply if its score is at least this share of that of the best sentence.
const WORTH_NAMING: f32 = 0.5;

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

/// A page whose title answers the question: it says what a command is for.
pub(super) struct Answering<'a> {
    /// The number of a passage of the page.
    pub(super) index: usize,
    pub(super) title: &'a str,
    /// Whether the title answers better than the best sentence.
    pub(super) leads: bool,
}

/// The page whose title answers a question how something technical is done, if the title has more of the question than those of
/// the quoted pages, the `reply` does not name the page, and the best sentence does not answer much better.
pub(super) fn answering<'a>(
    request: &'a ReplyRequest,
    matcher: &Matcher<'_>,
    choice: &Choice<'_>,
    reply: &str,
) -> Option<Answering<'a>> {
    let first = choice.passages.first()?;
    if let Some(defining) = defining(request, choice, reply) {
        return Some(defining);
    }
    if !first.reading.is_technical || !first.with_code {
        return None;
    }
    let weight = |hit: &Hit| {
        let language = hit.language.as_deref().and_then(Language::from_code);
        hit.title.as_deref().map_or(0.0, |title| matcher.weight(matcher.mask(title, language)))
    };
    let quoted = choice.passages.iter().filter_map(|passage| request.passages.get(passage.index));
    let quoted = quoted.map(weight).fold(0.0, f32::max);
    let said = comparable(reply);
    let room = choice.limit.saturating_sub(reply.chars().count());
    let mut answering = None;
    let mut least = WORTH_NAMING * choice.best;
    for (index, hit) in request.passages.iter().enumerate() {
        let Some((title, name)) = named(hit) else { continue };
        let own = weight(hit);
        let score = title_score(title, own, matcher) * prior(request, hit);
        let fits = title.chars().count() <= room;
        if own > quoted && score > least && fits && !said.contains(&comparable(name)) {
            least = score;
            answering = Some(Answering { index, title, leads: score > choice.best });
        }
    }
    answering
}

/// The page whose title says what the subject of the question is for, if the reply does not say it.
fn defining<'a>(
    request: &'a ReplyRequest,
    choice: &Choice<'_>,
    reply: &str,
) -> Option<Answering<'a>> {
    let subject = choice.subject.as_ref()?;
    let pages = request.passages.iter().enumerate();
    let mut defining = pages.filter_map(|(index, hit)| Some((index, named(hit)?)));
    let (index, (title, _)) = defining.find(|(_, (_, name))| subject.is_named(name))?;
    let (_, purpose) = split(title)?;
    (!reply.contains(purpose)).then_some(Answering { index, title, leads: true })
}

/// The title of a passage's page, if it says a purpose, with the name in it.
fn named(hit: &Hit) -> Option<(&str, &str)> {
    let title = hit.title.as_deref().filter(|_| !hit.is_pair)?;
    Some((title, name(title)?))
}

/// The name in a title that says a purpose.
fn name(title: &str) -> Option<&str> {
    let (name, purpose) = split(title)?;
    let is_code = !name.contains(' ') || !name.contains(char::is_lowercase);
    // "mod_ssl - Apache HTTP Server" has the name of the site there.
    let is_small = |word: &str| {
        let mut letters = word.chars().filter(|letter| letter.is_alphabetic());
        letters.next().is_some_and(|first| !first.is_uppercase()) && letters.nth(1).is_some()
    };
    let says = purpose.split(' ').any(is_small);
    (is_code && name.len() <= NAME_CHARS && purpose.contains(' ') && says).then_some(name)
}

/// The parts of a title before and after its dash.
fn split(title: &str) -> Option<(&str, &str)> {
    DASHES.iter().find_map(|dash| title.split_once(dash))
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
        assert_eq!(name("harbour-gc - 불필요한 파일을 정리"), Some("harbour-gc"));
        assert_eq!(name("CREATE PIER — build a new pier"), Some("CREATE PIER"));
        for title in [
            "harbour-log(1)",
            "The lighthouse - Our harbour",
            "Prices – Harbour",
            "harbour_log - Harbour Manual Version 2.4",
        ] {
            assert_eq!(name(title), None, "{title}");
        }
    }
}
