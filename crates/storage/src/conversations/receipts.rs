//! Receipts of replies.

use cicerone_domain::conversation::{FoundReceipt, Receipt, ReceiptHit};
use cicerone_domain::id::kind;
use cicerone_domain::{Conversation, Error, Id, Passage, Role};
use diesel::prelude::*;

use super::{position_of, require};
use crate::columns::{from_json, named, wide};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::schema::{documents, messages, passages, sources};
use crate::scope::Visible;
use crate::sources::PassageRow;

/// The receipt of the reply with that number, of a conversation in the scope.
pub(super) fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
    number: u64,
) -> Result<FoundReceipt, TransactionError> {
    let conversation = require(c, visible, id)?;
    let position = position_of(number)?;
    let found: Option<(String, Option<String>)> = messages::table
        .find((id.to_string(), position))
        .select((messages::role, messages::receipt))
        .get_result(c)
        .optional()?;
    let (role, receipt) = found.ok_or_else(|| Error::not_found("message", number))?;
    named("messages.role", &role, Role::from_name)?.check_has_receipt(number)?;
    let receipt: Receipt = from_json(&receipt.ok_or(Error::NoReceipt)?)?;
    // The question comes right before its reply.
    let query = messages::table
        .find((id.to_string(), position - 1))
        .select(messages::content)
        .get_result(c)?;
    let passages = passages_of(c, &conversation, &receipt)?;
    Ok(FoundReceipt { number, query, receipt, passages })
}

/// The passage of each hit, if it is still the one that was found: if its document has not changed since the search.
fn passages_of(
    c: &mut AnyConnection,
    conversation: &Conversation,
    receipt: &Receipt,
) -> Result<Vec<Option<Passage>>, TransactionError> {
    // Every source is combined with every position, at most 64 passages, since the databases look up a list of pairs
    // differently.
    let sources: Vec<String> = receipt.hits.iter().map(|hit| hit.source_id.to_string()).collect();
    let positions: Vec<i64> = receipt.hits.iter().map(|hit| hit.position).collect();
    let is_document_of = documents::source_id
        .eq(passages::source_id)
        .and(documents::position.eq(passages::document));
    let mut rows: Vec<(PassageRow, String)> = passages::table
        .inner_join(documents::table.on(is_document_of))
        .inner_join(sources::table.on(sources::id.eq(passages::source_id)))
        .filter(passages::source_id.eq_any(sources))
        .filter(passages::position.eq_any(positions))
        .filter(passages::account_id.eq(conversation.account_id.to_string()))
        .filter(documents::version.le(wide(receipt.generation)))
        .filter(sources::agent_id.eq(conversation.agent_id.to_string()))
        .filter(sources::removed_at.is_null())
        .select((PassageRow::as_select(), documents::id))
        .load(c)?;
    let passage = |hit: &ReceiptHit| {
        let (source, document) = (hit.source_id.to_string(), hit.document_id.to_string());
        let is_it = |(row, of): &(PassageRow, String)| {
            row.source_id == source && row.position() == hit.position && *of == document
        };
        let place = rows.iter().position(is_it);
        place.map(|place| rows.swap_remove(place).0.try_into()).transpose()
    };
    receipt.hits.iter().map(passage).collect()
}
