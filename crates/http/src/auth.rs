//! Authentication and permissions, which each handler declares in its signature.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest};
use cicerone_domain::access::ActingKey;
use cicerone_domain::audit::Origin;
use cicerone_domain::{ApiKey, Error, Id, Permission, Scope, kind};
use futures_util::future::LocalBoxFuture;
use sha2::{Digest as _, Sha256};

use crate::context::{App, RequestContext, RequestId, Shared};
use crate::error::RequestError;
use crate::fresh::Fresh;
use crate::rate::RateLimits;
use crate::room::Tenant;

/// How long a key that was found is considered valid without another lookup. A revocation takes
/// effect within this time; the rest of a second is left for requests in progress.
const KEY_LIFE: Duration = Duration::from_millis(900);
/// Most bytes of keys remembered at once: some thousand keys. A key that no longer fits is looked up again.
const REMEMBERED_BYTES: u64 = 4 * 1_024 * 1_024;
/// The approximate size of an entry in addition to its caller, with the names by which a declaration file manages the key.
const ENTRY_BYTES: usize = 512;

/// The sender of a request.
#[derive(Debug)]
pub(crate) struct Caller {
    /// The key that the request carried.
    pub(crate) key: ApiKey,
    /// What the key can see.
    pub(crate) scope: Scope,
}

impl Caller {
    /// About what it takes in memory.
    fn bytes(&self) -> usize {
        let agents = self.key.agent_ids.as_deref().unwrap_or_default();
        let texts = self.key.name.as_str().len() + self.key.hint.len();
        // The key and its scope have a list of the agents each.
        size_of::<Self>() + texts + 2 * size_of_val(agents)
    }
}

/// Admits requests: the keys that were found within the last second, and the rate limits.
pub(crate) struct Gate {
    /// By SHA-256 of the secret. Invariant: it contains only keys that were found, never a failed lookup.
    seen: Fresh<[u8; 32], Caller>,
    limits: RateLimits,
}

impl Gate {
    pub(crate) fn new(limits: RateLimits) -> Self {
        Self { seen: Fresh::new(REMEMBERED_BYTES, KEY_LIFE), limits }
    }

    /// Looks a key that was changed or deleted up again for its next request to this server. Other servers, and requests that are just
    /// being authenticated, may take it as it was for [`KEY_LIFE`].
    pub(crate) fn forget(&self, key: Id<kind::ApiKey>) {
        self.seen.forget(|caller| caller.key.id == key);
    }

    /// The caller of a request, counted against the limits.
    async fn admit(
        &self,
        app: &Shared,
        context: &RequestContext,
        request: &HttpRequest,
    ) -> Result<Arc<Caller>, RequestError> {
        let Some(caller) = self.identify(app, request).await? else {
            let refusal = self.limits.failed_authentication(context.peer);
            // Beyond the limit, failures are no longer recorded in the audit log.
            if matches!(refusal, RequestError::Unauthorized)
                && let Some(secret) = bearer(request)
            {
                app.audit.note_failure(secret, context.peer, context.id);
            }
            return Err(refusal);
        };
        context.tenant.set(Tenant::Keys(caller.scope.account));
        let (state, verdict) = self.limits.request(&caller.key);
        context.rate.set(state);
        verdict.map(|()| caller)
    }

    /// Counts a request that needs no key against the limit of its address.
    pub(crate) fn admit_stranger(&self, context: &RequestContext) -> Result<(), RequestError> {
        self.limits.request_without_key(context.peer)
    }

    /// Checks that the key of a request whose answer takes long still works, and has what `caller` had.
    pub(crate) async fn recheck(
        &self,
        app: &Shared,
        request: &HttpRequest,
        caller: &Caller,
        permission: Permission,
    ) -> Result<(), Error> {
        let now = self.identify(app, request).await?;
        let acting = ActingKey { key: caller.key.clone(), permission, at: app.clock.now() };
        acting.check(now.as_deref().map(|caller| &caller.key))
    }

