//! Landlock, if the kernel has it: no file can be opened by name, no port bound or connected to, and no other process
//! signalled.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, RestrictionStatus,
    Ruleset, RulesetAttr as _, RulesetError, Scope,
};

/// The newest rights that are named here; an older kernel denies those of them that it knows.
const NEWEST: ABI = ABI::V6;

/// Denies this process everything that Landlock can deny. It is a second wall behind the filter of
/// system calls, which stands without it: a kernel that has no Landlock changes nothing.
pub(super) fn deny() {
    use std::io::Write as _;
    if let Err(error) = restrict() {
        // The end of standard error is kept for the log of an unforeseen end.
        let _ = writeln!(std::io::stderr(), "files are not denied by the kernel: {error}");
    }
}

fn restrict() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .restrict_self()
}
