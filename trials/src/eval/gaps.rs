//! `cargo trial eval gaps`: whether questions that were not answered fall into sensible groups.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use cicerone_domain::gap::Joined;
use cicerone_domain::limits::{GAP_COMPARED, GAP_COMPARED_CHARS, GAP_GROUPED, GAP_MEMBERS};
use cicerone_retrieval::WordLikeness;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use super::sets;
use super::table::Table;

/// The set: questions in other words, several for each pair.
const SET: &str = "stackfaq";
/// Questions of the smaller sample.
const SAMPLE: usize = 300;
/// Thresholds that are compared, in hundredths.
const THRESHOLDS: std::ops::RangeInclusive<u8> = 10..=60;
/// The purity that is wanted.
const PURITY: f64 = 0.7;
/// Orders in which the questions are asked.
const ORDERS: u64 = 5;

/// A question, and the number of the group that it is known to belong to.
type Asked = (String, usize);

/// Groups the questions of every other pair, and those of the others. The threshold is chosen by the first half; the second
/// one shows what it is worth.
pub(super) fn measure(data: &Path, table: &mut Table) -> anyhow::Result<()> {
    let collection = sets::load(data, SET)?;
    let all = collection.questions.into_iter().filter_map(|question| {
        let group = question.relevant.first().copied()?;
        Some((question.text, group))
    });
    let (chosen, shown): (Vec<Asked>, Vec<Asked>) = all.partition(|(_, group)| group % 2 == 0);
    for hundredths in THRESHOLDS.step_by(5) {
        let threshold = f32::from(hundredths) / 100.0;
        let quality = Quality::of(&WordLikeness::with_threshold(threshold), &chosen);
        println!("  threshold {threshold:.2}: {quality}");
    }
    let least = THRESHOLDS.map(|hundredths| f32::from(hundredths) / 100.0).find(|threshold| {
        Quality::of(&WordLikeness::with_threshold(*threshold), &chosen).purity >= PURITY
    });
    match least {
        Some(threshold) => {
            println!("  the least threshold with a purity of {PURITY}: {threshold:.2}")
        }
        None => println!("  no threshold has a purity of {PURITY}"),
    }
    let likeness = WordLikeness::default();
    Quality::of(&likeness, &chosen).add_to(table, "chosen by");
    Quality::of(&likeness, &shown).add_to(table, "other half");
    let sample: Vec<Asked> = shuffled(&shown, ORDERS).into_iter().take(SAMPLE).collect();
    Quality::of(&likeness, &sample).add_to(table, "300 of it");
    time(&likeness, &chosen, &shown);
    Ok(())
}

/// The questions in another order.
fn shuffled(asked: &[Asked], seed: u64) -> Vec<Asked> {
    let mut asked = asked.to_vec();
    asked.shuffle(&mut StdRng::seed_from_u64(seed));
    asked
}

/// How well groups agree with those that are known: means over several orders.
#[derive(Debug, Default)]
struct Quality {
    asked: usize,
    known: usize,
    /// The share of questions in the group's most frequent known group.
    purity: f64,
    /// The share of questions in the known group's most frequent group.
    inverse: f64,
    /// Precision and recall of pairs of questions in the same group, as their harmonic mean.
    pairs: f64,
    groups: f64,
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "purity {:.3}, inverse purity {:.3}, F1 of pairs {:.3}, {:.0} groups for {} known ones",
            self.purity, self.inverse, self.pairs, self.groups, self.known
        )
    }
}

impl Quality {
    fn of(likeness: &WordLikeness, asked: &[Asked]) -> Self {
        let orders = (0..ORDERS).map(|seed| Self::in_order(likeness, &shuffled(asked, seed)));
        let mut mean = Self::default();
        for one in orders {
            mean.asked = one.asked;
            mean.known = one.known;
            mean.purity += one.purity / ORDERS as f64;
            mean.inverse += one.inverse / ORDERS as f64;
            mean.pairs += one.pairs / ORDERS as f64;
            mean.groups += one.groups / ORDERS as f64;
        }
        mean
    }

    fn in_order(likeness: &WordLikeness, asked: &[Asked]) -> Self {
        let groups = grouped(likeness, asked);
        let known: Vec<usize> = asked.iter().map(|(_, group)| *group).collect();
        let (purity, found) = purity(&groups, &known);
        let (inverse, count) = self::purity(&known, &groups);
        Self {
            asked: asked.len(),
            known: count,
            purity,
            inverse,
            pairs: pairs(&groups, &known),
            groups: found as f64,
        }
    }