    async fn identify(
        &self,
        app: &Shared,
        request: &HttpRequest,
    ) -> Result<Option<Arc<Caller>>, Error> {
        let Some(secret) = bearer(request) else { return Ok(None) };
        let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        if let Some(caller) = self.seen.get(&hash)
            && !caller.key.is_expired(app.clock.now())
        {
            return Ok(Some(caller));
        }
        let Some(key) = app.keys.authenticate(secret).await? else { return Ok(None) };
        // At most once a second for each key: the cache lasts that long.
        app.keys.note_use(key.id);
        let caller = Arc::new(Caller { scope: key.scope(), key });
        let bytes = u64::try_from(ENTRY_BYTES + caller.bytes()).unwrap_or(u64::MAX);
        self.seen.insert(hash, Arc::clone(&caller), bytes);
        Ok(Some(caller))
    }
}

/// The secret in `Authorization: Bearer …`. If the header is there twice there is none: a proxy may have looked at the other one.
pub(crate) fn bearer(request: &HttpRequest) -> Option<&str> {
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    let value = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Permissions as types, for the signatures of handlers.
pub(crate) mod permission {
    use cicerone_domain::Permission;

    /// The permission that a handler requires of a key.
    pub(crate) trait Asked: 'static {
        /// The permission; `None` if any valid key is accepted.
        const PERMISSION: Option<Permission>;
    }

    /// A permission as a type.
    pub(crate) trait Required: 'static {
        const PERMISSION: Permission;
    }

    impl<P: Required> Asked for P {
        const PERMISSION: Option<Permission> = Some(P::PERMISSION);
    }

    /// Any valid key, regardless of its permissions.
    pub(crate) enum AnyKey {}

    impl Asked for AnyKey {
        const PERMISSION: Option<Permission> = None;
    }

    /// See [`Permission::AgentsRead`].
    pub(crate) enum AgentsRead {}
    /// See [`Permission::AgentsWrite`].
    pub(crate) enum AgentsWrite {}
    /// See [`Permission::SourcesRead`].
    pub(crate) enum SourcesRead {}
    /// See [`Permission::SourcesWrite`].
    pub(crate) enum SourcesWrite {}
    /// See [`Permission::ConversationsRead`].
    pub(crate) enum ConversationsRead {}
    /// See [`Permission::ConversationsWrite`].
    pub(crate) enum ConversationsWrite {}
    /// See [`Permission::ConversationsExport`].
    pub(crate) enum ConversationsExport {}
    /// See [`Permission::WebhooksRead`].
    pub(crate) enum WebhooksRead {}
    /// See [`Permission::WebhooksWrite`].
    pub(crate) enum WebhooksWrite {}
    /// See [`Permission::KeysRead`].
    pub(crate) enum KeysRead {}
    /// See [`Permission::KeysWrite`].
    pub(crate) enum KeysWrite {}

    impl Required for AgentsRead {
        const PERMISSION: Permission = Permission::AgentsRead;
    }
    impl Required for AgentsWrite {
        const PERMISSION: Permission = Permission::AgentsWrite;
    }
    impl Required for SourcesRead {
        const PERMISSION: Permission = Permission::SourcesRead;
    }
    impl Required for SourcesWrite {
        const PERMISSION: Permission = Permission::SourcesWrite;
    }
    impl Required for ConversationsRead {
        const PERMISSION: Permission = Permission::ConversationsRead;
    }
    impl Required for ConversationsWrite {
        const PERMISSION: Permission = Permission::ConversationsWrite;
    }
    impl Required for ConversationsExport {
        const PERMISSION: Permission = Permission::ConversationsExport;
    }
    impl Required for WebhooksRead {
        const PERMISSION: Permission = Permission::WebhooksRead;
    }
    impl Required for WebhooksWrite {
        const PERMISSION: Permission = Permission::WebhooksWrite;
    }
    impl Required for KeysRead {
        const PERMISSION: Permission = Permission::KeysRead;
    }
    impl Required for KeysWrite {
        const PERMISSION: Permission = Permission::KeysWrite;
    }
}

