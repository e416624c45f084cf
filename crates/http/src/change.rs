//! Carries out requests that change something: once for each idempotency key, and to completion even if the caller
//! disconnects. A panic gets the same response as any other internal error.

mod lasting;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{HeaderName, HeaderValue};
use cicerone_domain::access::{ActingKey, ApiKey};
use cicerone_domain::audit::{AuditAction, AuditRecord, Origin};
use cicerone_domain::idempotency::{Claim, Completion, Fingerprint, IdempotencyKey};
use cicerone_domain::services::{Admission, Audit, Idempotency};
use cicerone_domain::{Error, Permission, Scope, limits};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use crate::auth::permission::Required;
use crate::auth::{Authorized, Caller};
use crate::context::{App, Incoming, RequestContext, RequestId};
use crate::error::{Problem, RequestError};
use crate::response::{Answer, JSON, Quote, StoredResponse, send};
pub(crate) use lasting::{Lasting, Panic};

/// The header that holds an idempotency key.
pub(crate) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// The header that marks the stored answer to an earlier request.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How long a claim is held at most.
const LEASE: Duration = Duration::from_millis(limits::IDEMPOTENCY_LEASE_MILLIS.unsigned_abs());
/// The pauses between attempts to release a key.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// The idempotency key of a request, and the fingerprint by which a repetition is recognised.
#[derive(Debug)]
pub(crate) struct Keyed {
    key: IdempotencyKey,
    fingerprint: Fingerprint,
    /// Whether the request deletes something, and so is carried out on a full disk.
    deletes: bool,
}

impl Incoming {
    /// The idempotency key of a request whose body consists of `parts`; `None` if the request has no key.
    pub(crate) fn keyed(&self, parts: &[&[u8]]) -> Result<Option<Keyed>, Error> {
        let mut values = self.request.headers().get_all(IDEMPOTENCY_KEY);
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Error::invalid(IDEMPOTENCY_KEY, "must be given only once"));
        }
        // A value that is not visible ASCII is replaced by a space, which is refused.
        let key = IdempotencyKey::parse(value.to_str().unwrap_or(" "))?;
        let mut hash = Sha256::new();
        let method = self.request.method().as_str().as_bytes();
        let path = self.request.uri().path().as_bytes();
        let query = self.request.query_string().as_bytes();
        for part in [method, path, query].iter().chain(parts) {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        let deletes = self.request.method() == Method::DELETE;
        Ok(Some(Keyed { key, fingerprint: Fingerprint(hash.finalize().into()), deletes }))
    }
}

/// A request that was carried out, now or earlier.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) response: StoredResponse,
    /// Whether the response is the stored answer to an earlier request.
    pub(crate) is_replay: bool,
}

/// A change that is about to be carried out.
pub(crate) struct Change {
    app: App,
    caller: Arc<Caller>,
    /// The state of the request, whose memory the answer takes.
    context: Rc<RequestContext>,
    /// The permission that the change needs.
    permission: Permission,
    origin: Origin,
    request_id: RequestId,
    keyed: Option<Keyed>,
    /// The action that the audit log records, and its target if that is known beforehand.
    audited: Option<(AuditAction, Option<String>)>,
}

impl Change {
    pub(crate) fn new<P: Required>(
        app: &App,
        caller: &Authorized<P>,
        keyed: Option<Keyed>,
    ) -> Self {
        Self {
            permission: P::PERMISSION,
            app: app.clone(),
            caller: caller.caller(),
            context: Rc::clone(caller.context()),
            origin: caller.origin(),
            request_id: caller.request_id(),
            keyed,
            audited: None,
        }
    }

    /// The change that a request without a body asks for. If a body is sent anyway, it only becomes
    /// part of the fingerprint.
    pub(crate) async fn without_body<P: Required>(
        app: &App,
        caller: &Authorized<P>,
        incoming: &mut Incoming,
    ) -> Result<Self, RequestError> {
        let body = incoming.any_body(app).await?;
        Ok(Self::new(app, caller, incoming.keyed(&[&body])?))
    }

    /// Records the change in the audit log. Without a `target`, the record names the object in the
    /// answer.
    pub(crate) fn audited(self, action: AuditAction, target: Option<String>) -> Self {
        Self { audited: Some((action, target)), ..self }
    }

