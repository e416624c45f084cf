//! When a delivery is attempted.

use std::time::Duration;

use crate::clock::Entropy;

/// The pauses before the second and every further attempt: the example of Standard Webhooks.
pub const SCHEDULE: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 60 * 60),
    Duration::from_secs(5 * 60 * 60),
    Duration::from_secs(10 * 60 * 60),
    Duration::from_secs(14 * 60 * 60),
    Duration::from_secs(20 * 60 * 60),
    Duration::from_secs(24 * 60 * 60),
];
/// The part of a pause by which it varies in either direction, so that deliveries that failed at the same time are not
/// retried at the same time.
const JITTER: f64 = 0.2;
/// The longest pause that an endpoint can ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(24 * 60 * 60);

/// The pause after a failed attempt, which followed `tries` earlier attempts; `None` if it was the last one. The pause
/// that the endpoint asked for is a lower bound.
pub(super) fn pause(
    schedule: &[Duration],
    tries: u32,
    asked: Option<Duration>,
    entropy: &dyn Entropy,
) -> Option<Duration> {
    let planned = *schedule.get(usize::try_from(tries).ok()?)?;
    let mut random = [0; 2];
    entropy.fill(&mut random);
    let chance = f64::from(u16::from_be_bytes(random)) / f64::from(u16::MAX);
    let planned = planned.mul_f64(1.0 - JITTER + 2.0 * JITTER * chance);
    Some(planned.max(asked.unwrap_or_default().min(LONGEST_ASKED)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST_ASKED, SCHEDULE, pause};
    use crate::clock::{Entropy, SystemEntropy};

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, target: &mut [u8]) {
            target.fill(self.0);
        }
    }

    #[test]
    fn pauses_lie_within_a_fifth_of_the_schedule() {
        for (tries, planned) in (0..).zip(SCHEDULE) {
            let seconds = planned.as_secs_f64();
            let at = |entropy: &dyn Entropy| {
                pause(&SCHEDULE, tries, None, entropy).unwrap().as_secs_f64()
            };
            assert!((at(&Fixed(0)) - 0.8 * seconds).abs() < 1e-6);
            assert!((at(&Fixed(255)) - 1.2 * seconds).abs() < 1e-6);
            for _ in 0..100 {
                assert!((0.8 * seconds..=1.2 * seconds + 1e-6).contains(&at(&SystemEntropy)));
            }
        }
        assert_eq!(pause(&SCHEDULE, 9, None, &SystemEntropy), None, "the tenth was the last");
    }

    #[test]
    fn what_an_endpoint_asks_for_is_a_lower_bound_up_to_a_day() {
        let asked = |seconds| pause(&SCHEDULE, 0, Some(Duration::from_secs(seconds)), &Fixed(0));
        assert_eq!(asked(1), Some(Duration::from_secs(4)));
        assert_eq!(asked(60), Some(Duration::from_secs(60)));
        assert_eq!(asked(u64::MAX), Some(LONGEST_ASKED));
    }
}
