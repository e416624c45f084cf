//! Reads JSON bodies, within their size and time.

mod fields;
mod given;
mod json;
mod value;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpRequest};
use cicerone_domain::services::Agents;
use cicerone_domain::{Error, Timestamp, limits};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::change::Keyed;
use crate::context::{Incoming, RequestContext, Shared};
use crate::error::RequestError;
use crate::response::JSON;

pub(crate) use given::{Given, not_null};
pub(crate) use json::read as read_fields;

/// Longer bodies are parsed on a blocking thread: a megabyte of small values takes 20 ms, in which the thread of the
/// connection would serve no other one.
const LONG_BYTES: usize = 256 * 1_024;
/// Longest name or id that a refusal repeats.
const SHOWN_CHARS: usize = 100;

/// The beginning of a name or an id in a request, as a refusal repeats it.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(SHOWN_CHARS).collect()
}

/// A JSON body.
///
/// Its struct is the only declaration: serde takes the names and JSON types of the fields from it,
/// and utoipa the schema. The limits in the schema are the domain's, which `check` applies; the
/// tests of [`crate::endpoints`] compare the two for every body.
pub(crate) trait Body: DeserializeOwned + ToSchema + 'static {
    /// The content of the body, as types that prove it was checked.
    type Checked: Send + 'static;

    /// Checks the values of the fields.
    ///
    /// # Errors
    ///
    /// All fields with invalid values, in the order of the struct.
    fn check(self, current: &Current<'_>) -> Result<Self::Checked, Error>;

    /// Reads and checks a body.
    fn parse(text: &[u8], current: &Current<'_>) -> Result<Self::Checked, Error> {
        json::read::<Self>(text)?.check(current)
    }
}

/// The state that a body is checked against, in addition to the limits.
pub(crate) struct Current<'a> {
    pub(crate) now: Timestamp,
    pub(crate) knows_model: &'a dyn Fn(&str) -> bool,
}

impl Incoming {
    /// Reads a JSON body. A missing body is refused like any other that is not a JSON object.
    pub(crate) async fn body<B: Body>(&mut self, app: &Shared) -> Result<B::Checked, RequestError> {
        self.body_within::<B>(app, limits::BODY_BYTES).await
    }

    /// Reads a JSON body of at most `limit` bytes.
    pub(crate) async fn body_within<B: Body>(
        &mut self,
        app: &Shared,
        most: usize,
    ) -> Result<B::Checked, RequestError> {
        self.read::<B>(app, most).await.map(|(checked, _)| checked)
    }

    /// Reads a JSON body and the idempotency key of its request.
    pub(crate) async fn keyed_body<B: Body>(
        &mut self,
        app: &Shared,
    ) -> Result<(B::Checked, Option<Keyed>), RequestError> {
        let (checked, bytes) = self.read::<B>(app, limits::BODY_BYTES).await?;
        Ok((checked, self.keyed(&[&bytes])?))
    }

