//! Serves the endpoints on a listener.

use std::future::ready;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive};
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{App as ActixApp, web};
use cicerone_domain::fairness::FairPool;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::application::Application;
use crate::auth::Gate;
use crate::connection::{Connection, Places, Refuse, Times};
use crate::console::{self, Console};
use crate::context::Shared;
use crate::cursor::Cursors;
use crate::docs::Assets;
use crate::endpoint::Endpoint;
use crate::endpoints::{self, Rendered};
use crate::error::RequestError;
use crate::observe::observe;
use crate::rate::RateLimits;
use crate::response::Answer;
use crate::room::Rooms;
use crate::routes::{Paths, Resource, Routes, refused};
use crate::visitors::{self, Visitors};

/// Blocking threads of each connection thread, started when they are needed. They look up the names of upstreams, and a
/// slow name must not delay the others. Other blocking work runs on the caller's runtime.
const BLOCKING_THREADS: usize = 8;
/// The size at which the write buffer is passed to the operating system. A connection whose client
/// does not read has at most this and a slice of its answer in memory.
const WRITE_BUFFER_BYTES: usize = 4 * 1_024;
/// How long before the deadline of a stop streams are ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves `application` on `listener` until the server's handle stops it.
///
/// Call it within the tokio runtime on which work that outlives a connection runs. Signals are not handled here. A
/// graceful stop accepts no more connections and waits for requests in progress for as long as the settings say;
/// shortly before that time is over, streams end with an `error` event.
///
/// # Errors
///
/// The listener cannot be used, or the paths of the endpoints contradict each other.
pub fn serve(listener: TcpListener, application: Application) -> std::io::Result<Server> {
    let settings = application.settings.clone();
    let threads = settings.threads.max(1);
    let builder = Server::build()
        .workers(threads)
        .worker_max_blocking_threads(BLOCKING_THREADS)
        .max_concurrent_connections(settings.connections_at_once.div_ceil(threads))
        .shutdown_timeout(settings.stop_grace.as_secs())
        .disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let ending = ending(stopping.clone(), settings.stop_grace);
    let shared = web::Data::new(share(application, ending));
    let places = Places::new(settings.connections_at_once, settings.trusted_proxies.clone());
    let refuse =
        Arc::new(Refuse { clock: Arc::clone(&shared.clock), entropy: Arc::clone(&shared.entropy) });
    let times = Times {
        head: settings.head_deadline,
        idle: settings.keep_alive,
        stall: settings.stall_deadline,
    };
    let paths = Paths::of(&resources()).map_err(std::io::Error::other)?;
    // Called once on each thread.
    let service = move || {
        (shared.on_thread_start)();
        let routes =
            Routes { paths: paths.clone(), resources: resources(), otherwise: web::to(no_route) };
        let app = ActixApp::new()
            .app_data(shared.clone())
            .wrap(from_fn(observe))
            .default_service(routes)
            .into_factory()
            .map_err(|error: actix_web::Error| error.error_response());
        let stopping = stopping.clone();
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            // The connection has its own limits instead of these two.
            .keep_alive(if times.idle.is_zero() { KeepAlive::Disabled } else { KeepAlive::Os })
            .client_request_timeout(Duration::ZERO)
            // A disconnected caller is noticed immediately. Changes then continue without it: see `change`.
            .h1_allow_half_closed(false)
            // `unread` limits how much of an unread body is still read.
            .client_disconnect_timeout(Duration::ZERO)
            .h1_write_buffer_size(WRITE_BUFFER_BYTES)
            .on_connect_ext(|connection: &Connection, data| {
                data.insert(connection.link());
            })
            .h1(map_config(app, |()| AppConfig::default()));
        let (places, refuse) = (Arc::clone(&places), Arc::clone(&refuse));
        fn_service(move |io: TcpStream| {
            let peer = io.peer_addr().ok();
            let connection = places
                .enter(peer.map(|peer| peer.ip()))
                .map(|place| (Connection::new(io, place, Arc::clone(&refuse), times), peer));
            ready(connection.ok_or(DispatchError::Io(std::io::ErrorKind::ConnectionRefused.into())))
        })
        .and_then(http)
    };
    Ok(builder.listen("http", listener, service)?.run())
}

/// Becomes true shortly before the deadline of a graceful stop.
fn ending(stopping: GracefulShutdownSignal, grace: Duration) -> watch::Receiver<bool> {
    let (end, ending) = watch::channel(false);
    Handle::current().spawn(async move {
        stopping.notified().await;
        tokio::time::sleep(grace.saturating_sub(FAREWELL)).await;
        end.send_replace(true);
        // The sender is kept until the runtime ends, so that receivers do not see a closed channel.
        std::future::pending::<()>().await;
    });
    ending
}

fn share(application: Application, ending: watch::Receiver<bool>) -> Shared {
    let settings = &application.settings;
    let limits = RateLimits::new(
        settings.rate_limit_per_minute,
        settings.account_rate_limit(),
        settings.failed_authentications_per_minute,
        settings.public_requests_per_minute,
    );
    let uploads = u64::try_from(settings.uploads_at_once).unwrap_or(u64::MAX);
    Shared {
        gate: Gate::new(limits),
        cursors: Cursors::new(application.cursor_secret),
        runtime: Handle::current(),
        uploads_arriving: FairPool::new(uploads, uploads.div_ceil(2)),
        rooms: Rooms::new(),
        assets: Assets::new(application.extra_models.clone(), application.settings.book_widget),
        rendered: application.metrics.clone().map(Rendered::new),
        console: Console::new(&settings.console),
        visitors: Visitors::new(&application),
        ending,
        application,
    }
}

/// One resource for each path, so that a method that the path does not support is answered
/// with the methods that it supports.
fn resources() -> Vec<Resource> {
    let mut paths: Vec<(&'static str, Vec<Endpoint>)> = Vec::new();
    for endpoint in endpoints::all() {
        match paths.iter_mut().find(|(path, _)| *path == endpoint.path) {
            Some((_, endpoints)) => endpoints.push(endpoint),
            None => paths.push((endpoint.path, vec![endpoint])),
        }
    }
    let of_contract = paths.into_iter().map(|(path, endpoints)| resource(path, endpoints));
    of_contract.chain(console::resources()).chain(visitors::resources()).collect()
}

fn resource(path: &'static str, endpoints: Vec<Endpoint>) -> Resource {
    let mut methods: Vec<_> = endpoints.iter().flat_map(Endpoint::methods).copied().collect();
    let mut routes = Vec::new();
    if endpoints.iter().any(|endpoint| endpoint.is_cross_origin) {
        methods.push("OPTIONS");
        routes.push(web::method(Method::OPTIONS).to(visitors::preflight));
    }
    routes.extend(endpoints.into_iter().map(|endpoint| endpoint.route));
    Resource { path, routes, otherwise: refused(methods.join(", ")) }
}

async fn no_route() -> Answer {
    Err(RequestError::NoRoute)
}
