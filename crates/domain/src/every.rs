//! Checks several values and reports all of their errors.

use crate::error::Error;

/// The values of all results of a tuple.
///
/// ```
/// # use cicerone_domain::{Error, agent::Temperature, agent::AgentName, every};
/// let checked = every((AgentName::parse(""), Temperature::parse(3.0)));
/// let Err(Error::Invalid(fields)) = checked else { panic!("both are bad") };
/// assert_eq!(fields.iter().count(), 2);
/// ```
///
/// # Errors
///
/// All errors of the tuple, joined by [`Error::joined`].
pub fn every<R: Results>(results: R) -> Result<R::Values, Error> {
    results.values()
}

/// The values of all results of a list.
///
/// # Errors
///
/// All errors of the list, joined by [`Error::joined`].
pub fn every_item<T>(results: impl Iterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    Error::joined(errors).map_or(Ok(values), Err)
}

/// A tuple of results, for [`every`].
pub trait Results {
    /// The tuple of their values.
    type Values;

    /// See [`every`].
    ///
    /// # Errors
    ///
    /// See [`every`].
    fn values(self) -> Result<Self::Values, Error>;
}

macro_rules! results {
    ($($value:ident: $Value:ident, $Error:ident;)+) => {
        impl<$($Value, $Error: Into<Error>),+> Results for ($(Result<$Value, $Error>,)+) {
            type Values = ($($Value,)+);

            fn values(self) -> Result<Self::Values, Error> {
                match self {
                    ($(Ok($value),)+) => Ok(($($value,)+)),
                    ($($value,)+) => {
                        let errors = [$($value.err().map(Into::into)),+];
                        let joined = Error::joined(errors.into_iter().flatten());
                        Err(joined.unwrap_or_else(|| Error::internal("no value is bad")))
                    }
                }
            }
        }
    };
}

results! { a: A, AError; b: B, BError; }
results! { a: A, AError; b: B, BError; c: C, CError; }
results! { a: A, AError; b: B, BError; c: C, CError; d: D, DError; }
results! { a: A, AError; b: B, BError; c: C, CError; d: D, DError; e: E, EError; }
results! { a: A, AError; b: B, BError; c: C, CError; d: D, DError; e: E, EError; f: F, FError; }
results! {
    a: A, AError; b: B, BError; c: C, CError; d: D, DError; e: E, EError; f: F, FError; g: G, GError;
}
results! {
    a: A, AError; b: B, BError; c: C, CError; d: D, DError; e: E, EError; f: F, FError; g: G, GError;
    h: H, HError;
}
results! {
    a: A, AError; b: B, BError; c: C, CError; d: D, DError; e: E, EError; f: F, FError; g: G, GError;
    h: H, HError; i: I, IError;
}
