DROP TABLE deliveries;
DROP TABLE webhook_endpoints;
-- Pings end with the table of their deliveries.
DELETE FROM events WHERE source_id IS NULL;
CREATE TABLE old_events (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    source_id TEXT NOT NULL,
    name TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO old_events SELECT id, account_id, source_id, name, payload, created_at FROM events;
DROP TABLE events;
ALTER TABLE old_events RENAME TO events;
CREATE INDEX events_of_account ON events (account_id, created_at, id);
CREATE INDEX events_of_source ON events (source_id);
CREATE TABLE webhook_endpoints (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    disabled_reason TEXT,
    payload TEXT NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_secret_until INTEGER,
    failing_since INTEGER,
    failures INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, created_at, id);
CREATE TABLE deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    attempts TEXT NOT NULL,
    next_attempt_at INTEGER,
    lease_token TEXT,
    lease_until INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_of_event ON deliveries (event_id);
CREATE INDEX deliveries_due ON deliveries (status, next_attempt_at);
