//! Measures of rankings.

use std::collections::BTreeSet;

use super::collection::Question;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A right passage is first.
    First,
    /// A right passage is among the first five.
    InFive,
    /// Normalised discounted cumulative gain of the first ten.
    Ndcg10,
    /// Average precision over a thousand.
    AveragePrecision,
}

impl Measure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "R@1",
            Self::InFive => "R@5",
            Self::Ndcg10 => "nDCG@10",
            Self::AveragePrecision => "MAP",
        }
    }

    /// Whether a long ranking is needed.
    pub(crate) fn is_deep(self) -> bool {
        self == Self::AveragePrecision
    }

    /// The mean over the questions that have an answer.
    pub(crate) fn mean(self, questions: &[Question], rankings: &[Vec<usize>]) -> f64 {
        let values: Vec<f64> = questions
            .iter()
            .zip(rankings)
            .filter(|(question, _)| !question.relevant.is_empty())
            .map(|(question, ranking)| self.of(ranking, &question.relevant))
            .collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    fn of(self, ranking: &[usize], relevant: &BTreeSet<usize>) -> f64 {
        let within = |depth: usize| ranking.iter().take(depth).any(|hit| relevant.contains(hit));
        match self {
            Self::First => f64::from(u8::from(within(1))),
            Self::InFive => f64::from(u8::from(within(5))),
            Self::Ndcg10 => {
                let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
                let gain: f64 = ranking
                    .iter()
                    .take(10)
                    .enumerate()
                    .filter(|(_, hit)| relevant.contains(hit))
                    .map(|(rank, _)| discount(rank))
                    .sum();
                gain / (0..relevant.len().min(10)).map(discount).sum::<f64>()
            }
            Self::AveragePrecision => {
                let mut found = 0.0;
                let mut sum = 0.0;
                for (rank, hit) in ranking.iter().enumerate() {
                    if relevant.contains(hit) {
                        found += 1.0;
                        sum += found / (rank as f64 + 1.0);
                    }
                }
                sum / relevant.len() as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_what_their_definitions_say() {
        let relevant = BTreeSet::from([1, 3]);
        let ranking = [1, 2, 3];
        assert_eq!(Measure::First.of(&ranking, &relevant), 1.0);
        assert_eq!(Measure::First.of(&[2, 1], &relevant), 0.0);
        assert_eq!(Measure::InFive.of(&[9, 8, 7, 6, 1], &relevant), 1.0);
        let precision = (1.0 + 2.0 / 3.0) / 2.0;
        assert!((Measure::AveragePrecision.of(&ranking, &relevant) - precision).abs() < 1e-9);
        let best = 1.0 + 1.0 / 3.0_f64.log2();
        assert!((Measure::Ndcg10.of(&ranking, &relevant) - 1.5 / best).abs() < 1e-9);
    }
}
