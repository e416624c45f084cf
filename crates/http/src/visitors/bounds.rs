//! The limits of visitors: how often they may send messages, and how many replies at once. All state is in memory and
//! per server.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cicerone_domain::fairness::{FairPermit, FairPool};
use cicerone_domain::limits::DAY_MILLIS;
use cicerone_domain::{Id, Timestamp, kind};

use crate::rate::gcra::{Rate, Used};
use crate::rate::network;

/// The number of messages after which callers that have their full limit available are removed.
const SWEEP_EVERY: u32 = 4_096;
/// Seconds after which a visitor may try again if the widget has reached its limit of replies in progress.
const BUSY_SECONDS: u64 = 3;

/// A limit that a visitor has reached. It does not disclose the limits of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Bound {
    /// The messages from one address per minute.
    #[error("too many messages came from your network within a minute; try again in {}", Span(*.wait))]
    Address {
        /// Seconds until the next message can be accepted.
        wait: u64,
    },
    /// The messages of one visitor per hour.
    #[error("you have sent too many messages within an hour; try again in {}", Span(*.wait))]
    Visitor {
        /// Seconds until the next message can be accepted.
        wait: u64,
    },
    /// The ratings, requests and contact details that visitors of a widget submit per day.
    #[error(
        "this chat has reached its limit of ratings and requests for today; try again in {}",
        Span(*.wait)
    )]
    Feedback {
        /// Seconds until the next one can be accepted.
        wait: u64,
    },
    /// The replies of a widget, or of all widgets of its account, in progress.
    #[error("this chat is answering too many messages at the moment; try again shortly")]
    Replies,
    /// The messages of a widget per day.
    #[error("this chat has reached its limit of messages for today; try again tomorrow")]
    Day {
        /// Seconds until the next day.
        wait: u64,
    },
    /// The quotas of the widget's account.
    #[error("this chat cannot answer more messages at the moment; try again later")]
    Account {
        /// Seconds until the account may use more.
        wait: u64,
    },
}

/// Seconds as people say them, rounded up.
struct Span(u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds @ ..120 => write!(f, "{seconds} s"),
            seconds @ 120..7_200 => write!(f, "{} minutes", seconds.div_ceil(60)),
            seconds => write!(f, "{} hours", seconds.div_ceil(3_600)),
        }
    }
}

impl Bound {
    /// The limit of a day, until the next day begins.
    pub(super) fn of_day(now: Timestamp) -> Self {
        let gone = now.as_millis().rem_euclid(DAY_MILLIS);
        let wait = u64::try_from(DAY_MILLIS - gone).unwrap_or_default().div_ceil(1_000);
        Self::Day { wait }
    }

    /// Seconds to wait before trying again.
    pub(crate) const fn wait(self) -> u64 {
        match self {
            Self::Replies => BUSY_SECONDS,
            Self::Address { wait }
            | Self::Visitor { wait }
            | Self::Feedback { wait }
            | Self::Day { wait }
            | Self::Account { wait } => wait,
        }
    }

    /// Whether the limit is a quota, for which waiting a few seconds does not help.
    pub(crate) const fn is_quota(self) -> bool {
        match self {
            Self::Day { .. } | Self::Account { .. } => true,
            Self::Address { .. } | Self::Visitor { .. } | Self::Feedback { .. } | Self::Replies => {
                false
            }
        }
    }
}

/// Who sends a message, and to what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    pub(super) widget: Id<kind::Widget>,
    pub(super) visitor: Id<kind::Visitor>,
    pub(super) address: Option<IpAddr>,
}

/// The limits of a widget that are enforced here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) per_address_and_minute: u32,
    pub(super) per_visitor_and_hour: u32,
    pub(super) feedback_per_day: u32,
    pub(super) replies_at_once: u64,
}

/// The meters of visitors.
pub(crate) struct Bounds {
    began: Instant,
    meters: Mutex<Meters>,
    /// The replies of each widget in progress. Widgets without any are absent.
    replies: Arc<Mutex<HashMap<Id<kind::Widget>, u64>>>,
    /// The replies of all widgets of an account in progress: fewer than the account may have, so that a flood of
    /// visitors leaves some for the keys of the account.
    shares: FairPool<Id<kind::Account>>,
}

#[derive(Default)]
struct Meters {
    addresses: Used<(Id<kind::Widget>, IpAddr)>,
    visitors: Used<(Id<kind::Widget>, Id<kind::Visitor>)>,
    feedback: Used<Id<kind::Widget>>,
    since_sweep: u32,
}

