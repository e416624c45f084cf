//! Restores over used, crashed, newer, older and half-deleted data directories and databases.

use cicerone_tests::restores::restores;

use super::arena::Field;
use super::report::Report;

const ROUNDS: usize = 50;

/// Runs the siege, on SQLite: PostgreSQL has its own tools for backups and restores.
pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let rounds = field.count(ROUNDS, 12);
    // A wrong answer causes a panic that shows it.
    let told = restores(&field.program, rounds, field.seed).await;
    let mut report = Report::default();
    report.attempted(format!(
        "{rounds} restores: {} refused with a sentence, {} carried out with the restored content and nothing \
         else",
        told.refused, told.restored
    ));
    report.check(told.refused > 0 && told.restored > 0, "all of them ended in one way");
    Ok(report)
}
