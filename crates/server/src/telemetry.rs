//! Logs on standard error, metrics, and traces.

mod descriptions;
mod fields;
mod traces;

use std::io::IsTerminal as _;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::configuration::{LogFormat, Settings};
use crate::failure::Failure;

pub(crate) use traces::{Traces, join as join_trace};

/// Bounds of the histograms' buckets, in seconds.
const BUCKETS_SECONDS: [f64; 15] =
    [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];
/// The metric of the stages of a reply, and the upper bounds of its buckets in seconds: most stages take less than a
/// millisecond.
const STAGES: &str = "cicerone_reply_stage_seconds";
const STAGE_BUCKETS_SECONDS: [f64; 16] = [
    0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 1.0, 5.0, 30.0,
];
/// Targets that are silent unless the filter names them: the dispatcher logs malformed requests of
/// clients as errors, and `rmcp` logs the messages that it reads.
const QUIET: &str = "actix_server=warn,actix_http::h1::dispatcher=off,rmcp=off";
/// The prefix of the targets of this program's own spans.
const OURS: &str = "cicerone";
/// How often the metrics drop data that is no longer needed.
const UPKEEP: Duration = Duration::from_secs(5);

/// Sends logs to standard error, filtered and written as the settings say, and spans to `traces`.
pub(crate) fn logs(
    settings: &Settings,
    filter: &str,
    traces: Option<&Traces>,
) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(format!("{QUIET},{filter}"))
        .map_err(|error| Failure::misuse(format!("`RUST_LOG` is not a log filter: {error}")))?;
    let format = settings.log_format();
    let installed = match traces {
        // Without traces, one filter for everything is faster.
        None => tracing_subscriber::registry().with(filter).with(lines(format)).try_init(),
        Some(traces) => {
            let spans = tracing_opentelemetry::layer()
                .with_tracer(traces.tracer())
                .with_location(false)
                .with_threads(false)
                .with_filter(filter_fn(is_span_of_ours));
            tracing_subscriber::registry()
                .with(spans)
                .with(lines(format).with_filter(filter))
                .try_init()
        }
    };
    installed.map_err(|error| Failure::new(format!("cannot install the log: {error}")))?;
    log_panics();
    Ok(())
}

/// The layer that writes log lines.
fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    match format {
        LogFormat::Text => fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .boxed(),
        // The JSON layer of `tracing_subscriber` parses the fields of a span again for each later field and each line.
        LogFormat::Json => {
            let mut lines = json_subscriber::layer().with_writer(std::io::stderr);
            let layer = lines.inner_layer_mut();
            layer.remove_field(fields::NESTED);
            layer.add_multiple_dynamic_fields(|event, _, line| fields::write(event, line));
            lines.boxed()
        }
    }
}

fn is_span_of_ours(metadata: &tracing::Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with(OURS) && *metadata.level() <= Level::INFO
}

/// Logs the location of a panic but not its message, which may quote a document.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        tracing::error!(location, thread, "a panic occurred; the work in progress failed");
    }));
}

/// Installs the recorder of all metrics.
pub(crate) fn metrics() -> Result<PrometheusHandle, Failure> {
    let failed = |error| Failure::because("cannot install the metrics", &error);
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS_SECONDS)
        .map_err(failed)?
        .set_buckets_for_metric(Matcher::Full(STAGES.to_owned()), &STAGE_BUCKETS_SECONDS)
        .map_err(failed)?
        .install_recorder()
        .map_err(failed)?;
    descriptions::describe();
    Ok(handle)
}

/// Removes old data from the metrics regularly, as long as the program runs.
pub(crate) async fn upkeep(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        metrics.run_upkeep();
    }
}
