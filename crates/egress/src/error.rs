//! What goes wrong between a request and its answer.

use std::error::Error;
use std::io;
use std::iter;

use reqwest::StatusCode;
use thiserror::Error;
use url::Url;

use crate::guard::Refused;
use crate::resolve::Unresolved;

/// Why there is no answer, or not all of it. Messages hold nothing that whoever chose the address
/// must not see; sources are for logs.
#[derive(Debug, Error)]
pub enum EgressError {
    /// The address is not asked.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name has no address, or none can be learned for now. A name without one reads as a
    /// refused one does: whether a name exists in a private zone is not told.
    #[error("{}", if *.is_temporary { "the name cannot be resolved for now" } else { Refused::MESSAGE })]
    Dns {
        /// Whether the resolver failed; else the name has no address.
        is_temporary: bool,
        /// The resolver's error.
        #[source]
        source: Cause,
    },
    /// No connection came about.
    #[error("no connection could be made")]
    Connect(#[source] Cause),
    /// The other side is not who it should be, or this machine cannot tell.
    #[error("no secure connection could be made")]
    Tls(#[source] Cause),
    /// A deadline passed: of connecting, of one read, or of the whole.
    #[error("no answer came in time")]
    Timeout,
    /// The body is larger than the caller takes.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The caller's limit in bytes, after decompression.
        limit: usize,
    },
    /// A redirect that the caller does not follow.
    #[error("the address redirects to `{to}`")]
    Redirected {
        /// The status that it came with.
        status: StatusCode,
        /// Where it leads. It was not judged.
        to: Box<Url>,
    },
    /// More redirects than the caller follows.
    #[error("the address redirects more than {limit} times")]
    TooManyRedirects {
        /// The caller's limit.
        limit: usize,
    },
    /// A redirect to something that is no URL.
    #[error("the address redirects to something that is no URL")]
    BadRedirect,
    /// The connection broke off, or what came is not HTTP.
    #[error("the connection broke off")]
    Broken(#[source] Cause),
    /// The body is not encoded as it says, or in a way that was not asked for.
    #[error("the answer cannot be decoded")]
    Encoding(#[source] Cause),
}

/// The cause of an error, for logs.
type Cause = Box<dyn Error + Send + Sync>;

impl EgressError {
    /// Whether the same request may succeed at another time.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Timeout | Self::Broken(_) => true,
            Self::Dns { is_temporary, .. } => *is_temporary,
            Self::Refused(_)
            | Self::Tls(_)
            | Self::TooLarge { .. }
            | Self::Redirected { .. }
            | Self::TooManyRedirects { .. }
            | Self::BadRedirect
            | Self::Encoding(_) => false,
        }
    }
}

impl From<Unresolved> for EgressError {
    fn from(unresolved: Unresolved) -> Self {
        match unresolved {
            Unresolved::Refused(reason) => Self::Refused(reason.into()),
            Unresolved::NoAddress => Self::Dns { is_temporary: false, source: unresolved.into() },
            Unresolved::Failed(_) => Self::Dns { is_temporary: true, source: unresolved.into() },
        }
    }
}

impl From<reqwest::Error> for EgressError {
    fn from(error: reqwest::Error) -> Self {
        match find::<Unresolved>(&error) {
            Some(Unresolved::Refused(reason)) => return Self::Refused(reason.clone().into()),
            Some(Unresolved::NoAddress) => {
                return Self::Dns { is_temporary: false, source: error.without_url().into() };
            }
            Some(Unresolved::Failed(_)) => {
                return Self::Dns { is_temporary: true, source: error.without_url().into() };
            }
            None => {}
        }
        if error.is_timeout() {
            Self::Timeout
        } else if find::<rustls::Error>(&error).is_some() {
            Self::Tls(error.without_url().into())
        } else if error.is_connect() {
            Self::Connect(error.without_url().into())
        } else if error.is_builder() || is_of_decoder(&error) {
            Self::Encoding(error.without_url().into())
        } else {
            Self::Broken(error.without_url().into())
        }
    }
}

/// Whether a decompressor did not understand what it got. Its I/O error is the first below those
/// of the client; a connection's errors lie below one of HTTP. A body that just ends was cut off.
fn is_of_decoder(error: &reqwest::Error) -> bool {
    let first = chain(error).find(|error| !error.is::<reqwest::Error>());
    first
        .and_then(|error| error.downcast_ref::<io::Error>())
        .is_some_and(|error| error.kind() != io::ErrorKind::UnexpectedEof)
}

/// The first `T` among an error and its causes.
fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    chain(error).find_map(|error| error.downcast_ref::<T>())
}

/// An error and its causes. An I/O error is asked for what it holds: its `source` would be the
/// source of that.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    iter::successors(Some(first), |error| {
        let error: &(dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|held| held as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
