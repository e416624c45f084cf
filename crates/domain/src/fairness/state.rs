//! The state of a pool: which party holds how much, who waits, and who is next.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;

use super::{FairPermit, Party, Shared, Urgency, Vacancy};

/// Who holds what, and who waits.
pub(super) struct State<K: Party> {
    capacity: u64,
    reserve: u64,
    used: u64,
    accounts: HashMap<K, Account<K>>,
    /// The start tag of the last grant.
    virtual_time: u64,
    /// Distinguishes requests, in the order of their arrival.
    next_ticket: u64,
}

/// What one party holds, and its place in the order of grants.
struct Account<K: Party> {
    held: u64,
    /// The finish tag of its last grant.
    finish: u64,
    /// Requests that wait, by urgency.
    questions: VecDeque<Request<K>>,
    learning: VecDeque<Request<K>>,
}

struct Request<K: Party> {
    ticket: u64,
    units: u64,
    /// Units that it holds already, and grows by the others.
    own: u64,
    grant: oneshot::Sender<FairPermit<K>>,
}

impl<K: Party> Account<K> {
    fn new() -> Self {
        Self { held: 0, finish: 0, questions: VecDeque::new(), learning: VecDeque::new() }
    }

    fn is_present(&self) -> bool {
        self.held > 0 || !self.questions.is_empty() || !self.learning.is_empty()
    }

    fn queue(&mut self, urgency: Urgency) -> &mut VecDeque<Request<K>> {
        match urgency {
            Urgency::Question => &mut self.questions,
            Urgency::Learning => &mut self.learning,
        }
    }

    fn first(&self, urgency: Urgency) -> Option<&Request<K>> {
        match urgency {
            Urgency::Question => self.questions.front(),
            Urgency::Learning => self.learning.front(),
        }
    }
}

impl<K: Party> State<K> {
    pub(super) fn new(capacity: u64, reserve: u64) -> Self {
        Self {
            capacity,
            reserve,
            used: 0,
            accounts: HashMap::new(),
            virtual_time: 0,
            next_ticket: 0,
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.used
    }

    pub(super) fn held_by(&self, party: K) -> u64 {
        self.accounts.get(&party).map_or(0, |account| account.held)
    }

    /// A request for this many units, in counted units.
    pub(super) fn clamped(&self, units: u64) -> u64 {
        units.min(self.capacity)
    }

    /// The parties to which a unit would be given now.
    pub(super) fn vacancy(&self) -> Vacancy {
        if self.used < self.capacity {
            Vacancy::Anybody
        } else if self.used < self.capacity.saturating_add(self.reserve) {
            Vacancy::Newcomer
        } else {
            Vacancy::Nobody
        }
    }

    /// Whether a request that arrives now, and holds `own` units already, is served at once.
    pub(super) fn admits(&self, party: K, units: u64, own: u64) -> bool {
        let after = self.used.saturating_add(units);
        let nobody_waits = || {
            let waits = |account: &Account<K>| {
                !account.questions.is_empty() || !account.learning.is_empty()
            };
            !self.accounts.values().any(waits)
        };
        (after <= self.capacity && nobody_waits()) || self.is_in_reserve(party, units, own)
    }

    /// Whether the reserve has `units` for a request of `party` that holds `own` already: if the party would hold at most
    /// its share, or if this is its only request. One request may be larger than a share, so it leaves half of the reserve
    /// to others.
    fn is_in_reserve(&self, party: K, units: u64, own: u64) -> bool {
        let is_known = self.accounts.get(&party).is_some_and(Account::is_present);
        let present = self.accounts.values().filter(|account| account.is_present()).count();
        let parties =
            u64::try_from(present).unwrap_or(u64::MAX).saturating_add(u64::from(!is_known));
        let share = (self.capacity / parties.max(1)).max(1);
        let held = self.held_by(party);
        let reserve = if held.saturating_add(units) <= share {
            self.reserve
        } else if held <= own {
            self.reserve / 2
        } else {
            return false;
        };
        self.used.saturating_add(units) <= self.capacity.saturating_add(reserve)
    }

    /// Counts a grant.
    pub(super) fn grant(&mut self, party: K, units: u64) {
        let now = self.virtual_time;
        let account = self.accounts.entry(party).or_insert_with(Account::new);
        let start = account.finish.max(now);
        account.finish = start.saturating_add(units);
        account.held = account.held.saturating_add(units);
        self.used = self.used.saturating_add(units);
        self.virtual_time = start;
    }

    /// Counts units that were given back.
    pub(super) fn release(&mut self, party: K, units: u64) {
        self.used = self.used.saturating_sub(units);
        if let Some(account) = self.accounts.get_mut(&party) {
            account.held = account.held.saturating_sub(units);
        }
        self.forget();
    }

    /// Queues a request for units beyond its own, and returns its ticket.
    pub(super) fn wait(
        &mut self,
        party: K,
        (units, own): (u64, u64),
        urgency: Urgency,
        grant: oneshot::Sender<FairPermit<K>>,
    ) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let account = self.accounts.entry(party).or_insert_with(Account::new);
        account.queue(urgency).push_back(Request { ticket, units, own, grant });
        ticket
    }

    /// Removes a request that is still queued; false if it is not.
    pub(super) fn leave(&mut self, party: K, ticket: u64) -> bool {
        let Some(account) = self.accounts.get_mut(&party) else { return false };
        let mut is_removed = false;
        for queue in [&mut account.questions, &mut account.learning] {
            let before = queue.len();
            queue.retain(|request| request.ticket != ticket);
            is_removed |= queue.len() < before;
        }
        self.forget();
        is_removed
    }

    /// Serves waiting requests as long as the next one fits.
    pub(super) fn serve(&mut self, shared: &Arc<Shared<K>>) {
        while let Some((party, urgency)) = self.next() {
            let Some(account) = self.accounts.get_mut(&party) else { return };
            let Some(request) = account.queue(urgency).pop_front() else { return };
            self.grant(party, request.units);
            let permit = FairPermit::new(Arc::clone(shared), party, request.units);
            if let Err(unwanted) = request.grant.send(permit) {
                // Its future was dropped. The state is locked, so the permit must not return its units itself.
                let units = unwanted.units();
                unwanted.disarm();
                self.release(party, units);
            }
        }
    }

    /// The request that is served next. If it does not fit, all requests behind it wait, so that a large one is
    /// eventually served.
    fn next(&self) -> Option<(K, Urgency)> {
        let urgency = [Urgency::Question, Urgency::Learning].into_iter().find(|urgency| {
            self.accounts.values().any(|account| account.first(*urgency).is_some())
        })?;
        let waiting = self.accounts.iter().filter_map(|(party, account)| {
            let request = account.first(urgency)?;
            let start = account.finish.max(self.virtual_time);
            Some(((account.held, start, request.ticket), (*party, request.units, request.own)))
        });
        let (_, (party, units, own)) = waiting.min_by_key(|(order, _)| *order)?;
        let fits = self.used.saturating_add(units) <= self.capacity
            || self.is_in_reserve(party, units, own);
        fits.then_some((party, urgency))
    }

    /// Removes parties that have left and would be treated as newcomers anyway.
    fn forget(&mut self) {
        let now = self.virtual_time;
        self.accounts.retain(|_, account| account.is_present() || account.finish > now);
        if self.used == 0 && self.accounts.values().all(|account| !account.is_present()) {
            // If there are no parties, none has been served more than another.
            self.accounts.clear();
        }
    }
}
