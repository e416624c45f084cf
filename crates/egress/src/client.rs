//! The client: settings, and one request at a time.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use reqwest::header::HeaderValue;
use reqwest::{Client, ClientBuilder, redirect};
use thiserror::Error;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::answer::Answer;
use crate::error::EgressError;
use crate::guard::{Guard, Reason, Refused, Terms};
use crate::request::Request;
use crate::resolve::{GuardedResolver, Resolve, resolve_guarded};

/// The time limit of every request, even if the request sets a longer one.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a connection is kept for the next request.
const IDLE: Duration = Duration::from_secs(20);
/// The number of idle connections to one host that are kept.
const IDLE_PER_HOST: usize = 4;

/// What all requests of a client have in common.
#[derive(Debug, Clone)]
pub struct EgressSettings {
    /// Non-public ranges that may be requested. Local names and unusual ports are allowed if they resolve into these
    /// ranges. Addresses of [`Scope::Never`](crate::Scope::Never) are always refused.
    pub allow: Vec<IpNet>,
    /// Addresses that the server itself listens on. They are never requested at their port, even if other settings
    /// allow them. A wildcard means every address of this machine.
    pub own: Vec<SocketAddr>,
    /// Sent as `User-Agent`, with every request.
    pub user_agent: String,
    /// The time limit for resolving a name and connecting, including TLS.
    pub connect_timeout: Duration,
    /// The time limit for each wait: from the request to the response head, and between two chunks of the body.
    pub read_timeout: Duration,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            own: Vec::new(),
            user_agent: concat!("Cicerone/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(15),
        }
    }
}

/// Settings that are not valid.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The user agent is not a valid header value.
    #[error("the user agent `{0}` is not visible ASCII")]
    UserAgent(String),
    /// The HTTP library refused the settings.
    #[error("the HTTP client cannot be made")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The guarded client. Clones share connections.
#[derive(Clone)]
pub struct Egress {
    inner: Arc<Inner>,
}

struct Inner {
    guard: Arc<Guard>,
    resolver: Arc<dyn Resolve>,
    connect_timeout: Duration,
    /// A client for each combination of terms. They share no connections, so a connection made under loose terms is
    /// never used under strict ones; within a client, a kept connection leads to an address that was checked under the
    /// same terms.
    clients: Vec<(Terms, Client)>,
    /// Whether this machine has CA certificates.
    has_certificates: bool,
}