/// A caller whose key holds the permission `P`. The first argument of every handler under `/v1`:
/// [`crate::endpoint::Endpoint::new`] takes no handler without it.
pub(crate) struct Authorized<P> {
    caller: Arc<Caller>,
    context: Rc<RequestContext>,
    permission: PhantomData<P>,
}

impl<P> Authorized<P> {
    /// What the caller may see.
    pub(crate) fn scope(&self) -> &Scope {
        &self.caller.scope
    }

    /// The key that the request carried.
    pub(crate) fn key(&self) -> &ApiKey {
        &self.caller.key
    }

    /// The caller, for work that outlives the request.
    pub(crate) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.caller)
    }

    /// The state of the request.
    pub(crate) fn context(&self) -> &Rc<RequestContext> {
        &self.context
    }

    pub(crate) fn request_id(&self) -> RequestId {
        self.context.id
    }

    /// Where the request came from, for the audit log.
    pub(crate) fn origin(&self) -> Origin {
        Origin { address: self.context.peer, request_id: Some(self.context.id) }
    }
}

impl<P: permission::Asked> FromRequest for Authorized<P> {
    type Error = RequestError;
    type Future = LocalBoxFuture<'static, Result<Self, RequestError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let context = RequestContext::of(&request)?;
            let app = request.app_data::<App>();
            let app = app.ok_or_else(|| Error::internal("the server has no state"))?;
            let began = Instant::now();
            let caller = app.gate.admit(app, &context, &request).await?;
            context.authenticated_in.set(began.elapsed());
            if let Some(permission) = P::PERMISSION
                && !caller.key.permissions.allows(permission)
            {
                return Err(Error::Forbidden(permission).into());
            }
            Ok(Self { caller, context, permission: PhantomData })
        })
    }
}

/// The arguments of a handler that admits only callers with a key.
pub(crate) trait Guarded {
    /// The permission that the key must have, if it must have one.
    const PERMISSION: Option<Permission>;
}

impl<P: permission::Asked, A, B> Guarded for (Authorized<P>, A, B) {
    const PERMISSION: Option<Permission> = P::PERMISSION;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use cicerone_domain::access::KeyName;
    use cicerone_domain::{ApiKey, Id, Permissions, SystemEntropy, Timestamp, limits};

    use super::{Caller, REMEMBERED_BYTES};
    use crate::fresh::Fresh;

    /// The caller with the largest key: a long name, and as many agents as a key may have.
    fn largest() -> Caller {
        let agents = (0..limits::KEY_AGENTS).map(|_| Id::random(&SystemEntropy)).collect();
        let key = ApiKey {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            name: KeyName::parse("n".repeat(limits::KEY_NAME_CHARS)).unwrap(),
            permissions: Permissions::default(),
            agent_ids: Some(agents),
            expires_at: None,
            last_used_at: None,
            created_at: Timestamp::from_millis(0),
            hint: String::new(),
            managed: None,
        };
        Caller { scope: key.scope(), key }
    }

    #[test]
    fn the_keys_of_a_flood_are_remembered_within_their_bytes() {
        let remembered = Fresh::new(REMEMBERED_BYTES, Duration::from_secs(3_600));
        let ids = 2 * limits::KEY_AGENTS * size_of::<Id<cicerone_domain::kind::Agent>>();
        let floods = 10_000_u32;
        for number in 0..floods {
            let caller = largest();
            assert!(caller.bytes() > ids + limits::KEY_NAME_CHARS);
            let bytes = caller.bytes() as u64;
            remembered.insert(number, Arc::new(caller), bytes);
        }
        let kept = (0..floods).filter(|number| remembered.get(number).is_some()).count();
        assert!((1..=REMEMBERED_BYTES as usize / ids).contains(&kept), "{kept}");
        // A key of another account is remembered as well.
        remembered.insert(floods, Arc::new(largest()), 1);
        assert!(remembered.get(&floods).is_some());
    }
}
