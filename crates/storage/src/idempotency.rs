//! Idempotency records: claims, the answers that complete them, and their erasure.

use async_trait::async_trait;
use cicerone_domain::id::{Id, kind};
use cicerone_domain::idempotency::{
    Claim, Claimed, Completion, Fingerprint, IdempotencyKey, KeptAnswer, Record, RecordState,
    Subject,
};
use cicerone_domain::ports::IdempotencyStore;
use cicerone_domain::{Error, Scope, Timestamp};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable};

use crate::audit;
use crate::columns::{from_json, id, time, to_json, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::keys;
use crate::pages::{Size, nullable_length};
use crate::removal::Part;
use crate::schema::{idempotency, sources};
use crate::storage::Storage;

/// The request is being processed.
const CLAIMED: &str = "claimed";
/// Its answer is stored.
const COMPLETED: &str = "completed";
/// Its answer was erased: the resource in it was deleted, or a secret in it was replaced.
const ERASED: &str = "erased";

/// How often a claim tries again if the record disappears between two statements.
const LOOKS: usize = 8;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = idempotency, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct ClaimRow {
    account_id: String,
    idempotency_key: String,
    fingerprint: Vec<u8>,
    state: String,
    token: String,
    lease_until: i64,
    expires_at: i64,
    /// Null in a record that is read: the body is read apart, since changes of all accounts wait for each other on SQLite.
    #[diesel(select_expression = no_body(), select_expression_type = SqlLiteral<Nullable<Binary>>)]
    body: Option<Vec<u8>>,
    subject_id: Option<String>,
    subject_agent_id: Option<String>,
    maker_agents: Option<String>,
    answer_agents: Option<String>,
    holds_secret: bool,
    is_refusal: bool,
}

fn no_body() -> SqlLiteral<Nullable<Binary>> {
    sql("NULL")
}

impl ClaimRow {
    fn new(
        claim: &Claim,
        scope: &Scope,
        fingerprint: Fingerprint,
        now: Timestamp,
    ) -> Result<Self, TransactionError> {
        let record = Record::claimed(fingerprint, scope.clone(), claim.token.clone(), now);
        let (token, lease_until) = match record.state {
            RecordState::Claimed { token, lease_until } => (token, lease_until),
            RecordState::Completed(_) | RecordState::Erased { .. } => {
                return Err(TransactionError::internal("a new claim is not claimed"));
            }
        };
        let maker_agents = record.maker.agents.map(|agents| to_json(&agents.as_ref()));
        Ok(Self {
            account_id: record.maker.account.to_string(),
            idempotency_key: claim.key.as_str().to_owned(),
            fingerprint: record.fingerprint.0.to_vec(),
            state: CLAIMED.to_owned(),
            token,
            lease_until: lease_until.as_millis(),
            expires_at: record.expires_at.as_millis(),
            body: None,
            subject_id: None,
            subject_agent_id: None,
            maker_agents: maker_agents.transpose()?,
            answer_agents: None,
            holds_secret: false,
            is_refusal: false,
        })
    }

    fn into_record(self) -> Result<Record, TransactionError> {
        let maker: Option<Vec<Id<kind::Agent>>> =
            self.maker_agents.as_deref().map(from_json).transpose()?;
        let maker = Scope {
            account: id("idempotency.account_id", &self.account_id)?,
            agents: maker.map(Into::into),
            visitor: None,
        };
        let fingerprint = <[u8; 32]>::try_from(self.fingerprint.as_slice());
        let fingerprint = fingerprint.map_err(|_| {
            TransactionError::internal("an idempotency fingerprint does not have 32 bytes")
        })?;
        let expires_at = time(self.expires_at);
        let state = match self.state.as_str() {
            CLAIMED => {
                RecordState::Claimed { token: self.token, lease_until: time(self.lease_until) }
            }
            ERASED => RecordState::Erased { agents: self.answer_agents()? },
            _ => RecordState::Completed(self.into_answer()?),
        };
        Ok(Record { fingerprint: Fingerprint(fingerprint), state, maker, expires_at })
    }

    fn answer_agents(&self) -> Result<Option<Vec<Id<kind::Agent>>>, TransactionError> {
        self.answer_agents.as_deref().map(from_json).transpose()
    }

    fn into_answer(self) -> Result<KeptAnswer, TransactionError> {
        let agent = self.subject_agent_id.as_deref();
        let agent_id = agent.map(|text| id("idempotency.subject_agent_id", text)).transpose()?;
        let (agents, holds_secret) = (self.answer_agents()?, self.holds_secret);
        Ok(KeptAnswer {
            content: Vec::new(),
            is_refusal: self.is_refusal,
            subject: self.subject_id.map(|id| Subject { id, agent_id, agents, holds_secret }),
        })
    }
}

/// The columns of an answer.
#[derive(AsChangeset)]
#[diesel(table_name = idempotency, treat_none_as_null = true)]
struct AnswerRow {
    state: &'static str,
    body: Option<Vec<u8>>,
    subject_id: Option<String>,
    subject_agent_id: Option<String>,
    answer_agents: Option<String>,
    holds_secret: bool,
    is_refusal: bool,
}

impl TryFrom<KeptAnswer> for AnswerRow {
    type Error = TransactionError;

    fn try_from(answer: KeptAnswer) -> Result<Self, TransactionError> {
        let subject = answer.subject.as_ref();
        let agent = subject.and_then(|subject| subject.agent_id);
        let agents = subject.and_then(|subject| subject.agents.as_ref());
        Ok(Self {
            state: COMPLETED,
            body: Some(answer.content),
            is_refusal: answer.is_refusal,
            subject_agent_id: agent.map(|id| id.to_string()),
            answer_agents: agents.map(to_json).transpose()?,
            holds_secret: subject.is_some_and(|subject| subject.holds_secret),
            subject_id: answer.subject.map(|subject| subject.id),
        })
    }
}

/// Begins a transaction with a completion: locks the record of its claim, so that no other request
/// can take it over before it is completed, and checks the key that makes the change.
pub(crate) fn begin<T>(
    c: &mut AnyConnection,
    completion: Option<&Completion<T>>,
) -> Result<(), TransactionError> {
    let Some(completion) = completion else { return Ok(()) };
    if let Some(claim) = completion.claim() {
        let record = dialect::lock_record(c, &claim.account.to_string(), claim.key.as_str())?;
        let record = record.map(ClaimRow::into_record).transpose()?;
        if !record.is_some_and(|record| record.is_held_by(claim)) {
            return Err(Error::ClaimLost.into());
        }
    }
    completion.acting().map_or(Ok(()), |acting| keys::check_acting(c, acting))
}

/// Finishes a transaction with a completion: completes the claim with the answer for `outcome`, and
/// stores the audit record.
pub(crate) fn finish<T>(
    c: &mut AnyConnection,
    completion: Option<&Completion<T>>,
    outcome: &T,
) -> Result<(), TransactionError> {
    let Some(completion) = completion else { return Ok(()) };
    if let Some(record) = completion.record(outcome) {
        audit::insert(c, &record)?;
    }
    let Some((claim, answer)) = completion.answer(outcome) else { return Ok(()) };
    match complete(c, claim, answer)? {
        true => Ok(()),
        false => Err(Error::ClaimLost.into()),
    }
}

/// Stores an answer. Returns false if the claim was lost.
fn complete(
    c: &mut AnyConnection,
    claim: &Claim,
    answer: KeptAnswer,
) -> Result<bool, TransactionError> {
    let count = diesel::update(
        idempotency::table
            .find((claim.account.to_string(), claim.key.as_str()))
            .filter(idempotency::token.eq(&claim.token))
            .filter(idempotency::state.eq(CLAIMED)),
    )
    .set(AnswerRow::try_from(answer)?)
    .execute(c)?;
    Ok(count == 1)
}

/// Erases the answers that contain a deleted resource.
pub(crate) fn erase_of(c: &mut AnyConnection, subject: &str) -> Result<(), TransactionError> {
    diesel::update(idempotency::table.filter(idempotency::subject_id.eq(subject)))
        .set(erased())
        .execute(c)?;
    Ok(())
}

/// Erases the answers that contain a secret of this resource, which was replaced.
pub(crate) fn erase_secrets_of(
    c: &mut AnyConnection,
    subject: &str,
) -> Result<(), TransactionError> {
    let answers = idempotency::table
        .filter(idempotency::subject_id.eq(subject))
        .filter(idempotency::holds_secret.eq(true));
    diesel::update(answers).set(erased()).execute(c)?;
    Ok(())
}

/// Like [`erase_of`], for a resource that is deleted in parts: its answers may have gigabytes together. Returns true if none
/// is left.
pub(crate) fn erase_of_removed(
    c: &mut AnyConnection,
    subject: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_subject = idempotency::table.filter(idempotency::subject_id.eq(subject));
    let found = of_subject.limit(part.limit()).select(found()).load(c)?;
    erase_found(c, found, part)
}

/// The same for a source, and for the replies of its agent that belong to no conversation.
pub(crate) fn erase_of_source(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    if !erase_of_removed(c, source, part)? {
        return Ok(false);
    }
    let agent: Option<String> =
        sources::table.find(source).select(sources::agent_id).get_result(c).optional()?;
    let Some(agent) = agent else { return Ok(true) };
    let replies = Subject::of_replies(id("agent_id", &agent)?);
    erase_of_removed(c, &replies.id, part)
}

/// The same for an agent and everything that belonged to it.
pub(crate) fn erase_of_agent(
    c: &mut AnyConnection,
    agent: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    if !erase_of_removed(c, agent, part)? {
        return Ok(false);
    }
    let of_agent = idempotency::table.filter(idempotency::subject_agent_id.eq(agent));
    let found = of_agent.limit(part.limit()).select(found()).load(c)?;
    erase_found(c, found, part)
}

/// Like [`erase_of_agent`], at once: for the few answers that were stored since it returned true.
pub(crate) fn erase_rest_of_agent(
    c: &mut AnyConnection,
    agent: &str,
) -> Result<(), TransactionError> {
    erase_of(c, agent)?;
    let of_agent = idempotency::table.filter(idempotency::subject_agent_id.eq(agent));
    diesel::update(of_agent).set(erased()).execute(c)?;
    Ok(())
}

/// A record: its key, when it expires, and the size of its answer.
type Found = (String, String, i64, Size);
type FoundColumns = (
    idempotency::account_id,
    idempotency::idempotency_key,
    idempotency::expires_at,
    nullable_length<idempotency::body>,
);

/// The columns of a record that is removed, or whose answer is.
fn found() -> FoundColumns {
    (
        idempotency::account_id,
        idempotency::idempotency_key,
        idempotency::expires_at,
        nullable_length(idempotency::body),
    )
}

/// As many of these records as the part allows. A key that was taken again has another end.
fn taken(found: Vec<Found>, part: &mut Part) -> Vec<((String, String), i64)> {
    let sized = found.into_iter().map(|(account, key, end, size)| (((account, key), end), size));
    part.take_each(sized.collect())
}

fn erase_found(
    c: &mut AnyConnection,
    found: Vec<Found>,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    for (key, end) in taken(found, part) {
        let record = idempotency::table.find(key).filter(idempotency::expires_at.eq(end));
        diesel::update(record).set(erased()).execute(c)?;
    }
    Ok(!part.is_used_up())
}

/// Removes records that expired by `now`, the oldest first, as many as one part allows and at most `limit`. Returns their
/// number, and whether these were all.
pub(crate) fn expire(
    c: &mut AnyConnection,
    now: i64,
    limit: i64,
) -> Result<(usize, bool), TransactionError> {
    let old: Vec<Found> = idempotency::table
        .filter(idempotency::expires_at.le(now))
        .order(idempotency::expires_at)
        .limit(limit)
        .select(found())
        .load(c)?;
    let count = old.len();
    let removed = taken(old, &mut Part::new());
    let are_all = removed.len() == count && wide(count) < limit;
    let count = removed.len();
    for (key, end) in removed {
        let record = idempotency::table.find(key).filter(idempotency::expires_at.eq(end));
        diesel::delete(record).execute(c)?;
    }
    Ok((count, are_all))
}

/// Frees the keys of requests whose process ended.
pub(crate) fn free_claims(c: &mut AnyConnection) -> Result<(), TransactionError> {
    diesel::delete(idempotency::table.filter(idempotency::state.eq(CLAIMED))).execute(c)?;
    Ok(())
}

/// The columns of an erased answer. The columns that determine who may receive it stay unchanged.
#[derive(AsChangeset)]
#[diesel(table_name = idempotency, treat_none_as_null = true)]
struct ErasedRow {
    state: &'static str,
    body: Option<Vec<u8>>,
    subject_id: Option<String>,
    subject_agent_id: Option<String>,
}

fn erased() -> ErasedRow {
    ErasedRow { state: ERASED, body: None, subject_id: None, subject_agent_id: None }
}

#[async_trait]
impl IdempotencyStore for Storage {
    async fn claim(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
        token: String,
        deletes: bool,
        now: Timestamp,
    ) -> Result<Claimed, Error> {
        let claim = Claim { account: scope.account, key: key.clone(), token };
        let (scope, db) = (scope.clone(), self.db.of(claim.account));
        let (account, record_key) = (claim.account.to_string(), key.as_str().to_owned());
        let claim = move |c: &mut AnyConnection| take(c, &claim, &scope, fingerprint, now);
        let taken = if deletes { db.free(claim).await } else { db.write(claim).await };
        let (claimed, token) = taken?;
        let Claimed::Replay(answer, audience) = claimed else { return Ok(claimed) };
        let body = move |c: &mut AnyConnection| {
            let record = idempotency::table.find((&account, &record_key));
            let record = record.filter(idempotency::token.eq(&token));
            let body: Option<Option<Vec<u8>>> =
                record.select(idempotency::body).get_result(c).optional()?;
            Ok(body.flatten())
        };
        Ok(match db.read(body).await? {
            Some(content) => Claimed::Replay(KeptAnswer { content, ..answer }, audience),
            // It was erased in the meantime.
            None => Claimed::Erased(audience),
        })
    }

    async fn complete(&self, claim: &Claim, answer: KeptAnswer) -> Result<(), Error> {
        let claim = claim.clone();
        self.db
            .of(claim.account)
            .write(move |c| {
                // If the claim was lost, the other request's answer is kept.
                complete(c, &claim, answer.clone())?;
                Ok(())
            })
            .await
    }

    async fn release(&self, claim: &Claim) -> Result<(), Error> {
        let claim = claim.clone();
        self.db
            .of(claim.account)
            .free(move |c| {
                let record = idempotency::table
                    .find((claim.account.to_string(), claim.key.as_str()))
                    .filter(idempotency::token.eq(&claim.token))
                    .filter(idempotency::state.eq(CLAIMED));
                diesel::delete(record).execute(c)?;
                Ok(())
            })
            .await
    }
}

/// Claims a key, or returns what is there, with the token of its claim. An answer is returned without its content.
fn take(
    c: &mut AnyConnection,
    claim: &Claim,
    scope: &Scope,
    fingerprint: Fingerprint,
    now: Timestamp,
) -> Result<(Claimed, String), TransactionError> {
    let granted = || (Claimed::Granted(claim.clone()), claim.token.clone());
    let row = ClaimRow::new(claim, scope, fingerprint, now)?;
    for _ in 0..LOOKS {
        if dialect::insert_record(c, &row)? {
            return Ok(granted());
        }
        // On PostgreSQL the record may be released between the two statements.
        let Some(found) = dialect::lock_record(c, &row.account_id, &row.idempotency_key)? else {
            continue;
        };
        let token = found.token.clone();
        if let Some(met) = found.into_record()?.meet(fingerprint, now) {
            return Ok((met, token));
        }
        diesel::update(idempotency::table.find((&row.account_id, &row.idempotency_key)))
            .set(&row)
            .execute(c)?;
        return Ok(granted());
    }
    Err(Error::unavailable("an idempotency record kept changing").into())
}
