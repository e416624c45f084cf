//! Memory for answers and for bodies of requests. It is bounded over all connections and shared fairly between
//! accounts. "Room" is memory that was reserved.
//!
//! An answer has two rooms, one after the other: a large one while it is made, for milliseconds, and one of its size while
//! it is sent, for as long as the client takes. Invariant: a client that reads slowly holds nothing that another answer
//! needs. An answer for which there is no memory while it is sent is put aside on the disk.

use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use cicerone_domain::{Error, Id, kind, limits};
use tokio::time::timeout;

/// Memory for making answers, from before something is read until their size is known.
const MAKING: u64 = 24 * MEBIBYTE;
const MAKING_RESERVE: u64 = 24 * MEBIBYTE;
/// The most bytes that making a list takes: its rows, their views, and the text of the answer.
const LIST: usize = 3 * limits::LIST_BYTES;
/// Memory for answers that are being sent.
const SENDING: u64 = 12 * MEBIBYTE;
const SENDING_RESERVE: u64 = 12 * MEBIBYTE;
/// Bytes on the disk for answers that are being sent.
const ASIDE: u64 = 256 * MEBIBYTE;
const ASIDE_RESERVE: u64 = 2 * ASIDE;
/// Bytes for bodies of requests, until the request was carried out. One party has room for the largest body. A body may
/// take 30 s to arrive, so the reserve has the share of each of ten parties.
const BODIES: u64 = 8 * MEBIBYTE;
const BODIES_RESERVE: u64 = 2 * BODIES;
/// Files in memory at once, with up to 10 MiB each: while their type is detected and they are stored, or while they are
/// read to be sent. Others wait, those that arrive on the disk.
const FILES: u64 = 4;
const FILES_RESERVE: u64 = 2;
/// Long bodies that are parsed at once. One takes 100 ms at most.
const PARSED: u64 = 1;
const PARSED_RESERVE: u64 = 2;
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

/// The memory of a server. The reserve of each pool is for parties that use less than their share, see
/// [`cicerone_domain::fairness`].
#[derive(Debug)]
pub(crate) struct Rooms {
    making: FairPool<Tenant>,
    sending: FairPool<Tenant>,
    aside: FairPool<Tenant>,
    bodies: FairPool<Tenant>,
    files: FairPool<Tenant>,
    parsing: FairPool<Tenant>,
}

/// The memory that is reserved for a request and its answer.
#[derive(Debug, Default)]
pub(crate) struct Room(Vec<FairPermit<Tenant>>);

/// Where an answer is kept while it is sent.
#[derive(Debug)]
pub(crate) enum Kept {
    InMemory(Room),
    OnDisk(Room),
}

impl Rooms {
    pub(crate) fn new() -> Self {
        Self {
            making: FairPool::new(MAKING, MAKING_RESERVE),
            sending: FairPool::new(SENDING, SENDING_RESERVE),
            aside: FairPool::new(ASIDE, ASIDE_RESERVE),
            bodies: FairPool::new(BODIES, BODIES_RESERVE),
            files: FairPool::new(FILES, FILES_RESERVE),
            parsing: FairPool::new(PARSED, PARSED_RESERVE),
        }
    }

    /// Reserves room for making an answer whose size is not known yet. Fails with [`Error::Overloaded`].
    pub(crate) async fn expect_answer(&self, room: &mut Room, tenant: Tenant) -> Result<(), Error> {
        self.expect(room, tenant, LIST, PATIENCE).await
    }

    /// Reserves room for making an answer, which takes at most this many bytes. Fails with [`Error::Overloaded`].
    pub(crate) async fn expect_bytes(
        &self,
        room: &mut Room,
        tenant: Tenant,
        bytes: usize,
    ) -> Result<(), Error> {
        self.expect(room, tenant, bytes, PATIENCE).await
    }

