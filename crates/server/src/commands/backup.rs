//! `cicerone backup`.

mod archive;
mod target;

use std::fs::File;
use std::io;
use std::path::Path;

use cicerone_domain::ports::ObjectStore as _;
use cicerone_domain::upload::ObjectKey;
use cicerone_storage::{DatabaseUrl, UploadObjects, snapshots};

use crate::configuration::{Configuration, Environment, load};
use crate::failure::Failure;
use crate::leftovers::Copying;
use crate::{data_directory, output, wiring};

use archive::Writer;
pub(super) use archive::{Entry, Reader};
use target::{Target, folder};

/// How often a copy is started again because one of its uploads was deleted in between.
const TRIES: usize = 5;

/// Writes a consistent copy of the database and the uploads to `file`.
pub(crate) fn run(environment: &Environment, file: &Path) -> Result<(), Failure> {
    let configuration = load(environment)?;
    check_embedded(&configuration)?;
    wiring::check_exists(&configuration)?;
    if file.exists() {
        let message = format!("`{}` exists; name a new file", file.display());
        return Err(Failure::misuse(message));
    }
    // New files are readable by their owner only: the archive is as confidential as the data directory.
    data_directory::create(configuration.data_dir())?;
    wiring::install_tls()?;
    let mut target = Target::new(file)?;
    let copying = Copying::begin(configuration.data_dir(), folder(file))?;
    let write = write(&configuration, &copying, &mut target, file);
    let Written { uploads, lost } = wiring::runtime(1)?.block_on(write)?;
    target.finish()?;
    output::line(&format!("wrote `{}` with {uploads} uploads", file.display()))?;
    if lost.is_empty() {
        return Ok(());
    }
    for key in &lost {
        output::note(&format!("missing from the object store: {}", key.as_str()))?;
    }
    Err(Failure::incomplete(format!(
        "the backup lacks the content of {} files, because the object store does not have it; delete these \
         files, or restore their objects and make another backup",
        lost.len()
    )))
}

/// What a backup contains.
struct Written {
    /// The number of uploads in it.
    uploads: usize,
    /// Uploads that exist but whose objects do not.
    lost: Vec<ObjectKey>,
}

/// Refuses PostgreSQL databases, which have their own tools.
pub(super) fn check_embedded(configuration: &Configuration) -> Result<(), Failure> {
    if configuration.database.sqlite_path().is_some() {
        return Ok(());
    }
    Err(Failure::misuse(format!(
        "`CICERONE_DATABASE_URL`: `{}` is backed up with pg_dump and restored with pg_restore; copy the \
         uploads after it",
        configuration.database
    )))
}

async fn write(
    configuration: &Configuration,
    copying: &Copying,
    target: &mut Target,
    file: &Path,
) -> Result<Written, Failure> {
    let (objects, database) = (objects(configuration)?, &configuration.database);
    for _ in 0..TRIES {
        let copy = Copy::take(configuration, copying, file)?;
        let mut writer = Writer::begin(target.begin()?, file)?;
        writer.database(copy.database)?;
        let Some(lost) = write_uploads(&mut writer, &objects, &copy.uploads, database).await?
        else {
            continue;
        };
        writer.finish()?;
        return Ok(Written { uploads: copy.uploads.len() - lost.len(), lost });
    }
    Err(Failure::new("uploads were deleted repeatedly while they were copied; try again"))
}

/// Adds the uploads, and returns those whose objects are lost; `None` if an upload has been deleted since the database was
/// copied.
async fn write_uploads(
    writer: &mut Writer,
    objects: &UploadObjects,
    keys: &[ObjectKey],
    database: &DatabaseUrl,
) -> Result<Option<Vec<ObjectKey>>, Failure> {
    let mut present = snapshots::Uploads::of(database)?;
    let mut lost = Vec::new();
    for key in keys {
        let found = objects.get(key).await;
        let found = found.map_err(|error| Failure::because("cannot read an upload", &error))?;
        match found {
            Some(bytes) => writer.upload(key, &bytes)?,
            None if present.has(key)? => lost.push(key.clone()),
            None => return Ok(None),
        }
    }
    Ok(Some(lost))
}

/// The store of the uploads.
pub(super) fn objects(configuration: &Configuration) -> Result<UploadObjects, Failure> {
    UploadObjects::open(&configuration.object_store_url)
        .map_err(|error| Failure::because("`CICERONE_OBJECT_STORE_URL`", &error))
}

/// A copy of the database, and the keys of its uploads in the object store.
struct Copy {
    /// A file without a name: the system frees it when this handle is closed.
    database: File,
    uploads: Vec<ObjectKey>,
}

impl Copy {
    fn take(
        configuration: &Configuration,
        copying: &Copying,
        target: &Path,
    ) -> Result<Self, Failure> {
        let place = place(configuration, target);
        let cannot = |error: &io::Error| {
            Failure::because(&format!("cannot write in `{}`", place.display()), error)
        };
        let folder = copying.folder(place).map_err(|error| cannot(&error))?;
        let path = folder.path().join("cicerone.db");
        let uploads = snapshots::take(&configuration.database, &path)?;
        let database = File::open(&path).map_err(|error| cannot(&error))?;
        folder.close().map_err(|error| cannot(&error))?;
        Ok(Self { database, uploads })
    }
}

/// Where the database is copied to: the data directory if that leaves room for the server, otherwise the folder of the
/// archive. A disk that is nearly full is often the reason for a backup.
fn place<'p>(configuration: &'p Configuration, target: &'p Path) -> &'p Path {
    let directory = configuration.data_dir();
    let Some(path) = configuration.database.sqlite_path() else { return directory };
    let files = ["", "-wal"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).metadata().map_or(0, |metadata| metadata.len())
    });
    let bytes = files.iter().sum::<u64>();
    let free = rustix::fs::statvfs(directory)
        .map_or(u64::MAX, |system| system.f_bavail.saturating_mul(system.f_frsize));
    if free / 2 > bytes { directory } else { folder(target) }
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Failure {
    Failure::because(&format!("cannot write `{}`", file.display()), error)
}
