//! The database of a server under test.

use anyhow::Context as _;
use cicerone_storage::DatabaseUrl;
use cicerone_tests::postgres::Cluster;
use cicerone_tests::process::{Builder, Server};
use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Choice {
    /// The server's database
    #[arg(long, value_enum, default_value_t = Kind::Sqlite)]
    database: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// In a file in its data directory
    Sqlite,
    /// In a new database of a private cluster
    Postgres,
}

/// A new, empty database for one server.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// `None` for the file in the server's data directory.
    postgres: Option<DatabaseUrl>,
}

impl Choice {
    /// Creates it. Returns an error if PostgreSQL was chosen and is not installed.
    pub(crate) fn open(&self) -> anyhow::Result<Database> {
        let postgres = match self.database {
            Kind::Sqlite => None,
            Kind::Postgres => {
                let cluster = Cluster::shared()
                    .context("PostgreSQL is not installed: apt-get install postgresql")?;
                Some(cluster.empty_database())
            }
        };
        Ok(Database { postgres })
    }
}

impl Database {
    /// Configures the server to use this database.
    pub(crate) fn under(&self, server: Builder) -> Builder {
        match &self.postgres {
            Some(url) => server.env("CICERONE_DATABASE_URL", url.to_string()),
            None => server,
        }
    }

    /// Whether other servers may use it too. Then the work of a killed server is free only when its
    /// leases have expired.
    pub(crate) const fn is_shared(&self) -> bool {
        self.postgres.is_some()
    }

    /// Its address.
    pub(crate) fn url(&self, server: &Server) -> DatabaseUrl {
        match &self.postgres {
            Some(url) => url.clone(),
            None => DatabaseUrl::sqlite(server.data().join("cicerone.db")),
        }
    }
}
