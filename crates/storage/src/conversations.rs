//! Conversations and their messages.

mod batches;
mod expiry;
mod gathered;
mod list;
mod ratings;
mod receipts;
mod turn;

use std::collections::HashMap;

use async_trait::async_trait;
use cicerone_domain::conversation::{
    Batch, Channel, ConversationCounts, ConversationFilter, FoundReceipt, Metadata, NewRating,
    NumberedText, PlacedMessage, Rating, ReadFrom, Turn,
};
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::{ConversationContext, ConversationStore};
use cicerone_domain::usage::DayUsage;
use cicerone_domain::{
    Agent, Conversation, Error, Id, Message, Page, PageRequest, Role, Scope, Timestamp,
};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};

pub(crate) use expiry::expire;
pub(crate) use gathered::GatheredTurns;

use crate::agents;
use crate::columns::{from_json, id, named, narrow, time, wide};
use crate::connection::AnyConnection;
use crate::dialect::{Begin, lock_conversation, transaction};
use crate::error::TransactionError;
use crate::pages::{Size, fitting, numbered_before, octet_length};
use crate::removal::{AGENT_IS_THERE, Removed, remove};
use crate::schema::{conversation_metadata, conversations, messages};
use crate::scope::Visible;
use crate::storage::Storage;
use crate::usage::{self, StatisticsRow};

#[derive(Queryable, Selectable)]
#[diesel(table_name = conversations)]
pub(crate) struct ConversationRow {
    pub(crate) id: String,
    pub(crate) account_id: String,
    pub(crate) agent_id: String,
    pub(crate) metadata: String,
    pub(crate) message_count: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) channel: String,
    pub(crate) unanswered: i64,
    pub(crate) rated_up: i64,
    pub(crate) rated_down: i64,
    #[diesel(select_expression = sql::<Nullable<Text>>(EXISTING_WIDGET))]
    #[diesel(select_expression_type = SqlLiteral<Nullable<Text>>)]
    pub(crate) widget_id: Option<String>,
    pub(crate) visitor_id: Option<String>,
    pub(crate) visitor: Option<String>,
    pub(crate) handoff_requested_at: Option<i64>,
    pub(crate) lead: Option<String>,
}

/// The widget of a conversation, if it still exists.
const EXISTING_WIDGET: &str =
    "(SELECT widgets.id FROM widgets WHERE widgets.id = conversations.widget_id)";

#[derive(Insertable)]
#[diesel(table_name = conversation_metadata)]
pub(crate) struct MetadataRow {
    conversation_id: String,
    name: String,
    value: String,
    agent_id: String,
    account_id: String,
}

/// A message as it is read. The receipts of replies are read separately, so that other reads do not pay for them.
#[derive(Queryable, Selectable)]
#[diesel(table_name = messages)]
struct MessageRow {
    position: i64,
    role: String,
    content: String,
    sources_used: Option<String>,
    created_at: i64,
}

/// A message as a reply needs it: without the citations, which are larger than most messages.
#[derive(Queryable, Selectable)]
#[diesel(table_name = messages)]
struct HistoryRow {
    role: String,
    content: String,
    created_at: i64,
    #[diesel(
        select_expression = messages::sources_used.is_not_null(),
        select_expression_type = diesel::dsl::IsNotNull<messages::sources_used>
    )]
    is_answer: bool,
}

/// A message to store.
pub(crate) struct NewMessageRow<'a> {
    pub(crate) conversation_id: &'a str,
    pub(crate) position: i64,
    pub(crate) account_id: &'a str,
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
    pub(crate) sources_used: Option<&'a str>,
    pub(crate) created_at: i64,
    pub(crate) receipt: Option<&'a str>,
}

impl TryFrom<ConversationRow> for Conversation {
    type Error = TransactionError;

    fn try_from(row: ConversationRow) -> Result<Self, TransactionError> {
        let metadata = Metadata::from_stored(from_json(&row.metadata)?);
        Ok(Self {
            id: id("conversations.id", &row.id)?,
            account_id: id("conversations.account_id", &row.account_id)?,
            agent_id: id("conversations.agent_id", &row.agent_id)?,
            metadata,
            channel: named("conversations.channel", &row.channel, Channel::from_name)?,
            widget_id: row.widget_id.map(|text| id("widgets.id", &text)).transpose()?,
            visitor: row.visitor.as_deref().map(from_json).transpose()?,
            handoff_requested_at: row.handoff_requested_at.map(time),
            lead: row.lead.as_deref().map(from_json).transpose()?,
            counts: ConversationCounts {
                messages: narrow("conversations.message_count", row.message_count)?,
                unanswered: narrow("conversations.unanswered", row.unanswered)?,
                rated_up: narrow("conversations.rated_up", row.rated_up)?,
                rated_down: narrow("conversations.rated_down", row.rated_down)?,
            },
            created_at: time(row.created_at),
            updated_at: time(row.updated_at),
        })
    }
}

