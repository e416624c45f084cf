//! How long a statement may run on a SQLite connection.
//!
//! SQLite works in the calling thread, and calls a progress handler every few thousand steps to ask
//! whether to continue. Every connection of this process gets a handler that checks a deadline of
//! its thread. So the caller that runs work sets the deadline, without knowing the connection.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The deadline of a thread's work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deadline {
    /// No deadline.
    Never,
    /// Statements that still run at this moment are interrupted.
    At(Instant),
    /// It was reached and a statement was interrupted. Later statements, such as a rollback, are
    /// not.
    Reached,
}

thread_local! {
    static CURRENT: Cell<Deadline> = const { Cell::new(Deadline::Never) };
}

/// Runs `work`. SQLite statements of this thread are interrupted when `limit` is over. Also returns
/// whether one was.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> (T, bool) {
    let deadline = Instant::now().checked_add(limit).map_or(Deadline::Never, Deadline::At);
    let before = CURRENT.replace(deadline);
    let _restored = Restored(before);
    let outcome = work();
    (outcome, CURRENT.get() == Deadline::Reached)
}

/// Restores the previous deadline, even after a panic.
struct Restored(Deadline);

impl Drop for Restored {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Whether to interrupt the statement that runs in this thread: once for each deadline.
fn is_over() -> bool {
    // A thread that is ending has no deadline any more.
    let current = CURRENT.try_with(Cell::get).unwrap_or(Deadline::Never);
    let is_over = matches!(current, Deadline::At(at) if Instant::now() >= at);
    if is_over {
        CURRENT.set(Deadline::Reached);
    }
    is_over
}

pub(crate) use handler::install;

mod handler {
    #![expect(unsafe_code, reason = "diesel does not lead to SQLite's progress handler")]

    use std::ffi::{c_char, c_int, c_void};
    use std::ptr;
    use std::sync::Once;

    use libsqlite3_sys as ffi;

    /// Steps of SQLite's virtual machine between two checks of the clock: about 50 microseconds.
    const STEPS: c_int = 4_000;

    /// Installs the handler on every SQLite connection that this process opens from now on.
    pub(crate) fn install() {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            // SAFETY: `attach` has the signature of an extension's entry point and lives as long as
            // the process. It is called with the connection that is being opened.
            unsafe { ffi::sqlite3_auto_extension(Some(attach)) };
        });
    }

    unsafe extern "C" fn attach(
        connection: *mut ffi::sqlite3,
        _: *mut *mut c_char,
        _: *const ffi::sqlite3_api_routines,
    ) -> c_int {
        // SAFETY: SQLite passes a connection that is open, and `ask` uses no pointer.
        unsafe { ffi::sqlite3_progress_handler(connection, STEPS, Some(ask), ptr::null_mut()) };
        ffi::SQLITE_OK
    }

    /// Neither panics nor touches the connection, as SQLite demands of a handler.
    unsafe extern "C" fn ask(_: *mut c_void) -> c_int {
        c_int::from(super::is_over())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use diesel::RunQueryDsl as _;
    use diesel::dsl::sql;
    use diesel::sql_types::BigInt;

    use super::within;
    use crate::connection::{Access, connect};
    use crate::url::DatabaseUrl;

    /// Takes hours.
    const SLOW: &str = "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                        SELECT count(*) FROM n WHERE x < 0)";
    const QUICK: &str = "(SELECT 7)";

    #[test]
    fn a_statement_ends_at_the_deadline_and_the_connection_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("slow.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        let mut run =
            |text: &str| diesel::select(sql::<BigInt>(text)).get_result::<i64>(&mut connection);
        let began = Instant::now();
        let (outcome, is_cut_off) = within(Duration::from_millis(50), || run(SLOW));
        assert!(is_cut_off && began.elapsed() < Duration::from_secs(30));
        assert!(outcome.unwrap_err().to_string().contains("interrupted"));
        let (outcome, is_cut_off) = within(Duration::from_millis(50), || run(QUICK));
        assert!(!is_cut_off && outcome.unwrap() == 7);
        assert_eq!(run(QUICK).unwrap(), 7);
        // Statements after the interrupted one run normally.
        let (outcome, _) = within(Duration::ZERO, || (run(SLOW).is_err(), run(QUICK)));
        assert!(outcome.0 && outcome.1.unwrap() == 7);
    }
}