impl Egress {
    /// Makes a client. The rustls provider of the process becomes `ring` if there is none yet.
    ///
    /// On a machine without CA certificates, requests to `https` addresses fail with [`EgressError::Tls`].
    ///
    /// # Errors
    ///
    /// If the settings are not valid.
    pub fn new(settings: EgressSettings, resolver: Arc<dyn Resolve>) -> Result<Self, SetupError> {
        // Fails if another part of the program has installed a provider, which is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|_| SetupError::UserAgent(settings.user_agent.clone()))?;
        let guard = Arc::new(Guard::new(settings.allow, settings.own));
        let builder = |terms| {
            let (resolver, guard) = (Arc::clone(&resolver), Arc::clone(&guard));
            builder(GuardedResolver { resolver, guard, terms })
                .user_agent(user_agent.clone())
                .connect_timeout(settings.connect_timeout)
                .read_timeout(settings.read_timeout)
        };
        let clients = |has_certificates: bool| {
            let all = guard.all_terms().into_iter().map(|terms| {
                let builder = builder(terms);
                let builder = if has_certificates { builder } else { builder.tls_certs_only([]) };
                builder.build().map(|client| (terms, client))
            });
            all.collect::<Result<Vec<_>, _>>()
        };
        let (clients, has_certificates) = match clients(true) {
            Ok(clients) => (clients, true),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(
                    error,
                    "https addresses cannot be requested; are CA certificates installed?"
                );
                (clients(false).map_err(|error| SetupError::Client(error.into()))?, false)
            }
        };
        let connect_timeout = settings.connect_timeout;
        let inner = Inner { guard, resolver, connect_timeout, clients, has_certificates };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Checks an address by its text, without resolving its name.
    ///
    /// # Errors
    ///
    /// If it is refused.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        self.terms(url, false).map(drop)
    }

    /// Checks an address by its text and by what its name resolves to now. `send` checks again; this is for early
    /// feedback.
    ///
    /// # Errors
    ///
    /// [`EgressError::Refused`], [`EgressError::Dns`], [`EgressError::Timeout`].
    pub async fn check_resolved(&self, url: &Url) -> Result<(), EgressError> {
        self.check_resolved_as(url, false).await
    }

    /// Like [`Egress::check_resolved`], but only ranges that the operator allows are accepted: see
    /// [`Request::within_allowed`].
    ///
    /// # Errors
    ///
    /// Those of [`Egress::check_resolved`].
    pub async fn check_within_allowed(&self, url: &Url) -> Result<(), EgressError> {
        self.check_resolved_as(url, true).await
    }

    async fn check_resolved_as(&self, url: &Url, allowed_only: bool) -> Result<(), EgressError> {
        let Inner { guard, resolver, connect_timeout, .. } = &*self.inner;
        let terms = self.terms(url, allowed_only)?;
        let Some(host) = url.domain() else { return Ok(()) };
        let resolved = timeout(*connect_timeout, resolve_guarded(&**resolver, guard, terms, host));
        let outcome = resolved.await.map_err(|_| EgressError::Timeout)?;
        outcome.map(drop).map_err(|unresolved| logged(url, unresolved.into()))
    }

    /// Sends a request and returns the head of the response, even if it is a redirect.
    ///
    /// # Errors
    ///
    /// [`EgressError::Refused`], [`EgressError::Dns`], [`EgressError::Connect`],
    /// [`EgressError::Tls`], [`EgressError::Timeout`], [`EgressError::Broken`].
    pub async fn send(&self, request: Request) -> Result<Answer, EgressError> {
        let deadline = deadline(request.total);
        self.send_until(request, deadline).await
    }

    pub(crate) async fn send_until(
        &self,
        request: Request,
        deadline: Instant,
    ) -> Result<Answer, EgressError> {
        let Request { method, url, headers, body, total: _, allowed_only } = request;
        let client = self.client(&url, allowed_only)?;
        let mut outgoing = client.request(method, url.clone()).headers(headers);
        if let Some(body) = body {
            outgoing = outgoing.body(body);
        }
        let response = timeout_at(deadline, outgoing.send()).await;
        let response = response
            .map_err(|_| EgressError::Timeout)?
            .map_err(|error| logged(&url, error.into()))?;
        Ok(Answer::new(response, url, deadline))
    }

    /// Checks an address and returns the client for it.
    fn client(&self, url: &Url, allowed_only: bool) -> Result<&Client, EgressError> {
        let Inner { clients, has_certificates, .. } = &*self.inner;
        let terms = self.terms(url, allowed_only)?;
        if url.scheme() == "https" && !has_certificates {
            return Err(EgressError::Tls("this machine has no CA certificates".into()));
        }
        let client = clients.iter().find(|(of, _)| *of == terms).map(|(_, client)| client);
        client.ok_or_else(|| EgressError::Connect("no client has these terms".into()))
    }

    fn terms(&self, url: &Url, allowed_only: bool) -> Result<Terms, Refused> {
        self.inner.guard.url(url, allowed_only).map_err(|reason| {
            log_refusal(url, &reason);
            Refused::from(reason)
        })
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("guard", &self.inner.guard).finish_non_exhaustive()
    }
}

/// The deadline of a request that starts now.
pub(crate) fn deadline(total: Duration) -> Instant {
    Instant::now() + total.min(LONGEST)
}

/// The common settings of all clients. There is no proxy, which would resolve names itself, and the client follows no
/// redirects, which would not be checked.
fn builder(resolver: GuardedResolver) -> ClientBuilder {
    Client::builder()
        .dns_resolver(resolver)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_PER_HOST)
}

fn logged(url: &Url, error: EgressError) -> EgressError {
    if let EgressError::Refused(refused) = &error {
        log_refusal(url, refused.reason());
    }
    error
}

/// The only place that logs the reason. Paths and queries may contain secrets and are omitted.
fn log_refusal(url: &Url, reason: &Reason) {
    let (host, port) = (url.host_str(), url.port_or_known_default());
    tracing::info!(host, port, %reason, "an address was refused");
}
