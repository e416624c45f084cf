//! Checks as a caller gives them.

use super::{Check, CheckList};
use crate::error::Error;
use crate::every::{every, every_item};
use crate::id::{Id, kind};
use crate::limits;
use crate::source::web_address;
use crate::text::{check_length, check_not_blank};

/// A check as it was read from a request, not validated yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenCheck {
    /// What is asked: required.
    pub question: Option<String>,
    /// Texts that the reply must contain.
    pub contains: Option<Vec<String>>,
    /// Ids or addresses of sources that the reply must cite.
    pub sources: Option<Vec<String>>,
    /// Whether the reply must be based on a source.
    pub answered: Option<bool>,
}

impl CheckList {
    /// Checks the value of the field `checks`.
    ///
    /// # Errors
    ///
    /// Returns an error about all parts that exceed their limits, with their paths.
    pub fn parse(given: Vec<GivenCheck>) -> Result<Self, Error> {
        if given.len() > limits::CHECKS {
            let message =
                format!("must have at most {} items, not {}", limits::CHECKS, given.len());
            return Err(Error::invalid("checks", message));
        }
        let checks = given.into_iter().enumerate().map(|(index, check)| parse(index, check));
        let checks = every_item(checks)?;
        let bytes = serde_json::to_vec(&checks).map_err(Error::internal)?.len();
        if bytes > limits::CHECKS_BYTES {
            let most = limits::CHECKS_BYTES;
            let message = format!("must be at most {most} bytes of JSON in total, not {bytes}");
            return Err(Error::invalid("checks", message));
        }
        Ok(Self(checks))
    }
}

fn parse(index: usize, given: GivenCheck) -> Result<Check, Error> {
    let path = |rest: &str| format!("checks[{index}]{rest}");
    let question = given.question.ok_or_else(|| Error::missing(path(".question")));
    let question = question.and_then(|question| {
        check_not_blank(&question)
            .and_then(|()| check_length(&question, limits::MESSAGE_CHARS))
            .map(|()| question)
            .map_err(|message| Error::invalid(path(".question"), message))
    });
    let texts = |name: &str, texts: Option<Vec<String>>, check: fn(&str) -> Result<(), String>| {
        let texts = texts.unwrap_or_default();
        if texts.len() > limits::CHECK_EXPECTATIONS {
            let most = limits::CHECK_EXPECTATIONS;
            let message = format!("must have at most {most} items, not {}", texts.len());
            return Err(Error::invalid(path(&format!(".{name}")), message));
        }
        every_item(texts.into_iter().enumerate().map(|(number, text)| match check(&text) {
            Ok(()) => Ok(text),
            Err(message) => Err(Error::invalid(path(&format!(".{name}[{number}]")), message)),
        }))
    };
    let (question, contains, sources) = every((
        question,
        texts("contains", given.contains, expected_text),
        texts("sources", given.sources, expected_source),
    ))?;
    let check = Check { question, contains, sources, answered: given.answered };
    if check.contains.is_empty() && check.sources.is_empty() && check.answered.is_none() {
        let message = "must have an expectation: `contains`, `sources` or `answered`";
        return Err(Error::invalid(path(""), message));
    }
    Ok(check)
}

fn expected_text(text: &str) -> Result<(), String> {
    check_not_blank(text)?;
    check_length(text, limits::CHECK_TEXT_CHARS)
}

fn expected_source(text: &str) -> Result<(), String> {
    check_length(text, limits::WEBSITE_URL_CHARS)?;
    if text.parse::<Id<kind::Source>>().is_ok() || web_address(text).is_ok() {
        return Ok(());
    }
    Err("must be the id of a source, or the http or https address of a page".to_owned())
}
