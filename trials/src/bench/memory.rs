//! Memory, threads and processor time of a process, as Linux reports them.

use std::fmt;
use std::fs;
use std::time::Duration;

use anyhow::Context as _;

/// The memory and threads of a process at one time.
pub(crate) struct Usage {
    resident_kib: u64,
    anonymous_kib: u64,
    peak_kib: u64,
    threads: u64,
}

impl Usage {
    /// Resident memory in MiB.
    pub(crate) fn resident_mib(&self) -> f64 {
        mib(self.resident_kib)
    }

    /// Resident memory without that of files, in MiB.
    pub(crate) fn anonymous_mib(&self) -> f64 {
        mib(self.anonymous_kib)
    }

    /// The most resident memory since the start or the last [`forget_peak`], in MiB.
    pub(crate) fn peak_mib(&self) -> f64 {
        mib(self.peak_kib)
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resident, anonymous) = (mib(self.resident_kib), mib(self.anonymous_kib));
        let threads = self.threads;
        write!(f, "{resident:.1} MiB resident ({anonymous:.1} anonymous), {threads} threads")
    }
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1_024.0
}

/// Reads `/proc/PID/status`. Returns an error if the process has ended.
pub(crate) fn of(pid: u32) -> anyhow::Result<Usage> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).with_context(|| format!("reading `{path}`"))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.split_whitespace().next());
        number.and_then(|digits| digits.parse().ok()).with_context(|| format!("no `{name}`"))
    };
    Ok(Usage {
        resident_kib: field("VmRSS")?,
        anonymous_kib: field("RssAnon")?,
        peak_kib: field("VmHWM")?,
        threads: field("Threads")?,
    })
}

/// The resident memory of a process and of all that it has started, in MiB. Pages that they share are counted in each.
pub(crate) fn of_family(pid: u32) -> anyhow::Result<f64> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").context("reading `/proc`")? {
        let name = entry?.file_name();
        let Some(child) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process may end while this runs.
        let Ok(text) = fs::read_to_string(format!("/proc/{child}/stat")) else { continue };
        let fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
        if let Some(parent) = fields.split(' ').nth(1).and_then(|field| field.parse::<u32>().ok()) {
            parents.push((child, parent));
        }
    }
    let (mut family, mut next) = (vec![pid], 0);
    while let Some(parent) = family.get(next).copied() {
        family.extend(parents.iter().filter(|one| one.1 == parent).map(|one| one.0));
        next += 1;
    }
    let children = family.iter().skip(1).filter_map(|child| of(*child).ok());
    Ok(of(pid)?.resident_mib() + children.map(|usage| usage.resident_mib()).sum::<f64>())
}

/// Resets the peak of a process to its current memory. Fails if the process has ended or is not
/// ours.
pub(crate) fn forget_peak(pid: u32) -> anyhow::Result<()> {
    let path = format!("/proc/{pid}/clear_refs");
    fs::write(&path, "5").with_context(|| format!("writing `{path}`"))
}

/// Files, sockets and other descriptors that a process has open. Fails if the process has ended.
pub(crate) fn open_files(pid: u32) -> anyhow::Result<usize> {
    let path = format!("/proc/{pid}/fd");
    Ok(fs::read_dir(&path).with_context(|| format!("reading `{path}`"))?.count())
}

/// Processor time that a process has used, to ten milliseconds, from `/proc/PID/stat`. It shows
/// what work costs, whatever else runs on the machine.
pub(crate) fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("reading `{path}`"))?;
    // The second field is the program's name in parentheses, which may contain any characters.
    let fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks = |index: usize| -> anyhow::Result<u64> {
        let field = fields.split(' ').nth(index);
        field.and_then(|digits| digits.parse().ok()).with_context(|| format!("reading `{path}`"))
    };
    Ok(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}
