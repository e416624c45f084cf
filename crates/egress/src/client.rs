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
/// Connections to one host that are kept.
const IDLE_PER_HOST: usize = 4;

/// How the client behaves.
#[derive(Debug, Clone)]
pub struct EgressSettings {
    /// Ranges that are asked although they are not public. They open local names and unusual ports
    /// too, as far as these lead into them. Addresses of [`Scope::Never`](crate::Scope::Never)
    /// stay closed.
    pub allow: Vec<IpNet>,
    /// Addresses that the server itself listens on. They are never asked at their port, whatever
    /// is allowed. A wildcard stands for every address of this machine.
    pub own: Vec<SocketAddr>,
    /// The `User-Agent`.
    pub user_agent: String,
    /// How long resolving a name and connecting may take together, TLS included.
    pub connect_timeout: Duration,
    /// How long the other side may be silent: from the request to the answer's head, and between
    /// two pieces of its body.
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

/// Settings that no client can be made of.
#[derive(Debug, Error)]
pub enum SetupError {
    /// Not the value of a header.
    #[error("the user agent `{0}` is not visible ASCII")]
    UserAgent(String),
    /// The HTTP library refused.
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
    /// A client for each combination of terms. They share no connections, so one that was made
    /// under loose terms is never used under strict ones; within a client a kept connection
    /// leads to an address that was judged under the same terms.
    clients: Vec<(Terms, Client)>,
    /// Whether this machine has certificates to know others by.
    has_certificates: bool,
}

impl Egress {
    /// Makes a client. The rustls provider of the process becomes `ring` if there is none yet.
    ///
    /// On a machine without CA certificates the client is made nevertheless and asks `http`
    /// addresses only; `https` ones then fail with [`EgressError::Tls`].
    ///
    /// # Errors
    ///
    /// When the settings cannot work.
    pub fn new(settings: EgressSettings, resolver: Arc<dyn Resolve>) -> Result<Self, SetupError> {
        // Fails where another part of the program was first, with the same provider.
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
                    "https addresses cannot be asked; are CA certificates installed?"
                );
                (clients(false).map_err(|error| SetupError::Client(error.into()))?, false)
            }
        };
        let connect_timeout = settings.connect_timeout;
        let inner = Inner { guard, resolver, connect_timeout, clients, has_certificates };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Judges an address by how it is written, without resolving its name.
    ///
    /// # Errors
    ///
    /// When it is refused.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        self.terms(url, false).map(drop)
    }

    /// Judges an address by how it is written and by what its name resolves to now. Sending judges
    /// again; this is for telling early.
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

    /// Sends a request and returns the head of the answer, even if it is a redirect.
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

    /// Judges an address and returns the client for it.
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

/// The deadline of a request that begins now.
pub(crate) fn deadline(total: Duration) -> Instant {
    Instant::now() + total.min(LONGEST)
}

/// The common settings of all clients. A proxy would resolve names itself, and redirects that the client follows would
/// not be judged.
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

/// The only place that logs why. Paths and queries may contain secrets and are left out.
fn log_refusal(url: &Url, reason: &Reason) {
    let (host, port) = (url.host_str(), url.port_or_known_default());
    tracing::info!(host, port, %reason, "an address was refused");
}