    /// Carries out `work` and answers with its outcome, converted by `render`. `work` gets the
    /// shared state, the caller, and the completion that the store writes in the same transaction
    /// as the effect.
    pub(crate) async fn answer<T, W, F>(self, render: fn(&T) -> StoredResponse, work: W) -> Answer
    where
        T: Send + 'static,
        W: FnOnce(App, Arc<Caller>, Option<Completion<T>>) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.answer_rendered(rendered(render, work)).await
    }

    /// Refuses what a body names and does not exist. The idempotency key keeps the refusal, as one that is found out later.
    pub(crate) async fn refuse(self, error: Error) -> Answer {
        let render = |never: &Infallible| match *never {};
        self.answer(render, move |_, _, _| async move { Err(error) }).await
    }

    async fn answer_rendered(self, work: Work) -> Answer {
        let (app, caller) = (self.app.clone(), Arc::clone(&self.caller));
        let context = Rc::clone(&self.context);
        let runtime = self.app.runtime.clone();
        let outcome = Lasting::new(runtime, self.carry_out(work)).await;
        // The panic hook has already logged the panic.
        let panicked = |_: Panic| Err(Error::internal("a panic in a change").into());
        let mut executed = outcome.unwrap_or_else(panicked)?;
        if let Some(quote) = &mut executed.response.quote
            && quote.content.is_none()
        {
            let is_there = read_quoted(&app, &context, &caller.scope, quote).await?;
            if !is_there && executed.is_replay {
                return Err(RequestError::KeyGone);
            }
            if !is_there {
                return Err(Error::not_found("source", quote.source).into());
            }
        }
        let mut response = send(executed.response)?;
        if executed.is_replay {
            mark_replayed(&mut response);
        }
        Ok(response)
    }

    /// Starts `work` in its own task.
    pub(crate) fn spawn<T, W, F>(
        self,
        render: fn(&T) -> StoredResponse,
        work: W,
    ) -> JoinHandle<Result<Executed, RequestError>>
    where
        T: Send + 'static,
        W: FnOnce(App, Arc<Caller>, Option<Completion<T>>) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.app.runtime.clone().spawn(self.carry_out(rendered(render, work)))
    }

    /// Runs `work` under its idempotency key. A failure is logged immediately, because the caller may have
    /// disconnected.
    fn carry_out(
        self,
        work: Work,
    ) -> impl Future<Output = Result<Executed, RequestError>> + Send + 'static {
        // The context stays on the thread of the connection.
        let Self { app, caller, context: _, permission, origin, request_id, keyed, audited } = self;
        let carried_out = async move {
            let acting = (audited.is_some() && permission.changes_access()).then(|| ActingKey {
                key: caller.key.clone(),
                permission,
                at: app.clock.now(),
            });
            let record = audited.map(|(action, target)| Recording {
                audit: app.audit.clone(),
                key: caller.key.clone(),
                action,
                target,
                origin,
            });
            let result = match keyed {
                Some(keyed) => {
                    let (idempotency, scope) = (app.idempotency.clone(), caller.scope.clone());
                    let work = |claim| {
                        work(app, caller, Completing { claim: Some(claim), record, acting })
                    };
                    once(&idempotency, &scope, keyed, request_id, work).await
                }
                None => {
                    let answer =
                        work(app, caller, Completing { claim: None, record, acting }).await;
                    answer.map(Executed::now).map_err(RequestError::from)
                }
            };
            result.map_err(|failure| RequestError::Reported(Box::new(failure.report(request_id))))
        };
        carried_out.instrument(tracing::Span::current())
    }
}

/// The work of a change, which returns the rendered outcome. What surrounds it, from idempotency keys to tasks, is
/// compiled once and not for each change.
type Work = Box<
    dyn FnOnce(App, Arc<Caller>, Completing) -> BoxFuture<'static, Result<StoredResponse, Error>>
        + Send,
>;

/// `work` with its outcome rendered.
fn rendered<T, W, F>(render: fn(&T) -> StoredResponse, work: W) -> Work
where
    T: Send + 'static,
    W: FnOnce(App, Arc<Caller>, Option<Completion<T>>) -> F + Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    Box::new(move |app, caller, completing| {
        let outcome = work(app, caller, completing.with(render));
        Box::pin(async move { outcome.await.map(|outcome| render(&outcome)) })
    })
}

/// What the store writes with the effect: a [`Completion`] for an outcome of any type.
struct Completing {
    claim: Option<Claim>,
    record: Option<Recording>,
    acting: Option<ActingKey>,
}

impl Completing {
    /// The completion with outcomes that `render` turns into the answer; `None` if there is nothing to write.
    fn with<T: 'static>(self, render: fn(&T) -> StoredResponse) -> Option<Completion<T>> {
        let contained = move |outcome: &T| render(outcome).subject.map(|subject| subject.id);
        let record = self.record.map(|record| move |outcome: &T| record.of(|| contained(outcome)));
        let answer = self.claim.map(|claim| Completion::new(claim, move |o| render(o).into()));
        let completion = match (answer, record) {
            (Some(completion), Some(record)) => completion.and_recording(record),
            (Some(completion), None) => completion,
            (None, Some(record)) => Completion::recording(record),
            (None, None) => return None,
        };
        Some(completion.by(self.acting))
    }
}