    /// Reads a JSON body, if there is one, and the idempotency key of its request. Without a body, the fields have the
    /// values that an empty object gives them.
    pub(crate) async fn keyed_optional_body<B: Body>(
        &mut self,
        app: &Shared,
    ) -> Result<(B::Checked, Option<Keyed>), RequestError> {
        let bytes = self.json_text(app, limits::BODY_BYTES).await?;
        let text = if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes.clone() };
        Ok((self.parse::<B>(app, text).await?, self.keyed(&[&bytes])?))
    }

    async fn read<B: Body>(
        &mut self,
        app: &Shared,
        most: usize,
    ) -> Result<(B::Checked, Bytes), RequestError> {
        let bytes = self.json_text(app, most).await?;
        Ok((self.parse::<B>(app, bytes.clone()).await?, bytes))
    }

    /// Parses a body; a long one within a turn of the caller.
    async fn parse<B: Body>(&self, app: &Shared, text: Bytes) -> Result<B::Checked, Error> {
        if text.len() <= LONG_BYTES {
            return parse::<B>(&app.agents, app.clock.now(), &text);
        }
        let tenant = RequestContext::of(&self.request)?.tenant.get();
        let turn = app.rooms.parsing_turn(tenant).await?;
        let (agents, now) = (app.agents.clone(), app.clock.now());
        let work = move || {
            let _turn = turn;
            parse::<B>(&agents, now, &text)
        };
        app.runtime.spawn_blocking(work).await.map_err(Error::internal)?
    }

    /// Reads the text of a JSON body of at most `limit` bytes. An empty body is allowed.
    pub(crate) async fn json_text(
        &mut self,
        app: &Shared,
        most: usize,
    ) -> Result<Bytes, RequestError> {
        let bytes = self.bytes(app, most).await?;
        let is_json = self.request.content_type().trim().eq_ignore_ascii_case(JSON);
        if !bytes.is_empty() && (!is_json || is_encoded(&self.request)) {
            return Err(RequestError::MediaType { expected: JSON });
        }
        Ok(bytes)
    }

    /// Reads the body of a request that does not require one; it becomes part of the fingerprint.
    pub(crate) async fn any_body(&mut self, app: &Shared) -> Result<Bytes, RequestError> {
        self.bytes(app, limits::BODY_BYTES).await
    }

    async fn bytes(&mut self, app: &Shared, most: usize) -> Result<Bytes, RequestError> {
        if declared_length(&self.request).is_some_and(|length| length > most) {
            return Err(RequestError::BodyTooLarge);
        }
        let context = RequestContext::of(&self.request)?;
        let mut room = context.room.take();
        let read = read(&mut self.payload, most, async |bytes| {
            app.rooms.grow_body(&mut room, context.tenant.get(), bytes).await
        });
        let read = tokio::time::timeout(app.settings.body_deadline, read).await;
        // The memory is reserved until the request is answered, because parts of the body are kept.
        context.room.replace(room);
        read.unwrap_or_else(|_| Err(too_slow().into()))
    }
}

fn parse<B: Body>(agents: &Agents, now: Timestamp, text: &[u8]) -> Result<B::Checked, Error> {
    let knows_model = |name: &str| agents.knows_model(name);
    B::parse(text, &Current { now, knows_model: &knows_model })
}

/// The refusal of a body that stalls.
pub(crate) fn too_slow() -> Error {
    Error::invalid("body", "did not arrive in time")
}

/// The refusal of a body that ends early or is not valid HTTP.
pub(crate) fn broken_off() -> Error {
    Error::invalid("body", "is incomplete, or does not match its `Content-Type`")
}

/// The length that the head declares.
pub(crate) fn declared_length(request: &HttpRequest) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether the body is sent compressed, which no route reads.
pub(crate) fn is_encoded(request: &HttpRequest) -> bool {
    let coding = request.headers().get(header::CONTENT_ENCODING);
    coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Reads the whole body, of at most `most` bytes. `take_room` is called with the size that the body will have in memory,
/// before the bytes are stored.
async fn read(
    payload: &mut Payload,
    most: usize,
    mut take_room: impl AsyncFnMut(usize) -> Result<(), Error>,
) -> Result<Bytes, RequestError> {
    let Some(first) = payload.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(|_| broken_off())?;
    if first.len() > most {
        return Err(RequestError::BodyTooLarge);
    }
    let Some(second) = payload.next().await else { return Ok(first) };
    let mut whole = Vec::from(first);
    let mut next = Some(second);
    while let Some(chunk) = next {
        let chunk = chunk.map_err(|_| broken_off())?;
        let length = whole.len() + chunk.len();
        if length > most {
            return Err(RequestError::BodyTooLarge);
        }
        take_room(length).await?;
        whole.extend_from_slice(&chunk);
        next = payload.next().await;
    }
    Ok(Bytes::from(whole))
}
