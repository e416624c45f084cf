//! Memory for answers and for bodies of requests. It is bounded over all connections and shared fairly between
//! accounts. "Room" is memory that was reserved.

use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use cicerone_domain::{Error, Id, kind, limits};
use tokio::time::timeout;

/// Memory for responses, from before they are created until they are sent or abandoned.
const ANSWERS: u64 = 24 * MEBIBYTE;
/// Further bytes that are reserved for accounts that use less than their share.
const ANSWERS_RESERVE: u64 = 12 * MEBIBYTE;
/// The most bytes that making a list takes: its rows, their views, and the text of the answer.
const MAKING: usize = 3 * limits::LIST_BYTES;
/// Bytes for bodies of requests, until the request was carried out.
const BODIES: u64 = 16 * MEBIBYTE;
/// Further bytes that are reserved for accounts that use less than their share.
const BODIES_RESERVE: u64 = 8 * MEBIBYTE;
const MEBIBYTE: u64 = 1_024 * 1_024;
/// Answers and bodies up to this size are not counted: a connection takes as much anyway.
pub(crate) const FREE: usize = 16 * 1_024;
/// The steps in which room for a body is reserved as it arrives.
const STEP: usize = 256 * 1_024;
/// How long a request waits for room.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer waits for room if its request was already carried out, and must therefore not
/// be refused: about as long as a client that does not read keeps its room.
const LAST_PATIENCE: Duration = Duration::from_secs(30);

/// The party that the memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Tenant {
    /// Callers without a key.
    #[default]
    Strangers,
    /// An account, whichever of its keys is used.
    Keys(Id<kind::Account>),
    /// The visitors of an account's widgets.
    Visitors(Id<kind::Account>),
}

/// The memory of a server.
#[derive(Debug)]
pub(crate) struct Rooms {
    answers: FairPool<Tenant>,
    bodies: FairPool<Tenant>,
}

/// The memory that is reserved for a request and its answer.
#[derive(Debug, Default)]
pub(crate) struct Room(Vec<FairPermit<Tenant>>);

impl Rooms {
    pub(crate) fn new() -> Self {
        Self {
            answers: FairPool::new(ANSWERS, ANSWERS_RESERVE),
            bodies: FairPool::new(BODIES, BODIES_RESERVE),
        }
    }

    /// Reserves room for an answer whose size is not known yet. Fails with [`Error::Overloaded`].
    pub(crate) async fn expect_answer(&self, room: &mut Room, tenant: Tenant) -> Result<(), Error> {
        self.answer(room, tenant, MAKING, PATIENCE).await
    }

    /// Reserves room for a response whose creation takes at most this many bytes. Fails with [`Error::Overloaded`].
    pub(crate) async fn expect_bytes(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
    ) -> Result<(), Error> {
        self.answer(room, tenant, bytes, PATIENCE).await
    }

    /// Changes `room` to the size of an answer. Fails with [`Error::Overloaded`], after a longer wait if the
    /// request was already carried out.
    pub(crate) async fn fit_answer(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
        may_be_refused: bool,
    ) -> Result<(), Error> {
        room.shrink_to(bytes);
        let patience = if may_be_refused { PATIENCE } else { LAST_PATIENCE };
        self.answer(room, tenant, bytes, patience).await
    }

    /// Changes `room` to the bytes that reading and sending more takes, after the request was carried out. Fails with
    /// [`Error::Overloaded`].
    ///
    /// If `room` is too small, it is given back first: requests that keep memory while they wait for more would wait for each
    /// other.
    pub(crate) async fn refit_answer(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
    ) -> Result<(), Error> {
        if room.bytes() < bytes {
            room.shrink_to(0);
        }
        self.fit_answer(room, tenant, bytes, false).await
    }

    async fn answer(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
        patience: Duration,
    ) -> Result<(), Error> {
        let missing = bytes.saturating_sub(room.bytes());
        if missing <= FREE {
            return Ok(());
        }
        let units = u64::try_from(missing).unwrap_or(u64::MAX);
        let permit = self.answers.acquire(tenant, units, Urgency::Question);
        room.0.push(timeout(patience, permit).await.map_err(|_| Error::Overloaded)?);
        Ok(())
    }

