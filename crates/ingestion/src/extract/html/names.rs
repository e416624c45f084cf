//! The purpose of an element, according to its classes and id.
//!
//! Classes come from the author of a template, so any word of them may state the purpose. An id is often an address
//! derived from a heading ("recommended-storage-settings"), so it counts only if it consists entirely of words that
//! templates use, and no heading contains the same words.

use select::document::Document;
use select::node::Node;

use super::dom::elements;

/// The purpose of an element, according to its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A control; it contains no running text.
    Control,
    /// Something to click or to choose from: a control if it has a link, a button or a list.
    Choice,
    /// What the site recommends: references to other pages, if it has a link.
    Reference,
    /// Text that is not part of the main content.
    Beside,
}

/// Words in the names of controls.
const CONTROLS: [&str; 27] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "breadcrumb",
    "breadcrumbs",
    "byline",
    "compartir",
    "feedback",
    "helpful",
    "login",
    "masthead",
    "meta",
    "morelinks",
    "nav",
    "navbar",
    "navigation",
    "pager",
    "pagination",
    "partager",
    "readmore",
    "share",
    "sharing",
    "signup",
    "social",
    "teilen",
    "vote",
];
/// Words in the names of controls that also name content: the menu of a restaurant.
const CHOICES: [&str; 4] = ["cta", "menu", "rating", "tags"];
/// Words in the names of elements that are not part of the content.
const BESIDE: [&str; 25] = [
    "affiliate",
    "author",
    "authors",
    "comentarios",
    "comment",
    "commentaires",
    "comments",
    "cookie",
    "disqus",
    "footer",
    "kommentare",
    "newsletter",
    "nextstory",
    "outbrain",
    "popup",
    "promo",
    "publicidad",
    "related",
    "relatedposts",
    "sharedaddy",
    "sidebar",
    "sponsored",
    "subscribe",
    "taboola",
    "werbung",
];
/// Words that templates add to these: parts, positions and kinds.
const PARTS: [&str; 43] = [
    "area",
    "article",
    "articles",
    "banner",
    "bar",
    "block",
    "bottom",
    "box",
    "button",
    "buttons",
    "container",
    "content",
    "entry",
    "form",
    "global",
    "group",
    "header",
    "holder",
    "icons",
    "inner",
    "left",
    "link",
    "links",
    "list",
    "main",
    "nav",
    "outer",
    "page",
    "panel",
    "post",
    "posts",
    "primary",
    "right",
    "secondary",
    "section",
    "site",
    "sub",
    "title",
    "top",
    "widget",
    "widgets",
    "wrap",
    "wrapper",
];
/// A class with this prefix describes a child or the surroundings: `has-sidebar`.
const DESCRIBING: [&str; 9] =
    ["has", "hide", "is", "layout", "no", "not", "show", "with", "without"];

/// The most characters of a heading that are compared with an id.
const TITLE_CHARS: usize = 1_000;

/// The headings of a page, in order, so that they need not be searched for below each element.
#[derive(Debug)]
pub(super) struct Headings(Vec<usize>);

impl Headings {
    pub(super) fn of(document: &Document) -> Self {
        Self(elements(document).filter(is_heading).map(|node| node.index()).collect())
    }

    /// The first heading below an element.
    fn first_below<'a>(&self, document: &'a Document, node: &Node<'_>) -> Option<Node<'a>> {
        let next = self.0.partition_point(|heading| *heading <= node.index());
        let heading = document.nth(*self.0.get(next)?)?;
        std::iter::successors(heading.parent(), Node::parent)
            .any(|above| above.index() == node.index())
            .then_some(heading)
    }
}

/// The purpose according to an element's classes or id; `None` if they do not state one.
pub(super) fn purpose(
    document: &Document,
    node: &Node<'_>,
    headings: &Headings,
) -> Option<Purpose> {
    let classes = node.attr("class").unwrap_or_default().split_ascii_whitespace();
    let classes = classes.filter(|class| !is_describing(class) && !is_policy(class));
    let by_class = classes.flat_map(words).find_map(of_word);
    by_class.or_else(|| of_id(document, node, headings))
}

fn of_id(document: &Document, node: &Node<'_>, headings: &Headings) -> Option<Purpose> {
    let id = node.attr("id")?;
    let of_template = |word: &str| {
        of_word(word).is_some() || PARTS.iter().any(|part| word.eq_ignore_ascii_case(part))
    };
    if !words(id).all(of_template) || is_heading(node) {
        return None;
    }
    // The element's first heading may have the same words.
    let heading = headings.first_below(document, node);
    if heading.is_some_and(|heading| bears_words_of(&heading, id)) {
        return None;
    }
    words(id).find_map(of_word)
}

/// Whether a heading has all words of an id.
fn bears_words_of(heading: &Node<'_>, id: &str) -> bool {
    let title: String = heading.text().chars().take(TITLE_CHARS).collect();
    let title = title.to_lowercase();
    words(id).all(|word| {
        let word = word.to_ascii_lowercase();
        title.split(|char: char| !char.is_alphanumeric()).any(|other| other == word)
    })
}

fn is_heading(node: &Node<'_>) -> bool {
    matches!(node.name(), Some("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dt"))
}

fn of_word(word: &str) -> Option<Purpose> {
    let is_among = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is_among(&CONTROLS) {
        Some(Purpose::Control)
    } else if is_among(&CHOICES) {
        Some(Purpose::Choice)
    } else if word.eq_ignore_ascii_case("recommended") {
        Some(Purpose::Reference)
    } else {
        is_among(&BESIDE).then_some(Purpose::Beside)
    }
}

fn is_describing(class: &str) -> bool {
    words(class).next().is_some_and(|first| {
        DESCRIBING.iter().any(|describing| first.eq_ignore_ascii_case(describing))
    })
}

/// Whether a class names a text about cookies and the like, and not a notice of them.
fn is_policy(class: &str) -> bool {
    words(class).any(|word| word.eq_ignore_ascii_case("policy"))
}

/// The words of a name, separated by punctuation, digits or capitals: `share-buttons`, `shareButtons`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|char: char| !char.is_ascii_alphabetic())
        .flat_map(|part| {
            let begins_word = |(at, pair): (usize, &[u8])| match pair {
                [before, char] if before.is_ascii_lowercase() && char.is_ascii_uppercase() => {
                    Some(at + 1)
                }
                _ => None,
            };
            let starts = part.as_bytes().windows(2).enumerate().filter_map(begins_word);
            let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
            let ends = starts.iter().copied().skip(1).chain([part.len()]).collect::<Vec<_>>();
            starts.into_iter().zip(ends).filter_map(|(start, end)| part.get(start..end))
        })
        .filter(|word| !word.is_empty())
}
