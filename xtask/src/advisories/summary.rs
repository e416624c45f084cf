//! The dated summary of advisories, compared with the versions in `Cargo.lock`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, ensure};
use cicerone_domain::{Clock as _, SystemClock, Timestamp};
use semver::{Version, VersionReq};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::process;

/// Beyond this age of the summary a warning is printed.
const OLD_DAYS: u64 = 90;
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;

/// `advisories.toml`.
#[derive(Deserialize)]
struct Summary {
    /// The day on which the database was looked through, as `2026-11-22`.
    read: String,
    newest: String,
    advisory: Vec<Advisory>,
}

#[derive(Deserialize)]
struct Advisory {
    id: String,
    #[serde(rename = "crate")]
    name: String,
    title: String,
    patched: Vec<VersionReq>,
    #[serde(default)]
    unaffected: Vec<VersionReq>,
}

/// `Cargo.lock`.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: Version,
}

/// What of `deny.toml` matters here.
#[derive(Deserialize)]
struct Deny {
    advisories: Accepted,
}

#[derive(Deserialize)]
struct Accepted {
    ignore: Vec<Ignored>,
}

#[derive(Deserialize)]
struct Ignored {
    id: String,
}

/// Compares. Fails if a locked version is affected by an advisory that is not accepted.
pub(super) fn check() -> anyhow::Result<()> {
    let summary: Summary = read("advisories.toml")?;
    let lock: Lock = read("Cargo.lock")?;
    let deny: Deny = read("deny.toml")?;
    let accepted = deny.advisories.ignore.into_iter().map(|one| one.id).collect();
    let age = age(&summary.read, SystemClock.now())?;
    println!(
        "advisories.toml was read from the database {age} days ago ({}), up to {}: {} advisories",
        summary.read,
        summary.newest,
        summary.advisory.len()
    );
    if age > OLD_DAYS {
        println!("warning: it is older than {OLD_DAYS} days; renew it as it says itself");
    }
    let found = affected(&summary.advisory, &lock.package, &accepted);
    ensure!(found.is_empty(), "advisories that deny.toml does not accept:\n{}", found.join("\n"));
    Ok(())
}

/// The advisories that concern a locked version and are not accepted, a line each.
fn affected(
    advisories: &[Advisory],
    packages: &[Package],
    accepted: &BTreeSet<String>,
) -> Vec<String> {
    let concerned = |advisory: &Advisory, package: &Package| {
        let mut fine = advisory.patched.iter().chain(&advisory.unaffected);
        package.name == advisory.name && !fine.any(|wanted| wanted.matches(&package.version))
    };
    let mut found = Vec::new();
    for advisory in advisories.iter().filter(|advisory| !accepted.contains(&advisory.id)) {
        for package in packages.iter().filter(|package| concerned(advisory, package)) {
            let (id, title) = (&advisory.id, &advisory.title);
            found.push(format!("{id}: {} {}: {title}", package.name, package.version));
        }
    }
    found
}

/// How many days ago that day was.
fn age(day: &str, now: Timestamp) -> anyhow::Result<u64> {
    let start = Timestamp::parse(&format!("{day}T00:00:00.000Z"))
        .ok()
        .with_context(|| format!("`{day}` is no day: write it as `2026-11-22`"))?;
    let millis = now.as_millis().saturating_sub(start.as_millis());
    Ok(u64::try_from(millis).unwrap_or(0) / DAY_MILLIS)
}

fn read<T: DeserializeOwned>(name: &str) -> anyhow::Result<T> {
    let path = process::root().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("reading `{name}`"))?;
    toml::from_str(&text).with_context(|| format!("`{name}` cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advisory(patched: &[&str], unaffected: &[&str]) -> Advisory {
        let requirements =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Advisory {
            id: "RUSTSEC-2026-0001".to_owned(),
            name: "reader".to_owned(),
            title: "reads too much".to_owned(),
            patched: requirements(patched),
            unaffected: requirements(unaffected),
        }
    }

    fn found(advisory: Advisory, version: &str, accepted: &[&str]) -> usize {
        let package = Package { name: "reader".to_owned(), version: version.parse().unwrap() };
        let accepted = accepted.iter().map(|&id| id.to_owned()).collect();
        affected(&[advisory], &[package], &accepted).len()
    }

    #[test]
    fn a_version_is_affected_unless_it_is_patched_older_or_accepted() {
        let patched = || advisory(&[">= 1.2.3"], &["< 1.0.0"]);
        assert_eq!(found(patched(), "1.2.2", &[]), 1);
        assert_eq!(found(patched(), "1.2.3", &[]), 0);
        assert_eq!(found(patched(), "0.9.9", &[]), 0);
        assert_eq!(found(patched(), "1.2.2", &["RUSTSEC-2026-0001"]), 0);
        assert_eq!(found(advisory(&[], &[]), "9.9.9", &[]), 1);
        let several = || advisory(&[">= 0.11.6, < 0.12.0", ">= 0.12.1"], &[]);
        assert_eq!(found(several(), "0.12.0", &[]), 1);
        assert_eq!(found(several(), "0.11.7", &[]), 0);
    }

    #[test]
    fn the_age_is_counted_in_whole_days() {
        let day = |days: i64| Timestamp::from_millis(days * 86_400_000 + 60_000);
        assert_eq!(age("1970-01-02", day(1)).unwrap(), 0);
        assert_eq!(age("1970-01-02", day(91)).unwrap(), 90);
        assert!(age("yesterday", day(1)).is_err());
    }
}
