//! Finds what serves a request by its path and method.
//!
//! actix-web compiles a regular expression for the path of each resource, in each thread, and tries one after the
//! other. Here all threads share one tree of the paths, in which a path is found in one walk.

use std::sync::Arc;

use actix_service::{Service, ServiceFactory};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::{Error, HttpMessage as _, HttpRequest, Route, web};
use futures_util::future::LocalBoxFuture;
use matchit::{InsertError, Router};

use crate::error::RequestError;
use crate::response::Answer;

/// What serves a path.
pub(crate) struct Resource {
    /// A part between slashes that is a name in braces stands for any such part that is not empty, and the last one, with
    /// an asterisk before the name, for any text that is not empty.
    pub(crate) path: &'static str,
    /// The first whose guards let a request pass serves it.
    pub(crate) routes: Vec<Route>,
    /// Serves the other requests.
    pub(crate) otherwise: Route,
}

impl Resource {
    /// A page or a file, which supports GET and HEAD.
    pub(crate) fn of_page(path: &'static str, get: Route, head: Route) -> Self {
        Self { path, routes: vec![get, head], otherwise: refused("GET, HEAD".to_owned()) }
    }
}

/// Answers that the path supports only these methods.
pub(crate) fn refused(allow: String) -> Route {
    web::to(move || {
        let allow = allow.clone();
        async move { Answer::Err(RequestError::Method { allow }) }
    })
}

/// The pattern of the path of the resource that serves a request, which is an extension of the request.
#[derive(Debug, Clone, Copy)]
struct Pattern(&'static str);

/// The same as text, for logs and metrics; empty if no resource serves the request.
pub(crate) fn pattern(request: &HttpRequest) -> &'static str {
    request.extensions().get::<Pattern>().map_or("", |pattern| pattern.0)
}

/// The values in the path of a request with their names, in the order of the path.
pub(crate) fn values(request: &HttpRequest) -> impl Iterator<Item = (&'static str, &str)> {
    let mut rest = request.match_info().as_str();
    pattern(request).split('/').filter_map(move |part| {
        let whole = rest;
        let (value, after) = rest.split_once('/').unwrap_or((rest, ""));
        rest = after;
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.strip_prefix('*').map_or((name, value), |name| (name, whole)))
    })
}

/// The value of this name in the path; empty if the path has none.
pub(crate) fn value<'r>(request: &'r HttpRequest, name: &str) -> &'r str {
    values(request).find(|(of, _)| *of == name).map_or("", |(_, value)| value)
}

/// The paths of resources, with their places in a list.
#[derive(Debug, Clone)]
pub(crate) struct Paths(Arc<Router<usize>>);

impl Paths {
    /// The paths of these resources.
    ///
    /// # Errors
    ///
    /// A path is malformed, or two are equal except for the names of their values.
    pub(crate) fn of(resources: &[Resource]) -> Result<Self, InsertError> {
        let mut paths = Router::new();
        for (at, resource) in resources.iter().enumerate() {
            paths.insert(resource.path, at)?;
        }
        Ok(Self(Arc::new(paths)))
    }
}

/// Resources that serve an application.
pub(crate) struct Routes {
    pub(crate) paths: Paths,
    /// Those from which the paths were made.
    pub(crate) resources: Vec<Resource>,
    /// Serves all other paths.
    pub(crate) otherwise: Route,
}

impl ServiceFactory<ServiceRequest> for Routes {
    type Response = ServiceResponse;
    type Error = Error;
    type Config = ();
    type Service = Served;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Service, Self::InitError>>;

    fn new_service(&self, (): ()) -> Self::Future {
        let paths = self.paths.clone();
        let made = |resource: &Resource| {
            let routes: Vec<_> =
                resource.routes.iter().map(|route| route.new_service(())).collect();
            (resource.path, routes, resource.otherwise.new_service(()))
        };
        let resources: Vec<_> = self.resources.iter().map(made).collect();
        let otherwise = self.otherwise.new_service(());
        Box::pin(async move {
            let mut served = Served { paths, resources: Vec::new(), otherwise: otherwise.await? };
            for (path, routes, otherwise) in resources {
                let mut made = Vec::with_capacity(routes.len());
                for route in routes {
                    made.push(route.await?);
                }
                served.resources.push(ServedResource {
                    path,
                    routes: made,
                    otherwise: otherwise.await?,
                });
            }
            Ok(served)
        })
    }
}

type ServedRoute = <Route as ServiceFactory<ServiceRequest>>::Service;

struct ServedResource {
    path: &'static str,
    routes: Vec<ServedRoute>,
    otherwise: ServedRoute,
}

/// The resources in one thread.
pub(crate) struct Served {
    paths: Paths,
    resources: Vec<ServedResource>,
    otherwise: ServedRoute,
}

impl Service<ServiceRequest> for Served {
    type Response = ServiceResponse;
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self::Response, Self::Error>>;

    actix_service::always_ready!();

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let found = self.paths.0.at(request.match_info().as_str()).map(|found| *found.value);
        let Some(resource) = found.ok().and_then(|at| self.resources.get(at)) else {
            return self.otherwise.call(request);
        };
        request.extensions_mut().insert(Pattern(resource.path));
        let mut routes = resource.routes.iter();
        routes.find(|route| route.check(&mut request)).unwrap_or(&resource.otherwise).call(request)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::HttpMessage as _;
    use actix_web::test::TestRequest;
    use actix_web::web;

    use super::{Paths, Pattern, Resource, value, values};

    fn resources(paths: &[&'static str]) -> Vec<Resource> {
        let page = |path: &&'static str| Resource::of_page(path, web::get(), web::head());
        paths.iter().map(page).collect()
    }

    #[test]
    fn the_values_in_a_path_are_found_by_their_names_and_in_order() {
        let request = TestRequest::with_uri("/w/ab%20c/messages/7").to_http_request();
        assert_eq!(value(&request, "token"), "");
        request.extensions_mut().insert(Pattern("/w/{token}/messages/{n}"));
        let expected = [("token", "ab c"), ("n", "7")];
        assert!(values(&request).eq(expected));
        assert_eq!(value(&request, "n"), "7");
        assert_eq!(value(&request, "messages"), "");
        let request = TestRequest::with_uri("/console/v1/js/a%2Fb.js").to_http_request();
        request.extensions_mut().insert(Pattern("/console/{version}/{*file}"));
        assert!(values(&request).eq([("version", "v1"), ("file", "js/a%2Fb.js")]));
    }

    #[test]
    fn two_resources_with_the_same_path_are_refused() {
        assert!(Paths::of(&resources(&["/v1/agents", "/v1/agents/{agent_id}"])).is_ok());
        assert!(Paths::of(&resources(&["/v1/agents/{agent_id}", "/v1/agents/{id}"])).is_err());
    }
}
