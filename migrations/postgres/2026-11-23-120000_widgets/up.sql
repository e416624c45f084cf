-- Public ways to agents. `settings` is JSON. After a rotation, `old_token` is accepted until `old_token_until`, and secrets of
-- `retired_secrets` until the time in them.
CREATE TABLE widgets (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    old_token TEXT COLLATE "C",
    old_token_until BIGINT,
    is_active BOOLEAN NOT NULL,
    settings TEXT NOT NULL,
    secret TEXT NOT NULL,
    retired_secrets TEXT NOT NULL,
    managed_set TEXT,
    managed_key TEXT,
    managed_hash TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX widgets_token ON widgets (token);
CREATE INDEX widgets_old_token ON widgets (old_token) WHERE old_token IS NOT NULL;
CREATE INDEX widgets_of_agent ON widgets (agent_id, created_at, id);
CREATE UNIQUE INDEX widgets_managed ON widgets (agent_id, managed_set, managed_key) WHERE managed_set IS NOT NULL;

-- Messages of widgets on UTC days.
CREATE TABLE widget_days (
    widget_id TEXT COLLATE "C" NOT NULL REFERENCES widgets (id) ON DELETE CASCADE,
    day BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    PRIMARY KEY (widget_id, day)
);
CREATE INDEX widget_days_by_day ON widget_days (day);

-- The widget of a conversation is not a reference: it is shown while it exists. `visitor` and `lead` are JSON.
ALTER TABLE conversations ADD COLUMN widget_id TEXT COLLATE "C";
ALTER TABLE conversations ADD COLUMN visitor_id TEXT COLLATE "C";
ALTER TABLE conversations ADD COLUMN visitor TEXT;
ALTER TABLE conversations ADD COLUMN handoff_requested_at BIGINT;
ALTER TABLE conversations ADD COLUMN lead TEXT;
CREATE INDEX conversations_of_visitor ON conversations (agent_id, visitor_id, updated_at) WHERE visitor_id IS NOT NULL;

-- The conversation whose content an event contains.
ALTER TABLE events ADD COLUMN conversation_id TEXT COLLATE "C";
CREATE INDEX events_of_conversation ON events (conversation_id) WHERE conversation_id IS NOT NULL;
