//! Lists of an agent's conversations.

use cicerone_domain::conversation::{ConversationFilter, RatingValue};
use cicerone_domain::id::kind;
use cicerone_domain::{Conversation, Id, Page, PageRequest};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::ConversationRow;
use crate::agents;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::pages::created_before;
use crate::schema::{conversation_metadata, conversations};
use crate::scope::Visible;

/// Most conversations with a metadata pair for which they are collected first.
const FEW: i64 = 1_000;

/// The first of these pairs that only a few of the agent's conversations have, if any.
fn rare_pair(
    c: &mut AnyConnection,
    agent: &str,
    pairs: &[(String, String)],
) -> Result<Option<usize>, TransactionError> {
    for (number, (name, value)) in pairs.iter().enumerate() {
        let beyond: Option<String> = conversation_metadata::table
            .filter(conversation_metadata::agent_id.eq(agent))
            .filter(conversation_metadata::name.eq(name))
            .filter(conversation_metadata::value.eq(value))
            .select(conversation_metadata::conversation_id)
            .offset(FEW)
            .limit(1)
            .get_result(c)
            .optional()?;
        if beyond.is_none() {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// A page of an agent's conversations, newest first.
pub(super) fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    filter: &ConversationFilter,
    page: &PageRequest,
) -> Result<Page<Conversation>, TransactionError> {
    agents::require(c, visible, agent)?;
    let agent = agent.to_string();
    let mut query = conversations::table
        .filter(conversations::account_id.eq(&visible.account))
        .filter(conversations::agent_id.eq(&agent))
        .filter(conversations::removed_at.is_null())
        .order((conversations::created_at.desc(), conversations::id.desc()))
        .limit(page.lookahead())
        .select(ConversationRow::as_select())
        .into_boxed();
    if let Some(after) = filter.created_after {
        query = query.filter(conversations::created_at.gt(after.as_millis()));
    }
    if let Some(before) = filter.created_before {
        query = query.filter(conversations::created_at.lt(before.as_millis()));
    }
    // Written out, so that the conditions are those of the partial indexes.
    if filter.unanswered {
        query = query.filter(sql::<Bool>("unanswered > 0"));
    }
    match filter.rating {
        Some(RatingValue::Up) => query = query.filter(sql::<Bool>("rated_up > 0")),
        Some(RatingValue::Down) => query = query.filter(sql::<Bool>("rated_down > 0")),
        None => {}
    }
    if let Some(channel) = filter.channel {
        query = query.filter(conversations::channel.eq(channel.name()));
    }
    let visitor = filter.visitor.map(|id| id.to_string());
    for visitor in [visitor.as_ref(), visible.visitor.as_ref()].into_iter().flatten() {
        query = query.filter(conversations::visitor_id.eq(visitor.clone()));
    }
    let rare = rare_pair(c, &agent, &filter.metadata)?;
    for (number, (name, value)) in filter.metadata.iter().enumerate() {
        // Few conversations have a rare pair: they are collected, and the other pairs are looked up
        // for each of them. Collecting all conversations that have a common pair costs more than
        // the list.
        if rare == Some(number) {
            let with_pair = conversation_metadata::table
                .filter(conversation_metadata::agent_id.eq(&agent))
                .filter(conversation_metadata::name.eq(name))
                .filter(conversation_metadata::value.eq(value))
                .select(conversation_metadata::conversation_id);
            query = query.filter(conversations::id.eq_any(with_pair));
        } else {
            let pair = conversation_metadata::table
                .filter(conversation_metadata::conversation_id.eq(conversations::id))
                .filter(conversation_metadata::name.eq(name))
                .filter(conversation_metadata::value.eq(value));
            query = query.filter(exists(pair.select(conversation_metadata::conversation_id)));
        }
    }
    if let Some((at, id)) = created_before(page)? {
        query = query
            .filter(conversations::created_at.le(at))
            .filter(conversations::created_at.lt(at).or(conversations::id.lt(id)));
    }
    let items: Result<Vec<Conversation>, _> =
        query.load(c)?.into_iter().map(Conversation::try_from).collect();
    Ok(Page::from_lookahead(items?, page.size))
}
