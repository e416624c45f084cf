-- A ping is an event of no source. Nothing was ever delivered until now.
DROP TABLE deliveries;
DROP TABLE webhook_endpoints;
CREATE TABLE new_events (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    source_id TEXT,
    name TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_events SELECT id, account_id, source_id, name, payload, created_at FROM events;
DROP TABLE events;
ALTER TABLE new_events RENAME TO events;
CREATE INDEX events_of_account ON events (account_id, created_at, id);
CREATE INDEX events_of_source ON events (source_id);
CREATE INDEX events_by_age ON events (created_at);

-- `disabled_reason` is null while the endpoint is enabled. `retired_secrets` holds those that still
-- sign, with their ends. `failures` counts since the last success.
CREATE TABLE webhook_endpoints (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    payload TEXT NOT NULL,
    disabled_reason TEXT,
    secret TEXT NOT NULL,
    retired_secrets TEXT NOT NULL,
    failures INTEGER NOT NULL,
    failing_since INTEGER,
    succeeded_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, created_at, id);

-- `next_attempt_at` is null once it is over. `lease_until` is null unless an attempt is under way.
-- `tries` counts the attempts since it was queued or last sent again by hand.
CREATE TABLE deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts TEXT NOT NULL,
    tries INTEGER NOT NULL,
    next_attempt_at INTEGER,
    lease_token TEXT,
    lease_until INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_of_event ON deliveries (event_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, created_at, id);
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until);
CREATE INDEX deliveries_by_age ON deliveries (created_at);
