//! Question/answer pairs, read from JSON without keeping anything else that is in it.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, FieldError};
use crate::every::every;
use crate::limits;
use crate::text::{check_length, check_not_blank, is_blank};

/// The maximum number of problems that one error lists.
const FINDINGS: usize = limits::FIELD_ERRORS;

/// A question and its answer. Made by [`QaPair::parse`], or read from an array by [`qa_pairs`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QaPair {
    question: String,
    answer: String,
}

impl QaPair {
    /// Checks the fields `question` and `answer` of a pair that answers a gap.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] about the fields that are blank or too long.
    pub fn parse(question: String, answer: String) -> Result<Self, Error> {
        let check = |param: &str, text: String, limit| {
            let checked = check_not_blank(&text).and_then(|()| check_length(&text, limit));
            checked.map(|()| text).map_err(|message| FieldError::new(param, message))
        };
        let (question, answer) = every((
            check("question", question, limits::QUESTION_CHARS),
            check("answer", answer, limits::GAP_ANSWER_CHARS),
        ))?;
        Ok(Self { question, answer })
    }

    /// The question: at most 2,000 characters.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The answer, of any length.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// The question and the answer.
    pub fn into_parts(self) -> (String, String) {
        (self.question, self.answer)
    }
}

/// Reads the pairs of a `qa` source: a JSON array of 1 to 500 objects with the non-empty string fields `question` and
/// `answer`. A question has at most 2,000 characters.
///
/// Memory is bounded by the length of `text`: values that are not pairs are checked but not kept.
///
/// # Errors
///
/// [`Error::Validation`] with an entry for each fault, at most 20.
pub fn qa_pairs(text: &str) -> Result<Vec<QaPair>, Error> {
    let read: Wanted<PairList> = serde_json::from_str(text).map_err(|cause| {
        Error::validation(
            "content",
            format!("must be a JSON array of question/answer pairs ({cause})"),
        )
    })?;
    let Some(list) = read.0 else {
        return Err(Error::validation("content", "must be a JSON array of question/answer pairs"));
    };
    list.check("content")
}

/// The number of items of a JSON array; `None` if the text is not a JSON array.
pub(super) fn count_items(text: &str) -> Option<usize> {
    // An ignored item takes no memory.
    serde_json::from_str::<Vec<IgnoredAny>>(text).ok().map(|items| items.len())
}

/// Pairs in a field of a larger JSON text, as they were given. Items that are not pairs are not kept, so that memory is
/// bounded by the length of the text.
#[derive(Debug)]
pub struct GivenPairs(Option<PairList>);

impl GivenPairs {
    /// The pairs, by the rules of [`qa_pairs`]; `param` is the field.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the field is not an array, and otherwise as [`qa_pairs`].
    pub fn check(self, param: &str) -> Result<Vec<QaPair>, Error> {
        match self.0 {
            Some(list) => list.check(param),
            None => Err(Error::invalid(param, "must be an array of question/answer pairs")),
        }
    }
}

impl<'de> Deserialize<'de> for GivenPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wanted(list) = Wanted::deserialize(deserializer)?;
        Ok(Self(list))
    }
}

/// What was read of the array.
#[derive(Debug, Default)]
struct PairList {
    pairs: Vec<QaPair>,
    /// What is wrong, with its place within the array.
    findings: Vec<FieldError>,
    /// Items of the array, kept or not.
    count: usize,
}

impl PairList {
    /// Whether further items can change the outcome other than by their number.
    fn is_open(&self) -> bool {
        self.count < limits::QA_PAIRS && self.findings.len() < FINDINGS
    }

    /// The pairs, if they can be those of a source; `param` is the array.
    fn check(self, param: &str) -> Result<Vec<QaPair>, Error> {
        if self.count == 0 {
            return Err(Error::validation(param, "must contain at least one pair"));
        }
        if self.count > limits::QA_PAIRS {
            let message =
                format!("must contain at most {} pairs, not {}", limits::QA_PAIRS, self.count);
            return Err(Error::validation(param, message));
        }
        if self.findings.is_empty() {
            return Ok(self.pairs);
        }
        let within = |finding: FieldError| {
            FieldError::new(format!("{param}{}", finding.param), finding.message)
        };
        Err(Error::from(self.findings.into_iter().map(within).collect::<Vec<_>>()))
    }

    fn add(&mut self, item: Option<Fields>) {
        let index = self.count;
        let Some(fields) = item else {
            let message = "must be an object with the string fields `question` and `answer`";
            self.findings.push(FieldError::new(format!("[{index}]"), message));
            return;
        };
        let question = checked(index, "question", fields.question, limits::QUESTION_CHARS);
        let answer = checked(index, "answer", fields.answer, usize::MAX);
        match (question, answer) {
            (Ok(question), Ok(answer)) => self.pairs.push(QaPair { question, answer }),
            (question, answer) => {
                self.findings.extend([question.err(), answer.err()].into_iter().flatten());
            }
        }
    }
}

/// A field of an object.
#[derive(Default)]
enum Field {
    #[default]
    Missing,
    Text(String),
    /// A value that is not a string.
    Other,
}

/// The fields of a pair.
#[derive(Default)]
struct Fields {
    question: Field,
    answer: Field,
}

fn checked(index: usize, name: &str, field: Field, limit: usize) -> Result<String, FieldError> {
    let finding = |message: String| FieldError::new(format!("[{index}].{name}"), message);
    match field {
        Field::Text(text) if is_blank(&text) => Err(finding("must not be empty".to_owned())),
        Field::Text(text) => match check_length(&text, limit) {
            Ok(()) => Ok(text),
            Err(message) => Err(finding(message)),
        },
        Field::Other => Err(finding("must be a string".to_owned())),
        Field::Missing => Err(finding("is required".to_owned())),
    }
}

