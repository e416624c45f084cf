-- Groups of alike questions that were not answered well.
CREATE TABLE gaps (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    source_id TEXT COLLATE "C",
    -- The agent's generation when the first question was last searched for.
    checked_generation BIGINT,
    created_at BIGINT NOT NULL,
    -- When it got its status.
    changed_at BIGINT
);
CREATE INDEX gaps_of_agent ON gaps (agent_id);

-- Their questions, whose texts are those of the messages.
CREATE TABLE gap_questions (
    conversation_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL,
    gap_id TEXT COLLATE "C",
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, position),
    FOREIGN KEY (conversation_id, position) REFERENCES messages (conversation_id, position) ON DELETE CASCADE
);
CREATE INDEX gap_questions_of_agent ON gap_questions (agent_id, gap_id, asked_at);

-- The source that gets the pairs which answer gaps.
ALTER TABLE agents ADD COLUMN gap_source_id TEXT COLLATE "C";
