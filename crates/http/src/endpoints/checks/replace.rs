//! `PUT /v1/agents/{agent_id}/checks`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::check::{CheckList, GivenCheck};
use cicerone_domain::{Error, limits};
use serde::Deserialize;
use utoipa::ToSchema;

use super::AgentChecksView;
use super::bounded::{Few, Object};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{BAD_BODY, Endpoint, Tag};
use crate::response::{Answer, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::PUT, "/v1/agents/{agent_id}/checks", handle)
        .named("replaceChecks", "Replace an agent's checks")
        .details(
            "Checks are questions whose replies you know. They are asked on request and after each training of a \
             source, and they count toward the quotas. Sending the same checks again changes nothing, so the \
             request can be repeated and takes no idempotency key.",
        )
        .object_body::<ReplaceChecks>()
        .gives::<AgentChecksView<'_>>(200)
        .refuses(400, BAD_BODY)
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let checks = parse(&incoming.json_text(&app, limits::CHECKS_BODY_BYTES).await?)?;
    let id = incoming.path_id();
    Change::new(&app, &caller, None)
        .answer(
            |checks| keep(StatusCode::OK, &AgentChecksView::from(checks), None),
            move |app, caller, _| async move {
                app.checks.replace(&caller.scope, id?, checks).await
            },
        )
        .await
}

// [`Few`] and [`Object`] are unknown to the schema, so that `value_type` repeats what they hold.
/// The checks of an agent.
#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"checks": [{"question": "When do you open?", "contains": ["nine"], "answered": true}]})))]
struct ReplaceChecks {
    /// The checks, in the order in which they are asked. All together take at most 256 KiB of JSON.
    #[schema(value_type = Vec<NewCheck>, max_items = 100)]
    checks: Option<Few<Object<NewCheck>, { limits::CHECKS }>>,
}

/// A question and the expectations that its reply must meet. At least one of `contains`, `sources` and `answered` is
/// required.
#[derive(Deserialize, ToSchema)]
struct NewCheck {
    #[schema(value_type = String, min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    question: Option<String>,
    /// Texts of at most 200 characters that the reply must contain; case is ignored.
    #[schema(value_type = Option<Vec<ExpectedText>>, max_items = 5, inline)]
    contains: Option<Few<ExpectedText, { limits::CHECK_EXPECTATIONS }>>,
    /// Ids of sources, or addresses of pages, each of which the reply must cite.
    #[schema(value_type = Option<Vec<ExpectedSource>>, max_items = 5, inline)]
    sources: Option<Few<ExpectedSource, { limits::CHECK_EXPECTATIONS }>>,
    /// Whether the reply must be based on a source (true) or must not be (false); null if this is not checked.
    answered: Option<bool>,
}

/// A text that a reply must contain.
#[derive(Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 200, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
struct ExpectedText(String);

/// The id of a source, or the address of a page.
#[derive(Deserialize, ToSchema)]
#[schema(max_length = 2048, pattern = "^(src_[0-9A-Za-z]{10}$|[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#])")]
struct ExpectedSource(String);

/// Reads the text of a body.
///
/// # Errors
///
/// The first part that is malformed or out of its limits, with its path.
fn parse(text: &[u8]) -> Result<CheckList, Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let given = serde_path_to_error::deserialize::<_, Object<ReplaceChecks>>(&mut reader);
    let Object(given) = given.map_err(|error| {
        let path = error.path().to_string();
        let message = format!("cannot be read: {}", error.inner());
        let is_of_body = path == "." || !error.inner().is_data();
        Error::invalid(if is_of_body { "body".to_owned() } else { path }, message)
    })?;
    reader.end().map_err(|error| Error::invalid("body", format!("must be JSON ({error})")))?;
    let checks = given.checks.ok_or_else(|| Error::missing("checks"))?;
    CheckList::parse(checks.0.into_iter().map(|Object(check)| check.into()).collect())
}

impl From<NewCheck> for GivenCheck {
    fn from(check: NewCheck) -> Self {
        let texts = |Few(texts): Few<ExpectedText, _>| texts.into_iter().map(|text| text.0);
        let sources = |Few(sources): Few<ExpectedSource, _>| sources.into_iter().map(|it| it.0);
        Self {
            question: check.question,
            contains: check.contains.map(|given| texts(given).collect()),
            sources: check.sources.map(|given| sources(given).collect()),
            answered: check.answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use cicerone_domain::Error;

    #[test]
    fn a_bad_part_is_named_by_its_path() {
        let many = |item: &str, count: usize| vec![item; count].join(",");
        let of = |checks: &str| format!(r#"{{"checks": [{checks}]}}"#);
        for (body, param) in [
            (String::new(), "body"),
            ("[]".to_owned(), "body"),
            (r#"[[{"question": "a", "answered": true}]]"#.to_owned(), "body"),
            (of(r#"["a", ["b"], [], true]"#), "checks[0]"),
            (of("5"), "checks[0]"),
            ("{".to_owned(), "body"),
            (format!("{} x", of("")), "body"),
            (r#"{"checks": 5}"#.to_owned(), "checks"),
            (of(&many("{}", 101)), "checks"),
            (of(r#"{"question": 5}"#), "checks[0].question"),
            (of(r#"{"question": "a", "contains": ["b", 5]}"#), "checks[0].contains[1]"),
            (
                of(&format!(r#"{{"question": "a", "sources": [{}]}}"#, many("\"b\"", 6))),
                "checks[0].sources",
            ),
            (of(r#"{"question": "a", "answered": "yes"}"#), "checks[0].answered"),
            (of(r#"{"question": "a"}"#), "checks[0]"),
        ] {
            let error = parse(body.as_bytes()).unwrap_err();
            assert!(
                matches!(&error, Error::Invalid(bad) if bad.first().param == param),
                "{error:?}"
            );
            assert!(!error.to_string().contains("struct"), "{error}");
        }
        for (body, param) in [
            ("{}", "checks"),
            (r#"{"checks": null}"#, "checks"),
            (r#"{"checks": [{}]}"#, "checks[0].question"),
        ] {
            let error = parse(body.as_bytes()).unwrap_err();
            assert!(
                matches!(&error, Error::Missing(bad) if bad.first().param == *param),
                "{error:?}"
            );
        }
        let fine = of(r#"{"question": "a", "contains": null, "answered": false, "other": 5}"#);
        assert_eq!(parse(fine.as_bytes()).unwrap().as_slice().len(), 1);
    }
}
