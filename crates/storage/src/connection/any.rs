//! A connection that sends statements without their type.
//!
//! Diesel compiles what sends a statement (its text, its values, the cache of prepared statements) for each type of
//! statement and each database. There are some 450 statements, and this was a fourth of the crate's code.

use diesel::connection::{
    CacheSize, Connection, DefaultLoadingMode, Instrumentation, LoadConnection, SimpleConnection,
    TransactionManager, TransactionManagerStatus,
};
use diesel::internal::derives::multiconnection::ConnectionSealed;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::r2d2::R2D2Connection;
use diesel::sql_types::Untyped;
use diesel::{ConnectionResult, QueryResult};
pub(crate) use either::Either;
use either::MultiBackend;

/// The derive generates public items next to the type, in this private module.
#[allow(unreachable_pub, reason = "written by the derive")]
mod either {
    use diesel::{PgConnection, SqliteConnection};

    /// A connection to one of the two databases.
    #[derive(diesel::MultiConnection)]
    pub(crate) enum Either {
        /// PostgreSQL.
        Postgres(PgConnection),
        Sqlite(SqliteConnection),
    }
}

/// A connection to one of the two databases, for statements that both understand.
pub(crate) struct AnyConnection(Either);

impl AnyConnection {
    /// The connection as that of its database, for statements that differ.
    pub(crate) const fn either(&mut self) -> &mut Either {
        &mut self.0
    }

    /// The connection as that of its database.
    pub(crate) fn into_either(self) -> Either {
        self.0
    }

    /// Whether this is a connection to PostgreSQL.
    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self.0, Either::Postgres(_))
    }
}

impl From<Either> for AnyConnection {
    fn from(connection: Either) -> Self {
        Self(connection)
    }
}

/// A statement without its type. Prepared statements are found by their text.
struct Statement<'q>(Box<dyn QueryFragment<MultiBackend> + 'q>);

impl QueryFragment<MultiBackend> for Statement<'_> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }
}

impl Query for Statement<'_> {
    type SqlType = Untyped;
}

impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl SimpleConnection for AnyConnection {
    fn batch_execute(&mut self, query: &str) -> QueryResult<()> {
        self.0.batch_execute(query)
    }
}

impl ConnectionSealed for AnyConnection {}

impl Connection for AnyConnection {
    type Backend = MultiBackend;
    type TransactionManager = Self;

    fn establish(url: &str) -> ConnectionResult<Self> {
        Either::establish(url).map(Self)
    }

    fn execute_returning_count<T>(&mut self, source: &T) -> QueryResult<usize>
    where
        T: QueryFragment<MultiBackend> + QueryId,
    {
        self.0.execute_returning_count(&Statement(Box::new(source)))
    }

    fn transaction_state(&mut self) -> &mut Self {
        self
    }

    fn instrumentation(&mut self) -> &mut dyn Instrumentation {
        self.0.instrumentation()
    }

    fn set_instrumentation(&mut self, instrumentation: impl Instrumentation) {
        self.0.set_instrumentation(instrumentation);
    }

    fn set_prepared_statement_cache_size(&mut self, size: CacheSize) {
        self.0.set_prepared_statement_cache_size(size);
    }
}

impl LoadConnection for AnyConnection {
    type Cursor<'conn, 'query> = <Either as LoadConnection>::Cursor<'conn, 'query>;
    type Row<'conn, 'query> = <Either as LoadConnection>::Row<'conn, 'query>;

    fn load<'conn, 'query, T>(
        &'conn mut self,
        source: T,
    ) -> QueryResult<Self::Cursor<'conn, 'query>>
    where
        T: Query + QueryFragment<MultiBackend> + QueryId + 'query,
    {
        LoadConnection::<DefaultLoadingMode>::load(&mut self.0, Statement(Box::new(source)))
    }
}

impl TransactionManager<Self> for AnyConnection {
    type TransactionStateData = Self;

    fn begin_transaction(connection: &mut Self) -> QueryResult<()> {
        Either::begin_transaction(&mut connection.0)
    }

    fn rollback_transaction(connection: &mut Self) -> QueryResult<()> {
        Either::rollback_transaction(&mut connection.0)
    }

    fn commit_transaction(connection: &mut Self) -> QueryResult<()> {
        Either::commit_transaction(&mut connection.0)
    }

    fn transaction_manager_status_mut(connection: &mut Self) -> &mut TransactionManagerStatus {
        Either::transaction_manager_status_mut(&mut connection.0)
    }

    fn is_broken_transaction_manager(connection: &mut Self) -> bool {
        Either::is_broken_transaction_manager(&mut connection.0)
    }
}

impl R2D2Connection for AnyConnection {
    fn ping(&mut self) -> QueryResult<()> {
        self.0.ping()
    }

    fn is_broken(&mut self) -> bool {
        self.0.is_broken()
    }
}