/// What the audit log records.
struct Recording {
    audit: Audit,
    key: ApiKey,
    action: AuditAction,
    target: Option<String>,
    origin: Origin,
}

impl Recording {
    /// The record, with the target that was known beforehand, or the object that the answer is about.
    fn of(&self, contained: impl FnOnce() -> Option<String>) -> AuditRecord {
        let target = self.target.clone().or_else(contained);
        self.audit.record(&self.key, self.action, target, self.origin)
    }
}

impl Executed {
    const fn now(response: StoredResponse) -> Self {
        Self { response, is_replay: false }
    }
}

/// Waits for a change that was started with [`Change::spawn`].
pub(crate) async fn joined(
    task: JoinHandle<Result<Executed, RequestError>>,
) -> Result<Executed, RequestError> {
    // The panic hook has logged a panic; the error is for the log of this request.
    task.await.unwrap_or_else(|cause| Err(Error::internal(cause).into()))
}

/// Reads the content that an answer quotes, as it was when the request was carried out. Returns false if it was deleted
/// since. The memory of the request becomes as large as the content and the answer need.
async fn read_quoted(
    app: &App,
    context: &RequestContext,
    scope: &Scope,
    quote: &mut Quote,
) -> Result<bool, Error> {
    context.refit_answer(app, quote.bytes.saturating_mul(2)).await?;
    quote.content = match app.sources.find(scope, quote.source).await {
        Ok(source) => source.content.as_of(quote.bytes),
        Err(Error::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(quote.content.is_some())
}

/// Marks an answer as the stored answer to an earlier request.
pub(crate) fn mark_replayed(response: &mut HttpResponse) {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
}

/// Carries out `work` unless its idempotency key already has an answer. The key is always completed
/// or released, even if `work` panics.
async fn once(
    idempotency: &Idempotency,
    scope: &Scope,
    keyed: Keyed,
    request_id: RequestId,
    work: impl FnOnce(Claim) -> BoxFuture<'static, Result<StoredResponse, Error>>,
) -> Result<Executed, RequestError> {
    let Keyed { key, fingerprint, deletes } = keyed;
    let admission = idempotency.admit(scope, &key, fingerprint, deletes).await?;
    let claim = match admission {
        Admission::Proceed(claim) => claim,
        Admission::Replay(kept) => {
            return Ok(Executed { response: kept.try_into()?, is_replay: true });
        }
        Admission::InProgress => return Err(RequestError::KeyInProgress),
        Admission::Reused => return Err(RequestError::KeyReused),
        Admission::Gone => return Err(RequestError::KeyGone),
    };
    let of_work = claim.clone();
    match AssertUnwindSafe(async { work(of_work).await }).catch_unwind().await {
        Ok(Ok(response)) => Ok(Executed::now(response)),
        Ok(Err(error)) => {
            let (was_lost, is_settled) = (matches!(error, Error::ClaimLost), error.is_settled());
            let problem = RequestError::from(error).report(request_id);
            if is_settled {
                keep(idempotency, &claim, &problem, request_id).await;
            } else if !was_lost {
                release(idempotency, &claim).await;
            }
            Err(RequestError::Reported(Box::new(problem)))
        }
        Err(panic) => {
            release(idempotency, &claim).await;
            resume_unwind(panic)
        }
    }
}

/// Stores a refusal as the answer to the request.
async fn keep(idempotency: &Idempotency, claim: &Claim, problem: &Problem, request_id: RequestId) {
    let response = StoredResponse {
        status: problem.status.as_u16(),
        content_type: Some(JSON.to_owned()),
        body: problem.to_body(request_id),
        subject: None,
        quote: None,
    };
    if let Err(error) = idempotency.complete(claim, response.into()).await {
        release_later(idempotency, claim, &error);
    }
}

async fn release(idempotency: &Idempotency, claim: &Claim) {
    if let Err(error) = idempotency.release(claim).await {
        release_later(idempotency, claim, &error);
    }
}

/// Releases a key as soon as the database can be written again, or leaves it to the end of its lease. A key is claimed in
/// the database, so that not more of them wait than there were changes in progress when it failed.
fn release_later(idempotency: &Idempotency, claim: &Claim, error: &Error) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "an idempotency key stays claimed until the database can be written again"
    );
    let (idempotency, claim) = (idempotency.clone(), claim.clone());
    tokio::spawn(async move {
        let end = Instant::now() + LEASE;
        let mut pause = FIRST_PAUSE;
        while Instant::now() < end {
            sleep(pause).await;
            if idempotency.release(&claim).await.is_ok() {
                return;
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    });
}
