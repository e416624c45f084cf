//! Quotas of accounts, as a server remembers them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cicerone_domain::ports::UsageStore as _;
use cicerone_domain::services::Quotas;
use cicerone_domain::usage::{AccountQuotas, DefaultQuotas, Quota};
use cicerone_domain::{Clock, Error, Timestamp};

use super::fixture::on_each;

/// A clock set by the test.
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[tokio::test]
async fn quotas_are_read_again_after_a_second_and_after_the_clock_was_set_back() {
    on_each(async |world| {
        let start = world.now().as_millis();
        let clock = Arc::new(Hand(AtomicI64::new(start)));
        let store = Arc::new(world.storage.clone());
        let quotas = Quotas::new(store, DefaultQuotas::default(), Arc::clone(&clock) as _);
        let set = async |messages: Quota| {
            let change = AccountQuotas { messages, ..AccountQuotas::default() };
            world.storage.set_quotas("ours", Some(change)).await.unwrap();
        };
        quotas.admit(world.account).await.unwrap();
        set(Quota::AtMost(0)).await;
        clock.0.fetch_add(999, Ordering::Relaxed);
        quotas.admit(world.account).await.unwrap();
        clock.0.fetch_add(1, Ordering::Relaxed);
        let refused = quotas.admit(world.account).await;
        assert!(matches!(refused, Err(Error::QuotaExceeded { .. })), "{refused:?}");
        set(Quota::Default).await;
        clock.0.store(start - 3_600_000, Ordering::Relaxed);
        quotas.admit(world.account).await.unwrap();
    })
    .await;
}
