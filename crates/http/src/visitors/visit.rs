//! A request of a visitor, from the limit of its address to the visitor's credential.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE,
};
use actix_web::{HttpRequest, HttpResponse};
use cicerone_domain::widget::{
    Identification, NotAdmitted, OpenWidget, Visitor, VisitorScope, Widget, WidgetToken,
};
use cicerone_domain::{Error, Id, kind};
use tracing::Instrument as _;

use super::bounds::{InProgress, Limits, Sender};
use super::credential::PREFIX;
use super::{Found, SharedWith, Visitors, jwt, origin};
use crate::auth::bearer;
use crate::body::shown;
use crate::change::{Lasting, Panic};
use crate::context::{App, RequestContext, RequestId};
use crate::error::RequestError;
use crate::response::Answer;
use crate::room::Tenant;
use crate::routes;

/// The parameter of the paths.
const TOKEN: &str = "token";
/// The methods that pages of other origins may use.
const METHODS: &str = "GET, POST, PUT, DELETE";
const HEADERS: &str = "authorization, content-type";
/// How long browsers cache this, in seconds.
const REMEMBERED_SECONDS: u32 = 600;

/// A request to an existing widget, from a page that may use it.
pub(super) struct Visit {
    pub(super) context: Rc<RequestContext>,
    found: Arc<Found>,
}

impl Visitors {
    /// The public routes, if they are turned on.
    pub(super) fn of(app: &App) -> Result<&Self, RequestError> {
        app.visitors.as_ref().ok_or(RequestError::NoRoute)
    }

    /// Counts a request against the limit of its address, and finds its widget. `checks` is called with the widget; if
    /// the widget is known, it is also called before a request beyond the limit is refused, so that the page can read
    /// the refusal.
    async fn enter(
        &self,
        app: &App,
        request: &HttpRequest,
        context: &RequestContext,
        checks: impl Fn(&Widget) -> Result<(), RequestError>,
    ) -> Result<Arc<Found>, RequestError> {
        let text = token(request);
        let token: Option<WidgetToken> = text.parse().ok();
        if let Err(refusal) = app.gate.admit_stranger(context) {
            if let Some(found) = token.and_then(|token| self.remembered(&token)) {
                checks(&found.open.widget)?;
            }
            return Err(refusal);
        }
        let found = match token {
            Some(token) => self.find(app, &token).await?,
            None => None,
        };
        let found = found.ok_or_else(|| Error::not_found("widget", shown(text)))?;
        context.tenant.set(Tenant::Visitors(found.open.widget.account_id));
        checks(&found.open.widget)?;
        Ok(found)
    }
}

impl Visit {
    /// Admits a request.
    pub(super) async fn of(app: &App, request: &HttpRequest) -> Result<Self, RequestError> {
        let visitors = Visitors::of(app)?;
        let context = RequestContext::of(request)?;
        // Refusals from before the widget is known: every page may show why its chat does not answer.
        context.shared_with.replace(SharedWith::All);
        let checks = |widget: &Widget| {
            let allows = |origin: &str| widget.origins.allow(origin);
            let (own, public) = (widget.hosted_page, app.public_url.as_ref());
            // Refusals depend on the page too.
            context.shared_with.replace(SharedWith::Own);
            context.shared_with.replace(origin::check(request.headers(), allows, own, public)?);
            Ok(())
        };
        let found = visitors.enter(app, request, &context, checks).await?;
        Ok(Self { context, found })
    }

    /// Admits a request for the hosted page of a widget, which any page may link to.
    pub(super) async fn of_page(app: &App, request: &HttpRequest) -> Result<Self, RequestError> {
        let visitors = Visitors::of(app)?;
        let context = RequestContext::of(request)?;
        let found = visitors.enter(app, request, &context, |_| Ok(())).await?;
        Ok(Self { context, found })
    }

    pub(super) fn open(&self) -> &OpenWidget {
        &self.found.open
    }

    pub(super) fn widget(&self) -> &Widget {
        &self.found.open.widget
    }

    /// The widget, for work that outlives the request.
    pub(super) fn found(&self) -> Arc<Found> {
        Arc::clone(&self.found)
    }

    /// The widget's public configuration, as JSON.
    pub(super) fn view(&self) -> actix_web::web::Bytes {
        self.found.view.clone()
    }

    pub(super) fn request_id(&self) -> RequestId {
        self.context.id
    }

