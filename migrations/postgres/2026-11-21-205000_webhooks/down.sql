DROP TABLE deliveries;
DROP TABLE webhook_endpoints;
-- Pings end with the table of their deliveries.
DELETE FROM events WHERE source_id IS NULL;
DROP INDEX events_by_age;
ALTER TABLE events ALTER COLUMN source_id SET NOT NULL;
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
