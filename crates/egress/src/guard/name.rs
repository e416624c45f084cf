//! Names that do not belong to the public internet, regardless of the addresses that they resolve
//! to.

/// Who can reach what a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Public,
    /// It has a meaning only on this machine or its network.
    Local,
    /// A cloud's metadata service.
    Metadata,
}

/// Last labels of names that are not in public DNS: special use (RFC 6761, 6762, 7686, 8375), reserved by ICANN for
/// private use (`internal`), and unregistered ones that routers and offices use.
const LOCAL: [&str; 14] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "home.arpa",
    "lan",
    "intranet",
    "private",
    "corp",
    "home",
    "test",
    "invalid",
    "onion",
    "alt",
];

/// Names that clouds give to their metadata services.
const METADATA: [&str; 5] = [
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
    "metadata.azure.internal",
];

/// Classifies a domain as the URL parser returns it: lower case, punycode. A name without a dot is local, because this
/// machine's search list would complete it.
pub(super) fn kind_of(domain: &str) -> Kind {
    let name = domain.trim_end_matches('.');
    let is_or_ends_in = |suffix: &&str| {
        name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if METADATA.iter().any(is_or_ends_in) || matches!(name, "metadata" | "instance-data") {
        Kind::Metadata
    } else if !name.contains('.') || LOCAL.iter().any(is_or_ends_in) {
        Kind::Local
    } else {
        Kind::Public
    }
}
