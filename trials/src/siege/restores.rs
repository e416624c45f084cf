//! Restores over used, crashed, newer, older and half-deleted data directories and databases.

use cicerone_tests::restores::restores;

use super::arena::Field;
use super::report::Report;

/// Restores.
const ROUNDS: usize = 50;

/// Carries it out, on SQLite: PostgreSQL has backups and restores of its own.
pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let rounds = field.count(ROUNDS, 12);
    // A wrong answer is a panic that shows it.
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
