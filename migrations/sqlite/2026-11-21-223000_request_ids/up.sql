-- The request that asked for it, for the logs.
ALTER TABLE jobs ADD COLUMN request_id TEXT;
ALTER TABLE events ADD COLUMN request_id TEXT;
