//! One route with everything that is known of it: how it is served and how it is described.

use actix_web::guard::{self, Guard};
use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, Route, web};
use cicerone_domain::Permission;
use utoipa::openapi::path::Parameter;

use crate::auth::Guarded;

/// A method of a path.
///
/// Invariant: what is served and what the OpenAPI document says come from the same value, so a
/// route cannot be in one and not in the other, and the permission in the document is the one that
/// the handler's signature declares.
pub(crate) struct Endpoint {
    /// Its method.
    pub(crate) method: Method,
    /// Its path.
    pub(crate) path: &'static str,
    /// The permission that its handler asks for; none where it needs no key.
    pub(crate) permission: Option<Permission>,
    /// What serves it.
    pub(crate) route: Route,
    /// What is said of it.
    pub(crate) description: Description,
}

/// What the OpenAPI document says of an endpoint, beyond what follows from its method, path and
/// permission.
#[derive(Default)]
pub(crate) struct Description {
    /// A name for generated clients.
    pub(crate) id: &'static str,
    /// One line.
    pub(crate) summary: &'static str,
    /// The rest; may be empty.
    pub(crate) details: &'static str,
    /// Query parameters.
    pub(crate) query: Vec<Parameter>,
    /// The media type and schema of the body.
    pub(crate) body: Option<(&'static str, &'static str)>,
    /// Whether it takes an idempotency key.
    pub(crate) is_keyed: bool,
    /// The status of a success.
    pub(crate) success: u16,
    /// What a success holds.
    pub(crate) answer: AnswerSchema,
    /// Refusals of this route's own, with their condition.
    pub(crate) refusals: Vec<(u16, &'static str)>,
}

/// What an answer holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum AnswerSchema {
    /// Nothing.
    #[default]
    Empty,
    /// JSON of that schema.
    Json(&'static str),
    /// The list envelope with items of that schema.
    List(&'static str),
    /// JSON of that schema, or events.
    JsonOrEvents(&'static str),
    /// Text of that media type.
    Text(&'static str),
}

impl Endpoint {
    /// An endpoint for callers with the permission that `handler` declares.
    pub(crate) fn new<F, Args>(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: F,
    ) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + Guarded + 'static,
        F::Output: Responder + 'static,
    {
        let endpoint = Self::open(method, path, id, summary, handler);
        Self { permission: Some(Args::PERMISSION), ..endpoint }
    }

    /// An endpoint that needs no key.
    pub(crate) fn open<F, Args>(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        handler: F,
    ) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = web::route().guard(serves(method.clone())).to(handler);
        let description = Description { id, summary, success: 200, ..Description::default() };
        Self { method, path, permission: None, route, description }
    }

    /// Says more of it.
    pub(crate) fn details(mut self, details: &'static str) -> Self {
        self.description.details = details;
        self
    }

    /// Adds query parameters.
    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.description.query.extend(parameters);
        self
    }

    /// Takes a JSON body of that schema.
    pub(crate) fn json(self, schema: &'static str) -> Self {
        self.body("application/json", schema)
    }

    /// Takes a body of that media type and schema.
    pub(crate) fn body(mut self, media_type: &'static str, schema: &'static str) -> Self {
        self.description.body = Some((media_type, schema));
        self
    }

    /// Takes an idempotency key.
    pub(crate) fn keyed(mut self) -> Self {
        self.description.is_keyed = true;
        self
    }

    /// Answers with that status and content.
    pub(crate) fn gives(mut self, status: u16, answer: AnswerSchema) -> Self {
        self.description.success = status;
        self.description.answer = answer;
        self
    }

    /// Refuses with that status under a condition of its own.
    pub(crate) fn refuses(mut self, status: u16, condition: &'static str) -> Self {
        self.description.refusals.push((status, condition));
        self
    }

    /// The methods that it is served under: a GET is also a HEAD.
    pub(crate) fn methods(&self) -> &'static [&'static str] {
        match self.method {
            Method::GET => &["GET", "HEAD"],
            Method::POST => &["POST"],
            Method::PATCH => &["PATCH"],
            Method::DELETE => &["DELETE"],
            _ => &[],
        }
    }
}

/// A GET route serves HEAD too; the body is then left out by the framework.
fn serves(method: Method) -> impl Guard {
    guard::fn_guard(move |context| {
        let asked = &context.head().method;
        *asked == method || (*asked == Method::HEAD && method == Method::GET)
    })
}
