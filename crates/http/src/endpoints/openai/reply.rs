//! Carries out a request for a reply, in one piece or as events.

use std::sync::{Arc, OnceLock};

use cicerone_domain::conversation::Turn;
use cicerone_domain::idempotency::{Completion, Subject};
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::NewMessage;
use cicerone_domain::{Error, Scope};

use super::frame::{CompleteReply, Frame, Stored};
use super::responses::continued::{Continued, response_id};
use crate::auth::permission::ConversationsWrite;
use crate::auth::{Authorized, Caller};
use crate::change::{Change, Keyed};
use crate::context::{App, Incoming, Shared};
use crate::response::{Answer, StoredResponse, keep};
use crate::stages::StageTimes;
use crate::stream::script::Script;
use crate::stream::stream_reply;
use crate::turn;

/// A request that was read.
pub(super) struct Asked {
    pub(super) message: NewMessage,
    pub(super) frame: Frame,
    /// What it continues, if it does.
    pub(super) continuation: Option<Continuation>,
}

/// A stored conversation that a request continues. It is looked up when the request is carried out: a repetition gets
/// the stored response even if the conversation has continued since.
pub(super) struct Continuation {
    continued: Continued,
    placed: Arc<OnceLock<Frame>>,
}

impl Continuation {
    pub(super) fn new(continued: Continued) -> Self {
        Self { continued, placed: Arc::default() }
    }

    /// The frame of the reply, from the moment at which the conversation has been looked up. The model is asked later.
    pub(super) fn placed(&self) -> Arc<OnceLock<Frame>> {
        Arc::clone(&self.placed)
    }

    /// Looks up the conversation, and appends the reply to it if the reply is stored.
    async fn place(
        self,
        app: &Shared,
        scope: &Scope,
        message: &mut NewMessage,
        frame: &mut Frame,
    ) -> Result<(), Error> {
        let last = self.continued.last(app, scope).await?;
        if message.handling.is_kept {
            let stored = Stored::next(last);
            message.handling.new_id = Some(stored.conversation_id);
            message.handling.after = Some(last.n);
            frame.id = response_id(stored);
            frame.stored = Some(stored);
        }
        // Nothing else sets it.
        let _ = self.placed.set(frame.clone());
        Ok(())
    }
}

/// Answers with the events that `script` writes, if there is one, and otherwise with the reply as `whole` writes it.
pub(super) async fn answer<S: Script<Stored = CompleteReply>>(
    caller: &Authorized<ConversationsWrite>,
    app: &App,
    incoming: &Incoming,
    key: Option<Keyed>,
    asked: Asked,
    script: Option<S>,
    whole: fn(&CompleteReply) -> StoredResponse,
) -> Answer {
    match script {
        Some(script) => as_events(caller, app, incoming, key, asked, script).await,
        None => in_one_piece(caller, app, key, asked, whole).await,
    }
}

/// Answers with the reply as `whole` writes it.
async fn in_one_piece(
    caller: &Authorized<ConversationsWrite>,
    app: &App,
    key: Option<Keyed>,
    mut asked: Asked,
    whole: fn(&CompleteReply) -> StoredResponse,
) -> Answer {
    asked.message.request_id = Some(caller.request_id());
    let times = StageTimes::new(caller.context().authenticated_in.get());
    let clock = times.clone();
    let work = |app: App, caller: Arc<Caller>, completion| async move {
        reply(&app, &caller, completion, asked, None, &clock).await
    };
    let outcome = Change::new(app, caller, key).answer(whole, work).await;
    let mut response = turn::at_its_time(app, caller, outcome).await?;
    if app.settings.server_timing {
        times.write(&mut response);
    }
    Ok(response)
}

/// Answers with the events that `script` writes.
async fn as_events<S: Script<Stored = CompleteReply>>(
    caller: &Authorized<ConversationsWrite>,
    app: &App,
    incoming: &Incoming,
    key: Option<Keyed>,
    mut asked: Asked,
    script: S,
) -> Answer {
    asked.message.request_id = Some(caller.request_id());
    let times = StageTimes::new(caller.context().authenticated_in.get());
    let clock = times.clone();
    let (sink, tokens) = TokenSink::channel();
    let task =
        Change::new(app, caller, key).spawn(streamed, |app, caller, completion| async move {
            reply(&app, &caller, completion, asked, Some(sink), &clock).await
        });
    let (heartbeat, ending) = (app.settings.heartbeat, app.ending.clone());
    let (request, id) = (&incoming.request, caller.request_id());
    let outcome = stream_reply(request, id, script, tokens, task, heartbeat, ending).await;
    let mut response = turn::at_its_time(app, caller, outcome).await?;
    if app.settings.server_timing {
        times.write(&mut response);
    }
    Ok(response)
}

/// Replies, and records the stages of the reply.
async fn reply(
    app: &App,
    caller: &Caller,
    completion: Option<Completion<CompleteReply>>,
    asked: Asked,
    tokens: Option<TokenSink>,
    times: &StageTimes,
) -> Result<CompleteReply, Error> {
    let Asked { mut message, mut frame, continuation } = asked;
    if let Some(continuation) = continuation {
        continuation.place(app, &caller.scope, &mut message, &mut frame).await?;
    }
    let complete = move |turn: &Turn| frame.complete(turn);
    let completion = completion.map(|completion| completion.over(complete.clone()));
    let accepted = app.conversations.accept(&caller.scope, message, times.stages()).await?;
    let turn = turn::answer(app, accepted, tokens, completion).await?;
    times.record();
    Ok(complete(&turn))
}

/// What a stored answer contains: the conversation, or a reply of the agent if nothing else is stored.
pub(super) fn subject(reply: &CompleteReply) -> Subject {
    let agent = reply.frame.model;
    match reply.frame.stored {
        Some(stored) => Subject::of_agent(stored.conversation_id, agent),
        None => Subject::of_replies(agent),
    }
}

/// The stored form of a reply that is streamed again for a repeated request.
fn streamed(reply: &CompleteReply) -> StoredResponse {
    let stored = keep(actix_web::http::StatusCode::OK, reply, Some(subject(reply)));
    StoredResponse { content_type: Some("text/event-stream".to_owned()), ..stored }
}
