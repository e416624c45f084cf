//! An endpoint: how it is served, and how the OpenAPI document describes it.

use actix_web::guard::{self, Guard};
use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, Route, web};
use cicerone_domain::Permission;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};

use crate::auth::Guarded;
use crate::body::Body;
use crate::deletion::{self, Deletion};
use crate::list::{self, List};
use crate::openapi::answers::list_schema;
use crate::openapi::parameters::{cursor, page_size};

/// A method of a path.
///
/// Invariant: the route and its description in the OpenAPI document come from the same value. So
/// neither can exist without the other, and the permission in the document is the one that the
/// handler's signature declares.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) route: Route,
    /// Whether pages of other origins may use it, so that browsers ask before.
    pub(crate) is_cross_origin: bool,
    pub(crate) description: Description,
}

/// The callers that an endpoint serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone; no key is needed.
    Open,
    /// Callers with any valid key.
    AnyKey,
    /// Callers whose key has this permission.
    Permission(Permission),
}

/// The groups of the OpenAPI document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Agents,
    Sources,
    Files,
    Conversations,
    OpenAi,
    Mcp,
    Webhooks,
    Widgets,
    Keys,
    Account,
    Public,
    Operation,
}

impl Tag {
    /// All of them, in the order of the documentation.
    pub(crate) const ALL: [Self; 12] = [
        Self::Agents,
        Self::Sources,
        Self::Files,
        Self::Conversations,
        Self::OpenAi,
        Self::Mcp,
        Self::Webhooks,
        Self::Widgets,
        Self::Keys,
        Self::Account,
        Self::Public,
        Self::Operation,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Sources => "Sources",
            Self::Files => "Files",
            Self::Conversations => "Conversations",
            Self::OpenAi => "OpenAI",
            Self::Mcp => "MCP",
            Self::Webhooks => "Webhooks",
            Self::Widgets => "Widgets",
            Self::Keys => "API keys",
            Self::Account => "Account",
            Self::Public => "Public pages",
            Self::Operation => "Operation",
        }
    }

    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Agents => "Configured chatbots.",
            Self::Sources => "The content of an agent, what was extracted from it, and search.",
            Self::Files => "Uploads for sources of type `file`.",
            Self::Conversations => "Messages and replies.",
            Self::OpenAi => {
                "Agents as models, for clients of OpenAI's API. The base URL of such a client ends with `/v1`."
            }
            Self::Mcp => "Agents as tools, for programs that speak the Model Context Protocol.",
            Self::Webhooks => "Endpoints that receive events, and their deliveries.",
            Self::Widgets => "Public chats with an agent, which sites embed.",
            Self::Keys => "The keys of the account, their permissions and their restrictions.",
            Self::Account => {
                "The account and key of a request, the usage of the account, and its audit log."
            }
            Self::Public => {
                "What anyone can use without an API key if the owner of an agent publishes it: documents, and \
                 widgets, whose visitors have their own credentials."
            }
            Self::Operation => {
                "Health, metrics and this documentation, for the operator. No API key is needed."
            }
        }
    }
}

