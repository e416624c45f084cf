//! The parameters that are more than a flag, a number or a text, and those for unsupported features.
//!
//! They are read by hand beside the structs that declare them, because clients send parameters of many forms that agents
//! have no use for: those that are undeclared must be recognised to be refused, and a struct would keep large values whole.

use std::collections::BTreeMap;
use std::fmt;

use cicerone_domain::agent::ReplyTokens;
use cicerone_domain::conversation::Metadata;
use cicerone_domain::{Error, limits};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::json::{Json, Room};
use super::transcript::{Reader, Transcript};
use crate::body::shown;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Anything; it is read elsewhere.
    Any,
    /// Null: agents do nothing of the kind.
    Null,
    /// False or null.
    False,
    /// 0 or null.
    Zero,
    /// A choice that no tool is called: `none`, `auto` or null.
    NoTool,
    /// The format `{"type": "text"}`, or null.
    TextFormat,
    /// An object whose `format` is a text format, or null.
    TextSettings,
    /// The list `["text"]`, or null.
    TextOnly,
}

/// A parameter by name, with its rule.
pub(super) type Named = (&'static str, Rule);

/// What was read of a body.
pub(super) struct Parameters {
    fields: Vec<(&'static str, Json)>,
    pub(super) transcript: Result<Transcript, Error>,
}

impl Parameters {
    /// Reads the parameters of these names, and the messages, from a body that is a JSON object.
    ///
    /// # Errors
    ///
    /// All parameters that break their rules, in the order of `names`.
    pub(super) fn read(
        body: &[u8],
        names: &'static [Named],
        reader: Reader,
    ) -> Result<Self, Error> {
        let mut json = serde_json::Deserializer::from_slice(body);
        let read = BodyReader { names, reader }.deserialize(&mut json);
        let invalid = |cause| Error::invalid("body", format!("must be JSON ({cause})"));
        let parameters = read.map_err(invalid)?;
        // Missing parameters are reported before bad ones.
        if let Err(Error::Missing(fields)) = &parameters.transcript {
            return Err(Error::Missing(fields.clone()));
        }
        let faults = names.iter().filter_map(|(name, rule)| {
            let value = parameters.field(name)?;
            rule.check(name, value).err()
        });
        Error::joined(faults).map_or(Ok(()), Err)?;
        Ok(parameters)
    }

    /// A parameter that is given and not null.
    pub(super) fn field(&self, name: &str) -> Option<&Json> {
        let given = self.fields.iter().rev().find(|(other, _)| *other == name);
        given.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// The flag `name` of the object `parent`; false if it is absent or null.
    pub(super) fn flag(&self, parent: &str, name: &str) -> Result<bool, Error> {
        let Some(object) = self.field(parent) else { return Ok(false) };
        match (object, object.field(name)) {
            (Json::Fields(_), None | Some(Json::Null)) => Ok(false),
            (_, Some(Json::Flag(flag))) => Ok(*flag),
            (_, Some(_)) => {
                Err(Error::invalid(format!("{parent}.{name}"), "must be true or false"))
            }
            (_, None) => Err(Error::invalid(parent, "must be an object")),
        }
    }

    /// The pairs of `metadata`.
    pub(super) fn metadata(&self) -> Result<Metadata, Error> {
        let Some(object) = self.field("metadata") else { return Ok(Metadata::default()) };
        let mut pairs = BTreeMap::new();
        match object {
            Json::Fields(fields) => {
                for (name, value) in fields {
                    let text = value.text().ok_or_else(|| {
                        Error::invalid(format!("metadata.{}", shown(name)), "must be a string")
                    })?;
                    pairs.insert(name.clone(), text.to_owned());
                }
            }
            Json::Large => {
                let message = format!("must have at most {} keys", limits::METADATA_KEYS);
                return Err(Error::invalid("metadata", message));
            }
            Json::Null | Json::Flag(_) | Json::Number(_) | Json::Text(_) | Json::Items(_) => {
                return Err(Error::invalid("metadata", "must be an object"));
            }
        }
        Ok(Metadata::parse(pairs)?)
    }
}

impl Rule {
    fn check(self, name: &str, value: &Json) -> Result<(), Error> {
        let refuse = |message: &str| Err(Error::invalid(name, message));
        match self {
            Self::Any => Ok(()),
            Self::Null => refuse("must be null: agents do not support it"),
            Self::False if *value == Json::Flag(false) => Ok(()),
            Self::False => refuse("must be false or null: agents do not support it"),
            Self::Zero if *value == Json::Number(0.0) => Ok(()),
            Self::Zero => refuse("must be 0 or null: agents do not support it"),
            Self::NoTool if matches!(value.text(), Some("none" | "auto")) => Ok(()),
            Self::NoTool => refuse("must be `none` or `auto`: agents call no tools"),
            Self::TextFormat => check_format(name, value),
            Self::TextSettings => match (value, value.field("format")) {
                (Json::Fields(_), None | Some(Json::Null)) => Ok(()),
                (Json::Fields(_), Some(format)) => check_format(&format!("{name}.format"), format),
                _ => refuse("must be an object"),
            },
            Self::TextOnly => match value {
                Json::Items(items) if items.iter().all(|item| item.text() == Some("text")) => {
                    Ok(())
                }
                _ => refuse("must be `[\"text\"]`: agents write text only"),
            },
        }
    }
}

fn check_format(path: &str, format: &Json) -> Result<(), Error> {
    if !matches!(format, Json::Fields(_) | Json::Large) {
        return Err(Error::invalid(path, "must be an object"));
    }
    match format.field("type").and_then(Json::text) {
        Some("text") => Ok(()),
        Some(_) | None => {
            Err(Error::invalid(format!("{path}.type"), "must be `text`: agents write text only"))
        }
    }
}

/// The smallest of these token limits of a reply, within the limits of an agent.
pub(super) fn most_tokens(bounds: &[(&str, Option<i64>)]) -> Result<Option<ReplyTokens>, Error> {
    let (_, highest) = limits::REPLY_TOKENS_RANGE;
    let mut most = None;
    for (name, bound) in bounds {
        let Some(bound) = *bound else { continue };
        if bound < 1 {
            return Err(Error::invalid(*name, "must be at least 1"));
        }
        let bound = bound.min(highest.into());
        most = Some(most.map_or(bound, |most: i64| most.min(bound)));
    }
    Ok(most.map(ReplyTokens::parse).transpose()?)
}

/// Reads the object of a body.
struct BodyReader {
    names: &'static [Named],
    reader: Reader,
}

impl<'de> DeserializeSeed<'de> for BodyReader {
    type Value = Parameters;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Parameters, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BodyReader {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
        let Self { names, reader } = self;
        let param = reader.param();
        let mut transcript = Err(Error::missing(param));
        let mut fields = Vec::new();
        let room = Room::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == param {
                // If a field is given twice, the last value counts.
                transcript = map.next_value_seed(reader)?;
            } else if let Some((name, _)) = names.iter().find(|(known, _)| *known == name) {
                let value = map.next_value_seed(room.value())?;
                fields.retain(|(other, _)| other != name);
                fields.push((*name, value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Parameters { fields, transcript })
    }
}

#[cfg(test)]
mod tests {
    use super::{Parameters, Rule, most_tokens};
    use crate::endpoints::openai::transcript::{Notation, Reader};
    use cicerone_domain::{Error, Timestamp};

    const NAMES: &[super::Named] = &[
        ("null", Rule::Null),
        ("false", Rule::False),
        ("zero", Rule::Zero),
        ("tool", Rule::NoTool),
        ("format", Rule::TextFormat),
        ("text", Rule::TextSettings),
        ("modes", Rule::TextOnly),
        ("metadata", Rule::Any),
        ("options", Rule::Any),
    ];

    fn read(fields: &str) -> Result<Parameters, String> {
        let body = format!(r#"{{"messages": [{{"role": "user", "content": "Hi"}}], {fields}}}"#);
        let reader = Reader { notation: Notation::Messages, now: Timestamp::from_millis(0) };
        Parameters::read(body.as_bytes(), NAMES, reader).map_err(param)
    }

    fn param(error: Error) -> String {
        match error {
            Error::Invalid(bad) => bad.first().param.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_agents_do_not_do_is_refused_by_name_and_its_absence_is_not() {
        for (fields, fault) in [
            (r#""null": {}"#, "null"),
            (r#""false": true"#, "false"),
            (r#""false": "no""#, "false"),
            (r#""zero": 1"#, "zero"),
            (r#""tool": "required""#, "tool"),
            (r#""tool": {"type": "function", "function": {"name": "f"}}"#, "tool"),
            (r#""format": "text""#, "format"),
            (r#""format": {"type": "json_object"}"#, "format.type"),
            (r#""format": {}"#, "format.type"),
            (r#""text": []"#, "text"),
            (r#""text": {"format": {"type": "json_schema", "schema": {}}}"#, "text.format.type"),
            (r#""text": {"format": "text"}"#, "text.format"),
            (r#""modes": ["text", "audio"]"#, "modes"),
            (r#""modes": "text""#, "modes"),
        ] {
            assert_eq!(read(fields).err().as_deref(), Some(fault), "{fields}");
        }
        for fields in [
            r#""null": null, "false": false, "zero": 0, "tool": "auto", "modes": ["text"]"#,
            r#""false": null, "zero": null, "tool": null, "format": null, "text": null, "modes": null"#,
            r#""format": {"type": "text"}, "text": {"format": {"type": "text"}, "verbosity": "low"}"#,
            r#""tool": "required", "tool": "none", "text": {}, "other": [[[[[[]]]]]]"#,
        ] {
            assert!(read(fields).is_ok(), "{fields}");
        }
    }

    #[test]
    fn of_a_list_of_messages_that_is_given_twice_the_last_counts() {
        let read = read(r#""messages": [{"role": "user", "content": "Ho"}]"#).unwrap();
        assert_eq!(read.transcript.unwrap().question.as_str(), "Ho");
    }

    #[test]
    fn flags_and_pairs_are_read_from_objects() {
        let flag = |fields| read(fields).unwrap().flag("options", "usage").map_err(param);
        assert_eq!(flag(r#""options": {"usage": true}"#), Ok(true));
        for fields in
            [r#""options": null"#, r#""options": {"x": 1}"#, r#""options": {"usage": null}"#]
        {
            assert_eq!(flag(fields), Ok(false), "{fields}");
        }
        assert_eq!(flag(r#""options": 5"#), Err("options".to_owned()));
        assert_eq!(flag(r#""options": {"usage": 1}"#), Err("options.usage".to_owned()));

        let metadata = |fields: &str| read(fields).unwrap().metadata().map_err(param);
        assert_eq!(metadata(r#""metadata": {"a": "b"}"#).unwrap().pairs()["a"], "b");
        assert_eq!(metadata(r#""metadata": {"a": 5}"#), Err("metadata.a".to_owned()));
        assert_eq!(metadata(r#""metadata": "a""#), Err("metadata".to_owned()));
        let long = metadata(&format!(r#""metadata": {{"{}": 5}}"#, "é".repeat(100_000)));
        assert_eq!(long, Err(format!("metadata.{}", "é".repeat(100))));
        let many = (0..65).map(|n| format!("\"{n}\":\"v\"")).collect::<Vec<_>>().join(",");
        assert_eq!(metadata(&format!("\"metadata\": {{{many}}}")), Err("metadata".to_owned()));
    }

    #[test]
    fn of_all_parameters_together_1024_values_are_kept() {
        // An object of 10 objects of 10 values has 111 values.
        let inner = (0..10).map(|n| format!("\"{n}\": 0")).collect::<Vec<_>>().join(",");
        let outer = (0..10).map(|n| format!("\"{n}\": {{{inner}}}")).collect::<Vec<_>>();
        let object = format!("{{{}}}", outer.join(","));
        let names = ["format", "text", "modes", "options", "metadata"];
        let fields = |count: usize, last: &str| {
            let others = names.iter().cycle().take(count);
            let others = others.map(|name| format!("\"{name}\": {object}")).collect::<Vec<_>>();
            format!(
                "{}, \"format\": null, \"text\": null, \"modes\": null, {last}",
                others.join(",")
            )
        };
        let metadata = |count, last: &str| read(&fields(count, last)).unwrap().metadata();
        let few = r#""metadata": {"a": "b"}"#;
        assert_eq!(metadata(8, few).unwrap().pairs()["a"], "b");
        // Nine objects have 999 values. Three are null, and the pairs need one more than there are left.
        let pairs = (0..22).map(|n| format!("\"{n}\": 0")).collect::<Vec<_>>().join(",");
        let beyond = metadata(9, &format!("\"metadata\": {{{pairs}}}")).map_err(param);
        assert_eq!(beyond, Err("metadata".to_owned()));
        let flag = read(&fields(10, r#""options": {"usage": true}"#)).unwrap();
        assert!(flag.flag("options", "usage").is_err());
        let null = read(&fields(12, r#""options": null"#)).unwrap();
        assert_eq!(null.flag("options", "usage").map_err(param), Ok(false));
    }

    #[test]
    fn the_smallest_bound_of_tokens_counts() {
        let most = |bounds: &[(&str, Option<i64>)]| {
            most_tokens(bounds).map(|most| most.map(|most| most.get())).map_err(param)
        };
        assert_eq!(most(&[("a", None), ("b", None)]), Ok(None));
        assert_eq!(most(&[("a", Some(7)), ("b", Some(5))]), Ok(Some(5)));
        assert_eq!(most(&[("a", Some(1_000_000))]), Ok(Some(4_096)));
        assert_eq!(most(&[("a", Some(7)), ("b", Some(0))]), Err("b".to_owned()));
    }
}