    /// Changes `room` to the bytes that making the answer to a request takes that was already carried out: it waits for longer.
    /// Fails with [`Error::Overloaded`].
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
            room.0.clear();
        }
        self.expect(room, tenant, bytes, LAST_PATIENCE).await
    }

    async fn expect(
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
        let permit = self.making.acquire(tenant, units(missing), Urgency::Question);
        room.0.push(timeout(patience, permit).await.map_err(|_| Error::Overloaded)?);
        Ok(())
    }

    /// Reserves room for an answer with a file. It has places of its own, since the object store may take seconds. Fails
    /// with [`Error::Overloaded`].
    pub(crate) async fn expect_file(&self, room: &mut Room, tenant: Tenant) -> Result<(), Error> {
        room.0.push(timeout(PATIENCE, self.file(tenant)).await.map_err(|_| Error::Overloaded)?);
        Ok(())
    }

    /// Waits for room for a file.
    pub(crate) async fn file(&self, tenant: Tenant) -> FairPermit<Tenant> {
        self.files.acquire(tenant, 1, Urgency::Question).await
    }

    /// Reserves room for an answer of this size until it is sent, in memory if there is some now. Fails with
    /// [`Error::Overloaded`] if there is none on the disk either, after a longer wait if the request was already carried
    /// out.
    pub(crate) async fn keep_answer(
        &self,
        tenant: Tenant,
        bytes: usize,
        may_be_refused: bool,
    ) -> Result<Kept, Error> {
        if bytes <= FREE {
            return Ok(Kept::InMemory(Room::default()));
        }
        let bytes = units(bytes);
        // A pool counts more bytes than its capacity as its capacity.
        let permit = (bytes <= SENDING).then(|| self.sending.try_acquire(tenant, bytes)).flatten();
        if let Some(permit) = permit {
            return Ok(Kept::InMemory(Room(vec![permit])));
        }
        let patience = if may_be_refused { PATIENCE } else { LAST_PATIENCE };
        let permit = self.aside.acquire(tenant, bytes, Urgency::Question);
        let permit = timeout(patience, permit).await.map_err(|_| Error::Overloaded)?;
        Ok(Kept::OnDisk(Room(vec![permit])))
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
            let own = units(room.bytes());
            let permit = self.bodies.acquire_more(tenant, units(STEP), own, Urgency::Question);
            room.0.push(timeout(PATIENCE, permit).await.map_err(|_| Error::Overloaded)?);
        }
        Ok(())
    }
}

impl Rooms {
    /// Waits for the turn of a tenant to have a long body parsed. Fails with [`Error::Overloaded`].
    pub(crate) async fn parsing_turn(&self, tenant: Tenant) -> Result<FairPermit<Tenant>, Error> {
        let turn = self.parsing.acquire(tenant, 1, Urgency::Question);
        timeout(PATIENCE, turn).await.map_err(|_| Error::Overloaded)
    }
}

impl Room {
    fn bytes(&self) -> usize {
        let units = self.0.iter().map(FairPermit::units).sum::<u64>();
        usize::try_from(units).unwrap_or(usize::MAX)
    }
}

