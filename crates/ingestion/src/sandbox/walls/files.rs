//! Landlock, if the kernel has it: no file can be opened by name, no port bound or connected to, and no other process
//! signalled.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, RestrictionStatus,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

/// The newest version of access rights that is used here; an older kernel denies those that it knows.
const NEWEST: ABI = ABI::V6;

/// Denies this process everything that Landlock can deny. This is a second barrier behind the system call filter, which
/// does not depend on it: without Landlock in the kernel, this has no effect.
pub(super) fn deny() {
    use std::io::Write as _;
    if let Err(error) = restrict() {
        // The end of standard error is kept for the log of an unexpected exit.
        let _ = writeln!(std::io::stderr(), "the kernel cannot deny access to files: {error}");
    }
}

/// Denies this process everything except reading and executing files below these paths. Missing paths are skipped.
pub(super) fn deny_all_but<P: AsRef<Path>>(
    readable: impl IntoIterator<Item = P>,
) -> Result<RestrictionStatus, RulesetError> {
    let reads = AccessFs::from_read(NEWEST);
    all()?.create()?.add_rules(path_beneath_rules(readable, reads))?.restrict_self()
}

fn restrict() -> Result<RestrictionStatus, RulesetError> {
    all()?.create()?.restrict_self()
}

/// Everything that can be denied.
fn all() -> Result<Ruleset, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))
}
