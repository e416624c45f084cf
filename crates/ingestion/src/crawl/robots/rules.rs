//! The rules for a crawler, arranged so that an address is compared with few of them.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::pattern::Pattern;

/// The most different rules with stars that addresses are compared with, and their bytes. A comparison takes about a nanosecond for
/// each byte of the address and rule, and a crawl makes thousands.
pub(super) const STAR_RULES: usize = 1_000;
const STAR_BYTES: usize = 64 * 1_024;

/// A rule of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    pub(super) is_allowed: bool,
}

impl Rule {
    /// Which of the rules that match decides: the longest, and of two that are equally long the one that allows.
    const fn rank(&self) -> (usize, bool) {
        (self.pattern.len(), self.is_allowed)
    }
}

/// All rules for a crawler.
///
/// Those without stars are looked up. Those with stars are compared one after the other, as many as [`STAR_RULES`] and
/// [`STAR_BYTES`] allow. Of further ones, those that allow are ignored, and those that disallow apply to everything that
/// begins like them: a page may then be left out, but none is requested against the rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rules {
    /// The rules without stars: beginnings of paths, and whole paths (`$`).
    beginnings: Paths,
    wholes: Paths,
    /// The rules with stars, the one that decides first.
    stars: Vec<Rule>,
    /// What the further rules with stars that disallow begin with.
    refused: Paths,
}

impl Rules {
    /// Arranges rules, which are given in the order of the file.
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        let (stars, plain): (Vec<Rule>, Vec<Rule>) =
            rules.into_iter().partition(|rule| rule.pattern.has_star());
        let (wholes, beginnings): (Vec<Rule>, Vec<Rule>) =
            plain.into_iter().partition(|rule| rule.pattern.is_anchored());
        let mut rules = Self {
            beginnings: Paths::new(beginnings.iter()),
            wholes: Paths::new(wholes.iter()),
            ..Self::default()
        };
        let (mut known, mut bytes) = (HashSet::new(), 0);
        let mut further: Vec<&Rule> = Vec::new();
        for rule in stars.iter().filter(|rule| known.insert(*rule)) {
            let has_room = rules.stars.len() < STAR_RULES;
            if has_room && bytes + rule.pattern.bytes() <= STAR_BYTES {
                bytes += rule.pattern.bytes();
                rules.stars.push(rule.clone());
            } else if !rule.is_allowed {
                further.push(rule);
            }
        }
        rules.refused = Paths::new(further.into_iter());
        rules.stars.sort_by_key(|rule| Reverse(rule.rank()));
        rules
    }

    /// Whether a path with its query, in normal encoding, may be requested.
    pub(super) fn allow(&self, path: &str) -> bool {
        if self.refused.longest_beginning(path).is_some() {
            return false;
        }
        let beginning = self.beginnings.longest_beginning(path);
        let whole = self.wholes.get(path).map(|is_allowed| (path.len() + 1, is_allowed));
        let plain = beginning.max(whole);
        let mut stars = self.stars.iter().take_while(|rule| Some(rule.rank()) > plain);
        let star = stars.find(|rule| rule.pattern.matches(path)).map(Rule::rank);
        plain.max(star).is_none_or(|(_, is_allowed)| is_allowed)
    }
}

/// Paths in order, each once, with whether they are allowed.
#[derive(Debug, Clone, Default, PartialEq)]
struct Paths(Vec<(Box<str>, bool)>);

impl Paths {
    fn new<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let path = |rule: &Rule| (rule.pattern.beginning().into(), rule.is_allowed);
        let mut paths: Vec<(Box<str>, bool)> = rules.map(path).collect();
        // Of the same path twice, the rule that allows is first and stays.
        paths.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        paths.dedup_by(|a, b| a.0 == b.0);
        Self(paths)
    }

    fn get(&self, path: &str) -> Option<bool> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(path)).ok()?;
        self.0.get(at).map(|(_, is_allowed)| *is_allowed)
    }

    /// The length of the longest one that `path` begins with, and whether it is allowed.
    ///
    /// Of all texts up to `path` in order, the last one has the most in common with it. If that is not all of it, no longer
    /// beginning of `path` is there.
    fn longest_beginning(&self, path: &str) -> Option<(usize, bool)> {
        let mut path = path.as_bytes();
        loop {
            let up_to = self.0.partition_point(|(known, _)| known.as_bytes() <= path);
            let (last, is_allowed) = self.0.get(up_to.checked_sub(1)?)?;
            let common = path.iter().zip(last.as_bytes()).take_while(|(a, b)| a == b).count();
            if common == last.len() {
                return Some((common, *is_allowed));
            }
            path = path.get(..common)?;
        }
    }
}
