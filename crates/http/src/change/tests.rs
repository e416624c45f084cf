//! Tests of what happens to idempotency keys.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cicerone_domain::idempotency::{
    Audience, Claim, Claimed, Fingerprint, IdempotencyKey, KeptAnswer,
};
use cicerone_domain::ports::IdempotencyStore;
use cicerone_domain::services::Idempotency;
use cicerone_domain::{Error, Id, Permission, Scope, SystemClock, SystemEntropy, Timestamp};

use futures_util::FutureExt as _;

use super::{Executed, Keyed, once};
use crate::error::RequestError;
use crate::response::{StoredResponse, keep_nothing};

/// A store that answers claims as scripted, and records what happens to them.
struct Script {
    found: fn(Claim) -> Claimed,
    noted: Mutex<Vec<String>>,
}

#[async_trait]
impl IdempotencyStore for Script {
    async fn claim(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        _: Fingerprint,
        token: String,
        _: Timestamp,
    ) -> Result<Claimed, Error> {
        Ok((self.found)(Claim { account: scope.account, key: key.clone(), token }))
    }

    async fn complete(&self, _: &Claim, answer: KeptAnswer) -> Result<(), Error> {
        let response = StoredResponse::try_from(answer)?;
        self.noted.lock().unwrap().push(format!("kept {}", response.status));
        Ok(())
    }

    async fn release(&self, _: &Claim) -> Result<(), Error> {
        self.noted.lock().unwrap().push("released".to_owned());
        Ok(())
    }
}

/// Carries out `work` under a key for which the store answers `found`; returns the result and the
/// record.
async fn run(
    found: fn(Claim) -> Claimed,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> (Option<Result<Executed, RequestError>>, Vec<String>) {
    let script = Arc::new(Script { found, noted: Mutex::default() });
    let store: Arc<dyn IdempotencyStore> = Arc::clone(&script) as _;
    let idempotency = Idempotency::new(store, Arc::new(SystemClock), Arc::new(SystemEntropy));
    let scope = Scope::account(Id::random(&SystemEntropy));
    let key = IdempotencyKey::parse("k").unwrap();
    let keyed = Keyed { key, fingerprint: Fingerprint([0; 32]) };
    let task = tokio::spawn(async move {
        let id = Id::random(&SystemEntropy);
        let work = |_| async { work().map(|()| keep_nothing(&())) }.boxed();
        once(&idempotency, &scope, keyed, id, work).await
    });
    (task.await.ok(), script.noted.lock().unwrap().clone())
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
