-- Questions whose replies the owner of an agent knows, as JSON.
CREATE TABLE agent_checks (
    agent_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
    account_id TEXT COLLATE "C" NOT NULL,
    checks TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Passes through an agent's checks. `cause` is why one began, `checks` a copy of them from its beginning to its end. A run
-- that has not ended is worked on when it is due; while a worker has it, that is when the lease ends. `attempts` counts the
-- claims since the last progress.
CREATE TABLE check_runs (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    source_id TEXT COLLATE "C",
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    lease_token TEXT,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    passed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    checks TEXT,
    results TEXT NOT NULL,
    error_message TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX check_runs_of_agent ON check_runs (agent_id, created_at, id);
CREATE UNIQUE INDEX check_runs_pending ON check_runs (agent_id) WHERE state = 'pending';
CREATE INDEX check_runs_open ON check_runs (account_id, due_at) WHERE finished_at IS NULL;
