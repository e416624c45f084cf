//! Traces, sent over OTLP to the collector that the environment names.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::configuration::Environment;
use crate::failure::{Failure, with_causes};

/// The standard variable with the address of the collector.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The standard variable with the name of this service.
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// The path for traces below the address of the collector.
const PATH: &str = "/v1/traces";
/// The time limit for sending a batch, including the last one when the program ends.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer of a collector: it says how many spans it refused.
const ANSWER_BYTES: usize = 64 * 1_024;

/// The exporter of traces.
#[derive(Debug, Clone)]
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Returns an error if the address of the collector is not valid.
    pub(crate) fn check(environment: &Environment) -> Result<(), Failure> {
        endpoint(environment).map(|_| ())
    }

    /// Opens the exporter if the environment names a collector. `OTEL_EXPORTER_OTLP_HEADERS` and the
    /// variables of sampling and batches have their standard meaning.
    pub(crate) fn open(
        environment: &Environment,
        runtime: &Handle,
    ) -> Result<Option<Self>, Failure> {
        let Some(endpoint) = endpoint(environment)? else { return Ok(None) };
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE);
        let client =
            if endpoint.starts_with("http://") { client.tls_certs_only([]) } else { client };
        let http = client.build().map_err(failed)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}{PATH}", endpoint.trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .with_http_client(OnRuntime {
                http,
                runtime: runtime.clone(),
                is_failing: AtomicBool::new(false),
            })
            .build()
            .map_err(failed)?;
        let name = set(environment, SERVICE_NAME).unwrap_or("cicerone").to_owned();
        let resource = Resource::builder()
            .with_service_name(name)
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        global::set_tracer_provider(provider.clone());
        Ok(Some(Self(provider)))
    }

    /// The tracer of this program.
    pub(super) fn tracer(&self) -> SdkTracer {
        self.0.tracer("cicerone")
    }

    /// Sends the remaining traces. Blocks for a few seconds at most; the runtime must still be
    /// running.
    pub(crate) fn close(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the last traces were not sent"
            );
        }
    }
}

/// The address of the collector, if one is named.
fn endpoint(environment: &Environment) -> Result<Option<&str>, Failure> {
    let Some(endpoint) = set(environment, ENDPOINT) else { return Ok(None) };
    if endpoint.starts_with("http://") || endpoint.starts_with("https://") {
        return Ok(Some(endpoint));
    }
    Err(Failure::misuse(format!(
        "`{ENDPOINT}` must be an address such as http://localhost:4318, not `{endpoint}`"
    )))
}

fn set<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

fn failed(error: impl std::error::Error + 'static) -> Failure {
    Failure::because(&format!("`{ENDPOINT}`"), &error)
}

/// Makes a span part of the trace that the headers `traceparent` and `tracestate` of a request name.
pub(crate) fn join(span: &tracing::Span, parent: &str, state: &str) {
    let headers = TraceHeaders { parent, state };
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    if !context.span().span_context().is_valid() {
        return;
    }
    if let Err(error) = span.set_parent(context) {
        tracing::debug!(%error, "a request did not join its caller's trace");
    }
}

/// The headers of the W3C standard Trace Context.
struct TraceHeaders<'a> {
    parent: &'a str,
    state: &'a str,
}

impl Extractor for TraceHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(self.parent),
            "tracestate" => Some(self.state),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

/// Sends traces on the runtime, because the exporter's thread has none.
#[derive(Debug)]
struct OnRuntime {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last batch was not accepted.
    is_failing: AtomicBool,
}

impl OnRuntime {
    /// Counts a batch, and logs that the collector begins to fail or works again. `failure` says why it was not accepted.
    fn note(&self, failure: Option<&dyn Display>) {
        let outcome = if failure.is_some() { "failed" } else { "sent" };
        metrics::counter!("cicerone_trace_batches_total", "outcome" => outcome).increment(1);
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(cause) if !was_failing => {
                tracing::warn!(%cause, "the trace collector does not accept traces; they are lost until it does");
            }
            None if was_failing => tracing::info!("the trace collector accepts traces again"),
            Some(_) | None => {}
        }
    }
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, HttpError> {
        let http = self.http.clone();
        let sent = self.runtime.spawn(async move {
            let mut response = http.execute(request.try_into()?).await?;
            let mut answer = http::Response::builder().status(response.status());
            if let Some(headers) = answer.headers_mut() {
                headers.clone_from(response.headers());
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                if body.len() + chunk.len() > ANSWER_BYTES {
                    return Err(format!("the collector sent more than {ANSWER_BYTES} bytes").into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok::<_, HttpError>(answer.body(body.into())?)
        });
        let sent = sent.await?;
        match &sent {
            Ok(answer) if answer.status().is_success() => self.note(None),
            Ok(answer) => self.note(Some(&format_args!("it answered {}", answer.status()))),
            Err(error) => self.note(Some(&with_causes(error.as_ref()))),
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use bytes::Bytes;
    use opentelemetry_http::HttpClient as _;
    use tokio::runtime::Handle;

    use super::{ANSWER_BYTES, OnRuntime};

    /// Sends a request to a collector that answers with so many bytes.
    async fn answered(bytes: usize) -> Result<usize, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let collector = thread::spawn(move || {
            let (mut caller, _) = listener.accept().unwrap();
            let read = caller.read(&mut [0; 1_024]).unwrap();
            assert!(read > 0);
            caller.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").unwrap();
            // The client may close the connection within the answer.
            drop(caller.write_all(&vec![b'x'; bytes]));
        });
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = OnRuntime { http, runtime: Handle::current(), is_failing: false.into() };
        let request = http::Request::post(format!("http://{address}/v1/traces"));
        let response = client.send_bytes(request.body(Bytes::new()).unwrap()).await;
        collector.join().unwrap();
        response.map(|response| response.body().len()).map_err(|error| error.to_string())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_answer_of_a_collector_is_bounded() {
        assert_eq!(answered(ANSWER_BYTES).await, Ok(ANSWER_BYTES));
        let error = answered(ANSWER_BYTES + 1).await.unwrap_err();
        assert!(error.contains("more than 65536 bytes"), "{error}");
    }
}
