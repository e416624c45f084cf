//! Small files that expand to large texts: the disk space that they take is limited and counted.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::arena::{Arena, Field};
use super::documents::docx;
use super::report::{RISE_MIB, Report};
use super::sources::{End, Material, carry_through};

/// Characters of text in one file.
const CHARS: usize = 30_000_000;
/// The quota of the account, in bytes.
const QUOTA: u64 = 20_000_000;
/// Files that the attacker tries to add.
const FILES: usize = 4;
/// The disk space that the account may take, as a multiple of its quota: a text, its passages and
/// its index.
const TIMES: u64 = 4;
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let body: String = (0..CHARS / 500)
        .map(|_| format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "The museum. ".repeat(41)))
        .collect();
    let file = docx(&body)?;
    arena.server.succeed(&["account", "limit", "attacker", "--bytes", &QUOTA.to_string()]);
    let before = size(arena.server.data())?;
    let mut report = Report::default();
    let bytes = file.len();
    let attack = async {
        let mut ends = Vec::new();
        for _ in 0..FILES {
            let material = Material::File("bomb.docx", file.clone());
            ends.push(carry_through(&attacker, &agent, material, PATIENCE).await?);
        }
        anyhow::Ok(ends)
    };
    let ends = arena.besiege(&mut report, RISE_MIB, attack).await??;
    let grown = size(arena.server.data())?.saturating_sub(before);
    let words: Vec<_> = ends.iter().map(|end| end.word()).collect();
    report.attempted(format!(
        "{FILES} DOCX files of {} kB that hold {} MB at a quota of {} MB: {}; the data directory \
         grew by {} MB",
        bytes / 1_000,
        CHARS / 1_000_000,
        QUOTA / 1_000_000,
        words.join(", "),
        grown / 1_000_000
    ));
    report.check(ends.last() != Some(&End::Trained), "the last one was trained beyond the quota");
    report.check(
        grown <= QUOTA * TIMES,
        format!("the data directory grew by {} MB", grown / 1_000_000),
    );
    Ok(report)
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let entry = entry?;
            // Files of an index appear and disappear in the meantime.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                sum += metadata.len();
            }
        }
    }
    Ok(sum)
}
