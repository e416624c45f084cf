//! Vectors of passages: which sources lack them, and the stored ones.

mod feed;
mod work;

use async_trait::async_trait;
use cicerone_domain::id::kind;
use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::{LackingVectors, VectorClaim, VectorStore, VectorWork};
use cicerone_domain::{Error, Id, Source, Timestamp};
use diesel::prelude::*;

use crate::columns::{narrow, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{source_vectors, vector_spaces};
use crate::storage::Storage;

/// Held on PostgreSQL while a space is added. The number is `vectors` in ASCII.
const SPACES_LOCK: i64 = 0x0076_6563_746f_7273;
/// A number that no space has.
const NO_SPACE: i64 = 0;
/// A position before all others.
const NONE_YET: i64 = -1;
/// Sources that are updated in one transaction.
const MARKED_AT_ONCE: i64 = 1_000;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = vector_spaces)]
struct SpaceRow {
    id: i64,
    model: String,
    dimension: i64,
    probe: Vec<u8>,
    chance: f64,
    created_at: i64,
    settings: String,
    reach: f64,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = source_vectors)]
pub(crate) struct StateRow {
    pub(crate) source_id: String,
    pub(crate) account_id: String,
    pub(crate) version: i64,
    pub(crate) space: i64,
    pub(crate) is_complete: bool,
    pub(crate) embedded_to: i64,
    pub(crate) due_at: i64,
    pub(crate) halvings: i64,
}

#[derive(Insertable)]
#[diesel(table_name = crate::schema::passage_vectors)]
pub(crate) struct VectorRow {
    source_id: String,
    position: i64,
    account_id: String,
    space: i64,
    vector: Vec<u8>,
}

impl TryFrom<SpaceRow> for Space {
    type Error = TransactionError;

    fn try_from(row: SpaceRow) -> Result<Self, TransactionError> {
        Ok(Self {
            id: row.id,
            model: row.model,
            settings: row.settings,
            dimension: narrow("vector_spaces.dimension", row.dimension)?,
            probe: Vector::from_bytes(&row.probe).map_err(TransactionError::internal)?,
            chance: row.chance as f32,
            reach: row.reach as f32,
            floor: None,
        })
    }
}

/// Records that the content of a processed source lacks vectors, if the content is new.
///
/// This is one statement of the transaction that ends a job, and it runs without an embeddings upstream too. If an
/// upstream is set later, the sources that lack vectors are known, whichever server processed them.
pub(crate) fn expect(c: &mut AnyConnection, source: &Source) -> Result<(), TransactionError> {
    expect_all(c, std::slice::from_ref(source))
}

/// The same for several sources.
pub(crate) fn expect_all(
    c: &mut AnyConnection,
    sources: &[Source],
) -> Result<(), TransactionError> {
    let lacking = sources.iter().filter_map(|source| Some((source, source.state.searchable()?)));
    let rows = lacking.map(|(source, trained)| StateRow {
        source_id: source.id.to_string(),
        account_id: source.account_id.to_string(),
        version: wide(trained.version),
        space: NO_SPACE,
        is_complete: false,
        embedded_to: NONE_YET,
        due_at: 0,
        halvings: 0,
    });
    Ok(dialect::expect_vectors(c, &rows.collect::<Vec<_>>())?)
}

/// The spaces of a model with these settings, newest first.
fn of_model(
    c: &mut AnyConnection,
    model: &str,
    settings: &str,
) -> Result<Vec<Space>, TransactionError> {
    let rows: Vec<SpaceRow> = vector_spaces::table
        .filter(vector_spaces::model.eq(model))
        .filter(vector_spaces::settings.eq(settings))
        .order(vector_spaces::id.desc())
        .select(SpaceRow::as_select())
        .load(c)?;
    rows.into_iter().map(Space::try_from).collect()
}

#[async_trait]
impl VectorStore for Storage {
    async fn spaces(&self, model: &str, settings: &str) -> Result<Vec<Space>, Error> {
        let (model, settings) = (model.to_owned(), settings.to_owned());
        self.db.read(move |c| of_model(c, &model, &settings)).await
    }

