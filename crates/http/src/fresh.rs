//! Values that are valid for a moment after they were read.

use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 1_024;

/// A cache whose values are valid for a fixed time. A value that is too old stays until another one needs its room.
pub(crate) struct Fresh<K, V> {
    cache: Cache<K, Entry<V>, Weight>,
    life: Duration,
}

struct Entry<V> {
    value: Arc<V>,
    weight: u64,
    since: Instant,
}

impl<V> Clone for Entry<V> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), ..*self }
    }
}

#[derive(Clone)]
struct Weight;

impl<K, V> Weighter<K, Entry<V>> for Weight {
    fn weight(&self, _: &K, entry: &Entry<V>) -> u64 {
        entry.weight
    }
}

impl<K: Eq + Hash, V> Fresh<K, V> {
    /// An empty cache of values with a total weight of up to `capacity`, each of which is valid for `life`.
    pub(crate) fn new(capacity: u64, life: Duration) -> Self {
        Self { cache: Cache::with_weighter(ENTRIES, capacity, Weight), life }
    }

    /// The value of `key` if it was inserted within the cache's `life`.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.cache.get(key).filter(|entry| entry.since.elapsed() < self.life).map(|e| e.value)
    }

    /// Removes the values that are `stale`.
    pub(crate) fn forget(&self, stale: impl Fn(&V) -> bool) {
        self.cache.retain(|_, entry| !stale(&entry.value));
    }

    /// Replaces the value of `key`. A value that is heavier than the whole cache is not kept.
    pub(crate) fn insert(&self, key: K, value: Arc<V>, weight: u64) {
        self.cache.insert(key, Entry { value, weight, since: Instant::now() });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::Fresh;

    #[test]
    fn a_value_is_valid_for_the_life_of_the_cache() {
        let lasting = Fresh::new(10, Duration::from_secs(3_600));
        lasting.insert("key", Arc::new(1), 1);
        lasting.insert("key", Arc::new(2), 1);
        assert_eq!(lasting.get(&"key").as_deref(), Some(&2));
        assert_eq!(lasting.get(&"other"), None);
        let passing = Fresh::new(10, Duration::ZERO);
        passing.insert("key", Arc::new(1), 1);
        assert_eq!(passing.get(&"key"), None);
    }

    #[test]
    fn stale_values_are_forgotten() {
        let cache = Fresh::new(10, Duration::from_secs(3_600));
        cache.insert("one", Arc::new(1), 1);
        cache.insert("two", Arc::new(2), 1);
        cache.forget(|value| *value == 1);
        assert_eq!((cache.get(&"one"), cache.get(&"two").as_deref()), (None, Some(&2)));
    }

    #[test]
    fn values_have_a_total_weight_of_at_most_the_capacity() {
        let cache = Fresh::new(1_000, Duration::from_secs(3_600));
        for key in 0..100 {
            cache.insert(key, Arc::new(()), 100);
        }
        let kept = (0..100).filter(|key| cache.get(key).is_some()).count();
        assert!((1..=10).contains(&kept), "{kept}");
        cache.insert(0, Arc::new(()), 1_001);
        assert_eq!(cache.get(&0), None);
    }
}
