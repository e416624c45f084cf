//! SQLite and PostgreSQL behind the store ports, and uploads in an object store.
