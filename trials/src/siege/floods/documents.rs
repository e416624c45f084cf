//! Small PDF files, each of which takes as long to read as is allowed.

use std::time::Instant;

use anyhow::Context as _;

use crate::siege::arena::{Arena, Field};
use crate::siege::documents::slow_pdf;
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{Material, add, ended};

/// The number of files, and the pages of each.
const FILES: usize = 18;
const PAGES: usize = 900;

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let (files, time) = (field.count(FILES, 6), field.seconds(60, 15));
    let pdf = slow_pdf(PAGES).context("making a file")?;
    let bytes = pdf.len();
    let mut report = Report::default();
    let attack = async {
        let begun = Instant::now();
        let mut first = None;
        for _ in 0..files {
            let added = add(&attacker, &agent, Material::File("slow.pdf", pdf.clone())).await?;
            first = first.or(added.ok());
        }
        let first = first.context("every slow file was refused")?;
        let end = ended(&attacker, &first, field.seconds(120, 60)).await?;
        let took = begun.elapsed();
        tokio::time::sleep(time.saturating_sub(took)).await;
        anyhow::Ok((end, took))
    };
    let (end, took) = arena.besiege(&mut report, RISE_MIB, attack).await??;
    report.attempted(format!(
        "{files} PDF files of {} kB; the first was {} after {:.0} s",
        bytes / 1_000,
        end.word(),
        took.as_secs_f64()
    ));
    Ok(report)
}
