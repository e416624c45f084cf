//! Ratings of replies, with the counts that change with them.

use std::collections::HashMap;

use cicerone_domain::conversation::{Channel, NewRating, Rating, RatingComment, RatingValue};
use cicerone_domain::event::Event;
use cicerone_domain::gap::RatedQuestion;
use cicerone_domain::id::kind;
use cicerone_domain::usage::Day;
use cicerone_domain::webhook::EventName;
use cicerone_domain::{Conversation, Error, Id, Role, Timestamp, limits};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::{position_of, require};
use crate::columns::{named, time};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::events;
use crate::gaps;
use crate::schema::{conversations, messages, ratings, usage_days};
use crate::scope::Visible;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = ratings, treat_none_as_null = true, treat_none_as_default_value = false)]
struct RatingRow {
    conversation_id: String,
    position: i64,
    account_id: String,
    value: String,
    comment: Option<String>,
    rated_at: i64,
}

impl TryFrom<RatingRow> for Rating {
    type Error = TransactionError;

    fn try_from(row: RatingRow) -> Result<Self, TransactionError> {
        Ok(Self {
            value: named("ratings.value", &row.value, RatingValue::from_name)?,
            comment: row.comment.map(RatingComment::from_stored),
            rated_at: time(row.rated_at),
        })
    }
}

/// A reply whose conversation is locked.
pub(super) struct Reply {
    of: Conversation,
    conversation: String,
    position: i64,
    number: u64,
    account: String,
    agent: String,
    channel: Channel,
    /// The day on which it was generated.
    day: Day,
}

/// The reply with that number, of a conversation in the scope. Changes of the same conversation follow each other from
/// here on.
pub(super) fn require_reply(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
    number: u64,
) -> Result<Reply, TransactionError> {
    dialect::lock_conversation(c, &id.to_string())?;
    let conversation = require(c, visible, id)?;
    let position = position_of(number)?;
    let found: Option<(String, i64)> = messages::table
        .find((id.to_string(), position))
        .select((messages::role, messages::created_at))
        .get_result(c)
        .optional()?;
    let (role, created_at) = found.ok_or_else(|| Error::not_found("message", number))?;
    named("messages.role", &role, Role::from_name)?.check_can_be_rated(number)?;
    Ok(Reply {
        conversation: id.to_string(),
        position,
        number,
        account: conversation.account_id.to_string(),
        agent: conversation.agent_id.to_string(),
        channel: conversation.channel,
        day: Day::of(time(created_at)),
        of: conversation,
    })
}

fn find(c: &mut AnyConnection, reply: &Reply) -> Result<Option<Rating>, TransactionError> {
    let row: Option<RatingRow> = ratings::table
        .find((&reply.conversation, reply.position))
        .select(RatingRow::as_select())
        .get_result(c)
        .optional()?;
    row.map(Rating::try_from).transpose()
}

/// Rates a reply.
pub(super) fn rate(
    c: &mut AnyConnection,
    reply: &Reply,
    new: NewRating,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Rating, TransactionError> {
    let before = find(c, reply)?;
    let rating = Rating::after(before.clone(), new, now);
    if before.as_ref() == Some(&rating) {
        return Ok(rating);
    }
    let row = RatingRow {
        conversation_id: reply.conversation.clone(),
        position: reply.position,
        account_id: reply.account.clone(),
        value: rating.value.name().to_owned(),
        comment: rating.comment.as_ref().map(ToString::to_string),
        rated_at: rating.rated_at.as_millis(),
    };
    match &before {
        Some(_) => {
            let target = ratings::table.find((&reply.conversation, reply.position));
            diesel::update(target).set(row).execute(c)?;
        }
        None => {
            diesel::insert_into(ratings::table).values(row).execute(c)?;
        }
    }
    let before = before.map(|before| before.value);
    note_gap(c, reply, before, Some(rating.value))?;
    write_event(c, reply, &rating, event, now)?;
    count(c, reply, before, Some(rating.value))?;
    Ok(rating)
}

/// Writes the event of a rating if an endpoint receives it.
fn write_event(
    c: &mut AnyConnection,
    reply: &Reply,
    rating: &Rating,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let takers = events::takers(c, reply.of.account_id, EventName::MessageRated)?;
    if takers.is_empty() {
        return Ok(());
    }
    let beginning = format!("substr(messages.content, 1, {})", limits::EVENT_TEXT_CHARS);
    let mut text = |position: i64| -> Result<String, TransactionError> {
        Ok(messages::table
            .find((&reply.conversation, position))
            .select(sql::<Text>(&beginning))
            .get_result(c)?)
    };
    let texts = (text(reply.position - 1)?, text(reply.position)?);
    let texts = (texts.0.as_str(), texts.1.as_str());
    let event = Event::of_rating(&reply.of, reply.number, rating, texts, event, now);
    events::publish(c, &event, takers)
}

/// Removes the rating of a reply.
pub(super) fn remove(
    c: &mut AnyConnection,
    reply: &Reply,
    number: u64,
) -> Result<(), TransactionError> {
    let before = find(c, reply)?.ok_or_else(|| Error::not_found("rating", number))?;
    diesel::delete(ratings::table.find((&reply.conversation, reply.position))).execute(c)?;
    note_gap(c, reply, Some(before.value), None)?;
    count(c, reply, Some(before.value), None)
}

/// Adds the question of the reply to those in gaps if the reply is rated down now, and removes it if it was.
fn note_gap(
    c: &mut AnyConnection,
    reply: &Reply,
    before: Option<RatingValue>,
    after: Option<RatingValue>,
) -> Result<(), TransactionError> {
    let question = (reply.conversation.as_str(), reply.position - 1);
    match RatedQuestion::after(before, after, reply.channel) {
        Some(RatedQuestion::Added) => {
            gaps::note_rated_down(c, (&reply.account, &reply.agent), question)
        }
        Some(RatedQuestion::Removed) => gaps::forget_rated_down(c, question),
        None => Ok(()),
    }
}

/// Changes the counts of the conversation and of the day of the reply. A day that is no longer kept has no row to change.
fn count(
    c: &mut AnyConnection,
    reply: &Reply,
    before: Option<RatingValue>,
    after: Option<RatingValue>,
) -> Result<(), TransactionError> {
    let change = |value| i64::from(after == Some(value)) - i64::from(before == Some(value));
    let (up, down) = (change(RatingValue::Up), change(RatingValue::Down));
    if (up, down) == (0, 0) {
        return Ok(());
    }
    diesel::update(conversations::table.find(&reply.conversation))
        .set((
            conversations::rated_up.eq(conversations::rated_up + up),
            conversations::rated_down.eq(conversations::rated_down + down),
        ))
        .execute(c)?;
    diesel::update(usage_days::table.find((&reply.account, reply.day.number(), &reply.agent)))
        .set((
            usage_days::rated_up.eq(usage_days::rated_up + up),
            usage_days::rated_down.eq(usage_days::rated_down + down),
        ))
        .execute(c)?;
    Ok(())
}

/// The ratings of the messages of a conversation from one position to another, by position.
pub(super) fn between(
    c: &mut AnyConnection,
    conversation: &str,
    (low, high): (i64, i64),
) -> Result<HashMap<i64, Rating>, TransactionError> {
    let rows: Vec<RatingRow> = ratings::table
        .filter(ratings::conversation_id.eq(conversation))
        .filter(ratings::position.between(low, high))
        .select(RatingRow::as_select())
        .load(c)?;
    rows.into_iter().map(|row| Ok((row.position, Rating::try_from(row)?))).collect()
}
