//! What people need no key for: the script of the widget.

mod script;

use actix_web::web;

use crate::application::Application;
use crate::context::RoutePattern;
use crate::error::RequestError;
use crate::response::Answer;
use script::Script;

/// What the public routes share.
pub(crate) struct Visitors {
    script: Script,
}

impl Visitors {
    /// The public routes of an application, if they are turned on.
    pub(crate) fn new(application: &Application) -> Option<Self> {
        application.settings.widgets.then(|| Self { script: Script::default() })
    }
}

/// Adds the script of the widget. It is not part of the contract: it is a client of it.
pub(crate) fn configure(config: &mut web::ServiceConfig) {
    let routes = [
        (script::LATEST, web::get().to(script::latest), web::head().to(script::latest)),
        (script::FIXED, web::get().to(script::fixed), web::head().to(script::fixed)),
    ];
    for (path, get, head) in routes {
        let refused =
            || async { Answer::Err(RequestError::Method { allow: "GET, HEAD".to_owned() }) };
        let resource = web::resource(path).app_data(RoutePattern(path));
        config.service(resource.route(get).route(head).default_service(web::to(refused)));
    }
}
