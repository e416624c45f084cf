-- Who did what, when and from where. Without references but to the account: it outlives what it tells of.
CREATE TABLE audit_log (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    actor TEXT NOT NULL,
    key_id TEXT,
    key_name TEXT,
    action TEXT NOT NULL,
    target_id TEXT,
    address TEXT,
    request_id TEXT,
    occurrences INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_log_of_account ON audit_log (account_id, created_at, id);
CREATE INDEX audit_log_of_target ON audit_log (target_id);
CREATE INDEX audit_log_by_age ON audit_log (created_at);
