//! `GET /v1/agents/{agent_id}/conversations/export`

mod csv;
mod ndjson;
mod steps;

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::services::Export;
use cicerone_domain::{Error, every};
use futures_util::{Stream, stream};
use tokio::sync::watch;

use super::list::{filter, filters};
use crate::auth::permission::{ConversationsExport, Required as _};
use crate::auth::{Authorized, Caller};
use crate::context::{App, Incoming, RequestId};
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::openapi::parameters::one_of;
use crate::response::Answer;
use crate::stream::ended;

use ndjson::Ndjson;
use steps::Steps;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/agents/{agent_id}/conversations/export";
    Endpoint::new(Tag::Conversations, Method::GET, path, handle)
        .named("exportConversations", "Export conversations")
        .details(
            "All conversations that began before the request, newest first, with all of their messages. `ndjson` has \
             one conversation on each line, in the form in which it is retrieved but without `messages_cursor`. `csv` \
             has one message on each line after a header line; a cell that a spreadsheet would read as a formula is \
             prefixed with `'`. The response is sent while the conversations are read. A conversation that is deleted \
             during the export is omitted or cut short. If the export fails, or its key stops working, the connection is \
             closed before the end of the response. Each export is recorded in the audit log.",
        )
        .query([one_of("format", &Format::ALL.map(Format::name), "The format; `ndjson` by default.")])
        .query(filters())
        .gives_text(&["application/x-ndjson", "text/csv"])
        .refuses(
            400,
            "A parameter has a bad value or is given twice, or is `text`, `page_size` or `cursor`, which an export \
             does not accept.",
        )
        .refuses(503, "Too many exports are in progress, or the database cannot be reached.")
}

/// The most bytes that are passed to the connection at once. It copies them.
const SLICE: usize = 8 * 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Ndjson,
    Csv,
}

impl Format {
    const ALL: [Self; 2] = [Self::Ndjson, Self::Csv];

    const fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8; header=present",
        }
    }
}

async fn handle(caller: Authorized<ConversationsExport>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let format = query.one_of("format", Format::from_name, "`ndjson`, `csv`");
    let (format, filter) = every((format, filter(&query)))?;
    let format = format.unwrap_or(Format::Ndjson);
    let agent = app.agents.find(caller.scope(), incoming.path_id()?).await?.id;
    for (name, reason) in [
        ("text", "an export does not search"),
        ("page_size", "an export has no pages"),
        ("cursor", "an export has no pages"),
    ] {
        if query.all(name).next().is_some() {
            return Err(RequestError::Parameter { name, reason });
        }
    }
    let export = app.conversations.export(caller.scope(), agent, filter);
    let mut export = export.map_err(|error| match error {
        Error::Overloaded => RequestError::ExportsBusy,
        other => other.into(),
    })?;
    let action = AuditAction::ConversationsExported;
    app.audit.note(caller.key(), action, Some(agent.to_string()), caller.origin()).await?;
    // Read before the status is sent, so that a failure is a normal response.
    let first = export.next().await?;
    let mut response = HttpResponse::Ok();
    let file = format!("attachment; filename=\"conversations-{agent}.{}\"", format.name());
    response
        .insert_header((CONTENT_TYPE, format.media_type()))
        .insert_header((CONTENT_DISPOSITION, file));
    if incoming.request.method() == Method::HEAD {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Cut>>()));
    }
    let mut steps = Steps::default();
    steps.extend(first);
    let writer = match format {
        Format::Ndjson => Writer::Ndjson(Ndjson::default()),
        Format::Csv => Writer::Csv,
    };
    let ending = app.ending.clone();
    let (ready, request_id) = (Bytes::new(), caller.request_id());
    let sender = Sender { app, request: incoming.request, caller: caller.caller() };
    let body = Body { export, steps, writer, ready, sender, request_id };
    Ok(response.streaming(body.slices(ending)))
}

enum Writer {
    Ndjson(Ndjson),
    Csv,
}

/// The end of a body that is not complete. The connection is closed without the last chunk, by which clients notice.
#[derive(Debug, thiserror::Error)]
#[error("the export was interrupted")]
struct Cut;

/// Who is sent an export.
struct Sender {
    app: App,
    request: HttpRequest,
    caller: Arc<Caller>,
}

impl Sender {
    /// Checks that the key may still export what it began to.
    async fn check(&self) -> Result<(), Error> {
        let Self { app, request, caller } = self;
        app.gate.recheck(app, request, caller, ConversationsExport::PERMISSION).await
    }
}

struct Body {
    export: Export,
    /// What was read but not written yet.
    steps: Steps,
    writer: Writer,
    /// What was written but not forwarded yet.
    ready: Bytes,
    sender: Sender,
    request_id: RequestId,
}

impl Body {
    /// The slices of the body. The next piece is read only after the connection has taken the previous one. Once
    /// `ending` is true, the body is truncated.
    fn slices(
        self,
        ending: watch::Receiver<bool>,
    ) -> impl Stream<Item = Result<Bytes, Cut>> + 'static {
        stream::unfold(Some((self, ending)), |state| async {
            let (mut body, mut ending) = state?;
            let slice = tokio::select! {
                biased;
                () = ended(&mut ending) => Err(RequestError::Stopping),
                slice = body.slice() => slice,
            };
            match slice {
                Ok(Some(slice)) => Some((Ok(slice), Some((body, ending)))),
                Ok(None) => None,
                Err(error) => {
                    let request_id = body.request_id;
                    let cause = error.report(request_id).message;
                    tracing::warn!(%request_id, %cause, "an export was interrupted");
                    Some((Err(Cut), None))
                }
            }
        })
    }

    /// The next slice; `None` at the end.
    async fn slice(&mut self) -> Result<Option<Bytes>, RequestError> {
        loop {
            if !self.ready.is_empty() {
                return Ok(Some(self.ready.split_to(self.ready.len().min(SLICE))));
            }
            let mut out = Vec::with_capacity(SLICE);
            while out.len() < SLICE
                && let Some(step) = self.steps.next()
            {
                match &mut self.writer {
                    Writer::Ndjson(ndjson) => ndjson.write(&mut out, &step),
                    Writer::Csv => csv::write(&mut out, &step),
                }
            }
            if out.is_empty() {
                self.sender.check().await?;
                match self.export.next().await? {
                    None if self.steps.is_over() => return Ok(None),
                    piece => self.steps.extend(piece),
                }
            }
            self.ready = out.into();
        }
    }
}