/// A reply in progress. Dropping it makes room for another one.
pub(super) struct InProgress {
    widget: Id<kind::Widget>,
    replies: Arc<Mutex<HashMap<Id<kind::Widget>, u64>>>,
    _share: FairPermit<Id<kind::Account>>,
}

impl Bounds {
    /// Limits visitors to `replies` replies in progress. The visitors of accounts below their share have a reserve of
    /// the same size.
    pub(crate) fn new(replies: usize) -> Self {
        let places = u64::try_from(replies).unwrap_or(u64::MAX);
        Self {
            began: Instant::now(),
            meters: Mutex::default(),
            replies: Arc::default(),
            shares: FairPool::new(places, places),
        }
    }

    /// Counts a message, or anything else that a visitor writes, against both limits; against neither if one of them
    /// refuses it.
    pub(super) fn write(&self, sender: Sender, limits: Limits) -> Result<(), Bound> {
        self.meters().write(sender, limits, self.now())
    }

    /// Whether a widget accepts another rating, request or contact details. An event is sent for each, so the daily
    /// limit is that of messages.
    pub(super) fn feedback(&self, widget: Id<kind::Widget>, limits: Limits) -> Result<(), Bound> {
        let rate = Rate::per_day(limits.feedback_per_day);
        let reading = rate.map(|rate| self.meters().feedback.read(&widget, rate, self.now()));
        reading
            .and_then(|reading| reading.wait)
            .map_or(Ok(()), |wait| Err(Bound::Feedback { wait }))
    }

    /// Counts one that was stored. Refused ones are not counted, so that a client without a conversation cannot use up
    /// the limit.
    pub(super) fn feedback_given(&self, widget: Id<kind::Widget>, limits: Limits) {
        let (mut meters, now) = (self.meters(), self.now());
        if let Some(rate) = Rate::per_day(limits.feedback_per_day) {
            let reading = meters.feedback.read(&widget, rate, now);
            meters.feedback.spend(widget, &reading);
        }
    }

    fn meters(&self) -> MutexGuard<'_, Meters> {
        self.meters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds since the start; they overflow after 584 years.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX / 2)
    }

    /// Begins a reply.
    pub(super) fn reply(
        &self,
        account: Id<kind::Account>,
        widget: Id<kind::Widget>,
        limits: Limits,
    ) -> Result<InProgress, Bound> {
        let share = self.shares.try_acquire(account, 1).ok_or(Bound::Replies)?;
        let mut replies = lock(&self.replies);
        let held = replies.get(&widget).copied().unwrap_or_default();
        if held >= limits.replies_at_once {
            return Err(Bound::Replies);
        }
        replies.insert(widget, held + 1);
        Ok(InProgress { widget, replies: Arc::clone(&self.replies), _share: share })
    }
}

impl Meters {
    fn write(&mut self, sender: Sender, limits: Limits, now: u64) -> Result<(), Bound> {
        self.sweep(now);
        let Sender { widget, visitor, address } = sender;
        let rate = Rate::per_minute(limits.per_address_and_minute);
        let address = address.zip(rate).map(|(address, rate)| {
            let caller = (widget, network(address));
            (caller, self.addresses.read(&caller, rate, now))
        });
        if let Some(wait) = address.and_then(|(_, reading)| reading.wait) {
            return Err(Bound::Address { wait });
        }
        let caller = (widget, visitor);
        let visitor = Rate::per_hour(limits.per_visitor_and_hour)
            .map(|rate| self.visitors.read(&caller, rate, now));
        if let Some(wait) = visitor.and_then(|reading| reading.wait) {
            return Err(Bound::Visitor { wait });
        }
        if let Some((caller, reading)) = address {
            self.addresses.spend(caller, &reading);
        }
        if let Some(reading) = visitor {
            self.visitors.spend(caller, &reading);
        }
        Ok(())
    }

    fn sweep(&mut self, now: u64) {
        self.since_sweep += 1;
        if self.since_sweep >= SWEEP_EVERY {
            self.since_sweep = 0;
            self.addresses.sweep(now);
            self.visitors.sweep(now);
            self.feedback.sweep(now);
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        if let Entry::Occupied(mut held) = lock(&self.replies).entry(self.widget) {
            match held.get().saturating_sub(1) {
                0 => drop(held.remove()),
                left => *held.get_mut() = left,
            }
        }
    }
}

fn lock(
    replies: &Mutex<HashMap<Id<kind::Widget>, u64>>,
) -> MutexGuard<'_, HashMap<Id<kind::Widget>, u64>> {
    replies.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::{Bound, Bounds, Limits, Meters, Sender, lock};

