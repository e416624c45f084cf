//! Choosing the sentences of the passages that answer the question.

mod asked_section;
mod both;
mod headings;
mod quoted;
mod read;
mod rows;

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _};

use cicerone_domain::conversation::Role;
use cicerone_domain::ports::ReplyRequest;
use cicerone_domain::retrieval::Hit;
use cicerone_language::Subject;
use foldhash::fast::FixedState;

use self::asked_section::{asked_section, opener};
pub(super) use self::quoted::Quoted;
pub(super) use self::read::title_score;
use self::read::{Asked, Read, Spelling, Words};
use super::limit;
use super::matcher::{Mask, Matcher};
use super::readings::Readings;
use super::units::Kind;

/// The longest reply in characters, unless a single piece needs more: with a fact, and with an explanation or from a text
/// about something technical, where the next definition or example is often the one that was asked for.
const REPLY_CHARS: usize = 300;
const LONG_REPLY_CHARS: usize = 900;
/// The number of passages that are read: of all kinds, and of those about something technical.
const PASSAGES: usize = 3;
const TECHNICAL_PASSAGES: usize = 5;
/// The bytes of a short word with a space. There is room from the start for a sentence of such words.
const BYTES_OF_WORD: usize = 5;
/// The bonus for being next to a chosen sentence.
const BESIDE: f32 = 0.1;
/// The factor for a sentence whose words of the question are already covered.
const COVERED: f32 = 0.3;
/// A further sentence needs this share of the score of the best one, and more if it has no word of the question.
const WORTH_ADDING: f32 = 0.3;
const WORTH_GOING_ON: f32 = 0.5;
/// The factor for the sentences of a passage whose score is nothing beside that of the best one.
const LAST_PRIOR: f32 = 0.7;
/// A sentence repeats another if the shorter one has this share of its words in common with it.
const REPEATED_PERCENT: usize = 80;

/// The sentences to quote.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    /// Passages, the one with the best sentence first.
    pub(super) passages: Vec<Quoted<'a>>,
    /// The score of the best sentence, on the scale of [`title_score`].
    pub(super) best: f32,
    /// The longest reply that the profile allows, in characters.
    pub(super) limit: usize,
    /// The subject, if the question asks for a definition.
    pub(super) subject: Option<Subject>,
}

/// Chooses sentences for a request.
pub(super) fn sentences<'a>(
    request: &'a ReplyRequest,
    matcher: &Matcher<'_>,
    readings: &Readings,
) -> Choice<'a> {
    let limit = limit::chars(&request.profile);
    if let Some(parts) = both::parts(&request.question) {
        let (of_first, of_second) = both::terms(request, parts);
        let (first, second) = (Asked::of(parts.0), Asked::of(parts.1));
        let (mut passages, best) =
            Pick::new(request, &Matcher::new(&of_first), readings, &first, limit).all(request);
        let of_second = Matcher::new(&of_second);
        let further = Pick::new(request, &of_second, readings, &second, limit).first();
        for passage in further {
            match passages.iter_mut().find(|known| known.index == passage.index) {
                Some(known) => known.also(passage),
                None => passages.push(passage),
            }
        }
        return Choice { passages, best, limit, subject: first.into_subject() };
    }
    let mut asked = Asked::of(&request.question);
    let questions = || request.history.iter().rev().filter(|message| message.role == Role::User);
    if matcher.has_context()
        && let Some(before) = questions().next()
    {
        asked = asked.following(&before.content);
    }
    let (passages, best) = Pick::new(request, matcher, readings, &asked, limit).all(request);
    Choice { passages, best, limit, subject: asked.into_subject() }
}

/// The factor for the sentences of a passage, by its rank: its score relative to that of the best one.
pub(super) fn prior(request: &ReplyRequest, hit: &Hit) -> f32 {
    let top = request.passages.first().map_or(1.0, |hit| hit.score);
    let share = if top > 0.0 { (hit.score / top).clamp(0.0, 1.0) } else { 1.0 };
    LAST_PRIOR + (1.0 - LAST_PRIOR) * share
}

/// An unfinished choice.
struct Pick<'a, 'm> {
    read: Vec<Read<'a>>,
    matcher: &'m Matcher<'m>,
    /// Passages in the order in which they were first quoted.
    order: Vec<usize>,
    covered: Mask,
    chars: usize,
    /// The words of each chosen unit.
    said: Vec<Vec<u64>>,
    /// Whether the question itself has words, besides those of earlier messages.
    answers_itself: bool,
    /// The longest reply in characters, except for its first piece.
    limit: usize,
    /// Whether the reply may be long: an explanation is asked for, or the first piece is about something technical.
    is_long: bool,
}

