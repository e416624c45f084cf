//! What is known of a request while it is served, and what all requests share.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, web};
use cicerone_domain::fairness::FairPool;
use cicerone_domain::id::Kind;
use cicerone_domain::{Error, Id, kind};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::application::Application;
use crate::auth::Gate;
use crate::cursor::Cursors;
use crate::docs::Assets;
use crate::query::Query;
use crate::rate::RateState;
use crate::room::{Room, Rooms, Tenant};

/// A request's id.
pub(crate) type RequestId = Id<kind::Request>;

/// What all requests share.
pub(crate) struct Shared {
    /// The use cases.
    pub(crate) application: Application,
    /// Who may pass.
    pub(crate) gate: Gate,
    /// The cursors of lists.
    pub(crate) cursors: Cursors,
    /// The runtime that outlives connections: whatever must not be cancelled runs on it.
    pub(crate) runtime: Handle,
    /// The places of files on their way.
    pub(crate) uploads_arriving: FairPool<Id<kind::Account>>,
    /// The places of files in memory.
    pub(crate) uploads_in_memory: FairPool<Id<kind::Account>>,
    /// Memory for answers and bodies.
    pub(crate) rooms: Rooms,
    /// What is served alike to everybody.
    pub(crate) assets: Assets,
    /// True once streams must end, since the server stops.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Deref for Shared {
    type Target = Application;

    fn deref(&self) -> &Application {
        &self.application
    }
}

/// The shared state, as handlers take it.
pub(crate) type App = web::Data<Shared>;

/// What is known of one request. Lives on the connection's thread.
#[derive(Debug)]
pub(crate) struct RequestContext {
    /// Its id.
    pub(crate) id: RequestId,
    /// The address that it comes from.
    pub(crate) peer: Option<IpAddr>,
    /// Where the caller's rate limit stands, once the caller is known.
    pub(crate) rate: Cell<Option<RateState>>,
    /// The caller's account, once it is known.
    pub(crate) tenant: Cell<Tenant>,
    /// The memory that the request and its answer take.
    pub(crate) room: RefCell<Room>,
}

impl RequestContext {
    /// The context of a request that passed [`crate::observe`], as every one does.
    pub(crate) fn of(request: &HttpRequest) -> Result<Rc<Self>, Error> {
        let found = request.extensions().get::<Rc<Self>>().map(Rc::clone);
        found.ok_or_else(|| Error::internal("the request has no context"))
    }

    /// Takes room for an answer of a size that is not known yet. Comes before the answer is made.
    pub(crate) async fn expect_answer(&self, app: &Shared) -> Result<(), Error> {
        let mut room = self.room.take();
        let taken = app.rooms.expect_answer(&mut room, self.tenant.get()).await;
        self.room.replace(room);
        taken
    }
}

/// The pattern of the route that serves a request, for logs and metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoutePattern(pub(crate) &'static str);

/// The rest of a request, read step by step by its handler.
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
    /// The text of the id in the path, which names the lists of its resource.
    pub(crate) fn path_text(&self) -> &str {
        self.request.match_info().iter().next().map_or("", |(_, value)| value)
    }

    /// The id in the path. One that no resource can have is not found, like one that none has: its
    /// failure comes after those of values, and is kept like any other of what was carried out.
    pub(crate) fn path_id<K: Kind>(&self) -> Result<Id<K>, Error> {
        let text = self.path_text();
        text.parse().map_err(|_| Error::not_found(K::NAME, text))
    }

    /// The second id in the path.
    pub(crate) fn second_path_id<K: Kind>(&self) -> Result<Id<K>, Error> {
        let text = self.request.match_info().iter().nth(1).map_or("", |(_, value)| value);
        text.parse().map_err(|_| Error::not_found(K::NAME, text))
    }

    /// The query string's parameters.
    pub(crate) fn query(&self) -> Result<Query, Error> {
        Query::parse(self.request.query_string())
    }
}