    /// The visitor who sends the request.
    pub(super) fn visitor(
        &self,
        app: &App,
        request: &HttpRequest,
    ) -> Result<VisitorScope, RequestError> {
        let refused = |reason: &'static str| RequestError::Visitor(reason.into());
        let credential = bearer(request).ok_or_else(|| {
            refused(
                "the visitor's credential is missing; send it as `Authorization: Bearer <credential>`",
            )
        })?;
        let widget = self.widget();
        let identification = match credential.starts_with(PREFIX) {
            true => Identification::Anonymous,
            false => Identification::Signed,
        };
        widget.identity.admits(identification)?;
        let credentials = &Visitors::of(app)?.credentials;
        let visitor = match identification {
            Identification::Anonymous => {
                let id = credentials.read(widget.agent_id, credential);
                let id = id.ok_or_else(|| refused("the visitor's credential is not valid"))?;
                Visitor::anonymous(id)
            }
            Identification::Signed => {
                let secrets = self.open().secrets.iter().map(|secret| secret.reveal().as_bytes());
                let identity = jwt::verify(credential, secrets, app.clock.now())
                    .map_err(|error| RequestError::Visitor(error.to_string().into()))?;
                let id = credentials.identified(widget.agent_id, identity.subject());
                Visitor::identified(id, identity)
            }
        };
        Ok(VisitorScope {
            account_id: widget.account_id,
            agent_id: widget.agent_id,
            widget_id: widget.id,
            visitor,
        })
    }

    /// Counts something that the visitor writes against the limits of the address and the visitor.
    pub(super) fn count(&self, app: &App, visitor: Id<kind::Visitor>) -> Result<(), RequestError> {
        let sender = Sender { widget: self.widget().id, visitor, address: self.context.peer };
        Ok(Visitors::of(app)?.bounds.write(sender, self.limits())?)
    }

    /// Does the same for a rating, a request or contact details, if the widget accepts another one today.
    pub(super) fn count_feedback(
        &self,
        app: &App,
        visitor: Id<kind::Visitor>,
    ) -> Result<(), RequestError> {
        Visitors::of(app)?.bounds.feedback(self.widget().id, self.limits())?;
        self.count(app, visitor)
    }

    /// Stores a rating, a request or contact details with `work`, and counts it if it was stored.
    pub(super) async fn feed_back<T: Send + 'static>(
        &self,
        app: &App,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, RequestError> {
        let (own, widget, limits) = (app.clone(), self.widget().id, self.limits());
        let work = async move {
            let stored = work.await?;
            Visitors::of(&own)?.bounds.feedback_given(widget, limits);
            Ok(stored)
        };
        carried_out(app, self.request_id(), work).await
    }

    /// Begins a reply.
    pub(super) fn reply(&self, app: &App) -> Result<InProgress, RequestError> {
        let (account, widget) = (self.widget().account_id, self.widget().id);
        Ok(Visitors::of(app)?.bounds.reply(account, widget, self.limits())?)
    }

    fn limits(&self) -> Limits {
        let limits = &self.widget().limits;
        let rate = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Limits {
            per_address_and_minute: rate(limits.messages_per_address_per_minute()),
            per_visitor_and_hour: rate(limits.messages_per_visitor_per_hour()),
            feedback_per_day: rate(limits.messages_per_day()),
            replies_at_once: limits.replies_at_once(),
        }
    }
}

impl From<NotAdmitted> for RequestError {
    fn from(reason: NotAdmitted) -> Self {
        let hint = match reason {
            NotAdmitted::Anonymous => "",
            NotAdmitted::Signed => "; `POST /w/{token}/visitors` returns a credential",
        };
        Self::Visitor(format!("{reason}{hint}").into())
    }
}

/// The token in the path, as it was sent.
pub(super) fn token(request: &HttpRequest) -> &str {
    routes::value(request, TOKEN)
}

/// Completes `work` even if the visitor disconnects. A failure is logged immediately.
pub(super) async fn carried_out<T: Send + 'static>(
    app: &App,
    request_id: RequestId,
    work: impl Future<Output = Result<T, RequestError>> + Send + 'static,
) -> Result<T, RequestError> {
    let outcome = Lasting::new(app.runtime.clone(), reported(request_id, work)).await;
    // The panic hook has already logged the panic.
    let panicked = |_: Panic| Err(Error::internal("a panic in a request of a visitor").into());
    outcome.unwrap_or_else(panicked)
}

/// `work`, whose failure is logged when it occurs.
pub(super) fn reported<T>(
    request_id: RequestId,
    work: impl Future<Output = Result<T, RequestError>> + Send + 'static,
) -> impl Future<Output = Result<T, RequestError>> + Send + 'static {
    let work = async move {
        let outcome = work.await;
        outcome.map_err(|error| RequestError::Reported(Box::new(error.report(request_id))))
    };
    work.instrument(tracing::Span::current())
}

/// Answers the preflight request of a browser. If the page may read a refusal, it is that of the request that follows,
/// because browsers hide that of a preflight request.
pub(crate) async fn preflight(app: App, request: HttpRequest) -> Answer {
    let visit = Visit::of(&app, &request).await;
    let mut answer = HttpResponse::NoContent();
    answer.insert_header((ACCESS_CONTROL_ALLOW_METHODS, METHODS));
    answer.insert_header((ACCESS_CONTROL_ALLOW_HEADERS, HEADERS));
    match visit {
        Ok(_) => {
            answer.insert_header((ACCESS_CONTROL_MAX_AGE, REMEMBERED_SECONDS));
        }
        Err(refusal) => {
            if !RequestContext::of(&request)?.shared_with.borrow().is_readable() {
                return Err(refusal);
            }
        }
    }
    Ok(answer.finish())
}
