//! Requests to one site, with pauses, and retried after transient failures.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::{Clock, Entropy};
use cicerone_egress::{on_behalf_of, retry_after};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use super::Party;
use super::fetch::{Fetch, FetchError, FetchRequest, Fetched};
use super::hosts::Gate;
use super::robots::Robots;
use super::settings::CrawlSettings;

/// Requests to a site that has not responded for this long are not tried again, because three
/// attempts for each page would delay a crawl for minutes. A site that only restarts takes less
/// time.
const SILENCE: Duration = Duration::from_secs(20);

/// Sends the requests to one site.
pub(super) struct Requests {
    pub(super) fetch: Arc<dyn Fetch>,
    /// The account that they are for.
    pub(super) party: Party,
    pub(super) gate: Arc<Gate>,
    /// The pause that the site's `robots.txt` asks for.
    pub(super) delay: Option<Duration>,
    /// One permit for each large body that may be held.
    pub(super) places: Arc<Semaphore>,
    /// When the site last responded, or was first requested.
    pub(super) answered_at: Mutex<Instant>,
    pub(super) settings: CrawlSettings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
}

impl Requests {
    /// From now on, requests keep the pause that the site asks for.
    pub(super) fn obey(&mut self, robots: &Robots) {
        let delay = robots.crawl_delay.filter(|delay| !delay.is_zero());
        self.delay = delay.map(|delay| delay.min(self.settings.longest_delay));
    }

    /// Sends a request, and retries it after transient failures, with pauses that double. If the host states how long
    /// to wait, no request is sent to it until then. A host that does not respond at all is not tried again.
    pub(super) async fn send(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        let mut attempt = 1;
        loop {
            let outcome = {
                let _pass = self.gate.enter(self.party, self.delay).await;
                on_behalf_of(self.party, self.fetch.fetch(request.clone())).await
            };
            let is_transient = match &outcome {
                Ok(answer) => is_transient_status(answer.status),
                Err(error) => error.is_transient,
            };
            let is_silent = self.is_silent_after(&outcome);
            if !is_transient || attempt >= self.settings.attempts || is_silent {
                return outcome;
            }
            let asked = outcome.as_ref().ok().and_then(|answer| self.asked_pause(answer));
            let pause = asked.unwrap_or_default().max(self.backoff(attempt));
            if pause > self.settings.longest_pause {
                return outcome;
            }
            if asked.is_some() {
                self.gate.close(pause);
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Sends a request and follows up to five redirects, each if `may_follow` agrees.
    pub(super) async fn follow(
        &self,
        mut request: FetchRequest,
        may_follow: impl Fn(&Url) -> bool,
    ) -> Result<Fetched, FetchError> {
        for _ in 0..5 {
            let answer = self.send(request.clone()).await?;
            match redirect_target(&request.url, &answer) {
                Some(target) if may_follow(&target) => request.url = target,
                Some(_) | None => return Ok(answer),
            }
        }
        self.send(request).await
    }

    /// Whether the site has not responded for a long time, including this outcome.
    fn is_silent_after(&self, outcome: &Result<Fetched, FetchError>) -> bool {
        let mut answered_at = self.answered_at.lock();
        if !matches!(outcome, Err(error) if error.is_outage) {
            *answered_at = Instant::now();
        }
        answered_at.elapsed() >= SILENCE
    }

    fn asked_pause(&self, answer: &Fetched) -> Option<Duration> {
        let now = u64::try_from(self.clock.now().as_millis()).ok()?;
        retry_after(answer.retry_after.as_deref()?, Duration::from_millis(now))
    }

    /// The pause after this number of attempts, ±20 %.
    fn backoff(&self, attempts: u32) -> Duration {
        let mut chance = [0_u8; 1];
        self.entropy.fill(&mut chance);
        let [chance] = chance;
        let doubled = self.settings.retry_pause * (1 << attempts.saturating_sub(1).min(10));
        doubled * (800 + u32::from(chance) * 400 / 255) / 1_000
    }
}

/// Whether another attempt may have another result.
pub(super) fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429) || (status >= 500 && !matches!(status, 501 | 505))
}

/// The target of a redirect, without the fragment.
pub(super) fn redirect_target(url: &Url, answer: &Fetched) -> Option<Url> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let mut target = url.join(answer.location.as_deref()?).ok()?;
    target.set_fragment(None);
    Some(target)
}
