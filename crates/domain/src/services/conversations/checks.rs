//! Checks as messages that are not stored.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Conversations, Handling, NewMessage};
use crate::access::Scope;
use crate::check::{Check, CheckResult};
use crate::conversation::{Channel, MessageText, Metadata};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::ports::{AskChecks, PassageIndex, Stages};

#[async_trait]
impl AskChecks for Conversations {
    async fn ask_check(
        &self,
        (account, agent_id): (Id<kind::Account>, Id<kind::Agent>),
        check: &Check,
        index: Option<Arc<dyn PassageIndex>>,
    ) -> Result<CheckResult, Error> {
        let mut asked = self.clone();
        asked.index = index.unwrap_or(asked.index);
        let message = NewMessage {
            agent_id,
            conversation_id: None,
            text: MessageText::parse(check.question())?,
            metadata: Metadata::default(),
            channel: Channel::Api,
            request_id: None,
            handling: Handling { is_kept: false, ..Handling::default() },
        };
        let scope = Scope::account(account);
        let accepted = asked.accept(&scope, message, Stages::default()).await?;
        let turn = asked.answer(accepted, None, None).await?;
        Ok(check.judge(&turn.reply))
    }
}
