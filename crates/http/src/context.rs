//! The state of a request while it is served, and the state that all requests share.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, web};
use cicerone_domain::fairness::FairPool;
use cicerone_domain::id::Kind;
use cicerone_domain::{Error, Id, kind};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::application::Application;
use crate::auth::Gate;
use crate::console::Console;
use crate::cursor::Cursors;
use crate::docs::Assets;
use crate::endpoints::Rendered;
use crate::query::Query;
use crate::rate::RateState;
use crate::room::{Room, Rooms, Tenant};
use crate::routes;
use crate::visitors::{SharedWith, Visitors};

pub(crate) type RequestId = Id<kind::Request>;

/// The state that all requests share.
pub(crate) struct Shared {
    pub(crate) application: Application,
    pub(crate) gate: Gate,
    pub(crate) cursors: Cursors,
    /// The runtime that outlives connections. Work that must not be cancelled continues on it.
    pub(crate) runtime: Handle,
    /// Places for files that are arriving.
    pub(crate) uploads_arriving: FairPool<Id<kind::Account>>,
    /// Memory for answers, bodies and files.
    pub(crate) rooms: Rooms,
    pub(crate) assets: Assets,
    /// The text of `/metrics`; `None` if metrics are turned off.
    pub(crate) rendered: Option<Rendered>,
    /// The console; `None` if it is turned off.
    pub(crate) console: Option<Console>,
    /// The public ways to agents; `None` if they are turned off.
    pub(crate) visitors: Option<Visitors>,
    /// True once streams must end because the server stops.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Deref for Shared {
    type Target = Application;

    fn deref(&self) -> &Application {
        &self.application
    }
}

/// The shared state, as handlers receive it.
pub(crate) type App = web::Data<Shared>;

/// The state of one request. It stays on the thread of its connection.
#[derive(Debug)]
pub(crate) struct RequestContext {
    pub(crate) id: RequestId,
    /// The address of the client.
    pub(crate) peer: Option<IpAddr>,
    /// The state of the caller's rate limit, once the caller is known.
    pub(crate) rate: Cell<Option<RateState>>,
    /// The party that the memory of the request belongs to, once it is known.
    pub(crate) tenant: Cell<Tenant>,
    /// The page that the answer is for, if it depends on that.
    pub(crate) shared_with: RefCell<SharedWith>,
    /// How long it took to find the caller and to count the request against the limits.
    pub(crate) authenticated_in: Cell<Duration>,
    /// The memory that is reserved for the request and its answer.
    pub(crate) room: RefCell<Room>,
}

impl RequestContext {
    /// The context of a request. [`crate::observe`] gives one to every request.
    pub(crate) fn of(request: &HttpRequest) -> Result<Rc<Self>, Error> {
        let found = request.extensions().get::<Rc<Self>>().map(Rc::clone);
        found.ok_or_else(|| Error::internal("the request has no context"))
    }

    /// Reserves memory for a response whose creation takes at most this many bytes. Call it before the response is
    /// created.
    pub(crate) async fn expect_bytes(&self, app: &Shared, bytes: usize) -> Result<(), Error> {
        let mut room = self.room.take();
        let taken = app.rooms.expect_bytes(&mut room, self.tenant.get(), bytes).await;
        self.room.replace(room);
        taken
    }

    /// Reserves memory for a response with a file. Call it before the file is read.
    pub(crate) async fn expect_file(&self, app: &Shared) -> Result<(), Error> {
        let mut room = self.room.take();
        let taken = app.rooms.expect_file(&mut room, self.tenant.get()).await;
        self.room.replace(room);
        taken
    }

    /// Reserves memory for a response whose size is not known yet. Call it before the response is created.
    pub(crate) async fn expect_answer(&self, app: &Shared) -> Result<(), Error> {
        let mut room = self.room.take();
        let taken = app.rooms.expect_answer(&mut room, self.tenant.get()).await;
        self.room.replace(room);
        taken
    }

    /// Changes the memory of the response to the bytes that reading and sending more takes, after the request was carried
    /// out.
    pub(crate) async fn refit_answer(&self, app: &Shared, bytes: usize) -> Result<(), Error> {
        let mut room = self.room.take();
        let taken = app.rooms.refit_answer(&mut room, self.tenant.get(), bytes).await;
        self.room.replace(room);
        taken
    }
}

/// A request that its handler reads step by step.
pub(crate) struct Incoming {
    pub(crate) request: HttpRequest,
    pub(crate) payload: Payload,
}

impl FromRequest for Incoming {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        ready(Ok(Self { request: request.clone(), payload: payload.take() }))
    }
}

impl Incoming {
    /// The text of the first id in the path; empty if the path has none.
    pub(crate) fn path_text(&self) -> &str {
        routes::values(&self.request).next().map_or("", |(_, value)| value)
    }

    /// The id in the path. Text that is not an id of this kind gets the same error as the id of a
    /// resource that does not exist. Handlers return that error after the errors of the body, and
    /// it is stored under the idempotency key.
    pub(crate) fn path_id<K: Kind>(&self) -> Result<Id<K>, Error> {
        let text = self.path_text();
        text.parse().map_err(|_| Error::not_found(K::NAME, text))
    }

    /// The second id in the path: `/v1/agents/{id}/sources/{second}`.
    pub(crate) fn second_path_id<K: Kind>(&self) -> Result<Id<K>, Error> {
        let text = routes::values(&self.request).nth(1).map_or("", |(_, value)| value);
        text.parse().map_err(|_| Error::not_found(K::NAME, text))
    }

    pub(crate) fn query(&self) -> Result<Query, Error> {
        Query::parse(self.request.query_string())
    }
}