/// What can be read from one kind of JSON value.
trait FromJson: Sized {
    /// Reads a string; `None` if a string is not wanted.
    fn from_text(_text: &str) -> Option<Self> {
        None
    }

    /// Reads an array to its end; `None` if an array is not wanted.
    fn from_array<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// Reads an object to its end; `None` if an object is not wanted.
    fn from_object<'de, A: MapAccess<'de>>(mut entries: A) -> Result<Option<Self>, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl FromJson for String {
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

/// The name of a field.
enum Name {
    Question,
    Answer,
    Other,
}

impl FromJson for Name {
    fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "question" => Self::Question,
            "answer" => Self::Answer,
            _ => Self::Other,
        })
    }
}

impl FromJson for Fields {
    fn from_object<'de, A: MapAccess<'de>>(mut entries: A) -> Result<Option<Self>, A::Error> {
        let mut fields = Self::default();
        while let Some(Wanted(name)) = entries.next_key::<Wanted<Name>>()? {
            let field = match name {
                Some(Name::Question) => &mut fields.question,
                Some(Name::Answer) => &mut fields.answer,
                Some(Name::Other) | None => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let Wanted(value) = entries.next_value::<Wanted<String>>()?;
            *field = value.map_or(Field::Other, Field::Text);
        }
        Ok(Some(fields))
    }
}

impl FromJson for PairList {
    fn from_array<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut list = Self::default();
        loop {
            if list.is_open() {
                let Some(Wanted(item)) = items.next_element::<Wanted<Fields>>()? else { break };
                list.add(item);
            } else if items.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
            list.count += 1;
        }
        Ok(Some(list))
    }
}

/// A value of the wanted kind; `None` for a value of another kind, which is read and dropped.
struct Wanted<T>(Option<T>);

impl<'de, T: FromJson> Deserialize<'de> for Wanted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyKind(PhantomData)).map(Wanted)
    }
}

/// Visits a value of any kind.
struct AnyKind<T>(PhantomData<T>);

impl<'de, T: FromJson> Visitor<'de> for AnyKind<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _value: i64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _value: u64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_str<E>(self, value: &str) -> Result<Option<T>, E> {
        Ok(T::from_text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Option<T>, A::Error> {
        T::from_array(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Option<T>, A::Error> {
        T::from_object(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::{FINDINGS, QaPair, qa_pairs};
    use crate::error::Error;
    use crate::limits;

    fn findings(text: &str) -> Vec<(String, String)> {
        let Err(Error::Validation { errors, .. }) = qa_pairs(text) else { panic!("{text}") };
        errors.into_iter().map(|error| (error.param, error.message)).collect()
    }

    #[test]
    fn unknown_fields_are_passed_over_and_of_a_field_given_twice_the_last_counts() {
        let text =
            r#" [{"a": [{"b": 1}], "question": 7, "answer": "A", "question": "Q", "": null}] "#;
        let pair = QaPair { question: "Q".to_owned(), answer: "A".to_owned() };
        assert_eq!(qa_pairs(text).unwrap(), [pair]);
    }

    #[test]
    fn what_is_no_array_of_pairs_is_told_as_such() {
        for text in ["", "{", "[] []", "[1,]", "[\u{1}]"] {
            let [(param, message)] = &findings(text)[..] else { panic!("{text}") };
            assert_eq!(param, "content");
            assert!(message.starts_with("must be a JSON array of question/answer pairs ("));
        }
        for text in ["null", "true", "1", "-1", "1.5", "\"x\"", "{\"a\": [1, {}]}"] {
            let expected = "must be a JSON array of question/answer pairs".to_owned();
            assert_eq!(findings(text), [("content".to_owned(), expected)]);
        }
        assert_eq!(findings("[]")[0].1, "must contain at least one pair");
    }

    #[test]
    fn each_finding_names_its_item_and_field() {
        let text = r#"[null, [], {"question": "Q"}, {"question": " ", "answer": {}}]"#;
        let found = findings(text);
        let params: Vec<&str> = found.iter().map(|(param, _)| param.as_str()).collect();
        let expected = [
            "content[0]",
            "content[1]",
            "content[2].answer",
            "content[3].question",
            "content[3].answer",
        ];
        assert_eq!(params, expected);
        assert_eq!(findings(&format!("[{}1]", "1,".repeat(99))).len(), FINDINGS);
    }

    #[test]
    fn a_question_has_2000_characters_at_most_and_an_answer_more() {
        let pair = |chars: usize| {
            let (question, answer) = ("é".repeat(chars), "x".repeat(50_000));
            format!(r#"[{{"question": "{question}", "answer": "{answer}"}}]"#)
        };
        assert_eq!(qa_pairs(&pair(limits::QUESTION_CHARS)).unwrap().len(), 1);
        let expected = "must be at most 2000 characters, not 2001".to_owned();
        let found = findings(&pair(limits::QUESTION_CHARS + 1));
        assert_eq!(found, [("content[0].question".to_owned(), expected)]);
    }

    #[test]
    fn more_pairs_than_may_be_are_counted() {
        let pairs = |count: usize| {
            let pair = r#"{"question": "Q", "answer": "A"}"#;
            format!("[{}]", vec![pair; count].join(","))
        };
        assert_eq!(qa_pairs(&pairs(limits::QA_PAIRS)).unwrap().len(), limits::QA_PAIRS);
        assert_eq!(findings(&pairs(701))[0].1, "must contain at most 500 pairs, not 701");
        assert!(findings(&format!("[{}0]", "0,".repeat(1_000_000)))[0].1.ends_with("not 1000001"));
    }
}
