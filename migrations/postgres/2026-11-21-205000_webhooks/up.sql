-- A ping is an event of no source. Nothing was ever delivered until now.
DROP TABLE deliveries;
DROP TABLE webhook_endpoints;
ALTER TABLE events ALTER COLUMN source_id DROP NOT NULL;
CREATE INDEX events_by_age ON events (created_at);

-- `disabled_reason` is null while the endpoint is enabled. `retired_secrets` holds those that still
-- sign, with their ends. `failures` counts since the last success.
CREATE TABLE webhook_endpoints (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    payload TEXT NOT NULL,
    disabled_reason TEXT,
    secret TEXT NOT NULL,
    retired_secrets TEXT NOT NULL,
    failures BIGINT NOT NULL,
    failing_since BIGINT,
    succeeded_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, created_at, id);

-- `next_attempt_at` is null once it is over. `lease_until` is null unless an attempt is under way.
-- `tries` counts the attempts since it was queued or last sent again by hand.
CREATE TABLE deliveries (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id TEXT COLLATE "C" NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts TEXT NOT NULL,
    tries BIGINT NOT NULL,
    next_attempt_at BIGINT,
    lease_token TEXT,
    lease_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_of_event ON deliveries (event_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, created_at, id);
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until);
CREATE INDEX deliveries_by_age ON deliveries (created_at);
