//! What a turn of the embedded answerer is compared with: its parts without anything around them, and a bare prototype of
//! the path that does these parts and nothing else.
//!
//! The prototype has no keys, accounts, limits, languages, citations or metrics: it parses the request, searches,
//! commits the question and the answer, and answers. So the share of its rate that the server reaches is what all of
//! these cost, on any machine.

mod commit;
mod search;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use actix_web::error::ErrorInternalServerError;
use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;

use self::commit::Writer;
use self::search::Passages;
use crate::latency::percentile;

/// Characters of a reply at most, about as many as the server's replies have.
const REPLY_CHARS: usize = 250;

/// The parts, each ready to be measured.
pub(super) struct Floors {
    passages: Arc<Passages>,
    writer: Arc<Writer>,
    questions: Vec<String>,
    asked: AtomicUsize,
    _folder: TempDir,
}

/// What was measured of a part.
pub(super) struct Measured {
    /// How often it was done in a second.
    pub(super) rate: f64,
    /// How long it took in the median.
    pub(super) p50: Duration,
}

/// What the prototype reads of a request.
#[derive(Deserialize)]
struct Body {
    message: String,
}

impl Floors {
    /// Indexes these texts in passages, and opens a database beside them.
    pub(super) fn new(texts: &[String], questions: Vec<String>) -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("cicerone-floors-").context("a temporary directory")?;
        Ok(Self {
            passages: Arc::new(Passages::index(&folder.path().join("index"), texts)?),
            writer: Arc::new(Writer::open(&folder.path().join("turns.db"))?),
            questions,
            asked: AtomicUsize::new(0),
            _folder: folder,
        })
    }

    /// Searches with this number of threads, each one question after the other.
    pub(super) fn searches(&self, threads: usize, duration: Duration) -> anyhow::Result<Measured> {
        let began = Instant::now();
        let search = || {
            let mut times = Vec::new();
            while began.elapsed() < duration {
                let next = self.asked.fetch_add(1, Ordering::Relaxed) % self.questions.len().max(1);
                let question = self.questions.get(next).context("no questions")?;
                let asked = Instant::now();
                self.passages.best(question)?;
                times.push(asked.elapsed());
            }
            anyhow::Ok(times)
        };
        let times = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(search)).collect();
            running.into_iter().try_fold(Vec::new(), |mut all, thread| {
                let ended = thread.join();
                all.extend(ended.map_err(|_| anyhow::anyhow!("a searching thread panicked"))??);
                anyhow::Ok(all)
            })
        })?;
        Ok(measured(times, began.elapsed()))
    }

    /// Commits two rows for each of this number of callers, one time after the other.
    pub(super) async fn commits(
        &self,
        callers: usize,
        duration: Duration,
    ) -> anyhow::Result<Measured> {
        let began = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..callers {
            let writer = Arc::clone(&self.writer);
            running.spawn(async move {
                let mut times = Vec::new();
                while began.elapsed() < duration {
                    let asked = Instant::now();
                    let [question, reply] = ["q".repeat(60), "a".repeat(REPLY_CHARS)];
                    writer.commit(question, reply).await?;
                    times.push(asked.elapsed());
                }
                anyhow::Ok(times)
            });
        }
        let mut times = Vec::new();
        while let Some(ended) = running.join_next().await {
            times.extend(ended.context("a caller's task")??);
        }
        Ok(measured(times, began.elapsed()))
    }

    /// Starts the prototype with as many threads as the server has. It runs until the process ends.
    pub(super) fn prototype(&self) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("listening")?;
        let address = listener.local_addr()?;
        let threads = std::thread::available_parallelism()?.get();
        let passages = web::Data::from(Arc::clone(&self.passages));
        let writer = web::Data::from(Arc::clone(&self.writer));
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let make = move || {
                    let app = App::new().app_data(passages.clone()).app_data(writer.clone());
                    app.default_service(web::to(turn))
                };
                let server =
                    HttpServer::new(make).workers(threads).disable_signals().listen(listener);
                if let Ok(server) = server {
                    // It ends with the process.
                    let _ = server.run().await;
                }
            });
        });
        Ok(address)
    }
}

/// A turn of the prototype.
async fn turn(
    passages: web::Data<Passages>,
    writer: web::Data<Writer>,
    body: web::Json<Body>,
) -> actix_web::Result<HttpResponse> {
    let found = passages.best(&body.message).map_err(ErrorInternalServerError)?;
    let best = found.first().map(String::as_str).unwrap_or_default();
    let reply: String = best.chars().take(REPLY_CHARS).collect();
    let id = writer
        .commit(body.into_inner().message, reply.clone())
        .await
        .map_err(ErrorInternalServerError)?;
    Ok(HttpResponse::Ok().json(json!({ "id": id, "reply": reply, "sources": found })))
}

fn measured(mut times: Vec<Duration>, took: Duration) -> Measured {
    times.sort_unstable();
    let rate = times.len() as f64 / took.as_secs_f64();
    Measured { rate, p50: percentile(&times, 0.5) }
}