    /// Reserves room for a body of which that many bytes have arrived. Fails with
    /// [`Error::Overloaded`].
    pub(crate) async fn grow_body(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
    ) -> Result<(), Error> {
        while bytes > FREE + room.bytes() {
            let units = u64::try_from(STEP).unwrap_or(u64::MAX);
            let permit = self.bodies.acquire(tenant, units, Urgency::Question);
            room.0.push(timeout(PATIENCE, permit).await.map_err(|_| Error::Overloaded)?);
        }
        Ok(())
    }
}

impl Room {
    fn bytes(&self) -> usize {
        let units = self.0.iter().map(FairPermit::units).sum::<u64>();
        usize::try_from(units).unwrap_or(usize::MAX)
    }

    fn shrink_to(&mut self, bytes: usize) {
        let mut left = if bytes > FREE { u64::try_from(bytes).unwrap_or(u64::MAX) } else { 0 };
        self.0.retain_mut(|permit| {
            permit.shrink_to(left);
            left -= permit.units();
            permit.units() > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::{ANSWERS, BODIES, PATIENCE, Room, Rooms, STEP, Tenant};

    #[tokio::test]
    async fn an_answer_keeps_no_more_than_it_takes() {
        let rooms = Rooms::new();
        let tenant = Tenant::Keys(Id::random(&SystemEntropy));
        let mut room = Room::default();
        rooms.expect_answer(&mut room, tenant).await.unwrap();
        assert_eq!(rooms.answers.in_use(), 12 * 1_024 * 1_024);
        rooms.fit_answer(&mut room, tenant, 100_000, true).await.unwrap();
        assert_eq!(rooms.answers.in_use(), 100_000);
        rooms.fit_answer(&mut room, tenant, 5_000_000, true).await.unwrap();
        assert_eq!(rooms.answers.in_use(), 5_000_000);
        rooms.fit_answer(&mut room, tenant, 1_000, true).await.unwrap();
        assert_eq!(rooms.answers.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_need_more_than_they_expected_do_not_wait_for_each_other() {
        let rooms = Rooms::new();
        let tenant = Tenant::Keys(Id::random(&SystemEntropy));
        let bytes = 14 * 1_024 * 1_024;
        let answer = async || {
            let mut room = Room::default();
            rooms.expect_answer(&mut room, tenant).await.unwrap();
            tokio::task::yield_now().await;
            rooms.refit_answer(&mut room, tenant, bytes).await.unwrap();
            assert_eq!(room.bytes(), bytes);
        };
        let began = tokio::time::Instant::now();
        tokio::join!(answer(), answer());
        assert!(began.elapsed() < PATIENCE);
        assert_eq!(rooms.answers.in_use(), 0);
    }

    #[tokio::test]
    async fn one_account_that_has_taken_all_room_leaves_some_to_another() {
        let rooms = Rooms::new();
        let [flood, other] = [0; 2].map(|_| Tenant::Keys(Id::random(&SystemEntropy)));
        let mut taken = Vec::new();
        for _ in 0..ANSWERS / (4 * 1_024 * 1_024) {
            let mut room = Room::default();
            rooms.fit_answer(&mut room, flood, 4 * 1_024 * 1_024, true).await.unwrap();
            taken.push(room);
        }
        assert!(rooms.expect_answer(&mut Room::default(), flood).await.is_err());
        rooms.expect_answer(&mut Room::default(), other).await.unwrap();
    }

    #[tokio::test]
    async fn a_body_takes_room_as_it_arrives() {
        let rooms = Rooms::new();
        let tenant = Tenant::Keys(Id::random(&SystemEntropy));
        let mut room = Room::default();
        rooms.grow_body(&mut room, tenant, 10_000).await.unwrap();
        assert_eq!(rooms.bodies.in_use(), 0);
        rooms.grow_body(&mut room, tenant, 1_000_000).await.unwrap();
        assert_eq!(rooms.bodies.in_use(), 4 * STEP as u64);
        let most = usize::try_from(BODIES).unwrap();
        assert!(rooms.grow_body(&mut room, tenant, 2 * most).await.is_err());
        drop(room);
        assert_eq!(rooms.bodies.in_use(), 0);
    }
}
