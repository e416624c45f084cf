//! Tests of the table.

use super::{Problem, RequestError, STATUS_CODES};
use cicerone_domain::clock::SystemEntropy;
use cicerone_domain::id::Id;
use cicerone_domain::{Error, Permission};

fn all() -> Vec<RequestError> {
    let cause = || Box::from("secret cause");
    let domain = vec![
        Error::missing("name"),
        Error::invalid("name", "must not be empty"),
        Error::validation("content", "must not be empty"),
        Error::InvalidOperation("no".to_owned()),
        Error::Forbidden(Permission::AgentsRead),
        Error::not_found("agent", "x"),
        Error::Conflict("busy".to_owned()),
        Error::Busy("a moment".to_owned()),
        Error::ClaimLost,
        Error::Overloaded,
        Error::ModelUnavailable(cause()),
        Error::Unavailable(cause()),
        Error::Internal(cause()),
    ];
    let own = vec![
        RequestError::Unauthorized,
        RequestError::RateLimited { retry_after: 3 },
        RequestError::NoRoute,
        RequestError::Method { allow: "GET".to_owned() },
        RequestError::BodyTooLarge,
        RequestError::MediaType { expected: "application/json" },
        RequestError::KeyInProgress,
        RequestError::KeyReused,
        RequestError::KeyGone,
        RequestError::NotReady("starting"),
    ];
    domain.into_iter().map(RequestError::from).chain(own).collect()
}

#[test]
fn every_failure_has_a_type_and_code_of_the_published_table() {
    for failure in all() {
        let Problem { status, kind, code, .. } = failure.problem();
        let row = STATUS_CODES.iter().find(|row| row.status == status.as_u16());
        let row = row.unwrap_or_else(|| panic!("{failure:?} answers {status}"));
        assert_eq!(row.kind, kind, "{failure:?}");
        assert!(row.codes.contains(&code), "{failure:?} has the code {code}");
    }
}

#[test]
fn the_message_of_a_server_error_never_shows_its_cause() {
    for failure in all() {
        let problem = failure.problem();
        assert!(!problem.message.contains("secret"), "{failure:?}");
    }
}

#[test]
fn whatever_is_worth_repeating_says_when() {
    for failure in all() {
        let problem = failure.problem();
        if matches!(problem.status.as_u16(), 429 | 503) && problem.code != "model_unavailable" {
            assert!(problem.retry_after.is_some_and(|seconds| seconds > 0), "{failure:?}");
        }
    }
}

#[test]
fn an_overload_is_known_before_and_after_it_was_reported() {
    for (error, is_overload) in [
        (Error::Overloaded, true),
        (Error::Unavailable("full".into()), false),
        (Error::internal("broken"), false),
    ] {
        let error = RequestError::from(error);
        assert_eq!(error.is_overload(), is_overload, "{error}");
        let reported = error.report(Id::random(&SystemEntropy));
        let reported = RequestError::Reported(Box::new(reported));
        assert_eq!(reported.is_overload(), is_overload, "{reported}");
    }
}
