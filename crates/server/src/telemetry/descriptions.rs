//! What each metric means, for the lines `# HELP` of `/metrics`.

/// The metrics by name. A test finds those that are missing here.
const DESCRIPTIONS: [(&str, &str); 42] = [
    ("http_requests_total", "Requests answered."),
    ("http_request_duration_seconds", "Time from the head of a request to its answer."),
    ("cicerone_http_connections", "Open connections of clients."),
    ("cicerone_http_connections_cut_total", "Connections closed because the client did not read."),
    (
        "cicerone_http_connections_evicted_total",
        "Idle connections closed to make room for new ones.",
    ),
    ("cicerone_http_connections_refused_total", "Connections refused because too many are open."),
    ("cicerone_reply_stage_seconds", "Time that a stage of a reply took."),
    ("cicerone_model_requests_total", "Requests to upstreams of models."),
    ("cicerone_model_request_duration_seconds", "Time that requests to upstreams of models took."),
    ("cicerone_model_tokens_total", "Tokens that upstreams of models counted."),
    ("cicerone_embedding_requests_total", "Requests to the embeddings upstream."),
    ("cicerone_embedding_request_duration_seconds", "Time that requests for vectors took."),
    ("cicerone_embedded_texts_total", "Texts whose vectors were received."),
    ("cicerone_passages_without_vector_total", "Passages for which the upstream gave no vector."),
    ("cicerone_sources_without_vectors", "Sources whose passages wait for vectors."),
    ("cicerone_meaning_searches_total", "Searches, by whether they used meaning."),
    ("cicerone_jobs", "Jobs that process sources."),
    ("cicerone_jobs_oldest_waiting_seconds", "How long the oldest waiting job has been due."),
    ("cicerone_jobs_total", "Jobs that ended."),
    ("cicerone_job_duration_seconds", "Time from the request to the end of a job."),
    ("cicerone_documents_read_total", "Documents read by child processes."),
    ("cicerone_document_read_duration_seconds", "Time that reading a document took."),
    ("cicerone_pictures_recognised_total", "Pictures whose text was to be recognised."),
    ("cicerone_picture_duration_seconds", "Time that recognising a picture took."),
    ("cicerone_reader_processes", "Child processes that read documents."),
    ("cicerone_crawled_pages_total", "Pages requested by crawls."),
    ("cicerone_guard_comparisons_total", "Comparisons of guarded websites with their checks."),
    ("cicerone_check_runs_open", "Runs of checks that are waiting or in progress."),
    ("cicerone_check_runs_total", "Runs of checks that ended."),
    ("cicerone_checks_total", "Checks that were asked."),
    ("cicerone_index_syncs_total", "How often an index was brought up to date."),
    ("cicerone_index_sync_duration_seconds", "Time that bringing an index up to date took."),
    (
        "cicerone_index_exhausted_total",
        "Index changes that failed because disk space or file descriptors ran out.",
    ),
    ("cicerone_webhook_deliveries", "Event deliveries that are waiting."),
    ("cicerone_webhook_attempts_in_flight", "Attempts at deliveries in progress."),
    ("cicerone_webhook_attempts_total", "Attempts at deliveries that ended."),
    ("cicerone_webhook_attempt_duration_seconds", "Time that attempts at deliveries took."),
    ("cicerone_database_wait_seconds", "Time that work waited for the database."),
    (
        "cicerone_database_wait_timeouts_total",
        "Work refused because it waited too long for the database.",
    ),
    ("cicerone_database_timeouts_total", "Database work that exceeded its time limit."),
    ("cicerone_trace_batches_total", "Batches of traces for the collector."),
    ("cicerone_task_restarts_total", "Background tasks that were started again after a failure."),
];

/// Describes them to the installed recorder, which keeps descriptions by name for all kinds of metrics.
pub(super) fn describe() {
    for (name, meaning) in DESCRIPTIONS {
        metrics::describe_counter!(name, meaning);
    }
}