/// The description of an endpoint in the OpenAPI document, except for its method, path and access.
pub(crate) struct Description {
    pub(crate) tag: Tag,
    /// The operation's name, from which generated clients name their functions.
    pub(crate) id: &'static str,
    /// One line, without a final period.
    pub(crate) summary: &'static str,
    /// Sentences; may be empty.
    pub(crate) details: &'static str,
    pub(crate) query: Vec<Parameter>,
    pub(crate) body: Option<BodyDescription>,
    /// Whether it takes an idempotency key.
    pub(crate) is_keyed: bool,
    /// Whether it needs the credential of a visitor.
    pub(crate) is_for_visitors: bool,
    /// The status of a success.
    pub(crate) success: u16,
    pub(crate) answer: AnswerSchema,
    /// The condition of 202, for an endpoint that answers some requests with it, without a body.
    pub(crate) accepted: Option<&'static str>,
    /// The refusals whose body can be one of the answer's schema instead of the error that all routes share.
    pub(crate) own_errors: &'static [u16],
    /// Statuses that are documented with a condition of this endpoint's own.
    pub(crate) refusals: Vec<(u16, &'static str)>,
    /// Adds the schemas that the body and the response refer to, by name. They are created only for the document,
    /// because the threads that serve connections also have endpoints.
    pub(crate) schemas: Vec<fn(&mut Schemas)>,
}

/// Schemas by their names.
pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

/// Parses the text of a body.
#[cfg(test)]
pub(crate) type ParseBody =
    fn(&[u8], &crate::body::Current<'_>) -> Result<(), cicerone_domain::Error>;

/// A body as the document describes it.
pub(crate) struct BodyDescription {
    pub(crate) media_type: &'static str,
    /// The name of its schema.
    pub(crate) schema: String,
    /// Whether a request without it is refused.
    pub(crate) is_required: bool,
    /// Parses a JSON body, for the test that compares parser and schema.
    #[cfg(test)]
    pub(crate) parse: Option<ParseBody>,
}

/// The content of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerSchema {
    Empty,
    /// JSON of the schema with that name.
    Json(String),
    /// A page of a list: JSON of the schema with that name.
    Page(String),
    /// JSON of the schema with the first name, or events of the schema with the second.
    JsonOrEvents(String, String),
    /// Bytes of any media type, with a sentence about them.
    Bytes(&'static str),
    /// Text of one of these media types.
    Text(&'static [&'static str]),
}

/// The condition under which a list refuses its query.
const BAD_QUERY: &str =
    "A parameter is out of range or given twice, or the cursor belongs to another list.";
/// The condition under which a body is refused.
pub(crate) const BAD_BODY: &str = "A required field is missing, or a field has a bad value.";
/// The condition under which a request is refused that would store more bytes for the account.
pub(crate) const TOO_MANY_OR_FULL: &str =
    "Too many requests, or the account would store more bytes than its quota allows.";

impl Endpoint {
    /// An endpoint for callers with the access that `handler` declares.
    pub(crate) fn new<F, Args>(tag: Tag, method: Method, path: &'static str, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + Guarded + 'static,
        F::Output: Responder + 'static,
    {
        let access = Args::PERMISSION.map_or(Access::AnyKey, Access::Permission);
        Self { access, ..Self::open(tag, method, path, handler) }
    }

    /// An endpoint that needs no key.
    pub(crate) fn open<F, Args>(tag: Tag, method: Method, path: &'static str, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let description = Description {
            tag,
            id: "",
            summary: "",
            details: "",
            query: Vec::new(),
            body: None,
            is_keyed: false,
            is_for_visitors: false,
            success: 200,
            answer: AnswerSchema::Empty,
            accepted: None,
            own_errors: &[],
            refusals: Vec::new(),
            schemas: Vec::new(),
        };
        let route = web::route().guard(serves(method.clone())).to(handler);
        Self { method, path, access: Access::Open, route, is_cross_origin: false, description }
    }

