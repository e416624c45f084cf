//! Files with secrets: readable only by their owner, and written completely or not at all.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::plan::{Action, Plan};
use super::wanted::Wanted;
use crate::failure::Failure;

/// Checks that the files for secrets of new objects do not exist: such a file has the only copy of a secret, perhaps of
/// another server.
pub(super) fn check_free(wanted: &Wanted, plan: &Plan) -> Result<(), Failure> {
    let mut taken = Vec::new();
    for step in plan.steps.iter().filter(|step| step.action == Action::Create) {
        let object = wanted.object(step.kind, &step.key);
        let Some(path) = object.and_then(|object| object.write_to.as_deref()) else { continue };
        // A link that leads nowhere would be replaced too.
        if path.symlink_metadata().is_ok() {
            taken.push(format!("`{}` for {} `{}`", path.display(), step.kind.name(), step.key));
        }
    }
    match taken.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "files for the secrets of objects that are new on this server already exist: {}; they may contain secrets of \
             another server: move them, or change `write_to`",
            taken.join(", ")
        ))),
    }
}

/// Writes a secret to a file with mode 0600. An existing file is replaced.
pub(super) fn write(path: &Path, secret: &str) -> Result<(), Failure> {
    write_all(path, secret)
        .map_err(|error| Failure::because(&format!("cannot write `{}`", path.display()), &error))
}

fn write_all(path: &Path, secret: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    // A file that an interrupted process with this id has left behind.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(format!("{secret}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::write;

    #[test]
    fn a_secret_is_for_its_owner_only_even_in_place_of_an_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.key");
        write(&path, "one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
