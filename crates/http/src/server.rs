//! Puts the routes on a listener.

use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{Compress, from_fn};
use actix_web::{App as ActixApp, HttpServer, Resource, web};
use cicerone_domain::fairness::FairPool;
use tokio::runtime::Handle;

use crate::application::Application;
use crate::auth::Gate;
use crate::context::{RoutePattern, Shared};
use crate::cursor::Cursors;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::observe::observe;
use crate::openapi::document;
use crate::rate::RateLimits;
use crate::response::Answer;
use crate::routes::routes;

/// Blocking threads of each connection thread. What blocks runs on the caller's runtime; here only
/// large compressed answers do.
const BLOCKING_THREADS: usize = 4;
/// Files in memory at once, while they are looked at and stored, up to 10 MiB each; others wait on
/// disk. Half as many again are kept for accounts that have none.
const UPLOADS_IN_MEMORY: u64 = 4;

/// Serves `application` on `listener` until the server's handle stops it.
///
/// Call it within the tokio runtime that everything which outlives a connection is to run on. No
/// signal is handled here. A graceful stop accepts no more, and waits for what is in flight as long
/// as the settings say. Fails where the listener cannot be used.
pub fn serve(listener: TcpListener, application: Application) -> std::io::Result<Server> {
    let settings = application.settings.clone();
    let shared = web::Data::new(share(application));
    let server = HttpServer::new(move || {
        ActixApp::new()
            .app_data(shared.clone())
            .wrap(from_fn(observe))
            .configure(configure)
            .default_service(web::to(no_route))
    });
    let server = server
        .workers(settings.threads.max(1))
        .worker_max_blocking_threads(BLOCKING_THREADS)
        .max_connections(settings.connections_at_once.div_ceil(settings.threads.max(1)))
        .keep_alive(settings.keep_alive)
        .client_request_timeout(settings.head_deadline)
        // A caller that goes away is noticed at once; what must not stop half-way runs in tasks of
        // its own.
        .h1_allow_half_closed(false)
        // How much of an unread body is still taken is for `unread` to say, which bounds it.
        .client_disconnect_timeout(Duration::ZERO)
        .tcp_nodelay(true)
        .shutdown_timeout(settings.stop_grace.as_secs())
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

fn share(application: Application) -> Shared {
    let settings = &application.settings;
    let limits = RateLimits::new(
        settings.rate_limit_per_minute,
        settings.account_rate_limit(),
        settings.failed_authentications_per_minute,
    );
    let uploads = u64::try_from(settings.uploads_at_once).unwrap_or(u64::MAX);
    Shared {
        gate: Gate::new(limits),
        cursors: Cursors::new(application.cursor_secret),
        runtime: Handle::current(),
        uploads_arriving: FairPool::new(uploads, uploads.div_ceil(2)),
        uploads_in_memory: FairPool::new(UPLOADS_IN_MEMORY, UPLOADS_IN_MEMORY.div_ceil(2)),
        openapi: document(&application.extra_models),
        application,
    }
}

/// One resource a path, so that a method that it does not know is answered with those it does.
fn configure(config: &mut web::ServiceConfig) {
    let mut resources: Vec<(&'static str, Vec<Endpoint>)> = Vec::new();
    for endpoint in routes() {
        match resources.iter_mut().find(|(path, _)| *path == endpoint.path) {
            Some((_, endpoints)) => endpoints.push(endpoint),
            None => resources.push((endpoint.path, vec![endpoint])),
        }
    }
    for (path, endpoints) in resources {
        let reads = endpoints.iter().any(|endpoint| endpoint.methods().contains(&"GET"));
        let resource = resource(path, endpoints);
        if reads {
            config.service(resource.wrap(Compress::default()));
        } else {
            config.service(resource);
        }
    }
}

fn resource(path: &'static str, endpoints: Vec<Endpoint>) -> Resource {
    let methods: Vec<_> = endpoints.iter().flat_map(Endpoint::methods).copied().collect();
    let allow = methods.join(", ");
    let resource = web::resource(path).app_data(RoutePattern(path));
    endpoints
        .into_iter()
        .fold(resource, |resource, endpoint| resource.route(endpoint.route))
        .default_service(web::to(move || {
            let allow = allow.clone();
            async move { Answer::Err(Failure::Method { allow }) }
        }))
}

async fn no_route() -> Answer {
    Err(Failure::NoRoute)
}
