//! The places for connections, and how addresses share them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;

use futures_util::task::AtomicWaker;
use ipnet::IpNet;

use crate::rate::network;

/// The value of a slot while a request is in progress.
const BUSY: u64 = u64::MAX;
/// Places that a single address can always have.
const LEAST_PER_NETWORK: usize = 16;

/// The places of a server.
///
/// While half of the places are taken, no address (for IPv6: no /64) gets more than a quarter; beyond that, it gets a
/// place only in exchange for one of its own idle connections. While seven eighths are taken, each new connection
/// closes an idle one of the address that has the most.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    /// Their connections carry the requests of many clients, so they are not limited.
    trusted: Vec<IpNet>,
    table: Mutex<Table>,
    /// The order in which connections became idle.
    clock: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    slots: HashMap<u64, Arc<Slot>>,
    networks: HashMap<IpAddr, usize>,
    /// Slots whose connections have been asked to close.
    closing: usize,
}

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Slot {
    places: Arc<Places>,
    /// The network that it counts for; `None` for a proxy.
    network: Option<IpAddr>,
    /// When it became idle; [`BUSY`] while a request is in progress.
    idle_since: AtomicU64,
    is_to_close: AtomicBool,
    reader: AtomicWaker,
}

/// The place of a connection, which is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    number: u64,
    slot: Arc<Slot>,
}

impl Places {
    pub(crate) fn new(most: usize, trusted: Vec<IpNet>) -> Arc<Self> {
        Arc::new(Self {
            most,
            trusted,
            table: Mutex::new(Table::default()),
            clock: AtomicU64::new(0),
        })
    }

    /// Takes a place for a connection from this address. Returns `None` if the address can have no more.
    pub(crate) fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Option<ConnectionPlace> {
        let is_proxy = |address: &IpAddr| self.trusted.iter().any(|range| range.contains(address));
        let address = address.map(|address| address.to_canonical());
        let network = address.filter(|address| !is_proxy(address)).map(network);
        let mut table = self.lock();
        let taken = table.slots.len().saturating_sub(table.closing);
        let held = network.and_then(|network| table.networks.get(&network)).copied();
        let share = (self.most / 4).max(LEAST_PER_NETWORK);
        if taken >= self.most / 2 && held.is_some_and(|held| held >= share) {
            if !table.close_one(|slot| slot.network == network) {
                metrics::counter!("cicerone_http_connections_refused_total").increment(1);
                return None;
            }
        } else if taken >= self.most - self.most / 8 {
            table.close_one(|_| true);
        }
        let slot = Arc::new(Slot {
            places: Arc::clone(self),
            network,
            idle_since: AtomicU64::new(self.now()),
            is_to_close: AtomicBool::new(false),
            reader: AtomicWaker::new(),
        });
        let number = table.next;
        table.next += 1;
        table.slots.insert(number, Arc::clone(&slot));
        if let Some(network) = network {
            *table.networks.entry(network).or_default() += 1;
        }
        drop(table);
        metrics::gauge!("cicerone_http_connections").increment(1);
        Some(ConnectionPlace { number, slot })
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Nothing that runs under the lock can panic half-way, so a poisoned table is intact.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Among these connections, finds the network with the most idle ones and closes its longest
    /// idle one. Returns false if none is idle.
    fn close_one(&mut self, among: impl Fn(&Slot) -> bool) -> bool {
        let idle = self.slots.values().filter(|slot| among(slot) && slot.is_idle());
        let weight = |slot: &Slot| {
            let held = slot.network.and_then(|network| self.networks.get(&network)).copied();
            (std::cmp::Reverse(held.unwrap_or_default()), slot.idle_since.load(Ordering::Relaxed))
        };
        let Some(slot) = idle.min_by_key(|slot| weight(slot)) else { return false };
        slot.is_to_close.store(true, Ordering::Release);
        slot.reader.wake();
        self.closing += 1;
        metrics::counter!("cicerone_http_connections_evicted_total").increment(1);
        true
    }
}

impl Slot {
    pub(super) fn set_busy(&self) {
        self.idle_since.store(BUSY, Ordering::Relaxed);
    }

