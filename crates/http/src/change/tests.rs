//! Tests of what happens to idempotency keys.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use async_trait::async_trait;
use cicerone_domain::idempotency::{
    Audience, Claim, Claimed, Fingerprint, IdempotencyKey, KeptAnswer,
};
use cicerone_domain::ports::IdempotencyStore;
use cicerone_domain::services::Idempotency;
use cicerone_domain::{Error, Id, Permission, Scope, SystemClock, SystemEntropy, Timestamp};

use futures_util::FutureExt as _;
use tokio::time::sleep;

use super::{Executed, IDEMPOTENCY_KEY, Keyed, LEASE, once};
use crate::context::Incoming;
use crate::error::RequestError;
use crate::response::{StoredResponse, keep_nothing};

/// A store that answers claims as scripted, and records what happens to them.
struct Script {
    found: fn(Claim) -> Claimed,
    noted: Mutex<Vec<String>>,
    /// How many completions and releases fail before one succeeds.
    faults: Mutex<usize>,
}

impl Script {
    /// Notes what happens to a claim, or fails.
    fn note(&self, what: String) -> Result<(), Error> {
        let mut faults = self.faults.lock().unwrap();
        if *faults > 0 {
            *faults -= 1;
            self.noted.lock().unwrap().push("failed".to_owned());
            return Err(Error::unavailable("no database"));
        }
        self.noted.lock().unwrap().push(what);
        Ok(())
    }
}

#[async_trait]
impl IdempotencyStore for Script {
    async fn claim(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        _: Fingerprint,
        token: String,
        _: bool,
        _: Timestamp,
    ) -> Result<Claimed, Error> {
        Ok((self.found)(Claim { account: scope.account, key: key.clone(), token }))
    }

    async fn complete(&self, _: &Claim, answer: KeptAnswer) -> Result<(), Error> {
        let response = StoredResponse::try_from(answer)?;
        self.note(format!("kept {}", response.status))
    }

    async fn release(&self, _: &Claim) -> Result<(), Error> {
        self.note("released".to_owned())
    }
}