    async fn add_space(&self, space: Space, now: Timestamp) -> Result<Space, Error> {
        self.db
            .write(move |c| {
                dialect::lock_number(c, SPACES_LOCK)?;
                // If two servers add a space at the same time, the second one finds that of the
                // first.
                let known = of_model(c, &space.model, &space.settings)?;
                if let Some(known) = known.into_iter().find(|known| known.holds(&space.probe)) {
                    return Ok(known);
                }
                let last: Option<i64> = vector_spaces::table
                    .select(diesel::dsl::max(vector_spaces::id))
                    .get_result(c)?;
                // The number contains the time. So a restored database does not reuse a number
                // whose vectors may still be stored beside an index.
                let id = now.as_millis().max(last.unwrap_or(NO_SPACE) + 1);
                let space = Space { id, ..space.clone() };
                let row = SpaceRow {
                    id: space.id,
                    model: space.model.clone(),
                    dimension: wide(space.dimension),
                    probe: space.probe.to_bytes(),
                    chance: space.chance.into(),
                    created_at: now.as_millis(),
                    settings: space.settings.clone(),
                    reach: space.reach.into(),
                };
                diesel::insert_into(vector_spaces::table).values(row).execute(c)?;
                Ok(space)
            })
            .await
    }

    async fn enter_space(&self, space: i64) -> Result<u64, Error> {
        let mut total = 0;
        loop {
            // Usually there is nothing to mark, and a read does not need the writer.
            let others = self.db.read(move |c| work::of_other_spaces(c, space)).await?;
            if others.is_empty() {
                return Ok(total);
            }
            let marked =
                self.db.write(move |c| work::mark_of_other_spaces(c, space, &others)).await?;
            total += u64::try_from(marked).unwrap_or(u64::MAX);
        }
    }

    async fn claim_vectors(&self, claim: VectorClaim) -> Result<Option<VectorWork>, Error> {
        let after = claim.after.map(|after| after.to_string());
        // Most calls find nothing, and a read does not need the writer.
        let next =
            self.db.read(move |c| work::next_account(c, after.as_deref(), claim.now)).await?;
        if next.is_none() {
            return Ok(None);
        }
        let default = self.account_bytes;
        self.db.write(move |c| work::claim(c, default, &claim)).await
    }

    async fn store_vectors(
        &self,
        claimed: &LackingVectors,
        space: i64,
        vectors: Vec<(i64, Option<Vector>)>,
        halvings: u32,
        now: Timestamp,
    ) -> Result<(), Error> {
        let default = self.account_bytes;
        let (account, source, version) = (claimed.account, claimed.source, claimed.version);
        let halvings = i64::from(halvings);
        let batch = work::Made { account, source, version, space, vectors, halvings };
        self.db.of(account).write(move |c| work::store(c, default, &batch, now)).await
    }

    async fn postpone_vectors(
        &self,
        source: Id<kind::Source>,
        halvings: u32,
        until: Timestamp,
    ) -> Result<(), Error> {
        self.db
            .write(move |c| {
                diesel::update(source_vectors::table.find(source.to_string()))
                    .set((
                        source_vectors::due_at.eq(until.as_millis()),
                        source_vectors::halvings.eq(i64::from(halvings)),
                    ))
                    .execute(c)?;
                Ok(())
            })
            .await
    }

    async fn take_back_vectors(&self) -> Result<(), Error> {
        self.db
            .write(|c| {
                let claimed = source_vectors::table
                    .filter(source_vectors::is_complete.eq(false))
                    .filter(source_vectors::due_at.gt(0));
                diesel::update(claimed).set(source_vectors::due_at.eq(0)).execute(c)?;
                Ok(())
            })
            .await
    }

    async fn lacking_vectors(&self) -> Result<u64, Error> {
        self.db
            .read(|c| {
                let lacking: i64 = source_vectors::table
                    .filter(source_vectors::is_complete.eq(false))
                    .count()
                    .get_result(c)?;
                narrow("count", lacking)
            })
            .await
    }
}