    pub(super) fn set_idle(&self) {
        self.idle_since.store(self.places.now(), Ordering::Relaxed);
    }

    /// Whether the connection is to be closed. If not, the reader is woken when it is.
    pub(super) fn is_to_close(&self, cx: &Context<'_>) -> bool {
        self.reader.register(cx.waker());
        self.is_to_close.load(Ordering::Acquire)
    }

    fn is_idle(&self) -> bool {
        self.idle_since.load(Ordering::Relaxed) != BUSY && !self.is_to_close.load(Ordering::Relaxed)
    }
}

impl ConnectionPlace {
    /// The slot of the connection that has this place.
    pub(super) fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut table = self.slot.places.lock();
        table.slots.remove(&self.number);
        if self.slot.is_to_close.load(Ordering::Relaxed) {
            table.closing = table.closing.saturating_sub(1);
        }
        if let Some(network) = self.slot.network
            && let Some(held) = table.networks.get_mut(&network)
        {
            *held = held.saturating_sub(1);
            if *held == 0 {
                table.networks.remove(&network);
            }
        }
        drop(table);
        metrics::gauge!("cicerone_http_connections").decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use super::{ConnectionPlace, Places};

    const MOST: usize = 128;

    fn enter(places: &Arc<Places>, address: &str) -> Option<ConnectionPlace> {
        places.enter(Some(address.parse::<IpAddr>().unwrap()))
    }

    fn busy(place: Option<ConnectionPlace>) -> Option<ConnectionPlace> {
        place.inspect(|place| place.slot.set_busy())
    }

    fn closing(places: &[ConnectionPlace]) -> usize {
        places.iter().filter(|place| !place.slot.is_idle()).count()
    }

    #[test]
    fn an_address_has_at_most_half_of_the_places_and_others_always_get_in() {
        let places = Places::new(MOST, Vec::new());
        let mut flood: Vec<_> =
            (0..MOST / 2).map_while(|_| busy(enter(&places, "192.0.2.1"))).collect();
        assert_eq!(flood.len(), MOST / 2);
        assert!(enter(&places, "192.0.2.1").is_none());
        for other in 0..20 {
            flood.extend(enter(&places, &format!("198.51.100.{other}")));
        }
        assert_eq!(flood.len(), MOST / 2 + 20);
        drop(flood);
        assert_eq!(places.lock().slots.len(), 0);
        assert!(places.lock().networks.is_empty());
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_together() {
        let places = Places::new(MOST, Vec::new());
        let held: Vec<_> = (0..MOST)
            .map_while(|host| busy(enter(&places, &format!("2001:db8::{host:x}"))))
            .collect();
        assert_eq!(held.len(), MOST / 2);
        assert!(enter(&places, "2001:db8:0:1::1").is_some());
    }

    #[test]
    fn a_trusted_proxy_may_have_all_places() {
        let places = Places::new(MOST, vec!["10.0.0.0/8".parse().unwrap()]);
        let held: Vec<_> = (0..MOST).map_while(|_| busy(enter(&places, "10.0.0.1"))).collect();
        assert_eq!(held.len(), MOST);
    }

    #[test]
    fn idle_connections_make_room_those_of_the_largest_holder_first() {
        let places = Places::new(MOST, Vec::new());
        let mine = enter(&places, "198.51.100.1").unwrap();
        let flood: Vec<_> = (0..MOST).filter_map(|_| enter(&places, "192.0.2.1")).collect();
        // Beyond half of the places, each connection replaces one of the same address.
        assert_eq!(flood.len(), MOST);
        assert_eq!(closing(&flood), MOST - (MOST / 2 - 1));
        assert!(mine.slot.is_idle(), "the connection of another address stays open");
    }
}
