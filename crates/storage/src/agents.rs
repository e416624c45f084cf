//! Agents.

mod known;

use async_trait::async_trait;
use cicerone_domain::agent::{
    AgentFilter, AgentName, AgentProfile, AnswerFloor, ModelName, ReplyTokens, RetentionDays,
    SystemPrompt, Temperature, may_add_agent,
};
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::AgentStore;
use cicerone_domain::{
    Agent, AgentPatch, AgentStatus, Error, Id, Page, PageRequest, Scope, Timestamp,
};
use diesel::prelude::*;

use crate::columns::{id, named, narrow, narrow_option, time, wide};
use crate::connection::{AnyConnection, Either};
use crate::dialect;
use crate::error::TransactionError;
use crate::managed;
use crate::pages::created_before;
use crate::removal::{Removed, remove};
use crate::schema::agents;
use crate::scope::Visible;
use crate::storage::Storage;
pub(crate) use known::KnownAgents;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = agents, treat_none_as_default_value = false, treat_none_as_null = true)]
struct AgentRow {
    id: String,
    account_id: String,
    name: String,
    model: String,
    system_prompt: String,
    temperature: f64,
    max_tokens: i64,
    status: String,
    index_generation: i64,
    created_at: i64,
    updated_at: i64,
    retention_days: Option<i64>,
    answer_floor: String,
    public_sources: bool,
    receipts: bool,
    source_list: bool,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
}

impl From<&Agent> for AgentRow {
    fn from(agent: &Agent) -> Self {
        let (managed_set, managed_key, managed_hash) =
            managed::columns(agent.profile.managed.as_ref());
        Self {
            id: agent.id.to_string(),
            account_id: agent.account_id.to_string(),
            name: agent.profile.name.to_string(),
            model: agent.profile.model.as_str().to_owned(),
            system_prompt: agent.profile.system_prompt.to_string(),
            temperature: agent.profile.temperature.get(),
            max_tokens: agent.profile.max_tokens.get().into(),
            status: agent.status.name().to_owned(),
            index_generation: wide(agent.index_generation),
            created_at: agent.created_at.as_millis(),
            updated_at: agent.updated_at.as_millis(),
            retention_days: agent.profile.retention_days.map(|days| days.get().into()),
            answer_floor: agent.profile.answer_floor.name().to_owned(),
            public_sources: agent.profile.public_sources,
            receipts: agent.profile.receipts,
            source_list: agent.profile.source_list,
            managed_set,
            managed_key,
            managed_hash,
        }
    }
}

impl TryFrom<AgentRow> for Agent {
    type Error = TransactionError;

    fn try_from(row: AgentRow) -> Result<Self, TransactionError> {
        Ok(Self {
            id: id("agents.id", &row.id)?,
            account_id: id("agents.account_id", &row.account_id)?,
            profile: AgentProfile {
                name: AgentName::from_stored(row.name),
                model: ModelName::from_stored(row.model),
                system_prompt: SystemPrompt::from_stored(row.system_prompt),
                temperature: Temperature::from_stored(row.temperature),
                max_tokens: ReplyTokens::from_stored(narrow("agents.max_tokens", row.max_tokens)?),
                retention_days: narrow_option("agents.retention_days", row.retention_days)?
                    .map(RetentionDays::from_stored),
                answer_floor: named(
                    "agents.answer_floor",
                    &row.answer_floor,
                    AnswerFloor::from_name,
                )?,
                public_sources: row.public_sources,
                receipts: row.receipts,
                source_list: row.source_list,
                managed: managed::from_columns((
                    row.managed_set,
                    row.managed_key,
                    row.managed_hash,
                )),
            },
            status: named("agents.status", &row.status, AgentStatus::from_name)?,
            created_at: time(row.created_at),
            updated_at: time(row.updated_at),
            index_generation: narrow("agents.index_generation", row.index_generation)?,
        })
    }
}

/// The agent, if it is in the scope.
pub(crate) fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Agent>,
) -> Result<Option<Agent>, TransactionError> {
    let id = id.to_string();
    // A condition that is only sometimes there would keep the statement from being prepared once.
    if visible.agents.as_ref().is_some_and(|ids| !ids.contains(&id)) {
        return Ok(None);
    }
    let query = agents::table
        .filter(agents::id.eq(id))
        .filter(agents::account_id.eq(&visible.account))
        .filter(agents::removed_at.is_null());
    // If it were written for both databases, Diesel would build the statement again for every reply.
    let found: Option<AgentRow> = match c.either() {
        Either::Postgres(c) => query.select(AgentRow::as_select()).get_result(c),
        Either::Sqlite(c) => query.select(AgentRow::as_select()).get_result(c),
    }
    .optional()?;
    found.map(Agent::try_from).transpose()
}

