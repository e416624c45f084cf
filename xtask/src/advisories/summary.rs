//! The dated summary of advisories, compared with the versions in `Cargo.lock`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, ensure};
use semver::{Version, VersionReq};
use serde::{Deserialize, de::DeserializeOwned};
use time::{Date, OffsetDateTime, macros::format_description};

use crate::process;

/// If the summary is older, a warning is printed.
const OLD_DAYS: i64 = 90;

/// `advisories.toml`.
#[derive(Deserialize)]
struct Summary {
    /// The day on which the database was read, such as `2026-11-22`.
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

/// Returns an error if a locked version is affected by an advisory that is not accepted.
pub(super) fn check() -> anyhow::Result<()> {
    let summary: Summary = read("advisories.toml")?;
    let lock: Lock = read("Cargo.lock")?;
    let deny: toml::Value = read("deny.toml")?;
    let ignored = deny["advisories"]["ignore"].as_array().context("`deny.toml` ignores nothing")?;
    let accepted = ignored.iter().filter_map(|one| one["id"].as_str()).collect();
    let age = age(&summary.read, OffsetDateTime::now_utc().date())?;
    println!(
        "advisories.toml was read from the database {age} days ago ({}), up to {}: {} advisories",
        summary.read,
        summary.newest,
        summary.advisory.len()
    );
    if age > OLD_DAYS {
        println!("warning: it is over {OLD_DAYS} days old; its comments say how to update it");
    }
    let found = affected(&summary.advisory, &lock.package, &accepted);
    ensure!(found.is_empty(), "advisories that deny.toml does not accept:\n{}", found.join("\n"));
    Ok(())
}

/// The advisories that affect a locked version and are not accepted, one on each line.
fn affected(
    advisories: &[Advisory],
    packages: &[Package],
    accepted: &BTreeSet<&str>,
) -> Vec<String> {
    let concerned = |advisory: &Advisory, package: &Package| {
        let mut fine = advisory.patched.iter().chain(&advisory.unaffected);
        package.name == advisory.name && !fine.any(|wanted| wanted.matches(&package.version))
    };
    let mut found = Vec::new();
    for advisory in advisories.iter().filter(|advisory| !accepted.contains(&*advisory.id)) {
        for package in packages.iter().filter(|package| concerned(advisory, package)) {
            let (id, title) = (&advisory.id, &advisory.title);
            found.push(format!("{id}: {} {}: {title}", package.name, package.version));
        }
    }
    found
}

/// How many days ago that day was.
fn age(day: &str, today: Date) -> anyhow::Result<i64> {
    let read = Date::parse(day, format_description!("[year]-[month]-[day]"))
        .with_context(|| format!("`{day}` is not a day: write it as `2026-11-22`"))?;
    Ok((today - read).whole_days())
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
        let text = format!("patched = {patched:?}\nunaffected = {unaffected:?}");
        let named = "id = 'RUSTSEC-2026-0001'\ncrate = 'reader'\ntitle = 'reads too much'";
        toml::from_str(&format!("{named}\n{text}")).unwrap()
    }

    fn found(advisory: Advisory, version: &str, accepted: &[&str]) -> usize {
        let package = Package { name: "reader".to_owned(), version: version.parse().unwrap() };
        let accepted = accepted.iter().copied().collect();
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
        let today = time::macros::date!(1970 - 04 - 02);
        assert_eq!(age("1970-04-02", today).unwrap(), 0);
        assert_eq!(age("1970-01-02", today).unwrap(), 90);
        assert!(age("yesterday", today).is_err());
    }
}
