//! The outcome of an agent's messages, by day.

use crate::error::Error;
use crate::every;
use crate::usage::Day;

/// The upper bounds of all buckets except the last, in milliseconds.
pub const LATENCY_BOUNDS_MS: [u64; 9] = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/// The number of buckets.
pub const LATENCY_BUCKETS: usize = LATENCY_BOUNDS_MS.len() + 1;

/// The bucket that counts a latency.
pub fn latency_bucket(millis: u64) -> usize {
    LATENCY_BOUNDS_MS.iter().position(|bound| millis <= *bound).unwrap_or(LATENCY_BOUNDS_MS.len())
}

/// An agent's day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayStatistics {
    /// The UTC day that is counted.
    pub day: Day,
    /// Messages that were answered, including those that were not stored.
    pub messages: u64,
    /// Conversations that began.
    pub conversations: u64,
    /// Stored replies that cite a source.
    pub answered: u64,
    /// Stored replies that cite no source.
    pub unanswered: u64,
    /// Replies of this day that are rated up.
    pub rated_up: u64,
    /// Replies of this day that are rated down.
    pub rated_down: u64,
    /// How long the stored replies took.
    pub latencies: Latencies,
}

/// How long replies took, from the arrival of the question to the end of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latencies {
    /// The sum in milliseconds.
    pub total_ms: u64,
    /// The number of replies in each bucket.
    pub buckets: [u64; LATENCY_BUCKETS],
}

impl Latencies {
    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The mean in milliseconds; `None` without replies.
    pub fn mean_ms(&self) -> Option<u64> {
        self.total_ms.checked_div(self.count())
    }

    /// The percentile of the latency in milliseconds, interpolated within its bucket; `None` without replies. In the
    /// last bucket it is the lower bound. It never contradicts the sum: all replies from that one onwards took at least
    /// as long.
    pub fn percentile_ms(&self, percent: u64) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let wanted = (count * percent).div_ceil(100).max(1);
        let most =
            self.total_ms.checked_div((count + 1).saturating_sub(wanted)).unwrap_or(u64::MAX);
        let (mut below, mut low) = (0, 0);
        for (bucket, high) in self.buckets.iter().zip(LATENCY_BOUNDS_MS) {
            if below + bucket >= wanted {
                let interpolated = low + (high - low) * (wanted - below) / bucket;
                return Some(interpolated.min(most).max(low));
            }
            below += bucket;
            low = high;
        }
        Some(low)
    }
}

/// Which days are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DayRange {
    /// The first day to return.
    pub from: Option<Day>,
    /// Up to this day, included.
    pub to: Option<Day>,
}

impl DayRange {
    /// Reads the parameters `from` and `to`.
    ///
    /// # Errors
    ///
    /// Returns the errors of those that are not a day.
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, Error> {
        let day = |name, text: Option<&str>| text.map(|text| Day::parse(name, text)).transpose();
        let (from, to) = every((day("from", from), day("to", to)))?;
        Ok(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::{LATENCY_BOUNDS_MS, Latencies, latency_bucket};

    fn latencies(all: &[u64]) -> Latencies {
        let mut latencies = Latencies { total_ms: all.iter().sum(), ..Latencies::default() };
        all.iter().for_each(|millis| latencies.buckets[latency_bucket(*millis)] += 1);
        latencies
    }

    #[test]
    fn a_latency_is_counted_in_the_first_bucket_that_holds_it() {
        for (millis, bucket) in [(0, 0), (50, 0), (51, 1), (30_000, 8), (30_001, 9), (u64::MAX, 9)]
        {
            assert_eq!(latency_bucket(millis), bucket, "{millis}");
        }
    }

    #[test]
    fn percentiles_lie_in_the_bucket_of_the_true_ones() {
        let all: Vec<u64> = (1..=1_000).map(|number| number * number / 40).collect();
        let found = latencies(&all);
        for percent in [1, 10, 50, 90, 95, 99, 100] {
            let place = usize::try_from((1_000 * percent) / 100).unwrap() - 1;
            let bucket = latency_bucket(found.percentile_ms(percent).unwrap());
            assert_eq!(bucket, latency_bucket(all[place]), "{percent} %");
        }
        assert_eq!(found.mean_ms(), Some(all.iter().sum::<u64>() / 1_000));
    }

    #[test]
    fn nothing_has_no_latency_and_very_long_ones_have_the_last_bound() {
        assert_eq!((latencies(&[]).mean_ms(), latencies(&[]).percentile_ms(50)), (None, None));
        assert_eq!(latencies(&[600_000]).percentile_ms(50), LATENCY_BOUNDS_MS.last().copied());
        assert_eq!(latencies(&[40, 40]).percentile_ms(50), Some(25));
    }

    #[test]
    fn a_percentile_is_no_longer_than_the_sum_allows() {
        assert_eq!(latencies(&[40]).percentile_ms(95), Some(40));
        let quick = latencies(&[0; 10]);
        assert_eq!((quick.mean_ms(), quick.percentile_ms(50)), (Some(0), Some(0)));
        assert_eq!(quick.percentile_ms(95), Some(0));
        let mixed = latencies(&[1, 1, 1, 60]);
        assert_eq!((mixed.percentile_ms(50), mixed.percentile_ms(100)), (Some(21), Some(63)));
    }
}