/// Returns the agent. Fails if it is not in the scope.
pub(crate) fn require(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Agent>,
) -> Result<Agent, TransactionError> {
    find(c, visible, id)?.ok_or_else(|| Error::not_found("agent", id).into())
}

/// Like [`require`], and locks the agent's row.
pub(crate) fn require_locked(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Agent>,
) -> Result<Agent, TransactionError> {
    dialect::lock_agent(c, &id.to_string())?;
    require(c, visible, id)
}

/// Raises the number of an agent's content and returns it. The caller must hold the row's lock.
///
/// The lower 32 bits are random, so that a number never identifies two contents. A plain counter would repeat numbers
/// after the database was restored to an earlier state: from a backup, a copy of its file, or by a failover. So an
/// index built for a number holds exactly that content.
pub(crate) fn raise_generation(c: &mut AnyConnection, id: &str) -> Result<i64, TransactionError> {
    Ok(dialect::raise_generation(c, id)?)
}

/// The agents of an account, whose row is locked, so that concurrent additions are counted one after the other.
fn count(c: &mut AnyConnection, account: &str) -> Result<u64, TransactionError> {
    dialect::lock_account_row(c, account)?;
    let count = agents::table.filter(agents::account_id.eq(account)).count().get_result(c)?;
    narrow("count", count)
}

#[async_trait]
impl AgentStore for Storage {
    async fn insert_agent(
        &self,
        agent: Agent,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error> {
        let most = self.account_agents;
        self.db
            .of(agent.account_id)
            .write_completing(completion, move |c| {
                may_add_agent(count(c, &agent.account_id.to_string())?, most)?;
                let row = AgentRow::from(&agent);
                let outcome = diesel::insert_into(agents::table).values(row).execute(c);
                managed::written(outcome, agent.profile.managed.as_ref(), "another agent")?;
                Ok(agent.clone())
            })
            .await
    }

    async fn find_agent(&self, scope: &Scope, id: Id<kind::Agent>) -> Result<Option<Agent>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).lookup(move |c| find(c, &visible, id)).await
    }

    async fn list_agents(
        &self,
        scope: &Scope,
        filter: AgentFilter,
        page: PageRequest,
    ) -> Result<Page<Agent>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).read(move |c| list(c, &visible, &filter, &page)).await
    }

    async fn update_agent(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        patch: AgentPatch,
        now: Timestamp,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error> {
        let visible = Visible::from(scope);
        self.db
            .of(scope.account)
            .write_completing(completion, move |c| {
                let mut agent = require_locked(c, &visible, id)?;
                agent.apply(patch.clone(), now);
                let outcome = diesel::update(agents::table.find(id.to_string()))
                    .set(AgentRow::from(&agent))
                    .execute(c);
                managed::written(outcome, agent.profile.managed.as_ref(), "another agent")?;
                Ok(agent)
            })
            .await
    }

    async fn delete_agent(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        remove(&db, Removed::Agent(id.to_string()), now, completion, move |c| {
            require_locked(c, &visible, id).map(|_| ())
        })
        .await
    }
}

fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    filter: &AgentFilter,
    page: &PageRequest,
) -> Result<Page<Agent>, TransactionError> {
    let mut query = agents::table
        .filter(agents::account_id.eq(&visible.account))
        .filter(agents::removed_at.is_null())
        .order((agents::created_at.desc(), agents::id.desc()))
        .limit(page.lookahead())
        .select(AgentRow::as_select())
        .into_boxed();
    if let Some(ids) = &visible.agents {
        query = query.filter(agents::id.eq_any(ids));
    }
    if let Some(status) = filter.status {
        query = query.filter(agents::status.eq(status.name()));
    }
    if let Some(set) = &filter.set {
        query = query.filter(agents::managed_set.eq(set.as_str()));
    }
    if let Some((at, id)) = created_before(page)? {
        // SQLite needs the first condition alone to skip the rows before the position in the index.
        query = query
            .filter(agents::created_at.le(at))
            .filter(agents::created_at.lt(at).or(agents::id.lt(id)));
    }
    let items: Result<Vec<Agent>, _> = query.load(c)?.into_iter().map(Agent::try_from).collect();
    Ok(Page::from_lookahead(items?, page.size))
}
