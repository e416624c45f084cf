//! The database's address, parsed from its setting.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The seconds that libpq waits for a connection to each host, unless the address says otherwise.
const CONNECT_SECONDS: u64 = 5;
/// Parameters with which libpq notices that a server is gone, and their defaults. A connection ends after half a minute
/// without an acknowledgement.
const ALIVE: [(&str, u64); 4] = [
    ("keepalives_idle", 30),
    ("keepalives_interval", 10),
    ("keepalives_count", 3),
    ("tcp_user_timeout", 30_000),
];
/// The parameter for [`CONNECT_SECONDS`].
const CONNECT_TIMEOUT: &str = "connect_timeout";
/// The time for the first statements of a connection, in addition to the time for reaching its hosts.
const FIRST_STATEMENTS: Duration = Duration::from_secs(5);

/// A database: a SQLite file, or a PostgreSQL server. Neither `Display` nor `Debug` shows a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(pub(crate) Target);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Sqlite(PathBuf),
    Postgres(String),
}

/// The text does not name a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseDatabaseUrlError {
    /// It begins with something other than the two kinds of databases.
    #[error("must be `sqlite:PATH` or `postgres://USER@HOST/DATABASE`")]
    Scheme,
    /// It names SQLite without a file.
    #[error("must name a file after `sqlite:`; a database in memory is not supported")]
    NoFile,
}

impl DatabaseUrl {
    /// Reads `sqlite:PATH`, `postgres://…` or `postgresql://…`.
    pub fn parse(text: &str) -> Result<Self, ParseDatabaseUrlError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self(Target::Postgres(text.to_owned())));
        }
        let path = text.strip_prefix("sqlite:").ok_or(ParseDatabaseUrlError::Scheme)?;
        let path = path.strip_prefix("//").unwrap_or(path);
        // SQLite has special meanings for names with a leading colon and for the empty name.
        if path.is_empty() || path.contains(":memory:") || path.starts_with("file:") {
            return Err(ParseDatabaseUrlError::NoFile);
        }
        Ok(Self::sqlite(path))
    }

    /// The SQLite database in the file `path`.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(Target::Sqlite(path.into()))
    }

    /// The file of a SQLite database.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }
}

/// The address for libpq, with default time limits for the parameters that it does not set.
pub(crate) fn with_limits(address: &str) -> String {
    let (start, parameters) = address.split_once('?').unwrap_or((address, ""));
    let mut parameters = parameters.to_owned();
    for (name, value) in [(CONNECT_TIMEOUT, CONNECT_SECONDS)].into_iter().chain(ALIVE) {
        if parameter(address, name).is_none() {
            let between = if parameters.is_empty() { "" } else { "&" };
            parameters.push_str(&format!("{between}{name}={value}"));
        }
    }
    format!("{start}?{parameters}")
}

/// The longest that an attempt to connect to this address may take, including the first statements. `None` if the
/// address asks for no limit.
pub(crate) fn connect_limit(address: &str) -> Option<Duration> {
    let seconds = match parameter(address, CONNECT_TIMEOUT) {
        Some(text) => text.parse().unwrap_or(CONNECT_SECONDS),
        None => CONNECT_SECONDS,
    };
    let start = address.split_once('?').map_or(address, |(start, _)| start);
    // A parameter replaces the hosts before it. Its commas may be encoded.
    let hosts = ["host", "hostaddr"].into_iter().filter_map(|name| parameter(address, name));
    let commas =
        |text: &str| text.matches(',').count() + text.to_uppercase().matches("%2C").count();
    let hosts = hosts.map(commas).chain([commas(start)]).max().unwrap_or_default() as u64 + 1;
    (seconds > 0).then(|| Duration::from_secs(seconds.saturating_mul(hosts)) + FIRST_STATEMENTS)
}

fn parameter<'a>(address: &'a str, name: &str) -> Option<&'a str> {
    let (_, parameters) = address.split_once('?')?;
    let mut pairs = parameters.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| (key == name).then_some(value))
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Target::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Target::Postgres(url) => f.write_str(&without_secrets(url)),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address without its password and its parameters, which may contain one too.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
    let rest = rest.split_once('?').map_or(rest, |(address, _)| address);
    match rest.rsplit_once('@') {
        Some((credentials, host)) => {
            let user = credentials.split_once(':').map_or(credentials, |(user, _)| user);
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{DatabaseUrl, ParseDatabaseUrlError, connect_limit, with_limits};

    #[test]
    fn a_connection_has_limits_of_time_and_those_of_its_address_come_first() {
        assert_eq!(
            with_limits("postgres://ann@a,b/c"),
            "postgres://ann@a,b/c?connect_timeout=5&keepalives_idle=30&keepalives_interval=10\
             &keepalives_count=3&tcp_user_timeout=30000"
        );
        assert_eq!(
            with_limits("postgres://a/c?connect_timeout=9&sslmode=disable&tcp_user_timeout=7"),
            "postgres://a/c?connect_timeout=9&sslmode=disable&tcp_user_timeout=7\
             &keepalives_idle=30&keepalives_interval=10&keepalives_count=3"
        );
        let limit = |address| connect_limit(address).map(|limit| limit.as_secs());
        assert_eq!(limit("postgres://a,b/c"), Some(15));
        assert_eq!(limit("postgres://a/c?connect_timeout=9"), Some(14));
        assert_eq!(limit("postgres:///c?host=a,b&connect_timeout=9"), Some(23));
        assert_eq!(limit("postgres:///c?host=a%2cb%2Cc"), Some(20));
        assert_eq!(limit("postgres://a/c?connect_timeout=0"), None);
        assert_eq!(connect_limit("postgres://a/c"), Some(Duration::from_secs(10)));
    }

    #[test]
    fn both_databases_are_read() {
        let path = |text| DatabaseUrl::parse(text).unwrap().sqlite_path().unwrap().to_owned();
        assert_eq!(path("sqlite:data/cicerone.db").to_str(), Some("data/cicerone.db"));
        assert_eq!(path("sqlite:///var/lib/c.db").to_str(), Some("/var/lib/c.db"));
        assert!(DatabaseUrl::parse("postgresql://localhost/c").unwrap().sqlite_path().is_none());
        assert_eq!(DatabaseUrl::parse("mysql://x"), Err(ParseDatabaseUrlError::Scheme));
        for text in ["sqlite:", "sqlite::memory:", "sqlite:file:x?mode=memory"] {
            assert_eq!(DatabaseUrl::parse(text), Err(ParseDatabaseUrlError::NoFile), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "postgres://ann:s3cret@db.example:5432/c",
            "postgres://ann:s3c@s3cret@db.example/c?password=s3cret",
            "postgresql:///c?user=ann&password=s3cret",
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert!(!format!("{url} {url:?}").contains("s3c"), "{url}");
        }
    }
}