fn units(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::{Kept, LIST, PATIENCE, Room, Rooms, STEP, Tenant};

    const MEBIBYTE: usize = 1_024 * 1_024;

    fn account() -> Tenant {
        Tenant::Keys(Id::random(&SystemEntropy))
    }

    /// As many answers of this size as the tenant can have in memory and on the disk, and how many are in memory.
    async fn flood(rooms: &Rooms, tenant: Tenant, bytes: usize) -> (Vec<Kept>, usize) {
        let mut kept = Vec::new();
        while rooms.aside.held_by(tenant) < 256 * MEBIBYTE as u64
            && let Ok(answer) = rooms.keep_answer(tenant, bytes, true).await
        {
            kept.push(answer);
        }
        let in_memory = kept.iter().filter(|kept| matches!(kept, Kept::InMemory(_))).count();
        (kept, in_memory)
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_need_more_than_they_expected_do_not_wait_for_each_other() {
        let rooms = Rooms::new();
        let (tenant, bytes) = (account(), 14 * MEBIBYTE);
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
        assert_eq!(rooms.making.in_use(), 0);
    }

    #[tokio::test]
    async fn an_answer_keeps_no_more_than_it_takes() {
        let (rooms, tenant) = (Rooms::new(), account());
        let mut room = Room::default();
        rooms.expect_answer(&mut room, tenant).await.unwrap();
        assert_eq!(rooms.making.in_use(), LIST as u64);
        drop(room);
        assert_eq!(rooms.making.in_use(), 0);
        for (bytes, kept) in [(100_000, 100_000), (5_000_000, 5_000_000), (1_000, 0)] {
            let _kept = rooms.keep_answer(tenant, bytes, true).await.unwrap();
            assert_eq!(rooms.sending.in_use(), kept);
        }
    }

    #[tokio::test]
    async fn one_account_that_has_taken_all_memory_leaves_some_to_another() {
        let (rooms, slow, other) = (Rooms::new(), account(), account());
        let (_kept, in_memory) = flood(&rooms, slow, 4 * MEBIBYTE).await;
        assert_eq!(in_memory, 3);
        rooms.expect_answer(&mut Room::default(), other).await.unwrap();
        let kept = rooms.keep_answer(other, 4 * MEBIBYTE, true).await.unwrap();
        assert!(matches!(kept, Kept::InMemory(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn ten_parties_that_read_slowly_refuse_nothing_to_another() {
        let rooms = Rooms::new();
        let mut held = Vec::new();
        for number in 0..10 {
            let slow = if number == 0 { Tenant::Strangers } else { account() };
            held.push(flood(&rooms, slow, 10 * MEBIBYTE).await);
        }
        let other = account();
        for bytes in [20_000, 100_000, 4 * MEBIBYTE, 10 * MEBIBYTE] {
            let mut room = Room::default();
            let began = tokio::time::Instant::now();
            rooms.expect_answer(&mut room, other).await.unwrap();
            rooms.keep_answer(other, bytes, true).await.unwrap();
            assert!(began.elapsed().is_zero(), "{bytes} bytes");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_ten_parties_make_delays_another_only_until_one_of_them_is_done() {
        let rooms = Rooms::new();
        let parties: Vec<_> = (0..10).map(|_| account()).collect();
        let mut made = Vec::new();
        for tenant in &parties {
            let mut room = Room::default();
            if rooms.expect_answer(&mut room, *tenant).await.is_ok() {
                made.push(room);
            }
        }
        // Two, and one in the reserve.
        assert_eq!(made.len(), 3);
        // Searches are smaller, and the other half of the reserve is for parties within their share.
        rooms.expect_bytes(&mut Room::default(), account(), 2 * MEBIBYTE).await.unwrap();
        let mut room = Room::default();
        let mine = rooms.expect_answer(&mut room, account());
        let (mine, ()) = tokio::join!(mine, async { drop(made.pop()) });
        mine.unwrap();
    }

    #[tokio::test]
    async fn a_body_takes_room_as_it_arrives() {
        let (rooms, tenant) = (Rooms::new(), account());
        let mut room = Room::default();
        rooms.grow_body(&mut room, tenant, 10_000).await.unwrap();
        assert_eq!(rooms.bodies.in_use(), 0);
        rooms.grow_body(&mut room, tenant, 1_000_000).await.unwrap();
        assert_eq!(rooms.bodies.in_use(), 4 * STEP as u64);
        rooms.grow_body(&mut room, tenant, 8 * MEBIBYTE).await.unwrap();
        let mut second = Room::default();
        assert!(rooms.grow_body(&mut second, tenant, MEBIBYTE).await.is_err());
        drop((room, second));
        assert_eq!(rooms.bodies.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_of_nine_parties_that_stall_leave_room_to_a_tenth() {
        let rooms = Rooms::new();
        let mut stalled = Vec::new();
        for _ in 0..9 {
            let tenant = account();
            loop {
                let mut room = Room::default();
                let is_refused = rooms.grow_body(&mut room, tenant, 300_000).await.is_err();
                stalled.push(room);
                if is_refused {
                    break;
                }
            }
        }
        rooms.grow_body(&mut Room::default(), account(), 300_000).await.unwrap();
    }

    #[tokio::test]
    async fn the_largest_body_has_room_beside_that_of_another_account() {
        let rooms = Rooms::new();
        let (mut first, mut second) = (Room::default(), Room::default());
        rooms.grow_body(&mut first, account(), 8 * MEBIBYTE).await.unwrap();
        rooms.grow_body(&mut second, account(), 8 * MEBIBYTE).await.unwrap();
    }
}
