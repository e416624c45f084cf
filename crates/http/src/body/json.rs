//! Reads the text of a JSON body into the struct that declares it.

use std::collections::HashMap;

use cicerone_domain::Error;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use super::fields::Fields;
use super::value::{MEMBERS, Object, Value};
use super::{SHOWN_CHARS, shown};

/// Reads a body.
///
/// Unknown fields are ignored, and if a field appears twice, the last value counts. Memory is
/// bounded by the length of `text`, whatever it contains.
///
/// # Errors
///
/// `text` is not a JSON object. Or: all fields that the schema of `T` requires and that are absent or null, and then all
/// that have another JSON type, in the order of the struct's fields.
pub(crate) fn read<T: DeserializeOwned + PartialSchema>(text: &[u8]) -> Result<T, Error> {
    let mut given = Vec::new();
    let fields = Fields::new(object(text)?, &mut given);
    T::deserialize(fields)
        .or_else(|_| Err(faults::<T>(object(text)?, required(&T::schema()), &given)))
}

/// What is wrong with fields that could not be read.
///
/// Serde stops at the first bad field. It is noted and removed, or if it is required, replaced by a value that can be read
/// as anything; then the fields are read again. Neither long texts nor fields that the struct does not have are needed for
/// that, so that a round costs little, however large the body is.
fn faults<T: DeserializeOwned>(
    mut values: HashMap<String, Value>,
    required: &[String],
    given: &[&str],
) -> Error {
    // The struct may refuse null, which is not among what is given.
    let may_matter = |name: &String, value: &mut Value| {
        given.contains(&name.as_str()) || *value == Value::Null && name.len() <= SHOWN_CHARS
    };
    values.retain(may_matter);
    values.values_mut().for_each(Value::shorten);
    let (mut faults, mut replaced) = (Vec::new(), Vec::new());
    for name in required.iter().filter(|name| !given.contains(&name.as_str())) {
        values.insert(name.clone(), Value::Any);
        faults.push(Error::missing(name));
        replaced.push(name.clone());
    }
    while let Err(error) =
        serde_path_to_error::deserialize::<_, T>(Fields::new(values.clone(), &mut Vec::new()))
    {
        let name = match error.path().iter().next() {
            Some(Segment::Map { key }) => key.clone(),
            _ => String::new(),
        };
        if replaced.contains(&name) {
            break;
        }
        faults.push(Error::invalid(path(error.path()), error.inner().to_string()));
        match required.contains(&name) {
            true => values.insert(name.clone(), Value::Any),
            false => values.remove(&name),
        };
        replaced.push(name);
    }
    Error::joined(faults).unwrap_or_else(|| Error::internal("fields that can be read were refused"))
}

/// A path as text, with the beginnings of its names.
fn path(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        let name = match segment {
            Segment::Seq { index } => {
                text.push_str(&format!("[{index}]"));
                continue;
            }
            Segment::Map { key: name } | Segment::Enum { variant: name } => shown(name),
            Segment::Unknown => "?".to_owned(),
        };
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&name);
    }
    text
}

fn object(text: &[u8]) -> Result<HashMap<String, Value>, Error> {
    match serde_json::from_slice(text) {
        Ok(Object(Some(fields))) => Ok(fields.into_iter().collect()),
        Ok(Object(None)) => {
            Err(Error::invalid("body", format!("must have at most {MEMBERS} fields")))
        }
        Err(cause) if cause.classify() == Category::Data => {
            Err(Error::invalid("body", "must be a JSON object"))
        }
        Err(cause) => Err(Error::invalid("body", format!("must be JSON ({cause})"))),
    }
}