impl TryFrom<HistoryRow> for Message {
    type Error = TransactionError;

    fn try_from(row: HistoryRow) -> Result<Self, TransactionError> {
        Ok(Self {
            role: named("messages.role", &row.role, Role::from_name)?,
            content: row.content,
            sources_used: Vec::new(),
            timestamp: time(row.created_at),
        })
    }
}

impl TryFrom<MessageRow> for Message {
    type Error = TransactionError;

    fn try_from(row: MessageRow) -> Result<Self, TransactionError> {
        let sources_used = row.sources_used.as_deref().map(from_json).transpose()?;
        Ok(Self {
            role: named("messages.role", &row.role, Role::from_name)?,
            content: row.content,
            sources_used: sources_used.unwrap_or_default(),
            timestamp: time(row.created_at),
        })
    }
}

#[async_trait]
impl ConversationStore for Storage {
    async fn context(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        conversation: Option<Id<kind::Conversation>>,
        messages: usize,
    ) -> Result<ConversationContext, Error> {
        let db = self.db.of(scope.account);
        let changes = db.changes_so_far();
        let known = changes.and_then(|changes| self.known.get(changes, agent));
        let known = known.filter(|agent| agent.account_id == scope.account && scope.sees(agent.id));
        let was_known = known.is_some();
        if let (Some(agent), None) = (&known, conversation) {
            return Ok(ConversationContext::begin(agent.clone()));
        }
        let visible = Visible::from(scope);
        let context = db
            .lookup(move |c| match conversation {
                // A single query already sees a consistent state.
                None => {
                    let agent = agents::require(c, &visible, agent)?;
                    Ok(ConversationContext::begin(agent))
                }
                Some(conversation) => transaction(c, Begin::Snapshot, |c| {
                    let agent = match &known {
                        Some(agent) => agent.clone(),
                        None => agents::require(c, &visible, agent)?,
                    };
                    context(c, &visible, agent, conversation, messages)
                }),
            })
            .await?;
        if let Some(changes) = changes
            && !was_known
        {
            self.known.put(changes, context.agent.clone());
        }
        Ok(context)
    }

    async fn append_turn(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        self.append(turn, completion).await
    }

    async fn count_reply(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        self.db
            .of(turn.conversation.account_id)
            .write_completing(completion, move |c| turn::count(c, &turn))
            .await
    }

    async fn count_refused_reply(
        &self,
        account: Id<kind::Account>,
        usage: DayUsage,
    ) -> Result<(), Error> {
        let count =
            move |c: &mut AnyConnection| usage::count(c, account, usage, StatisticsRow::default());
        self.db.of(account).write(count).await
    }