    fn add_to(&self, table: &mut Table, name: &str) {
        let note = format!("{:.0} groups for {} known ones", self.groups, self.known);
        table.add("gaps", &format!("{name}: purity"), self.asked, self.purity, &note);
        table.add("gaps", &format!("{name}: inverse"), self.asked, self.inverse, "");
        table.add("gaps", &format!("{name}: F1"), self.asked, self.pairs, "of pairs");
    }
}

/// The group of each question, as a service groups them: some at a time, with the first questions of the groups so far.
fn grouped(likeness: &WordLikeness, asked: &[Asked]) -> Vec<usize> {
    let mut members: Vec<Vec<String>> = Vec::new();
    let mut groups = Vec::new();
    for batch in asked.chunks(GAP_GROUPED) {
        let questions: Vec<String> = batch.iter().map(|(text, _)| text.clone()).collect();
        let mut begun: HashMap<usize, usize> = HashMap::new();
        let joined = likeness.join_now(&members, &questions);
        for (question, joined) in questions.into_iter().zip(joined) {
            let group = match joined {
                Joined::Group(group) => group,
                Joined::Question(first) => *begun.entry(first).or_insert_with(|| {
                    members.push(Vec::new());
                    members.len() - 1
                }),
            };
            if let Some(known_by) = members.get_mut(group).filter(|all| all.len() < GAP_MEMBERS) {
                known_by.push(question);
            }
            groups.push(group);
        }
    }
    groups
}

/// The share of the items that are of the most frequent kind of their group, and the number of groups.
fn purity(groups: &[usize], kinds: &[usize]) -> (f64, usize) {
    let mut counts: HashMap<usize, HashMap<usize, usize>> = HashMap::new();
    for (group, kind) in groups.iter().zip(kinds) {
        *counts.entry(*group).or_default().entry(*kind).or_default() += 1;
    }
    let most: usize = counts.values().filter_map(|kinds| kinds.values().max()).sum();
    (most as f64 / groups.len().max(1) as f64, counts.len())
}

/// The harmonic mean of precision and recall of pairs in the same group.
fn pairs(groups: &[usize], known: &[usize]) -> f64 {
    let (mut same, mut found, mut right) = (0_u64, 0_u64, 0_u64);
    for (at, (group, kind)) in groups.iter().zip(known).enumerate() {
        for (other, other_kind) in groups.iter().zip(known).take(at) {
            let (is_found, is_same) = (group == other, kind == other_kind);
            found += u64::from(is_found);
            same += u64::from(is_same);
            right += u64::from(is_found && is_same);
        }
    }
    2.0 * right as f64 / (found + same).max(1) as f64
}

/// Prints how long the largest request takes: with these questions, and with questions that have all features in common.
fn time(likeness: &WordLikeness, one: &[Asked], other: &[Asked]) {
    let mut texts = one.iter().chain(other).map(|(text, _)| text.clone()).cycle();
    let groups: Vec<Vec<String>> =
        (0..GAP_COMPARED).map(|_| texts.by_ref().take(GAP_MEMBERS).collect()).collect();
    let questions: Vec<String> = texts.take(GAP_GROUPED).collect();
    // Words of two letters, as many as are compared, in another order each time.
    let words: Vec<String> =
        ('a'..='z').flat_map(|a| ('a'..='f').map(move |b| format!("{a}{b}"))).collect();
    let alike = |number: usize| -> String {
        let from = number % words.len();
        let text: Vec<&str> = words.iter().cycle().skip(from).take(133).map(|w| &**w).collect();
        text.join(" ").chars().take(GAP_COMPARED_CHARS).collect()
    };
    let hostile_groups: Vec<Vec<String>> = (0..GAP_COMPARED)
        .map(|number| (0..GAP_MEMBERS).map(|n| alike(number + n)).collect())
        .collect();
    let hostile: Vec<String> = (0..GAP_GROUPED).map(alike).collect();
    for (name, groups, questions) in
        [("of this set", groups, questions), ("all alike", hostile_groups, hostile)]
    {
        let began = Instant::now();
        let joined = likeness.join_now(&groups, &questions);
        println!(
            "  {} questions {name} against {} gaps: {:.0} ms",
            joined.len(),
            groups.len(),
            began.elapsed().as_secs_f64() * 1_000.0
        );
    }
}
