-- Everything that the service keeps. Times are milliseconds since 1970 in UTC, ids are text with their
-- prefix and made by the application, structured values are JSON in text. The other database has the
-- same tables under the same names. Ids are compared byte by byte, whatever the locale.

CREATE TABLE installation (
    name TEXT NOT NULL PRIMARY KEY,
    value BYTEA NOT NULL
);

CREATE TABLE accounts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hash BYTEA NOT NULL UNIQUE,
    name TEXT NOT NULL,
    permissions TEXT NOT NULL,
    agent_ids TEXT,
    is_root BOOLEAN NOT NULL,
    hint TEXT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX api_keys_of_account ON api_keys (account_id, created_at, id);

CREATE TABLE agents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    model TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    temperature DOUBLE PRECISION NOT NULL,
    max_tokens BIGINT NOT NULL,
    status TEXT NOT NULL,
    index_generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX agents_of_account ON agents (account_id, created_at, id);

CREATE TABLE uploads (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX uploads_of_account ON uploads (account_id);
CREATE INDEX uploads_by_age ON uploads (created_at);

-- Objects to remove from the object store at `due_at`. Deliberately without a reference: the note
-- outlives the upload, and precedes it while the object is being written.
CREATE TABLE discarded_objects (
    object_key TEXT NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL
);
CREATE INDEX discarded_objects_due ON discarded_objects (due_at);

-- `character_count`, `title` and `version` belong to the content that answers at present; `version` is
-- null where there is none.
CREATE TABLE sources (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    source_type TEXT NOT NULL,
    content TEXT NOT NULL,
    crawl_subpages BOOLEAN NOT NULL,
    upload_id TEXT COLLATE "C" REFERENCES uploads (id),
    status TEXT NOT NULL,
    error_message TEXT,
    character_count BIGINT,
    title TEXT,
    version BIGINT,
    progress TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX sources_of_agent ON sources (agent_id, created_at, id);
CREATE INDEX sources_of_upload ON sources (upload_id) WHERE upload_id IS NOT NULL;

CREATE TABLE documents (
    source_id TEXT COLLATE "C" NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    url TEXT,
    title TEXT,
    page_count BIGINT,
    text TEXT NOT NULL,
    is_pair BOOLEAN NOT NULL,
    PRIMARY KEY (source_id, position)
);

CREATE TABLE passages (
    source_id TEXT COLLATE "C" NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    title TEXT,
    heading TEXT,
    url TEXT,
    page BIGINT,
    text TEXT NOT NULL,
    is_pair BOOLEAN NOT NULL,
    language TEXT,
    PRIMARY KEY (source_id, position)
);

CREATE TABLE source_pages (
    source_id TEXT COLLATE "C" NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    character_count BIGINT,
    http_status BIGINT,
    reason TEXT,
    fetched_at BIGINT,
    PRIMARY KEY (source_id, position)
);

CREATE TABLE jobs (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES sources (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    lease_token TEXT,
    lease_until BIGINT,
    attempts BIGINT NOT NULL,
    crashes BIGINT NOT NULL,
    queued_at BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (state, due_at, queued_at, id);
CREATE INDEX jobs_leased ON jobs (state, lease_until);

CREATE TABLE conversations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    metadata TEXT NOT NULL,
    message_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX conversations_of_agent ON conversations (agent_id, created_at, id);

-- The pairs of `conversations.metadata` once more, for the filter.
CREATE TABLE conversation_metadata (
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, name)
);
CREATE INDEX conversation_metadata_by_pair ON conversation_metadata (agent_id, name, value);

CREATE TABLE messages (
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    sources_used TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, position)
);

-- Without a reference to its source: what happened is told also after the source is gone.
CREATE TABLE events (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    source_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX events_of_account ON events (account_id, created_at, id);
CREATE INDEX events_of_source ON events (source_id);

CREATE TABLE webhook_endpoints (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    disabled_reason TEXT,
    payload TEXT NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_secret_until BIGINT,
    failing_since BIGINT,
    failures BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, created_at, id);

CREATE TABLE deliveries (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id TEXT COLLATE "C" NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    attempts TEXT NOT NULL,
    next_attempt_at BIGINT,
    lease_token TEXT,
    lease_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_of_event ON deliveries (event_id);
CREATE INDEX deliveries_due ON deliveries (status, next_attempt_at);

-- `state` is `claimed` (a request is being carried out), `completed` or `erased` (what the answer
-- contained was deleted).
CREATE TABLE idempotency (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    state TEXT NOT NULL,
    token TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    status BIGINT,
    content_type TEXT,
    body BYTEA,
    subject_id TEXT COLLATE "C",
    subject_agent_id TEXT COLLATE "C",
    PRIMARY KEY (account_id, idempotency_key)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE INDEX idempotency_of_subject ON idempotency (subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX idempotency_of_agent ON idempotency (subject_agent_id) WHERE subject_agent_id IS NOT NULL;
