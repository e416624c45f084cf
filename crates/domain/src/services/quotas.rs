//! Use cases of usage and quotas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::Scope;
use crate::clock::Clock;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::page::{Page, PageRequest};
use crate::ports::UsageStore;
use crate::statistics::{DayRange, DayStatistics};
use crate::timestamp::Timestamp;
use crate::usage::{
    AccountQuotas, Allowance, Allowances, Day, DayUsage, DefaultQuotas, Quota, Standing,
    UsageFilter, check_month,
};

/// How long the quotas of an account are used before they are read again.
const QUOTAS_LIFE_MILLIS: i64 = 1_000;

/// What this process remembers of an account.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Its quotas, and when they were read.
    quotas: Option<(AccountQuotas, Timestamp)>,
    /// Replies in progress in this process.
    in_progress: u64,
}

type Accounts = Mutex<HashMap<Id<kind::Account>, Known>>;

/// Reports the usage of accounts, and refuses messages beyond their quotas.
#[derive(Clone)]
pub struct Quotas {
    store: Arc<dyn UsageStore>,
    defaults: DefaultQuotas,
    clock: Arc<dyn Clock>,
    accounts: Arc<Accounts>,
}

/// A reply in progress, counted until this is dropped: after it is stored.
#[derive(Debug)]
pub struct QuotaPass {
    account: Id<kind::Account>,
    accounts: Arc<Accounts>,
}

impl Drop for QuotaPass {
    fn drop(&mut self) {
        if let Some(known) = lock(&self.accounts).get_mut(&self.account) {
            known.in_progress = known.in_progress.saturating_sub(1);
        }
    }
}

impl Quotas {
    /// The use cases over this port; `defaults` applies to accounts without quotas of their own.
    pub fn new(store: Arc<dyn UsageStore>, defaults: DefaultQuotas, clock: Arc<dyn Clock>) -> Self {
        Self { store, defaults, clock, accounts: Arc::default() }
    }

    /// Admits a message of an account.
    ///
    /// On one server, the messages of a month never exceed the quota; with several, those in progress on the others may
    /// be added. Tokens are known only after a reply, so replies in progress when the quota is reached may exceed it.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`].
    pub async fn admit(&self, account: Id<kind::Account>) -> Result<QuotaPass, Error> {
        let now = self.clock.now();
        let quotas = self.quotas(account, now).await?;
        let before = {
            let mut accounts = lock(&self.accounts);
            let known = accounts.entry(account).or_insert(Known { quotas: None, in_progress: 0 });
            known.in_progress += 1;
            known.in_progress - 1
        };
        let pass = QuotaPass { account, accounts: Arc::clone(&self.accounts) };
        let messages = quotas.messages.resolve(self.defaults.messages);
        let tokens = quotas.tokens.resolve(self.defaults.tokens);
        if messages.is_none() && tokens.is_none() {
            return Ok(pass);
        }
        let (month, _) = Day::month_of(now);
        let used = self.store.consumption(account, month).await?;
        let quotas = DefaultQuotas { messages, tokens, bytes: None };
        check_month(quotas, used, before, now)?;
        Ok(pass)
    }

    /// What the account's agents used, by day and agent, the latest day first. A caller that is restricted to agents
    /// sees only these.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn usage(
        &self,
        scope: &Scope,
        filter: UsageFilter,
        page: PageRequest,
    ) -> Result<Page<DayUsage>, Error> {
        self.store.list_usage(scope, filter, page).await
    }

    /// The outcome of an agent's messages by day, latest day first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn statistics(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        days: DayRange,
        page: PageRequest,
    ) -> Result<Page<DayStatistics>, Error> {
        self.store.list_statistics(scope, agent, days, page).await
    }

    /// The quotas of the account with this name, and its usage of this month and storage. With `change`, the quotas are
    /// set first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn limit(
        &self,
        name: &str,
        change: Option<AccountQuotas>,
    ) -> Result<Standing, Error> {
        let (account, quotas) = self.store.set_quotas(name, change).await?;
        let (month, _) = Day::month_of(self.clock.now());
        let used = self.store.consumption(account, month).await?;
        Ok(Standing { quotas, used, kept_bytes: self.store.kept_bytes(account).await? })
    }

    /// The allowances of the caller's account. A caller that is restricted to agents does not see what is used, because
    /// other agents use it too.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn allowances(&self, scope: &Scope) -> Result<Allowances, Error> {
        let (account, sees_use) = (scope.account, scope.agents.is_none());
        let (month, next) = Day::month_of(self.clock.now());
        let quotas = self.store.account_quotas(account).await?;
        let used = self.store.consumption(account, month).await?;
        let kept = self.store.kept_bytes(account).await?;
        let defaults = self.defaults;
        let allowance = |quota: Quota, default, used| Allowance {
            limit: quota.resolve(default),
            used: sees_use.then_some(used),
        };
        Ok(Allowances {
            messages: allowance(quotas.messages, defaults.messages, used.messages),
            tokens: allowance(quotas.tokens, defaults.tokens, used.tokens),
            bytes: allowance(quotas.bytes, defaults.bytes, kept),
            renewed_at: next.start(),
        })
    }

    async fn quotas(
        &self,
        account: Id<kind::Account>,
        now: Timestamp,
    ) -> Result<AccountQuotas, Error> {
        let known = lock(&self.accounts).get(&account).and_then(|known| known.quotas);
        // After the clock was set back, an age is negative and says nothing.
        let is_fresh = |at: Timestamp| {
            (0..QUOTAS_LIFE_MILLIS).contains(&now.as_millis().saturating_sub(at.as_millis()))
        };
        if let Some((quotas, at)) = known
            && is_fresh(at)
        {
            return Ok(quotas);
        }
        let quotas = self.store.account_quotas(account).await?;
        let mut accounts = lock(&self.accounts);
        let known = accounts.entry(account).or_insert(Known { quotas: None, in_progress: 0 });
        known.quotas = Some((quotas, now));
        Ok(quotas)
    }
}

fn lock(accounts: &Accounts) -> MutexGuard<'_, HashMap<Id<kind::Account>, Known>> {
    accounts.lock().unwrap_or_else(PoisonError::into_inner)
}
