//! The database's address, parsed from its setting.

use std::fmt;
use std::path::{Path, PathBuf};

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
    use super::{DatabaseUrl, ParseDatabaseUrlError};

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
