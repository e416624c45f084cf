//! Reads query strings. Known parameters are checked strictly, others are ignored.

use cicerone_domain::conversation::parse_metadata_filters;
use cicerone_domain::id::{Kind, ParseIdError};
use cicerone_domain::{Error, Id, PageRequest, Timestamp, limits};

/// The parameters of a query string, decoded, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes `application/x-www-form-urlencoded`. A broken percent sequence, or one that is not UTF-8, is
    /// refused.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > limits::QUERY_BYTES {
            let message = format!("must have at most {} bytes", limits::QUERY_BYTES);
            return Err(Error::invalid("query", message));
        }
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let bad = |shown: &str| {
                Error::invalid(shown, "must be percent-encoded UTF-8 in the query string")
            };
            let name = decode(name).ok_or_else(|| bad("query"))?;
            let value = decode(value).ok_or_else(|| bad(&name))?;
            Ok((name, value))
        };
        text.split('&')
            .filter(|part| !part.is_empty())
            .map(pair)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The values of a parameter that can be repeated.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter. Returns an error if the parameter is given twice.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(Error::invalid(name, "must be given only once")),
            (value, None) => Ok(value),
        }
    }

    /// What `parse` makes of the value of a parameter.
    pub(crate) fn parsed<T, E>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Error>
    where
        Error: From<E>,
    {
        Ok(self.one(name)?.map(parse).transpose()?)
    }

    /// One of a closed set of names.
    pub(crate) fn one_of<T>(
        &self,
        name: &str,
        from_name: impl Fn(&str) -> Option<T>,
        names: &str,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        from_name(value)
            .map(Some)
            .ok_or_else(|| Error::invalid(name, format!("must be one of {names}")))
    }

    /// A time in UTC.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        Timestamp::parse(value).map(Some).map_err(|error| Error::invalid(name, error.to_string()))
    }

    /// A moment before which something lies, as [`Timestamp::parse_end`] reads it.
    pub(crate) fn end(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        let end = Timestamp::parse_end(value);
        end.map(Some).map_err(|error| Error::invalid(name, error.to_string()))
    }

    /// `page_size`, or the default. Fails if it is not between 1 and 100.
    pub(crate) fn page_size(&self) -> Result<u32, Error> {
        let Some(value) = self.one("page_size")? else { return Ok(limits::PAGE_SIZE_DEFAULT) };
        Ok(PageRequest::parse_size(value)?)
    }

    /// An id. Text that is not an id of this kind is refused.
    pub(crate) fn id<K: Kind>(&self, name: &str) -> Result<Option<Id<K>>, Error> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        value
            .parse()
            .map(Some)
            .map_err(|error: ParseIdError| Error::invalid(name, error.to_string()))
    }

    /// The `key:value` filters of a list of conversations.
    pub(crate) fn metadata(&self) -> Result<Vec<(String, String)>, Error> {
        Ok(parse_metadata_filters(self.all("metadata"))?)
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let value = digit()? * 16 + digit()?;
                u8::try_from(value).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::Query;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    #[test]
    fn values_are_decoded_and_unknown_parameters_ignored() {
        let query = query("metadata=user:a%3Ab+c&x=1&&flag&metadata=plan%3Apro&e=%E2%82%AC");
        let pairs = [("user", "a:b c"), ("plan", "pro")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(query.metadata().unwrap(), pairs);
        assert_eq!(query.one("e").unwrap(), Some("€"));
        assert_eq!(query.one("flag").unwrap(), Some(""));
        assert_eq!(query.one("absent").unwrap(), None);
    }

    #[test]
    fn broken_encodings_are_refused() {
        for text in ["a=%", "a=%4", "a=%zz", "a=%ff", "%ff=a", "a=%E2%82", "a=%+1"] {
            assert!(Query::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_single_parameter_given_twice_is_refused() {
        assert!(query("page_size=1&page_size=1").page_size().is_err());
        assert!(query("cursor=a&cursor=a").one("cursor").is_err());
    }

    #[test]
    fn page_size_is_an_integer_from_1_to_100() {
        assert_eq!(query("").page_size().unwrap(), 20);
        assert_eq!(query("page_size=1").page_size().unwrap(), 1);
        assert_eq!(query("page_size=100").page_size().unwrap(), 100);
        for text in ["0", "101", "-1", "%2B5", "1.0", "", "ten", "99999999999999999999"] {
            assert!(query(&format!("page_size={text}")).page_size().is_err(), "{text}");
        }
    }

    #[test]
    fn a_metadata_filter_needs_a_colon() {
        assert!(query("metadata=plan").metadata().is_err());
        assert!(query("metadata=a:%00").metadata().is_err());
        assert_eq!(query("metadata=:").metadata().unwrap(), [(String::new(), String::new())]);
    }

    #[test]
    fn metadata_filters_are_few_short_and_each_there_once() {
        let filters = |count: usize| {
            let parts: Vec<_> = (0..count).map(|number| format!("metadata=k:{number}")).collect();
            query(&parts.join("&")).metadata()
        };
        assert_eq!(filters(20).unwrap().len(), 20);
        assert!(filters(21).is_err());
        assert_eq!(query("metadata=a:b&metadata=a:b&metadata=a:c").metadata().unwrap().len(), 2);
        let long = |key: usize, value: usize| {
            query(&format!("metadata={}:{}", "é".repeat(key), "é".repeat(value))).metadata()
        };
        assert!(long(40, 500).is_ok());
        assert!(long(41, 500).is_err() && long(40, 501).is_err());
    }

    #[test]
    fn a_query_string_is_bounded() {
        let text = |bytes: usize| format!("a={}", "b".repeat(bytes - 2));
        assert!(Query::parse(&text(16_384)).is_ok());
        assert!(Query::parse(&text(16_385)).is_err());
    }

    #[test]
    fn moments_are_utc_only() {
        assert!(query("created_after=2026-01-31T08:30:00Z").moment("created_after").is_ok());
        for text in ["2026-01-31T08:30:00%2B00:00", "2026-01-31", "", "now"] {
            assert!(query(&format!("created_after={text}")).moment("created_after").is_err());
        }
    }
}
