//! The errors of a request.

use std::error::Error;
use std::io;
use std::iter;

use reqwest::StatusCode;
use thiserror::Error;
use url::Url;

use crate::guard::Refused;
use crate::resolve::Unresolved;

/// Why there is no response, or only a part of one. Messages are safe to show to the person who chose the address;
/// sources are for logs.
#[derive(Debug, Error)]
pub enum EgressError {
    /// The address may not be requested.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name has no address, or it cannot be resolved at the moment. A name without an address has the same message
    /// as a refused one, so that nobody learns which names exist in a private zone.
    #[error("{}", if *.is_temporary { "the name cannot be resolved for now" } else { Refused::MESSAGE })]
    Dns {
        /// Whether the resolver failed; otherwise the name has no address.
        is_temporary: bool,
        /// The resolver's error.
        #[source]
        source: Cause,
    },
    /// The connection could not be established.
    #[error("no connection could be established")]
    Connect(#[source] Cause),
    /// The certificate is not valid, or this machine cannot verify it.
    #[error("no secure connection could be established")]
    Tls(#[source] Cause),
    /// A deadline passed: that of connecting, of one read, or of the whole request.
    #[error("no response arrived in time")]
    Timeout,
    /// The body is larger than the caller accepts.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The caller's limit in bytes, after decompression.
        limit: usize,
    },
    /// A redirect that the caller does not follow.
    #[error("the address redirects to `{to}`")]
    Redirected {
        /// The status of the redirect.
        status: StatusCode,
        /// Its target, which was not checked.
        to: Box<Url>,
    },
    /// More redirects than the caller follows.
    #[error("the address redirects more than {limit} times")]
    TooManyRedirects {
        /// The caller's limit.
        limit: usize,
    },
    /// A redirect to something that is not a URL.
    #[error("the address redirects to something that is not a URL")]
    BadRedirect,
    /// The connection was closed early, or the response is not HTTP.
    #[error("the connection was interrupted")]
    Broken(#[source] Cause),
    /// The encoding of the body differs from its headers, or was not requested.
    #[error("the response cannot be decoded")]
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

/// Whether a decompressor failed. Its I/O error is directly below the client's errors, whereas a connection's error is
/// below one of HTTP. A body that simply ends was truncated.
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

/// An error and its causes. An I/O error is followed by the error inside it, which its `source` would skip.
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