/// Carries out `work` under a key for which the store answers `found`; returns the result and the
/// record.
async fn run(
    found: fn(Claim) -> Claimed,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> (Option<Result<Executed, RequestError>>, Vec<String>) {
    let script = Arc::new(Script { found, noted: Mutex::default(), faults: Mutex::default() });
    let result = carry_out(&script, work).await;
    (result, script.noted.lock().unwrap().clone())
}

async fn carry_out(
    script: &Arc<Script>,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Option<Result<Executed, RequestError>> {
    let store: Arc<dyn IdempotencyStore> = Arc::clone(script) as _;
    let idempotency = Idempotency::new(store, Arc::new(SystemClock), Arc::new(SystemEntropy));
    let scope = Scope::account(Id::random(&SystemEntropy));
    let key = IdempotencyKey::parse("k").unwrap();
    let keyed = Keyed { key, fingerprint: Fingerprint([0; 32]), deletes: false };
    let task = tokio::spawn(async move {
        let id = Id::random(&SystemEntropy);
        let work = |_| async { work().map(|()| keep_nothing(&())) }.boxed();
        once(&idempotency, &scope, keyed, id, work).await
    });
    task.await.ok()
}

#[test]
fn only_requests_that_delete_claim_their_keys_on_a_full_disk() {
    for (method, expected) in [(Method::DELETE, true), (Method::POST, false)] {
        let request = TestRequest::default().method(method).insert_header((IDEMPOTENCY_KEY, "k"));
        let incoming = Incoming { request: request.to_http_request(), payload: Payload::None };
        assert_eq!(incoming.keyed(&[]).unwrap().unwrap().deletes, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_is_released_when_the_database_can_be_written_again() {
    let works: [fn() -> Result<(), Error>; 2] =
        [|| Err(Error::unavailable("no")), || Err(Error::not_found("agent", "x"))];
    for work in works {
        let script = Arc::new(Script {
            found: Claimed::Granted,
            noted: Mutex::default(),
            faults: Mutex::new(4),
        });
        assert!(carry_out(&script, work).await.unwrap().is_err());
        sleep(Duration::from_secs(6)).await;
        assert_eq!(*script.noted.lock().unwrap(), ["failed"; 3]);
        sleep(Duration::from_secs(10)).await;
        let noted = script.noted.lock().unwrap().clone();
        assert_eq!(noted, ["failed", "failed", "failed", "failed", "released"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_lease_ends_the_attempts_to_release_a_key() {
    let script = Arc::new(Script {
        found: Claimed::Granted,
        noted: Mutex::default(),
        faults: Mutex::new(usize::MAX),
    });
    assert!(carry_out(&script, || Err(Error::Overloaded)).await.unwrap().is_err());
    sleep(2 * LEASE).await;
    let attempts = script.noted.lock().unwrap().len();
    assert!((20..60).contains(&attempts), "{attempts}");
    sleep(2 * LEASE).await;
    assert_eq!(script.noted.lock().unwrap().len(), attempts);
}

#[tokio::test]
async fn a_success_leaves_the_completion_to_the_store_that_has_the_effect() {
    let (result, noted) = run(Claimed::Granted, || Ok(())).await;
    assert_eq!(result.unwrap().unwrap().response.status, 204);
    assert!(noted.is_empty(), "{noted:?}");
}

#[tokio::test]
async fn refusals_of_a_request_that_was_carried_out_are_kept() {
    let kept: [fn() -> Error; 3] = [
        || Error::not_found("agent", "x"),
        || Error::Conflict("busy".to_owned()),
        || Error::validation("content", "must not be empty"),
    ];
    for (error, expected) in kept.into_iter().zip(["kept 404", "kept 409", "kept 422"]) {
        let (result, noted) = run(Claimed::Granted, move || Err(error())).await;
        assert!(result.unwrap().is_err());
        assert_eq!(noted, [expected]);
    }
}

#[tokio::test]
async fn a_request_that_can_be_corrected_or_repeated_releases_its_key() {
    let released: [fn() -> Error; 6] = [
        || Error::invalid("name", "must not be empty"),
        || Error::Forbidden(Permission::AgentsWrite),
        || Error::Overloaded,
        || Error::ModelUnavailable("no".into()),
        || Error::unavailable("no"),
        || Error::internal("no"),
    ];
    for error in released {
        let (result, noted) = run(Claimed::Granted, move || Err(error())).await;
        assert!(result.unwrap().is_err());
        assert_eq!(noted, ["released"], "{:?}", error());
    }
}

#[tokio::test]
async fn a_panic_releases_the_key() {
    let (result, noted) = run(Claimed::Granted, || panic!("a fault")).await;
    assert!(result.is_none(), "the panic continues");
    assert_eq!(noted, ["released"]);
}

#[tokio::test]
async fn a_claim_that_was_lost_is_left_alone() {
    let (result, noted) = run(Claimed::Granted, || Err(Error::ClaimLost)).await;
    let problem = result.unwrap().unwrap_err().problem();
    assert_eq!((problem.status.as_u16(), problem.retry_after), (409, Some(1)));
    assert!(noted.is_empty(), "{noted:?}");
}

#[tokio::test]
async fn nothing_is_carried_out_without_the_claim() {
    let found: [fn(Claim) -> Claimed; 3] = [
        |_| Claimed::InProgress,
        |_| Claimed::Reused,
        |claim| {
            let maker = Scope::account(claim.account);
            Claimed::Erased(Audience { maker, agents: None, is_refusal: false })
        },
    ];
    for (found, status) in found.into_iter().zip([409, 422, 404]) {
        let (result, _) = run(found, || panic!("carried out")).await;
        assert_eq!(result.unwrap().unwrap_err().problem().status.as_u16(), status);
    }
}
