//! `cicerone restore`.

mod place;

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use cicerone_domain::ports::ObjectStore as _;
use cicerone_storage::snapshots;

use super::backup::{Entry, Reader, check_embedded, objects};
use crate::configuration::{Environment, load};
use crate::failure::Failure;
use crate::{output, wiring};

use place::{RestoreTarget, cannot};

/// Restores a backup into an empty place. The database is moved into place last, so a database that
/// exists is complete.
pub(crate) fn run(environment: &Environment, file: &Path) -> Result<(), Failure> {
    let configuration = load(environment)?;
    check_embedded(&configuration)?;
    let Some(database) = configuration.database.sqlite_path() else { return Ok(()) };
    let reader = Reader::open(file)?;
    let place = RestoreTarget::take(&configuration, database)?;
    wiring::install_tls()?;
    let store = objects(&configuration)?;
    let runtime = wiring::runtime(1)?;
    let copy = place.copy();
    let damaged =
        |error: &io::Error| Failure::because(&format!("`{}` is damaged", file.display()), error);
    let mut uploads = 0_usize;
    reader.each(|entry| match entry {
        Entry::Database(bytes) => {
            let cannot = |error: &io::Error| cannot(&copy, error);
            let mut file = File::create_new(&copy).map_err(|error| cannot(&error))?;
            pass_on(bytes, &mut file, damaged, cannot)?;
            file.sync_all().map_err(|error| cannot(&error))
        }
        Entry::Upload(key, bytes) => {
            uploads += 1;
            let mut held = Vec::new();
            bytes.read_to_end(&mut held).map_err(|error| damaged(&error))?;
            let put = runtime.block_on(store.put(&key, held.into()));
            put.map_err(|error| Failure::because("cannot store an upload", &error))
        }
    })?;
    if !copy.exists() {
        return Err(Failure::new(format!("`{}` contains no database", file.display())));
    }
    snapshots::verify(&copy)?;
    let database = place.database();
    place.finish()?;
    output::line(&format!("restored `{}` and {uploads} uploads", database.display()))
}

/// Copies `from` to `to`. Errors of reading and of writing become different failures.
fn pass_on(
    from: &mut dyn Read,
    to: &mut File,
    damaged: impl Fn(&io::Error) -> Failure,
    cannot: impl Fn(&io::Error) -> Failure,
) -> Result<(), Failure> {
    let mut buffer = vec![0; 64 * 1_024];
    loop {
        let count = from.read(&mut buffer).map_err(|error| damaged(&error))?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        to.write_all(bytes).map_err(|error| cannot(&error))?;
    }
}
