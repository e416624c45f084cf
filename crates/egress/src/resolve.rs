//! Resolving names to addresses, and the checks between the resolver and the connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolving};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::guard::{Guard, Reason, Terms};
use crate::lookups::{Lookups, for_party, party};

/// Resolves names to addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `host`. [`io::ErrorKind::NotFound`] means that it has none; any other error means that it may
    /// have some at another time.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

static LOOKUPS: LazyLock<Lookups> = LazyLock::new(Lookups::new);

/// The resolver of the operating system. At most 96 names are looked up at once, and only a few of one domain and for
/// one [party](crate::on_behalf_of); a lookup that gets no place within five seconds fails temporarily, and so does each
/// of a name that did not answer within the last half minute.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut place = LOOKUPS.enter(host, party()).await?;
        let (answer, answered) = oneshot::channel();
        // A thread of its own: in the queue of a runtime's threads for blocking work, a lookup would keep its place while
        // it does not run.
        std::thread::Builder::new().name("lookup".to_owned()).spawn(move || {
            // The place is held until the thread is free, even if the caller no longer waits.
            let found = (place.host(), 0).to_socket_addrs().map_err(named);
            if found.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
                place.failed();
            }
            drop(place);
            let _ = answer.send(found);
        })?;
        let addresses = answered.await.map_err(io::Error::other)??;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}

/// Sets the kind of an error. Only the text of the C library's error shows whether the resolver failed temporarily
/// (`EAI_AGAIN`: glibc, musl) or the name does not exist.
fn named(error: io::Error) -> io::Error {
    let message = error.to_string();
    let is_for_now = error.raw_os_error().is_some()
        || ["Temporary failure", "Try again"].iter().any(|words| message.contains(words));
    if is_for_now { error } else { io::Error::new(io::ErrorKind::NotFound, error) }
}

/// Why a name has no address to connect to.
#[derive(Debug, Error)]
pub(crate) enum Unresolved {
    #[error("refused: {0}")]
    Refused(Reason),
    #[error("the name has no address")]
    NoAddress,
    #[error("the resolver failed")]
    Failed(#[source] io::Error),
}

/// Resolves `host` and returns the addresses that may be connected to.
pub(crate) async fn resolve_guarded(
    resolver: &dyn Resolve,
    guard: &Guard,
    terms: Terms,
    host: &str,
) -> Result<Vec<IpAddr>, Unresolved> {
    // Only allowed addresses are accepted, and the name has none.
    let nowhere = || match terms.is_allowed_only() {
        true => Unresolved::Refused(Reason::LocalName),
        false => Unresolved::NoAddress,
    };
    match resolver.resolve(host).await {
        Ok(addresses) if addresses.is_empty() => Err(nowhere()),
        Ok(addresses) => guard.addresses(addresses, terms).map_err(Unresolved::Refused),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(nowhere()),
        Err(error) => Err(Unresolved::Failed(error)),
    }
}

/// The only resolver of a client. It returns only checked addresses, and the connection is made to exactly these: there
/// is no second lookup in between.
pub(crate) struct GuardedResolver {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) terms: Terms,
}

impl reqwest::dns::Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, guard) = (Arc::clone(&self.resolver), Arc::clone(&self.guard));
        // The connection may be made in another task.
        let (terms, party) = (self.terms, party());
        Box::pin(async move {
            let resolved = resolve_guarded(&*resolver, &guard, terms, name.as_str());
            let addresses = for_party(party, resolved).await?;
            // Port 0 means the port of the URL.
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}