impl<'a, 'm> Pick<'a, 'm> {
    /// Reads the passages of a request; nothing is chosen yet.
    fn new(
        request: &'a ReplyRequest,
        matcher: &'m Matcher<'m>,
        readings: &Readings,
        asked: &Asked<'_>,
        limit: usize,
    ) -> Self {
        let reading = |hit: &Hit| readings.of(&hit.text);
        let read_in = |spelling: Spelling| {
            let mut read: Vec<Read<'_>> = Vec::with_capacity(TECHNICAL_PASSAGES);
            let passages = asked.reading_order(&request.passages, reading).take(TECHNICAL_PASSAGES);
            for (place, (index, hit)) in passages.enumerate() {
                let reading = reading(hit);
                let is_read = place < PASSAGES || reading.is_technical;
                // A pair is quoted whole or not at all.
                if is_read && (!hit.is_pair || index == 0) {
                    let prior = prior(request, hit);
                    let words = Words { matcher, spelling };
                    let new = Read::new(index, hit, words, asked, prior, &read, &reading);
                    read.extend(new);
                }
            }
            read
        };
        let mut read = read_in(Spelling::Right);
        if !read.iter().any(Read::has_words) {
            read = read_in(Spelling::Similar);
        }
        let has_answer = |read: &Read<'_>| {
            let mut scored = read.scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
            scored.any(|(unit, _)| matcher.is_asked(read.said(unit)))
        };
        let answers_itself = matcher.has_context() && read.iter().any(has_answer);
        Self {
            read,
            matcher,
            order: Vec::new(),
            covered: 0,
            chars: 0,
            said: Vec::new(),
            answers_itself,
            limit,
            is_long: asked.is_explained,
        }
    }

    /// The passages with all that answers, and the score of the best unit.
    fn all(mut self, request: &ReplyRequest) -> (Vec<Quoted<'a>>, f32) {
        let best = self.section_or_best(&request.passages);
        (self.into_passages(), best)
    }

    /// The passage with what answers best.
    fn first(mut self) -> Vec<Quoted<'a>> {
        if let Some((passage, unit, _)) = self.best(&HashSet::new()) {
            self.add(passage, unit);
        }
        self.into_passages()
    }

    /// Takes the section whose heading asks the same, or the best units. Returns the score of the best one.
    fn section_or_best(&mut self, passages: &[Hit]) -> f32 {
        let limit = self.limit.min(LONG_REPLY_CHARS);
        match asked_section(&self.read, passages, self.matcher, limit) {
            Some(section) => {
                self.order.push(section.passage);
                if let Some(read) = self.read.get_mut(section.passage) {
                    read.quoted.chosen.extend(section.units);
                }
                // No title of another page answers better.
                f32::MAX
            }
            None => self.fill(),
        }
    }

    /// Adds units, best first, as long as they are good enough and fit. Returns the score of the best one.
    fn fill(&mut self) -> f32 {
        let mut refused: HashSet<(usize, usize)> = HashSet::new();
        let (mut least, mut best) = (f32::MIN_POSITIVE, 0.0);
        while let Some((passage, unit, value)) = self.best(&refused) {
            if value < least {
                break;
            }
            if self.order.is_empty() {
                best = value;
            }
            let is_asked = self.read.get(passage).is_some_and(|read| self.is_asked(read, unit));
            let is_worth = is_asked || value >= WORTH_GOING_ON * best;
            if !is_worth || !self.add(passage, unit) {
                refused.insert((passage, unit));
            }
            least = WORTH_ADDING * best;
        }
        best
    }

    /// Whether a unit has a word of the question itself. Another sum of money alone adds nothing to a price.
    fn is_asked(&self, read: &Read<'_>, unit: usize) -> bool {
        let said = read.said(unit);
        self.matcher.is_asked(if self.order.is_empty() { said } else { said & !read.of_measure })
    }

    /// The best unit that is not chosen, with its value next to the chosen ones.
    fn best(&self, refused: &HashSet<(usize, usize)>) -> Option<(usize, usize, f32)> {
        let mut best: Option<(usize, usize, f32)> = None;
        for (passage, read) in self.read.iter().enumerate() {
            for (unit, (score, own)) in read.scores.iter().zip(&read.own).enumerate() {
                let chosen = &read.quoted.chosen;
                // An upper bound of the value, which decides for most units.
                if *score <= 0.0 || best.is_some_and(|(_, _, value)| score + BESIDE <= value) {
                    continue;
                }
                if chosen.contains(&unit)
                    || refused.contains(&(passage, unit))
                    || read.is_outdone(unit)
                {
                    continue;
                }
                // A unit without a word of the question itself may be the answer. If there is an
                // answer already, it adds nothing, unless it continues the same subject.
                let is_asked = self.is_asked(read, unit);
                let goes_on = || !self.order.is_empty() && read.quoted.refers_back(unit);
                if (self.answers_itself || !self.order.is_empty()) && !is_asked && !goes_on() {
                    continue;
                }
                let weight = self.matcher.weight(*own);
                let repeated = self.matcher.weight(own & self.covered);
                let share = if weight > 0.0 { repeated / weight } else { 0.0 };
                let is_beside = chosen.iter().any(|other| other.abs_diff(unit) == 1);
                let value = score * (1.0 - COVERED * share) + if is_beside { BESIDE } else { 0.0 };
                if best.is_none_or(|(_, _, other)| value > other) {
                    best = Some((passage, unit, value));
                }
            }
        }
        best
    }

    /// Adds a unit with the units that it needs; `false` if they do not fit or add nothing new.
    fn add(&mut self, passage: usize, unit: usize) -> bool {
        let Some(read) = self.read.get(passage) else { return false };
        let (from, to) = read.whole_block(unit).unwrap_or_else(|| read.quoted.whole(unit));
        let new: Vec<usize> = opener(&read.quoted, from)
            .into_iter()
            .chain(from..=to)
            .filter(|unit| !read.quoted.chosen.contains(unit))
            .filter(|unit| read.quoted.kind(*unit) != Some(Kind::Heading))
            .collect();
        let chars: usize =
            new.iter().map(|unit| read.quoted.unit_text(*unit).chars().count() + 1).sum();
        let is_first = self.order.is_empty();
        if !is_first && (self.chars + chars > self.limit || self.repeats(read, unit)) {
            return false;
        }
        if is_first {
            self.is_long |= read.quoted.reading.is_technical;
            let usual = if self.is_long { LONG_REPLY_CHARS } else { REPLY_CHARS };
            self.limit = self.limit.min(usual);
        }
        self.chars += chars;
        if !self.order.contains(&passage) {
            self.order.push(passage);
        }
        if let Some(read) = self.read.get_mut(passage) {
            for unit in new {
                self.said.push(words(read.quoted.unit_text(unit)));
                self.covered |= read.own.get(unit).copied().unwrap_or(0);
                read.quoted.chosen.push(unit);
            }
            read.quoted.chosen.sort_unstable();
        }
        true
    }

    /// Whether a chosen unit says the same in the same words.
    fn repeats(&self, read: &Read<'_>, unit: usize) -> bool {
        let words = words(read.quoted.unit_text(unit));
        self.said.iter().any(|theirs| {
            let common = words.iter().filter(|word| theirs.binary_search(word).is_ok()).count();
            common * 100 >= words.len().min(theirs.len()) * REPEATED_PERCENT
        })
    }

    fn into_passages(self) -> Vec<Quoted<'a>> {
        let mut read: Vec<Option<Read<'a>>> = self.read.into_iter().map(Some).collect();
        self.order
            .iter()
            .filter_map(|passage| read.get_mut(*passage).and_then(Option::take))
            .map(|read| read.quoted)
            .collect()
    }
}

/// The words of a text in small letters, as sorted hashes: only whether two texts have the same ones matters. Both
/// small letters of Σ are one.
fn words(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = FixedState::default().build_hasher();
        for letter in word.chars().flat_map(char::to_lowercase) {
            hasher.write_u32(if letter == 'ς' { 'σ' } else { letter }.into());
        }
        hasher.finish()
    };
    let all = text.split(|c: char| !c.is_alphanumeric());
    let mut words: Vec<u64> = Vec::with_capacity(text.len() / BYTES_OF_WORD);
    words.extend(all.filter(|word| !word.is_empty()).map(hash));
    words.sort_unstable();
    words.dedup();
    words
}