    const MINUTE: u64 = 60_000_000_000;
    const LIMITS: Limits = Limits {
        per_address_and_minute: 4,
        per_visitor_and_hour: 2,
        feedback_per_day: 3,
        replies_at_once: 2,
    };

    fn sender(address: &str) -> Sender {
        Sender {
            widget: Id::random(&SystemEntropy),
            visitor: Id::random(&SystemEntropy),
            address: Some(address.parse().unwrap()),
        }
    }

    #[test]
    fn an_address_is_limited_whoever_its_visitors_are() {
        let (mut meters, first) = (Meters::default(), sender("2001:db8::1"));
        for _ in 0..4 {
            let visitor = Id::random(&SystemEntropy);
            assert_eq!(meters.write(Sender { visitor, ..first }, LIMITS, 0), Ok(()));
        }
        let neighbour = Sender { address: Some("2001:db8::2".parse().unwrap()), ..first };
        assert_eq!(meters.write(neighbour, LIMITS, 0), Err(Bound::Address { wait: 15 }));
        let elsewhere = Sender { address: Some("2001:db8:0:1::1".parse().unwrap()), ..first };
        assert_eq!(meters.write(elsewhere, LIMITS, 0), Ok(()));
        let other_widget = Sender { widget: Id::random(&SystemEntropy), ..first };
        assert_eq!(meters.write(other_widget, LIMITS, 0), Ok(()));
        assert_eq!(meters.write(first, LIMITS, MINUTE / 4), Ok(()));
    }

    #[test]
    fn a_visitor_is_limited_from_every_address_and_a_refusal_counts_against_neither() {
        let (mut meters, first) = (Meters::default(), sender("192.0.2.1"));
        for _ in 0..2 {
            assert_eq!(meters.write(first, LIMITS, 0), Ok(()));
        }
        let moved = Sender { address: Some("192.0.2.2".parse().unwrap()), ..first };
        for sender in [first, moved].into_iter().cycle().take(40) {
            assert_eq!(meters.write(sender, LIMITS, 0), Err(Bound::Visitor { wait: 30 * 60 }));
        }
        let neighbour = Sender { visitor: Id::random(&SystemEntropy), ..first };
        for _ in 0..2 {
            assert_eq!(meters.write(neighbour, LIMITS, 0), Ok(()));
        }
        assert!(meters.write(neighbour, LIMITS, 0).is_err());
    }

    #[test]
    fn a_widget_takes_so_much_feedback_in_a_day_and_what_was_refused_does_not_count() {
        let (bounds, widget) = (Bounds::new(3), Id::random(&SystemEntropy));
        for _ in 0..3 {
            for _ in 0..10 {
                assert_eq!(bounds.feedback(widget, LIMITS), Ok(()));
            }
            bounds.feedback_given(widget, LIMITS);
        }
        let Err(Bound::Feedback { wait }) = bounds.feedback(widget, LIMITS) else { panic!() };
        assert!((8 * 60 * 60 - 60..=8 * 60 * 60).contains(&wait), "{wait}");
        assert_eq!(bounds.feedback(Id::random(&SystemEntropy), LIMITS), Ok(()));
    }

    #[test]
    fn replies_in_progress_are_bounded_for_a_widget_and_for_the_visitors_of_an_account() {
        let bounds = Bounds::new(3);
        let [account, widget, other] = [(); 3].map(|()| sender("192.0.2.1"));
        let (account, widget, other): (Id<_>, _, _) =
            (Id::derived(&[account.widget.suffix()]), widget.widget, other.widget);
        let one = bounds.reply(account, widget, LIMITS).unwrap();
        let two = bounds.reply(account, widget, LIMITS).unwrap();
        assert_eq!(bounds.reply(account, widget, LIMITS).err(), Some(Bound::Replies));
        let three = bounds.reply(account, other, LIMITS).unwrap();
        assert_eq!(bounds.reply(account, other, LIMITS).err(), Some(Bound::Replies));
        // Another account has its own places.
        let foreign = bounds.reply(Id::random(&SystemEntropy), Id::random(&SystemEntropy), LIMITS);
        assert!(foreign.is_ok());
        drop((one, three));
        assert!(bounds.reply(account, widget, LIMITS).is_ok());
        drop((two, foreign));
        assert!(lock(&bounds.replies).is_empty());
    }
}