    async fn list_conversations(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<Conversation>, Error> {
        self.snapshot(scope, move |c, visible| list::list(c, visible, agent, &filter, &page)).await
    }

    async fn read_texts(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        from: ReadFrom,
    ) -> Result<Batch<NumberedText>, Error> {
        self.read_batch(scope, agent, filter, from).await
    }

    async fn read_messages(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        from: ReadFrom,
    ) -> Result<Batch<PlacedMessage>, Error> {
        self.read_batch(scope, agent, filter, from).await
    }

    async fn find_conversation(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
    ) -> Result<Option<(Conversation, Page<PlacedMessage>)>, Error> {
        self.snapshot(scope, move |c, visible| {
            let Some(conversation) = find(c, visible, id)? else { return Ok(None) };
            // No answer has room for more messages than this.
            let size = u32::try_from(PageRequest::MOST_ITEMS).unwrap_or(u32::MAX);
            let newest = PageRequest { size, after: None };
            Ok(Some((conversation, list_messages(c, id, &newest)?)))
        })
        .await
    }

    async fn list_messages(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        page: PageRequest,
    ) -> Result<Page<PlacedMessage>, Error> {
        self.snapshot(scope, move |c, visible| {
            require(c, visible, id)?;
            list_messages(c, id, &page)
        })
        .await
    }

    async fn rate_message(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        rating: NewRating,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Rating, Error> {
        let visible = Visible::from(scope);
        let rate = move |c: &mut AnyConnection| {
            let reply = ratings::require_reply(c, &visible, id, number)?;
            ratings::rate(c, &reply, rating.clone(), event, now)
        };
        self.db.of(scope.account).write(rate).await
    }

    async fn unrate_message(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        let unrate = move |c: &mut AnyConnection| {
            let reply = ratings::require_reply(c, &visible, id, number)?;
            ratings::remove(c, &reply, number)
        };
        self.db.of(scope.account).write_completing(completion, unrate).await
    }

    async fn find_receipt(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
    ) -> Result<FoundReceipt, Error> {
        self.snapshot(scope, move |c, visible| receipts::find(c, visible, id, number)).await
    }

    async fn delete_conversation(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        remove(&db, Removed::Conversation(id.to_string()), now, completion, move |c| {
            lock_conversation(c, &id.to_string())?;
            require(c, &visible, id).map(|_| ())
        })
        .await
    }
}

impl Storage {
    /// The next batch of an agent's conversations, read at one moment.
    async fn read_batch<M: batches::Detail>(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        from: ReadFrom,
    ) -> Result<Batch<M>, Error> {
        let read = move |c: &mut AnyConnection, visible: &Visible| {
            batches::read(c, visible, agent, &filter, from.clone())
        };
        self.snapshot(scope, read).await
    }
}

/// Returns the conversation if its agent is in the scope.
fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
) -> Result<Option<Conversation>, TransactionError> {
    let mut query = conversations::table
        .filter(conversations::id.eq(id.to_string()))
        .filter(conversations::account_id.eq(&visible.account))
        .filter(conversations::removed_at.is_null())
        .filter(sql::<Bool>(AGENT_IS_THERE))
        .select(ConversationRow::as_select())
        .into_boxed();
    if let Some(ids) = &visible.agents {
        query = query.filter(conversations::agent_id.eq_any(ids));
    }
    if let Some(visitor) = &visible.visitor {
        query = query
            .filter(conversations::visitor_id.eq(visitor))
            .filter(conversations::channel.eq(Channel::Widget.name()));
    }
    query.get_result(c).optional()?.map(Conversation::try_from).transpose()
}

pub(crate) fn require(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
) -> Result<Conversation, TransactionError> {
    find(c, visible, id)?.ok_or_else(|| Error::not_found("conversation", id).into())
}

/// The position of the message with that number in a conversation.
fn position_of(number: u64) -> Result<i64, TransactionError> {
    let position = i64::try_from(number).ok().and_then(|number| number.checked_sub(1));
    position.ok_or_else(|| Error::not_found("message", number).into())
}

/// A page of a conversation's messages, newest first. The caller has checked that the conversation
/// is in the scope.
pub(crate) fn list_messages(
    c: &mut AnyConnection,
    conversation: Id<kind::Conversation>,
    page: &PageRequest,
) -> Result<Page<PlacedMessage>, TransactionError> {
    let (conversation, begin) = (conversation.to_string(), numbered_before(page)?);
    let query = || {
        messages::table
            .filter(messages::conversation_id.eq(&conversation))
            .filter(messages::position.lt(begin))
            .order(messages::position.desc())
    };
    let sizes: Vec<(Size, Size)> = query()
        .limit(page.lookahead())
        .select((octet_length(messages::content.nullable()), octet_length(messages::sources_used)))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(<[Size; 2]>::from).collect();
    let fit = fitting(page, &sizes);
    let rows: Vec<MessageRow> = query().limit(fit.count).select(MessageRow::as_select()).load(c)?;
    let positions = rows.last().zip(rows.first()).map(|(low, high)| (low.position, high.position));
    let mut ratings = match positions {
        Some(positions) => ratings::between(c, &conversation, positions)?,
        None => HashMap::new(),
    };
    let placed = |row: MessageRow| {
        let (position, rating) = (row.position, ratings.remove(&row.position));
        Ok(PlacedMessage { position, message: Message::try_from(row)?, rating })
    };
    let items: Result<Vec<_>, TransactionError> = rows.into_iter().map(placed).collect();
    Ok(Page::of(items?, fit.more))
}

fn context(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Agent,
    conversation: Id<kind::Conversation>,
    messages: usize,
) -> Result<ConversationContext, TransactionError> {
    let conversation = require(c, visible, conversation)?;
    conversation.check_belongs_to(agent.id)?;
    let newest: Vec<HistoryRow> = messages::table
        .filter(messages::conversation_id.eq(conversation.id.to_string()))
        .order(messages::position.desc())
        .limit(wide(messages))
        .select(HistoryRow::as_select())
        .load(c)?;
    let is_last_answered = newest.first().is_some_and(|last| last.is_answer);
    let history: Result<Vec<_>, _> = newest.into_iter().rev().map(Message::try_from).collect();
    let conversation = Some((conversation, history?));
    Ok(ConversationContext { agent, conversation, is_last_answered })
}
