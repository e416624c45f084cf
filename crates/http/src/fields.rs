//! Reads the fields of a JSON body, one by one, with the error that each fault deserves.

mod value;

use std::collections::{BTreeMap, HashMap};

use cicerone_domain::Error;
use serde_json::error::Category;

use value::{Item, MEMBERS, Object, Value};

/// A field as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given<T> {
    /// It is not there.
    Absent,
    /// It is null.
    Null,
    /// It has a value.
    Value(T),
}

impl<T> Given<T> {
    /// The value; none where it is absent or null.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// In a change: none leaves the field as it is, null sets it to `default`.
    pub(crate) fn or_default(self, default: T) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Null => Some(default),
            Self::Absent => None,
        }
    }

    /// In a change of a field without a default: null is refused.
    pub(crate) fn not_null(self, name: &str) -> Result<Option<T>, Error> {
        match self {
            Self::Value(value) => Ok(Some(value)),
            Self::Absent => Ok(None),
            Self::Null => Err(Error::invalid(name, "must not be null")),
        }
    }
}

/// The fields of a JSON object. Those that nobody asks for are ignored.
#[derive(Debug, Default)]
pub(crate) struct Fields(HashMap<String, Value>);

impl Fields {
    /// Reads a body. Returns an error if it is not a JSON object, or has too many fields.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Error> {
        match serde_json::from_slice(body) {
            // Of a field that is there twice, the last counts.
            Ok(Object(Some(fields))) => Ok(Self(fields.into_iter().collect())),
            Ok(Object(None)) => {
                Err(Error::invalid("body", format!("must have at most {MEMBERS} fields")))
            }
            Err(cause) if cause.classify() == Category::Data => {
                Err(Error::invalid("body", "must be a JSON object"))
            }
            Err(cause) => Err(Error::invalid("body", format!("must be JSON ({cause})"))),
        }
    }

    /// Checks that every one of `names` is there and not null. Comes before any look at a value.
    pub(crate) fn require(&self, names: &[&str]) -> Result<(), Error> {
        let is_there = |name: &str| self.0.get(name).is_some_and(|value| *value != Value::Null);
        match names.iter().find(|name| !is_there(name)) {
            Some(name) => Err(Error::missing(*name)),
            None => Ok(()),
        }
    }

    /// A string.
    pub(crate) fn text(&mut self, name: &str) -> Result<Given<String>, Error> {
        self.take(name, "must be a string", |value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }

    /// A string that [`Fields::require`] has found to be there.
    pub(crate) fn required_text(&mut self, name: &str) -> Result<String, Error> {
        self.text(name)?.value().ok_or_else(|| Error::missing(name))
    }

    /// A number.
    pub(crate) fn number(&mut self, name: &str) -> Result<Given<f64>, Error> {
        self.take(name, "must be a number", |value| match value {
            Value::Number(number) => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => None,
        })
    }

    /// An integer, in any notation that JSON has for it: `5`, `5.0` and `5e0` are the same number.
    /// One beyond 64 bits comes as the nearest.
    pub(crate) fn integer(&mut self, name: &str) -> Result<Given<i64>, Error> {
        self.take(name, "must be an integer", |value| match value {
            Value::Integer(number) => Some(number),
            Value::Number(number) if number.fract() == 0.0 => Some(number as i64),
            _ => None,
        })
    }

    /// A boolean.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Given<bool>, Error> {
        self.take(name, "must be true or false", |value| match value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        })
    }

    /// An object whose values are strings.
    pub(crate) fn pairs(&mut self, name: &str) -> Result<Given<BTreeMap<String, String>>, Error> {
        let given = self.take(name, "must be an object", |value| match value {
            Value::Pairs(pairs) => Some(pairs),
            _ => None,
        })?;
        let text = |(key, Item(value)): (String, Item)| match value {
            Some(text) => Ok((key, text)),
            None => Err(Error::invalid(format!("{name}.{key}"), "must be a string")),
        };
        Ok(match given {
            Given::Value(Some(pairs)) => {
                Given::Value(pairs.into_iter().map(text).collect::<Result<_, _>>()?)
            }
            Given::Value(None) => {
                return Err(Error::invalid(name, format!("must have at most {MEMBERS} keys")));
            }
            Given::Null => Given::Null,
            Given::Absent => Given::Absent,
        })
    }

    /// An array of strings.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Given<Vec<String>>, Error> {
        let given = self.take(name, "must be an array of strings", |value| match value {
            Value::Items(items) => Some(items),
            _ => None,
        })?;
        let text = |(index, Item(value)): (usize, Item)| {
            value.ok_or_else(|| Error::invalid(format!("{name}[{index}]"), "must be a string"))
        };
        Ok(match given {
            Given::Value(Some(items)) => {
                Given::Value(items.into_iter().enumerate().map(text).collect::<Result<_, _>>()?)
            }
            Given::Value(None) => {
                return Err(Error::invalid(name, format!("must have at most {MEMBERS} items")));
            }
            Given::Null => Given::Null,
            Given::Absent => Given::Absent,
        })
    }

    fn take<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Given<T>, Error> {
        match self.0.remove(name) {
            None => Ok(Given::Absent),
            Some(Value::Null) => Ok(Given::Null),
            Some(value) => {
                read(value).map(Given::Value).ok_or_else(|| Error::invalid(name, expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Given};
    use cicerone_domain::Error;

    fn fields(json: &str) -> Fields {
        Fields::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_body_that_is_no_object_is_refused() {
        for body in ["", "[]", "null", "\"text\"", "{", "{\"a\":1}x", "\u{feff}{}", "{\"a\":1e999}"]
        {
            assert!(matches!(Fields::parse(body.as_bytes()), Err(Error::Invalid(_))), "{body}");
        }
        assert!(Fields::parse(b"{\"a\": \"\xff\"}").is_err(), "not UTF-8");
        assert!(Fields::parse(br#"{"a": "\ud800"}"#).is_err(), "half a character");
    }

    #[test]
    fn absent_and_null_required_fields_are_missing_before_any_value_is_read() {
        let fields = fields(r#"{"agent_id": 5, "message": null}"#);
        let missing = fields.require(&["agent_id", "message"]).unwrap_err();
        assert!(matches!(missing, Error::Missing { param } if param == "message"));
    }

    #[test]
    fn integers_come_in_any_notation_and_nothing_else_does() {
        for (json, number) in [("5", 5), ("5.0", 5), ("5e0", 5), ("-0.0", 0), ("1e300", i64::MAX)] {
            let mut fields = fields(&format!(r#"{{"n": {json}}}"#));
            assert_eq!(fields.integer("n").unwrap(), Given::Value(number), "{json}");
        }
        for json in ["5.5", "\"5\"", "true", "[]"] {
            let mut fields = fields(&format!(r#"{{"n": {json}}}"#));
            assert!(fields.integer("n").is_err(), "{json}");
        }
    }

    #[test]
    fn a_wrong_type_names_the_field() {
        let mut fields = fields(r#"{"s": 1, "f": "true", "x": "0.5", "m": {"a": 1}, "l": []}"#);
        let param = |error: Error| match error {
            Error::Invalid(field) => field.param,
            other => panic!("{other:?}"),
        };
        assert_eq!(param(fields.text("s").unwrap_err()), "s");
        assert_eq!(param(fields.flag("f").unwrap_err()), "f");
        assert_eq!(param(fields.number("x").unwrap_err()), "x");
        assert_eq!(param(fields.pairs("m").unwrap_err()), "m.a");
        assert_eq!(param(fields.pairs("l").unwrap_err()), "l");
        let mut fields = self::fields(r#"{"t": ["a", 1], "s": "a"}"#);
        assert_eq!(param(fields.texts("t").unwrap_err()), "t[1]");
        assert_eq!(param(fields.texts("s").unwrap_err()), "s");
    }

    #[test]
    fn what_nobody_asks_for_is_ignored_whatever_it_holds() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let wide = format!("[{}0]", "1,".repeat(100_000));
        let pairs = (0..1_000).map(|n| format!("\"k{n}\":{n},")).collect::<String>();
        let json = format!(
            r#"{{"a": [{deep}], "b": {wide}, "c": {{{pairs} "x": {deep}}}, "d": {{"e": 1}}, "s": "x"}}"#
        );
        let mut fields = fields(&json);
        assert_eq!(fields.text("s").unwrap(), Given::Value("x".to_owned()));
        for name in ["a", "b"] {
            assert!(fields.texts(name).is_err(), "{name}");
        }
        assert!(fields.pairs("c").is_err());
    }

    #[test]
    fn objects_and_arrays_have_at_most_256_members() {
        let object = |count: usize| {
            let members = (0..count).map(|n| format!("\"k{n}\":\"v\"")).collect::<Vec<_>>();
            format!("{{{}}}", members.join(","))
        };
        assert!(Fields::parse(object(256).as_bytes()).is_ok());
        assert!(Fields::parse(object(257).as_bytes()).is_err());
        for (count, fits) in [(256, true), (257, false)] {
            let items = vec!["\"a\""; count].join(",");
            let mut fields = fields(&format!(r#"{{"p": {}, "t": [{items}]}}"#, object(count)));
            assert_eq!(fields.pairs("p").is_ok(), fits, "{count}");
            assert_eq!(fields.texts("t").is_ok(), fits, "{count}");
        }
    }

    #[test]
    fn of_a_field_that_is_there_twice_the_last_counts() {
        let mut fields = fields(r#"{"a": 1, "a": 2}"#);
        assert_eq!(fields.number("a").unwrap(), Given::Value(2.0));
    }

    #[test]
    fn null_is_absent_in_a_creation_and_the_default_in_a_change() {
        let mut fields = fields(r#"{"a": null, "b": null, "c": null, "d": 2}"#);
        assert_eq!(fields.number("a").unwrap().value(), None);
        assert_eq!(fields.number("b").unwrap().or_default(0.7), Some(0.7));
        assert!(fields.text("c").unwrap().not_null("c").is_err());
        assert_eq!(fields.number("d").unwrap().or_default(0.7), Some(2.0));
        assert_eq!(fields.number("e").unwrap().or_default(0.7), None);
    }
}
