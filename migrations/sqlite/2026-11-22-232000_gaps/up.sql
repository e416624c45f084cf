-- Groups of alike questions that were not answered well.
CREATE TABLE gaps (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    source_id TEXT,
    -- The agent's generation when the first question was last searched for.
    checked_generation INTEGER,
    created_at INTEGER NOT NULL,
    -- When it got its status.
    changed_at INTEGER
) STRICT;
CREATE INDEX gaps_of_agent ON gaps (agent_id);

-- Their questions, whose texts are those of the messages.
CREATE TABLE gap_questions (
    conversation_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    gap_id TEXT,
    asked_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, position),
    FOREIGN KEY (conversation_id, position) REFERENCES messages (conversation_id, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX gap_questions_of_agent ON gap_questions (agent_id, gap_id, asked_at);

-- The source that gets the pairs which answer gaps.
ALTER TABLE agents ADD COLUMN gap_source_id TEXT;