/// The fields that a schema requires, in the order of their declaration. If the schema has
/// alternatives, which differ only in the types of fields, those of the first one.
fn required(schema: &RefOr<Schema>) -> &[String] {
    match schema {
        RefOr::T(Schema::Object(object)) => &object.required,
        RefOr::T(Schema::OneOf(alternatives)) => {
            alternatives.items.first().map_or(&[], |first| required(first))
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::read;
    use crate::body::{Given, not_null};
    use cicerone_domain::Error;
    use serde::Deserialize;
    use utoipa::ToSchema;

    /// A body with one field of every type that bodies have.
    #[derive(Debug, Deserialize, ToSchema)]
    struct Everything {
        text: String,
        number: f64,
        integer: Option<i64>,
        flag: Option<bool>,
        texts: Option<Vec<String>>,
        pairs: Option<BTreeMap<String, String>>,
        #[serde(default)]
        #[schema(value_type = Option<f64>)]
        change: Given<f64>,
        #[serde(default, deserialize_with = "not_null")]
        #[schema(nullable = false)]
        named: Option<String>,
    }

    fn everything(fields: &str) -> Result<Everything, Error> {
        read(format!(r#"{{"text": "t", "number": 0.5, {fields}}}"#).as_bytes())
    }

    fn refusal(fields: &str) -> (String, String) {
        match everything(fields).unwrap_err() {
            Error::Invalid(bad) => {
                let first = bad.first().clone();
                (first.param, first.message)
            }
            other => panic!("{fields}: {other:?}"),
        }
    }

    #[test]
    fn a_body_that_is_not_an_object_is_refused() {
        for body in ["", "[]", "null", "\"text\"", "{", "{\"a\":1}x", "\u{feff}{}", "{\"a\":1e999}"]
        {
            let error = read::<Everything>(body.as_bytes()).unwrap_err();
            assert_eq!(error.params(), ["body"], "{body}");
        }
        assert!(read::<Everything>(b"{\"a\": \"\xff\"}").is_err(), "not UTF-8");
        assert!(read::<Everything>(br#"{"a": "\ud800"}"#).is_err(), "half a character");
    }

    #[test]
    fn a_required_field_that_is_absent_or_null_comes_before_any_bad_value() {
        for (body, missing) in [
            (r#"{"number": 1}"#, &["text"][..]),
            (r#"{"text": null, "number": "x"}"#, &["text", "number"]),
            (r#"{"text": 5, "number": null}"#, &["number", "text"]),
            (r#"{"flag": 5, "text": 5}"#, &["number", "text", "flag"]),
            (r#"{"named": 5}"#, &["text", "number", "named"]),
        ] {
            let error = read::<Everything>(body.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Missing(_)), "{body}");
            assert_eq!(error.params(), missing, "{body}");
        }
    }

    #[test]
    fn integers_are_read_in_any_notation_and_nothing_else_is() {
        for (json, number) in [("5", 5), ("5.0", 5), ("5e0", 5), ("-0.0", 0), ("1e300", i64::MAX)] {
            let read = everything(&format!(r#""integer": {json}"#)).unwrap();
            assert_eq!(read.integer, Some(number), "{json}");
        }
        for json in ["5.5", "\"5\"", "true", "[]"] {
            let (param, message) = refusal(&format!(r#""integer": {json}"#));
            assert_eq!((&*param, &*message), ("integer", "must be an integer"), "{json}");
        }
    }

    #[test]
    fn a_wrong_type_names_the_field_and_what_it_must_be() {
        for (fields, param, message) in [
            (r#""text": 1"#, "text", "must be a string"),
            (r#""number": "0.5""#, "number", "must be a number"),
            (r#""flag": "true""#, "flag", "must be true or false"),
            (r#""pairs": []"#, "pairs", "must be an object"),
            (r#""pairs": {"a": 1}"#, "pairs.a", "must be a string"),
            (r#""texts": "a""#, "texts", "must be an array of strings"),
            (r#""texts": ["a", null]"#, "texts[1]", "must be a string"),
            (r#""change": "a""#, "change", "must be a number"),
            (r#""named": null"#, "named", "must not be null"),
            (r#""named": 5"#, "named", "must be a string"),
        ] {
            assert_eq!(refusal(fields), (param.to_owned(), message.to_owned()), "{fields}");
        }
    }

    #[test]
    fn of_a_long_name_the_beginning_is_told() {
        let long = "é".repeat(100_000);
        let (param, _) = refusal(&format!(r#""pairs": {{"{long}": 1}}"#));
        assert_eq!(param, format!("pairs.{}", "é".repeat(100)));
    }

    #[test]
    fn all_wrong_types_are_told_in_the_order_of_the_fields() {
        let error =
            everything(r#""named": 5, "flag": 5, "pairs": {"a": 1}, "integer": "x""#).unwrap_err();
        assert_eq!(error.params(), ["integer", "flag", "pairs.a", "named"]);
        assert_eq!(error.to_string(), "`integer` must be an integer, and 3 more");
    }

    #[test]
    fn wrong_types_beside_large_fields_are_told() {
        let long = "k".repeat(10_000);
        let unknown = (0..200).map(|n| format!(r#""{long}{n}": null, "#)).collect::<String>();
        let pairs = (0..200).map(|n| format!(r#""{n}{long}": "{long}""#)).collect::<Vec<_>>();
        let pairs = pairs.join(",");
        let error = everything(&format!(
            r#"{unknown} "pairs": {{{pairs}, "a": 1}}, "flag": 5, "named": null"#
        ));
        assert_eq!(error.unwrap_err().params(), ["flag", "pairs.a", "named"]);
    }

    #[test]
    fn optional_fields_are_absent_or_null_alike_except_in_a_change() {
        for (fields, change) in [
            (r#""x": 1"#, Given::Absent),
            (r#""change": null, "integer": null, "flag": null, "texts": null"#, Given::Null),
            (r#""change": 2"#, Given::Value(2.0)),
        ] {
            let read = everything(fields).unwrap();
            assert_eq!(read.change, change, "{fields}");
            assert_eq!((read.integer, read.flag, read.texts), (None, None, None), "{fields}");
        }
        assert_eq!(everything(r#""x": 1"#).unwrap().named, None);
    }

    #[test]
    fn an_unknown_field_is_ignored_whatever_it_holds() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let wide = format!("[{}0]", "1,".repeat(100_000));
        let pairs = (0..1_000).map(|n| format!("\"k{n}\":{n},")).collect::<String>();
        let fields = format!(r#""a": [{deep}], "b": {wide}, "c": {{{pairs} "x": {deep}}}"#);
        assert_eq!(everything(&fields).unwrap().text, "t");
        assert_eq!(refusal(&format!(r#""texts": {wide}"#)).0, "texts");
        assert_eq!(refusal(&format!(r#""pairs": {{"x": {deep}}}"#)).0, "pairs.x");
    }

    #[test]
    fn objects_and_arrays_have_at_most_256_members() {
        let object = |count: usize| {
            let members = (0..count).map(|n| format!("\"k{n}\":\"v\"")).collect::<Vec<_>>();
            members.join(",")
        };
        assert!(everything(&object(254)).is_ok());
        assert_eq!(refusal(&object(255)).1, "must have at most 256 fields");
        let texts = |count: usize| format!(r#""texts": [{}]"#, vec!["\"a\""; count].join(","));
        let pairs = |count: usize| format!(r#""pairs": {{{}}}"#, object(count));
        assert_eq!(everything(&texts(256)).unwrap().texts.unwrap().len(), 256);
        assert_eq!(everything(&pairs(256)).unwrap().pairs.unwrap().len(), 256);
        assert_eq!(refusal(&texts(257)).1, "must have at most 256 items");
        assert_eq!(refusal(&pairs(257)).1, "must have at most 256 keys");
    }

    #[test]
    fn of_a_field_that_is_given_twice_the_last_counts() {
        let read = everything(r#""flag": 5, "flag": true, "number": 1, "number": 2"#).unwrap();
        assert_eq!((read.flag, read.number), (Some(true), 2.0));
    }
}