    /// `GET` of a list, a page at a time.
    pub(crate) fn list<L: List>(tag: Tag, path: &'static str) -> Self {
        let mut endpoint = Self::new(tag, Method::GET, path, list::answer::<L>)
            .query([page_size(), cursor()])
            .refuses(400, BAD_QUERY);
        endpoint.description.schemas.push(|schemas| {
            let item = L::View::<'static>::name();
            schemas.push((page_of(&item), list_schema(&item)));
            add_schemas::<L::View<'static>>(schemas);
        });
        endpoint.description.answer = AnswerSchema::Page(page_of(&L::View::<'static>::name()));
        endpoint
    }

    /// A deletion, which is answered with 204.
    pub(crate) fn deletion<D: Deletion>(tag: Tag, path: &'static str) -> Self {
        Self::new(tag, Method::DELETE, path, deletion::answer::<D>).keyed().gives_nothing()
    }

    /// Sets the name and a one-line summary of the operation.
    pub(crate) fn named(mut self, id: &'static str, summary: &'static str) -> Self {
        self.description.id = id;
        self.description.summary = summary;
        self
    }

    /// Allows pages of other origins to use it, if its handler admits them.
    pub(crate) fn cross_origin(mut self) -> Self {
        self.is_cross_origin = true;
        self
    }

    /// Documents that it needs the credential of a visitor.
    pub(crate) fn for_visitors(mut self) -> Self {
        self.description.is_for_visitors = true;
        self
    }

    /// Adds a longer description.
    pub(crate) fn details(mut self, details: &'static str) -> Self {
        self.description.details = details;
        self
    }

    /// Adds query parameters.
    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.description.query.extend(parameters);
        self
    }

    /// Takes a JSON body.
    pub(crate) fn body<B: Body>(mut self) -> Self {
        let schema = self.add::<B>();
        self.description.body = Some(BodyDescription {
            media_type: crate::response::JSON,
            schema,
            is_required: true,
            #[cfg(test)]
            parse: Some(|text, current| B::parse(text, current).map(drop)),
        });
        self.refuses(400, BAD_BODY)
    }

    /// Accepts an optional JSON body.
    pub(crate) fn optional_body<B: Body>(mut self) -> Self {
        self = self.body::<B>();
        if let Some(body) = &mut self.description.body {
            body.is_required = false;
        }
        self
    }

    /// Takes a body with a file.
    pub(crate) fn multipart<B: ToSchema>(self) -> Self {
        self.foreign_body::<B>("multipart/form-data")
    }

    /// Takes a JSON body that is described as an object, and read by its handler.
    pub(crate) fn object_body<B: ToSchema>(self) -> Self {
        self.foreign_body::<B>(crate::response::JSON)
    }

    fn foreign_body<B: ToSchema>(mut self, media_type: &'static str) -> Self {
        let schema = self.add::<B>();
        self.description.body = Some(BodyDescription {
            media_type,
            schema,
            is_required: true,
            #[cfg(test)]
            parse: None,
        });
        self
    }

    /// Takes an idempotency key.
    pub(crate) fn keyed(mut self) -> Self {
        self.description.is_keyed = true;
        self
    }

    /// Sets the status of a success, with a JSON body.
    pub(crate) fn gives<V: ToSchema>(mut self, status: u16) -> Self {
        self.description.success = status;
        self.description.answer = AnswerSchema::Json(self.add::<V>());
        self
    }

    /// Sets a success without a body.
    pub(crate) fn gives_nothing(mut self) -> Self {
        self.description.success = 204;
        self
    }

    /// Sets a success with JSON, or with events.
    pub(crate) fn gives_or_streams<V: ToSchema, E: ToSchema>(mut self) -> Self {
        self.description.answer = AnswerSchema::JsonOrEvents(self.add::<V>(), self.add::<E>());
        self
    }

    /// Sets a success response with bytes; `about` describes their media type.
    pub(crate) fn gives_bytes(mut self, about: &'static str) -> Self {
        self.description.answer = AnswerSchema::Bytes(about);
        self
    }

    /// Sets a success with text of one of these media types.
    pub(crate) fn gives_text(mut self, media_types: &'static [&'static str]) -> Self {
        self.description.answer = AnswerSchema::Text(media_types);
        self
    }

    /// Documents that some requests are answered with 202, without a body.
    pub(crate) fn accepts(mut self, condition: &'static str) -> Self {
        self.description.accepted = Some(condition);
        self
    }

    /// Documents that these refusals can have a body of the answer's schema.
    pub(crate) fn own_errors(mut self, statuses: &'static [u16]) -> Self {
        self.description.own_errors = statuses;
        self
    }

    /// Documents a status with a condition of this endpoint's own.
    pub(crate) fn refuses(mut self, status: u16, condition: &'static str) -> Self {
        self.description.refusals.retain(|(other, _)| *other != status);
        self.description.refusals.push((status, condition));
        self
    }

    /// The methods that it is served under: a GET also serves HEAD.
    pub(crate) fn methods(&self) -> &'static [&'static str] {
        match self.method {
            Method::GET => &["GET", "HEAD"],
            Method::POST => &["POST"],
            Method::PATCH => &["PATCH"],
            Method::PUT => &["PUT"],
            Method::DELETE => &["DELETE"],
            _ => &[],
        }
    }

    /// Adds the schema of a type and those that it refers to; returns its name.
    fn add<T: ToSchema>(&mut self) -> String {
        self.description.schemas.push(add_schemas::<T>);
        T::name().into_owned()
    }
}

/// Adds the schema of a type and those that it refers to.
fn add_schemas<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

/// The name of the schema of a page of such items.
fn page_of(item: &str) -> String {
    format!("{item}List")
}

/// A GET route serves HEAD too; the framework then leaves the body out.
fn serves(method: Method) -> impl Guard {
    guard::fn_guard(move |context| {
        let asked = &context.head().method;
        *asked == method || (*asked == Method::HEAD && method == Method::GET)
    })
}
